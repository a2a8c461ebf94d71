"""What doctor and commands say, in Japanese: each is still said in English, none hides another."""

import errno
import os
import re
from functools import cache
from importlib.machinery import SourceFileLoader
from itertools import product
from pathlib import Path
from types import CodeType

from table_of_cases import each

import mdvec
from mdvec.japanese import heading_in_japanese, in_japanese, known_sentences
from mdvec.sync.freshness import Freshness
from mdvec.text import quoted

PLACE = re.compile(r"\{(\w+)\}")
TOLD = [*known_sentences()["finding"], *known_sentences()["command"]]
USAGE = known_sentences()["usage"]  # said by Typer
KANA = re.compile(r"[ぁ-んァ-ヶ一-龠]")


def texts_in(constants):
    """The texts among a module's constants, and in those of its functions and classes."""
    for one in constants:
        if isinstance(one, str):
            yield one
        elif isinstance(one, CodeType):
            yield from texts_in(one.co_consts)
        elif isinstance(one, tuple | frozenset):
            yield from texts_in(one)


@cache
def literals():
    """All texts in the library's source, and in the programs beside it, in one."""
    root = Path(mdvec.__file__).parents[3]
    files = [file for folder in root.glob("*/src") for file in folder.rglob("*.py")]
    codes = [SourceFileLoader(file.stem, str(file)).get_code(file.stem) for file in files]
    return "\n".join(texts_in(codes))


@each(("english", "japanese"), [*TOLD, *USAGE])
def test_a_sentence_is_found_and_still_said(english, japanese):
    names = PLACE.findall(english)
    assert set(names) == set(PLACE.findall(japanese))
    values = {
        name: f"{at}{'水' * (not name.startswith('digits'))}" for at, name in enumerate(names)
    }
    assert in_japanese(english.format(**values)) == japanese.format(**values)
    assert KANA.search(japanese) or english.startswith(("Python", "SQLite", "{file}: {parts}"))
    # What is in a literal ends at a place, a count or a choice; the words before that are in one.
    parts = re.split(
        r"(?:\b1|\{(?:count|digits\w*)\}) \w+(?: is| are| was| were)?|'?\{\w+\}'?|[;:,().]", english
    )
    words = max(parts, key=len).split()
    said = " ".join(words[: max(2, len(words) // 2)])
    assert said in literals() or (english, japanese) in USAGE


@each(("english", "japanese"), known_sentences()["heading"])
def test_a_heading_is_a_word_of_a_table_and_no_sentence(english, japanese):
    assert heading_in_japanese(english) == japanese
    assert in_japanese(english) == english
    assert english in literals()


@each(("english", "japanese"), known_sentences()["mapping"])
def test_what_is_asked_about_a_file_that_was_passed_over_is_in_japanese(english, japanese):
    places = {"column": "摘要", "shown": "繰越", "quoted": '"摘要"'}
    said = in_japanese(
        f"passed over: a.csv: something in it is undecided: {english.format(**places)} "
        "(also undecided: 備考); to import it: mdvec household map a.csv -n b"
    )
    assert said == (
        "読みませんでした: a.csv: 決まっていないことがあります: "
        f"{japanese.format(**places)}（ほかに: 備考）。取り込むには: mdvec household map a.csv -n b"
    )


def test_reasons_within_a_sentence_are_put_into_japanese_too():
    assert in_japanese("plamo is missing (not installed); [model] name asks for it") == (
        "plamo がありません（入っていません）。[model] name で指定されています"
    )
    assert in_japanese("failed: a.docx: it needs a password; save a copy without one") == (
        "読めません: a.docx: パスワードが要ります。パスワードなしの写しを保存してください"
    )
    assert in_japanese("1 file is newer than the index of x; reindex imports it") == (
        "x に、まだ取り込んでいない新しいファイルが 1 個あります。reindex で取り込めます"
    )
    assert in_japanese("not read, as mdvec cannot: .odt (1 file), no ending (2 files)") == (
        "読めない種類のもの: .odt（1 ファイル）, 拡張子なし（2 ファイル）"
    )
    left_out = "left out of the sums, as decided for all bills of the card"
    assert in_japanese(f"{left_out}: 1 card bill").endswith("、合計から外しました: 1 件")
    assert in_japanese("my rows") == "my rows"
    assert in_japanese("x" * 3_000) == "x" * 3_000
    assert in_japanese("nothing that is known") == "nothing that is known"


def test_a_file_and_its_reason_are_not_taken_for_a_longer_name():
    assert in_japanese("a.csv: it cannot be read (is a directory)") == (
        "a.csv: 読めません（フォルダーです）"
    )
    assert in_japanese("a.sqlite#x: it is a view that cannot be read (gone)") == (
        "a.sqlite#x: 読めないビューです（gone）"
    )
    assert in_japanese("C:\\a: b.csv cannot be read (gone)") == "C:\\a: b.csv を読めません（gone）"


def test_an_error_of_the_system_is_in_japanese_where_its_number_is_known():
    for number in (errno.EACCES, errno.ENOSPC, errno.ENAMETOOLONG, errno.ELOOP):
        assert KANA.search(in_japanese(os.strerror(number)))
    assert in_japanese(f"a.csv cannot be read ({os.strerror(errno.EACCES)})") == (
        "a.csv を読めません（権限がありません）"
    )
    unknown = os.strerror(errno.EDEADLK)
    assert in_japanese(f"a.csv cannot be read ({unknown})") == f"a.csv を読めません（{unknown}）"


NAMES = ["メモ; 家計.md", "a: b; c.md", "x (y); z, 5.csv", 'say "hi"; ok.md', "it's; here.md", "; "]


@each("name", NAMES)
def test_a_quoted_name_is_never_divided_nor_changed(name):
    shown = quoted(name)
    assert in_japanese(f"failed: {shown}: it needs a password; save a copy without one") == (
        f"読めません: {shown}: パスワードが要ります。パスワードなしの写しを保存してください"
    )
    assert in_japanese(f"failed: {shown}: a reason; in English") == (
        f"読めません: {shown}: a reason; in English"
    )
    assert "a; b.md" in in_japanese("left out: a; b.md: it is no file of data")
    assert in_japanese(f"{shown} (other); words") == f"{shown} (other); words"


def test_a_table_whose_file_is_gone_is_told_in_japanese():
    again = "mdvec import -n d --mode update --checksum"
    how = f"the user can have the files read again with: {again}"
    assert in_japanese(f"not there: d__y, d__z (its file is gone); {how}") == (
        f"ありません: d__y, d__z（ファイルがなくなっています）。ファイルを読み直すには: {again}"
    )


def test_what_differs_between_a_source_and_its_index_is_whole_in_japanese():
    hard = "仕事; (a: b)/2024/"
    some = ((), (hard,), tuple(f"{number}.csv" for number in range(1_200)))
    numbers = (0, 1, 1_200)
    # Whether an import is running matters to what differs only, which is said before the rest.
    whats = [*product(numbers, numbers, some, [()], [()], (False, True))]
    whats += product((0, 1), [0], some, some, some, [False])
    for (added, deleted, outdated, missing, emptied, is_running), how in product(
        whats, ("", "import with: mdvec import -n d")
    ):
        state = Freshness(
            "d", Path(), added=added, deleted=deleted, outdated=outdated, missing=missing,
            emptied=emptied, is_being_imported=is_running,
        )  # fmt: skip
        said = in_japanese(state.sentence(how))
        assert not re.search(r"[a-z]{2,} [a-z]+", said.replace("mdvec import -n d", "")), said
        assert said.count(quoted(hard)) == [*outdated, *missing, *emptied].count(hard)
        assert said.count("mdvec import -n d") == (how in state.sentence(how)) * bool(how)
