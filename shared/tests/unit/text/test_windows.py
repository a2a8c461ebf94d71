"""Windows of tokens: exact ones, those that prefer a sentence's end, and pieces that fit."""

import pytest
from tiny_embedder import TinyBackend

from mdvec.text.options import ChunkingOptions
from mdvec.text.windows import fitting_pieces, sentence_windows, token_windows

TINY = TinyBackend()


def options(size=64, overlap=8):
    return ChunkingOptions("token", size, overlap, (1, 2, 3), 50)


def words(first, last):
    return " ".join(f"w{number}" for number in range(first, last + 1))


def parts(cut, text, size=64, overlap=8):
    return [
        text[first:last]
        for first, last in cut(text, 0, len(text), options(size, overlap), TINY)
    ]  # fmt: skip


def test_three_thousand_tokens_at_1024_and_64_give_four_windows_with_exact_ends():
    windows = parts(token_windows, words(0, 2999), 1024, 64)
    assert [window.rstrip() for window in windows] == [
        words(0, 1023), words(960, 1983), words(1920, 2943), words(2880, 2999),
    ]  # fmt: skip


@pytest.mark.parametrize("cut", [token_windows, sentence_windows])
@pytest.mark.parametrize(
    ("count", "windows"), [(1, 1), (63, 1), (64, 1), (65, 2), (120, 2), (121, 3)]
)
def test_as_few_windows_as_it_takes(cut, count, windows):
    assert len(parts(cut, words(1, count))) == windows


@pytest.mark.parametrize("cut", [token_windows, sentence_windows])
def test_without_overlap_the_windows_are_the_text(cut):
    text = "一文目です。二文目です。\n\n" * 40
    assert "".join(parts(cut, text, overlap=0)) == text


@pytest.mark.parametrize("cut", [token_windows, sentence_windows])
def test_no_text_gives_no_windows(cut):
    assert parts(cut, "") == []


@pytest.mark.parametrize("cut", [token_windows, sentence_windows])
def test_the_largest_overlap_still_moves_on_and_no_window_lies_in_another(cut):
    text = "あ。" + "い" * 50 + "。" + "う" * 100 + "。終"
    ranges = cut(text, 0, len(text), options(64, 63), TINY)
    assert ranges[-1][1] == len(text)
    assert all(a <= c and b < d for (a, b), (c, d) in zip(ranges, ranges[1:], strict=False))


def test_a_text_that_fits_is_one_window_whatever_stands_in_it():
    text = "一。\n\n二。\n\n三。"
    assert parts(sentence_windows, text) == [text]


@pytest.mark.parametrize(
    "pause",
    ["。", "！", "？", "．", "。」", "？！", "）。", "!", "?", ". ", '." ', "\n", "\r\n", "\r"],
)
def test_a_long_text_is_cut_behind_a_sentence(pause):
    text = "字" * 50 + pause + "字" * 100
    assert parts(sentence_windows, text, overlap=0)[0] == "字" * 50 + pause.rstrip(" ")


@pytest.mark.parametrize("no_pause", ["3.14", "v1.2", "、", "a.b", ",", ":"])
def test_a_dot_or_a_comma_within_is_no_pause(no_pause):
    text = "字" * 50 + no_pause + "字" * 100
    assert len(TINY.token_spans(parts(sentence_windows, text, overlap=0)[0])) == 64


def test_a_blank_line_is_a_better_end_than_a_later_sentence_and_that_than_a_later_line():
    blank = "字" * 40 + "\n\n" + "字" * 10 + "。" + "字" * 5 + "\n" + "字" * 100
    assert parts(sentence_windows, blank, overlap=0)[0] == "字" * 40 + "\n\n"
    sentence = blank.replace("\n\n", "字")
    assert parts(sentence_windows, sentence, overlap=0)[0] == "字" * 51 + "。"
    line = sentence.replace("。", "字")
    assert parts(sentence_windows, line, overlap=0)[0] == "字" * 57 + "\n"


def test_the_last_pause_that_fits_is_taken():
    text = "一二三四五六七。" * 20
    assert parts(sentence_windows, text, overlap=0)[0] == "一二三四五六七。" * 8


def test_a_pause_in_the_first_half_is_too_early():
    text = "字" * 20 + "。" + "字" * 200
    assert len(parts(sentence_windows, text, overlap=0)[0]) == 64


def test_the_next_window_begins_the_overlap_before_the_end():
    first, second = parts(sentence_windows, "字" * 49 + "。" + "文" * 50, overlap=8)
    assert (first, second[:10]) == ("字" * 49 + "。", "字" * 7 + "。文文")


def test_white_space_behind_a_sentence_does_not_count_into_the_overlap():
    text = f"{words(1, 48)}.\n\n {words(49, 90)}"
    first, second = parts(sentence_windows, text, overlap=8)
    assert (first, second) == (f"{words(1, 48)}.\n\n", f"{words(42, 48)}.\n\n {words(49, 90)}")


def test_a_large_overlap_is_kept_where_the_last_sentence_ended_early():
    text = "字" * 39 + "。" + "文" * 60
    ranges = sentence_windows(text, 0, 100, options(64, 50), TINY)
    assert ranges[:3] == [(0, 40), (1, 65), (15, 79)]


@pytest.mark.parametrize(
    "character",
    ["か\u3099", "e\u0301\u0323", "👨\u200d👩\u200d👧", "👍🏽", "❤\ufe0f", "1\ufe0f\u20e3", "🇯🇵",
     "ｶﾞ", "葛\U000e0100", "🏴\U000e0067\U000e007f"],
)  # fmt: skip
@pytest.mark.parametrize("cut", [token_windows, sentence_windows])
def test_no_window_parts_what_people_see_as_one_character(cut, character):
    for lead in range(4):
        text = "a" * lead + character * 100
        edges = {edge for pair in cut(text, 0, len(text), options(), TINY) for edge in pair}
        assert {(edge - lead) % len(character) for edge in edges if edge} == {0}


@pytest.mark.parametrize("cut", [token_windows, sentence_windows])
@pytest.mark.parametrize("run", ["\u0301", "\u200d", "🇯", "ﾞ"])
def test_an_endless_run_of_them_is_cut_all_the_same(cut, run):
    text = "a" + run * 2_000
    ranges = cut(text, 0, len(text), options(), TINY)
    assert max(last - first for first, last in ranges) <= 64 + 32
    assert ranges[-1][1] == len(text)


@pytest.mark.parametrize("cut", [token_windows, sentence_windows])
def test_a_window_stays_within_its_range(cut):
    text = "見" * 10 + "\u200d\u0301" + "字" * 200 + "外" * 10
    ranges = cut(text, 11, 212, options(64, 63), TINY)
    assert (ranges[0][0], ranges[-1][1]) == (11, 212)
    assert all(11 <= first < last <= 212 for first, last in ranges)


def test_pieces_are_halved_until_the_model_takes_each():
    text = "字。" * 100
    narrow = TinyBackend(max_tokens=40)
    pieces = [text[a:b] for a, b in fitting_pieces(text, 0, len(text), narrow)]
    assert "".join(pieces) == text
    assert all(piece.endswith("。") and not narrow.oversized(piece) for piece in pieces)


def test_a_piece_without_a_pause_is_halved_where_it_is():
    text = "か\u3099" * 64
    pieces = fitting_pieces(text, 0, 128, TinyBackend(max_tokens=64))
    assert pieces == [(0, 64), (64, 128)]


def test_crlf_is_never_halved():
    assert fitting_pieces("ab\r\ncd", 0, 6, TinyBackend(max_tokens=1)) == [(0, 2), (2, 6)]


def test_one_character_stays_one_piece_however_many_tokens_it_has():
    assert fitting_pieces("㍿", 0, 1, TinyBackend(max_tokens=0)) == [(0, 1)]
