"""Translates the library's English sentences to Japanese, whatever names and numbers they contain.

The table ``japanese.toml`` has sentences with ``{places}`` in both languages, and the system's own
errors by their names; the questions of a household about a file have a table of their own.
"""

from __future__ import annotations

import errno
import os
import re
import tomllib
from collections.abc import Iterable, Iterator
from functools import cache, lru_cache
from itertools import accumulate, chain, pairwise
from pathlib import Path

_PLACE = re.compile(r"\{(\w+)\}")
_QUOTED = re.compile(r""""(?:[^"\\]|\\.)*"|(?<!\w)'[^']*'(?!\w)""")
"""A name in quotes, which may hold any signs."""
_MAX_SENTENCE = 2_000
_NUMBER = r"\d[\d,]*"
_LETTERS = 5
"""How many letters of a sentence its place in the table is found by."""
_BETWEEN = {"parts": "; ", "list": ", "}
"""What is between the sentences or words of the places with these names."""
_HEADING = "heading"
"""The group of the table with headings instead of sentences."""
_Entry = tuple[int, int, str, str, str]
"""A sentence: how many letters are not in its places, with a minus; its number; the longest words
between its places; then itself, in both languages."""


def in_japanese(sentence: str) -> str:
    """A sentence in Japanese; one that is not in the table stays as it is.

    The values of places may be sentences of the table themselves, such as a reason, or several of
    them; a name in quotes stays whole. What begins with words, and has more of them, fits better.
    A file at the beginning ends at a colon, after which its own reason comes.
    """
    return _translated(sentence)[0] if len(sentence) <= _MAX_SENTENCE else sentence


def _translated(sentence: str) -> tuple[str, bool]:
    """A text in Japanese, and whether all sentences that it consists of are in the table."""
    whole = sentence, False
    for _, _, words, english, japanese in _candidates(sentence):
        if words in sentence and (match := _pattern(english).fullmatch(sentence)):
            values = {at: _translated_value(at, text) for at, text in match.groupdict().items()}
            translation = japanese.format(
                **{at: value or "''" for at, (value, _) in values.items()}
            )
            has_words = any(map(str.isalpha, words))  # a form without words fits almost anything
            whole = translation, has_words and all(is_said for _, is_said in values.values())
            break
    pieces = _pieces(sentence, "; ")
    if whole[1] or len(pieces) == 1:
        return whole
    # The form's last place may have taken the sentences after it.
    translated = [_translated(piece) for piece in pieces]
    is_said = all(each for _, each in translated)
    joined = "。".join(piece.removesuffix("。") for piece, _ in translated)
    return (joined, True) if is_said else whole


def _translated_value(place: str, value: str) -> tuple[str, bool]:
    """A placeholder's value in Japanese, and whether all of it could be translated.

    It may hold several sentences or words. A single one may be a name, which counts as translated.
    """
    between = _BETWEEN.get(place, "\n")
    pieces = [_translated(piece) for piece in _pieces(value, between)]
    is_said = len(_pieces(value, "; ")) == 1 or all(each for _, each in pieces)
    return between.join(piece for piece, _ in pieces), is_said


def _pieces(text: str, between: str) -> list[str]:
    """The parts of a text; what is quoted is never divided."""
    hidden = _QUOTED.sub(lambda quoted: " " * len(quoted[0]), text)
    ends = list(accumulate(len(part) + len(between) for part in hidden.split(between)))
    return [text[start : end - len(between)] for start, end in pairwise([0, *ends])]


def heading_in_japanese(heading: str) -> str:
    """The heading of a table, or the name of a fact, in Japanese.

    They are translated only here, not within sentences: a tool may be called "name".
    """
    return _headings().get(heading, heading)


@cache
def _headings() -> dict[str, str]:
    return dict(known_sentences()[_HEADING])


@cache
def known_sentences() -> dict[str, tuple[tuple[str, str], ...]]:
    """The table: pairs of sentences with ``{places}``, in English and Japanese, by group."""
    here = Path(__file__)
    table = tomllib.loads(here.with_suffix(".toml").read_text(encoding="utf-8"))
    asked = here.with_name("household") / "mapping_sentences.toml"
    table["system"] = dict(_errors_of_system(table.pop("errno")))
    questions = tomllib.loads(asked.read_text(encoding="utf-8")).values()
    table["mapping"] = {question["en"]: question["ja"] for question in questions}
    return {speaker: tuple(sentences.items()) for speaker, sentences in table.items()}


def _errors_of_system(named: dict[str, str]) -> Iterator[tuple[str, str]]:
    """What the system says of its errors, which is in English; within a sentence it is small."""
    for name, japanese in named.items():
        if number := getattr(errno, name, None):  # not each system has each of them
            message = os.strerror(number)
            yield from ((words, japanese) for words in (message, message.lower()))


def _candidates(sentence: str) -> Iterable[_Entry]:
    """What a sentence may be, judged by its first and its last letters; the most special first."""
    beginning, ending = _sentence_table()
    others = ending.get(sentence[-_LETTERS:], ending[""])
    return chain(beginning.get(sentence[:_LETTERS], ()), others)


@cache
def _sentence_table() -> tuple[dict[str, list[_Entry]], dict[str, list[_Entry]]]:
    """The sentences by their first letters, and those that begin with a place by their last."""
    beginning: dict[str, list[_Entry]] = {}
    ending: dict[str, list[_Entry]] = {}
    groups = (group for speaker, group in known_sentences().items() if speaker != _HEADING)
    for number, (english, japanese) in enumerate(chain.from_iterable(groups)):
        parts = _PLACE.split(english)[::2]
        first, last = parts[0], parts[-1]
        if len(first) >= _LETTERS:
            table, key = beginning, first[:_LETTERS]
        else:
            table, key = ending, last[-_LETTERS:] if len(last) >= _LETTERS else ""
        entry = -sum(map(len, parts)), number, max(parts, key=len), english, japanese
        table.setdefault(key, []).append(entry)
    for entries in beginning.values():
        entries.sort()
    return beginning, {key: sorted({*entries, *ending[""]}) for key, entries in ending.items()}


@lru_cache(maxsize=1_024)
def _pattern(english: str) -> re.Pattern[str]:
    """A pattern that matches the sentence with any values; few are ever needed."""
    parts = _PLACE.split(english)
    written = [re.escape(part) for part in parts]
    for number in range(1, len(parts), 2):
        name = parts[number]
        may_be_empty = parts[number - 1][-1:] == parts[number + 1][:1] == "'"
        sign = "(?!: )." if name == "file" and english.startswith("{file}") else "."
        value = f"(?>{_QUOTED.pattern}|{sign}){'*' if may_be_empty else '+'}?"
        written[number] = f"(?P<{name}>{_NUMBER if name.startswith('digits') else value})"
    return re.compile("".join(written))
