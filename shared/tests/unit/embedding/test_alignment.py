"""A tokenizer's pieces aligned with their text."""

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mdvec.embedding.backends.plamo import align


def in_bytes(text):
    return [f"<0x{byte:02X}>" for byte in text.encode()]


def read(text, pieces):
    return [text[start:end] for start, end in align(text, pieces)]


@pytest.mark.parametrize("white", [" ", "\n", "\t", "\u3000", "▁"])
def test_the_sign_for_a_space_stands_for_any_white_space_and_for_itself(white):
    assert read(f"a{white}the", ["a", "▁the"]) == ["a", f"{white}the"]


def test_crlf_is_two_characters_whether_as_one_piece_or_as_bytes():
    assert read("a\r\nb", ["a", "\r\n", "b"]) == ["a", "\r\n", "b"]
    assert read("a\r\nb", ["a", *in_bytes("\r\n"), "b"]) == ["a", "\r", "\n", "b"]


def test_a_space_that_the_tokenizer_put_in_front_takes_no_character():
    assert read("the cat", ["▁the", "▁cat"]) == ["the", " cat"]
    assert read("猫 cat", ["▁", *in_bytes("猫"), "▁cat"]) == ["", "猫", "猫", "猫", " cat"]


def test_white_space_that_the_tokenizer_dropped_belongs_to_the_piece_behind_it():
    assert read("a  \n\n b  ", ["▁a", "▁b"]) == ["a", "  \n\n b  "]
    assert read("a   猫", ["a", *in_bytes("猫")]) == ["a", "   猫", "   猫", "   猫"]


def test_text_that_looks_like_a_byte_piece_is_text():
    assert read("<0x41>A", ["<", "0", "x", "41", ">", "<0x41>"]) == [*"<0x", "41", ">", "A"]
    assert read("a<0x41>", ["a", "<0x41>"]) == ["a", "<0x41>"]


@pytest.mark.parametrize(
    ("text", "pieces", "expected"),
    [
        ("Black sat on the mat", "black ▁sat ▁on ▁the ▁mat", "Black| sat| on| the| mat"),
        ("①② is one and two", "1 2 ▁is ▁one ▁and ▁two", "①|②| is| one| and| two"),
        ("a 猫 sat on the mat", "a ▁ <unk> ▁sat ▁on ▁the ▁mat", "a| |猫| sat| on| the| mat"),
        ("a 猫猫 sat on the mat", "a ▁sat ▁on ▁the ▁mat", "a| 猫猫 sat| on| the| mat"),
        (
            "¼ #469 and #293 is not",
            "1/ 4 ▁# 469 ▁and ▁# 293 ▁is ▁not",
            "|¼| #|469| and| #|293| is| not",
        ),
    ],
)
def test_after_normalised_text_the_positions_are_right_again(text, pieces, expected):
    assert read(text, pieces.split()) == expected.split("|")


def test_unmatched_text_is_divided_among_the_pieces():
    assert read("猫が好き", ["x", "y"]) == ["猫が", "好き"]
    assert align("猫", []) == []
    assert align("", ["▁", "x"]) == [(0, 0), (0, 0)]


LETTERS = st.text(
    st.sampled_from("abz東京のé😀e\u0301👨\u200d👩#\r\n\u3000"), min_size=1, max_size=4
)
UNITS = st.one_of(
    LETTERS.map(lambda word: (word, [word])),
    LETTERS.map(lambda word: (f" {word}", [f"▁{word}"])),
    st.integers(1, 4).map(lambda count: (" " * count, ["▁" * count])),
    st.characters(exclude_categories=["Cs"]).map(lambda char: (char, in_bytes(char))),
)


@given(st.lists(UNITS))
def test_every_piece_of_a_lossless_tokenizer_is_found_exactly(units):
    expected, start = [], 0
    for written, pieces in units:
        expected += [(start, start + len(written))] * len(pieces)
        start += len(written)
    text = "".join(written for written, _ in units)
    pieces = [piece for _, unit in units for piece in unit]
    assert align(text, pieces) == expected


ANY_TEXT = st.text(st.sampled_from("ab AB▁<0x41>猫①ﬁ\r\n 　\ud800"), max_size=60)
ANY_PIECES = st.lists(
    st.one_of(ANY_TEXT, st.sampled_from(["▁", "▁▁a", "<0xE3>", "<0x81>", "<0x82>", "<unk>", ""]))
)


def assert_covers(spans, text, pieces):
    assert len(spans) == len(pieces)
    end = 0
    previous = 0
    for start, stop in spans:
        assert previous <= start <= end <= max(end, stop)
        assert start <= stop <= len(text)
        previous, end = start, max(end, stop)
    if pieces:
        assert spans[0][0] == 0
        assert end == len(text)


@given(ANY_TEXT, ANY_PIECES)
def test_arbitrary_pieces_cover_the_text_in_order(text, pieces):
    assert_covers(align(text, pieces), text, pieces)


@given(st.lists(st.text(max_size=6), max_size=10))
def test_a_normalising_tokenizer_still_gives_one_place_per_piece(words):
    text = " ".join(words)
    pieces = [
        f"▁{unicodedata.normalize('NFKC', word).casefold()}" for word in words if word.strip()
    ]
    assert_covers(align(text, pieces), text, pieces)


@pytest.mark.parametrize(
    ("text", "pieces"),
    [
        ("猫 ab\n", [*in_bytes("猫"), "▁", "ab", "\n"]),
        ("猫x", ["zz", "y"]),
        ("aB ", ["b", "▁a"]),
        ("Upper Case ", ["upper", "▁case", "▁"]),
    ],
)
def test_a_long_text_costs_no_more_per_piece_than_a_line(text, pieces):
    times = 100_000 // len(text)
    assert len(align(text * times, pieces * times)) == len(pieces) * times
