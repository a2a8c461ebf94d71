"""Windows of an exact number of tokens, and pieces that fit a model."""

from table_of_cases import each
from tiny_embedder import TinyBackend

from mdvec.text.tokens import ChunkingOptions, fitting_pieces, token_windows

TINY = TinyBackend()


def options(size=64, overlap=8):
    return ChunkingOptions("token", size, overlap, (1, 2, 3), 50)


def words(first, last):
    return " ".join(f"w{number}" for number in range(first, last + 1))


def parts(text, size=64, overlap=8):
    windows = token_windows(text, 0, len(text), options(size, overlap), TINY)
    return [text[first:last] for first, last in windows]


@each(("count", "windows"), [(1, 1), (63, 1), (64, 1), (65, 2), (120, 2), (121, 3)])
def test_as_few_windows_as_it_takes(count, windows):
    assert len(parts(words(1, count))) == windows


@each(
    "character",
    ["か\u3099", "e\u0301\u0323", "👨\u200d👩\u200d👧", "👍🏽", "❤\ufe0f", "1\ufe0f\u20e3", "🇯🇵",
     "ｶﾞ", "葛\U000e0100", "🏴\U000e0067\U000e007f"],
)  # fmt: skip
def test_no_window_parts_what_people_see_as_one_character(character):
    for lead in range(4):
        text = "a" * lead + character * 100
        edges = {
            edge for pair in token_windows(text, 0, len(text), options(), TINY) for edge in pair
        }
        assert {(edge - lead) % len(character) for edge in edges if edge} == {0}


@each("run", ["\u0301", "\u200d", "🇯", "ﾞ"])
def test_an_endless_run_of_them_is_cut_all_the_same(run):
    text = "a" + run * 2_000
    ranges = token_windows(text, 0, len(text), options(), TINY)
    assert max(last - first for first, last in ranges) <= 64 + 32
    assert ranges[-1][1] == len(text)


def test_a_window_stays_within_its_range():
    text = "見" * 10 + "\u200d\u0301" + "字" * 200 + "外" * 10
    ranges = token_windows(text, 11, 212, options(64, 63), TINY)
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
