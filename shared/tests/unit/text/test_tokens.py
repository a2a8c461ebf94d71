"""When a text is blank: nothing in it that a reader would see."""

import pytest

from mdvec.text.tokens import is_blank


@pytest.mark.parametrize(
    "text",
    ["", " ", "\t\r\n", "\u3000\u00a0", "\u200b", "\ufeff", "\u200d\u2060", "\x00\x1b", "\u2028"],
)
def test_white_space_controls_and_zero_width_characters_are_blank(text):
    assert is_blank(text)


@pytest.mark.parametrize("text", ["a", "。", " 猫\n", "\u200b1", "😀", "e\u0301", "\u0301", "-"])
def test_anything_that_can_be_seen_is_not(text):
    assert not is_blank(text)
