"""Translates the library's English sentences to Japanese, whatever names and numbers they contain.

The table ``japanese.toml`` has sentences with ``{places}`` in both languages; the questions of a
household about a file have a table of their own.
"""

from __future__ import annotations

import re
import tomllib
from functools import cache, lru_cache
from pathlib import Path

_PLACE = re.compile(r"\{(\w+)\}")
_MAX_SENTENCE = 2_000
_HEADING = "heading"
"""The group of the table with headings instead of sentences."""


def in_japanese(sentence: str) -> str:
    """A sentence in Japanese; one that is not in the table stays as it is.

    Values of places may be sentences of the table themselves, such as a reason.
    """
    if len(sentence) > _MAX_SENTENCE:
        return sentence
    for first, last, english, japanese in _sentence_table():
        if not (sentence.startswith(first) and sentence.endswith(last)):
            continue
        match = _pattern(english).fullmatch(sentence)
        if match is not None:
            values = match.groupdict()
            return japanese.format(
                **{name: _placeholder_value(name, values[name]) for name in values}
            )
    return sentence


def _placeholder_value(place: str, value: str) -> str:
    """The value of a place, translated; a place called parts holds several sentences."""
    return "; ".join(map(in_japanese, value.split("; ") if place == "parts" else [value]))


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


@cache
def _sentence_table() -> tuple[tuple[str, str, str, str], ...]:
    """For each sentence, its text before the first and after the last place; English; Japanese."""
    return tuple(
        (parts[0], parts[-1], english, japanese)
        for speaker, sentences in known_sentences().items()
        if speaker != _HEADING
        for english, japanese in sentences
        for parts in [_PLACE.split(english)]
    )


@lru_cache(maxsize=1_024)
def _pattern(english: str) -> re.Pattern[str]:
    """A pattern that matches the sentence with any values; few are ever needed."""
    parts = _PLACE.split(english)
    return re.compile(
        "".join(
            f"(?P<{part}>.+?)" if number % 2 else re.escape(part)
            for number, part in enumerate(parts)
        )
    )
