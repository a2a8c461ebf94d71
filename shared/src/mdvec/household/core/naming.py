"""Decides whether words name a shop or memo, in any width, kana or spelling."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from functools import lru_cache
from typing import NamedTuple

from mdvec.text import folded, morphemes

_KANA = re.compile("[\u3041-\u3096\u30a1-\u30fa\u30fc]+")
_NO_WORD = re.compile(r"[\W_]+")
_TO_KATAKANA = {place: place + 0x60 for place in range(0x3041, 0x3097)}
OR = "|"
"""Between alternatives in a question."""
_MIN_READING = 3
"""Shorter readings belong to too many words."""


class Naming(Enum):
    """How a text relates to words: named by them, or only with the same letters inside a word."""

    NAMED = "named"
    INSIDE = "inside"
    NOT = "not"


class _Word(NamedTuple):
    """A word of a text: its normalised form, its reading in katakana, and its place."""

    term: str
    reading: str
    start: int
    end: int
    is_kana: bool


@dataclass(frozen=True, slots=True)
class _Part:
    """A part of the words asked for, between spaces: its words in order, and its bare letters."""

    words: tuple[_Word, ...]
    letters: str


class WordsAsked:
    """The words of a question for rows.

    All parts between spaces must be in a row's texts; of alternatives, which ``OR`` separates, one.
    """

    def __init__(self, query: str) -> None:
        alternatives = ([_part(word) for word in each.split()] for each in folded(query).split(OR))
        parts = ([part for part in each if part is not None] for each in alternatives)
        self._alternatives = [each for each in parts if each]

    @property
    def is_empty(self) -> bool:
        """Whether there is nothing to look for."""
        return not self._alternatives

    def naming(self, texts: Sequence[str]) -> Naming:
        """How a row's shop and memo relate to the words."""
        namings = (_all_named(parts, texts) for parts in self._alternatives)
        return max(namings, key=_RANK.__getitem__, default=Naming.NOT)


_RANK = {Naming.NOT: 0, Naming.INSIDE: 1, Naming.NAMED: 2}


def _part(text: str) -> _Part | None:
    letters = _bare(text)
    return _Part(_words(text), letters) if letters else None


def _all_named(parts: Sequence[_Part], texts: Sequence[str]) -> Naming:
    namings = [
        max((_naming(part, text) for text in texts), key=_RANK.__getitem__) for part in parts
    ]
    return min(namings, key=_RANK.__getitem__)


def _naming(part: _Part, text: str) -> Naming:
    words = _words(text)
    if _has_words(part.words, words) or _is_read_alike(part, words):
        return Naming.NAMED
    if part.letters not in _bare(text):
        return Naming.NOT
    return Naming.NAMED if _stands_alone(part.letters, text, words) else Naming.INSIDE


def _has_words(wanted: Sequence[_Word], words: Sequence[_Word]) -> bool:
    """Whether the words asked for follow one another in a text."""
    size = len(wanted)
    return size > 0 and any(
        all(map(_is_same, wanted, words[first : first + size]))
        for first in range(len(words) - size + 1)
    )


def _is_same(word: _Word, other: _Word) -> bool:
    """Whether two words have the same normalised form, or, one being in kana, the same reading."""
    if word.term == other.term:
        return True
    is_kana = word.is_kana or other.is_kana
    return is_kana and word.reading == other.reading and len(word.reading) >= _MIN_READING


def _is_read_alike(part: _Part, words: Sequence[_Word]) -> bool:
    """Whether adjoining words are read as the part, and one of the two is written in kana alone."""
    reading = "".join(word.reading for word in part.words)
    if all(word.is_kana for word in part.words):
        reading = part.letters.translate(_TO_KATAKANA)
    if len(reading) < _MIN_READING:
        return False
    for first in range(len(words)):
        read = ""
        for last in range(first, len(words)):
            read += words[last].reading
            if len(read) >= len(reading):
                break
        span = words[first : last + 1]
        if read == reading and any(all(w.is_kana for w in side) for side in (part.words, span)):
            return True
    return False


def _stands_alone(letters: str, text: str, words: Sequence[_Word]) -> bool:
    """Whether the letters begin and end where words of the text do."""
    plain = folded(text)
    places = [position for position, letter in enumerate(plain) if not _NO_WORD.fullmatch(letter)]
    starts = {position for position in places if position - 1 not in places}
    ends = {position + 1 for position in places if position + 1 not in places}
    starts |= {word.start for word in words}
    ends |= {word.end for word in words}
    bare = "".join(plain[position] for position in places)
    at = bare.find(letters)
    while at >= 0:
        if places[at] in starts and places[at + len(letters) - 1] + 1 in ends:
            return True
        at = bare.find(letters, at + 1)
    return False


@lru_cache(maxsize=65_536)
def _words(text: str) -> tuple[_Word, ...]:
    plain = folded(text)
    return tuple(
        _Word(
            morpheme.term, morpheme.reading, morpheme.start, morpheme.end,
            _KANA.fullmatch(plain[morpheme.start : morpheme.end]) is not None,
        )
        for morpheme in morphemes(text)
    )  # fmt: skip


@lru_cache(maxsize=65_536)
def _bare(text: str) -> str:
    return _NO_WORD.sub("", folded(text))
