"""Translates the library's English sentences to Japanese, whatever names and numbers they contain.

The table ``japanese.toml`` has sentences with ``{places}`` in both languages; the questions of a
household about a file have a table of their own.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable
from functools import cache, lru_cache
from itertools import chain
from pathlib import Path

_PLACE = re.compile(r"\{(\w+)\}")
_MAX_SENTENCE = 2_000
_NUMBER = r"\d[\d,]*"
_LETTERS = 5
"""How many letters of a sentence its place in the table is found by."""
_BETWEEN = {"parts": "; ", "list": ", "}
"""What is between the sentences or words of the places with these names."""
_HEADING = "heading"
"""The group of the table with headings instead of sentences."""


def in_japanese(sentence: str) -> str:
    """A sentence in Japanese; one that is not in the table stays as it is.

    The values of places may be sentences of the table themselves, such as a reason, or several of
    them. What begins with words, and has more of them, fits better than others.
    """
    if len(sentence) > _MAX_SENTENCE:
        return sentence
    fitting = sentence
    for _, _, words, english, japanese in _candidates(sentence):
        if words in sentence and (match := _pattern(english).fullmatch(sentence)):
            values = match.groupdict()
            fitting = japanese.format(**{at: _placeholder_value(at, values[at]) for at in values})
            several = [values[at] for at in values.keys() - _BETWEEN if "; " in values[at]]
            if all(in_japanese(value) != value for value in several):
                return fitting
            break  # its last place may have taken the sentences after it
    pieces = sentence.split("; ") if "; " in sentence else []
    said = [in_japanese(piece) for piece in pieces]
    return "。".join(said) if pieces and not {*said} & {*pieces} else fitting


def _placeholder_value(place: str, value: str) -> str:
    """The value of a place, translated; some places hold several sentences or words."""
    between = _BETWEEN.get(place, "\n")
    return between.join(map(in_japanese, value.split(between)))


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
    table["mapping"] = list(tomllib.loads(asked.read_text(encoding="utf-8")).values())
    return {
        speaker: tuple((each["en"], each["ja"]) for each in sentences)
        for speaker, sentences in table.items()
    }


_Entry = tuple[int, int, str, str, str]
"""A sentence: how many letters are not in its places, with a minus; its number; the longest words
between its places; then itself, in both languages."""


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
    return re.compile(
        "".join(
            f"(?P<{part}>{_NUMBER if part.startswith('digits') else '.+?'})"
            if number % 2
            else re.escape(part)
            for number, part in enumerate(parts)
        )
    )
