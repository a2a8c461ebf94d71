"""What doctor and commands say, in Japanese: each is still said in English, none hides another."""

import ast
import re
from functools import cache
from pathlib import Path

from table_of_cases import each

import mdvec
from mdvec.japanese import heading_in_japanese, in_japanese, known_sentences

PLACE = re.compile(r"\{(\w+)\}")
TOLD = [*known_sentences()["finding"], *known_sentences()["command"]]
USAGE = known_sentences()["usage"]  # said by Typer
KANA = re.compile(r"[ぁ-んァ-ヶ]")


@cache
def literals():
    """All texts in the library's source, and in the programs beside it, in one."""
    root = Path(mdvec.__file__).parents[3]
    files = [file for folder in root.glob("*/src") for file in folder.rglob("*.py")]
    trees = (ast.parse(file.read_text(encoding="utf-8")) for file in files)
    return "\n".join(
        node.value
        for tree in trees
        for node in ast.walk(tree)
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
    )


@each(("english", "japanese"), [*TOLD, *USAGE])
def test_a_sentence_is_found_and_still_said(english, japanese):
    names = PLACE.findall(english)
    assert set(names) == set(PLACE.findall(japanese))
    values = {name: f"{at}水" for at, name in enumerate(names)}
    assert in_japanese(english.format(**values)) == japanese.format(**values)
    assert KANA.search(japanese) or english.startswith(("Python", "SQLite"))
    # What is in a literal ends at a place, a count or a choice; the words before that are in one.
    parts = re.split(r"(?:\b1|\{count\}) \w+(?: is| are)?|'?\{\w+\}'?|[;:,().]", english)
    words = max(parts, key=len).split()
    said = " ".join(words[: max(2, len(words) // 2)])
    assert said in literals() or (english, japanese) in USAGE


@each(("english", "japanese"), known_sentences()["heading"])
def test_a_heading_is_a_word_of_a_table_and_no_sentence(english, japanese):
    assert heading_in_japanese(english) == japanese
    assert in_japanese(english) == english
    assert english in literals()


def test_reasons_within_a_sentence_are_put_into_japanese_too():
    assert in_japanese("plamo is missing (not installed); [model] name asks for it") == (
        "plamo がありません（入っていません）。[model] name で指定されています"
    )
    assert in_japanese("x" * 3_000) == "x" * 3_000
    assert in_japanese("nothing that is known") == "nothing that is known"
