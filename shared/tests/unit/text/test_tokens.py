"""Blank texts, and long texts in blocks."""

from hypothesis import given
from hypothesis import strategies as st
from table_of_cases import each

from mdvec.text.tokens import blocks, is_blank


@each(
    "text",
    ["", " ", "\t\r\n", "\u3000\u00a0", "\u200b", "\ufeff", "\u200d\u2060", "\x00\x1b", "\u2028"],
)
def test_white_space_controls_and_zero_width_characters_are_blank(text):
    assert is_blank(text)


@each("text", ["a", "。", " 猫\n", "\u200b1", "😀", "e\u0301", "\u0301", "-"])
def test_anything_that_can_be_seen_is_not(text):
    assert not is_blank(text)


def parts(text, size):
    return [text[start:end] for start, end in blocks(text, size)]


def test_a_block_ends_in_front_of_the_last_white_space_in_it():
    assert parts("one two  three four", 10) == ["one two", "  three", " four"]


def test_crlf_is_not_parted():
    assert parts("abcde\r\nfgh", 6) == ["abcde", "\r\nfgh"]


def test_without_white_space_a_block_is_full():
    assert parts("東京の猫", 3) == ["東京の", "猫"]


@given(st.text(st.sampled_from("ab \n猫")), st.integers(1, 12))
def test_blocks_are_the_text_and_none_is_too_long(text, size):
    assert "".join(parts(text, size)) == text
    assert all(0 < len(part) <= size for part in parts(text, size))
