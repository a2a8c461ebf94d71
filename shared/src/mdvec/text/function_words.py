"""Tells English words that are meant themselves (never型, US) from those that join or ask."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace

from mdvec.text.folding import folded
from mdvec.text.index_terms import is_letters
from mdvec.text.morphology import FUNCTION_WORDS, Morpheme, Role, morphemes

_QUOTED = re.compile(r"`[^`\n]+`|「[^」\n]+」|『[^』\n]+』")
_STRETCH = re.compile(r"[^\s、。!?,;()\[\]「」『』`]+")
"""What is between spaces, brackets, quotes and the ends of sentences, in folded text."""
_WORD = re.compile("[a-z]+")
_MIN_CAPITALS = 2


def words_in_context(text: str) -> list[Morpheme]:
    """The words of a text as by ``morphemes``, where English words that are meant are content.

    Words such as never, this and how only join or ask in an English sentence. They are meant in
    quotes (`this`), in capitals if not all words are (US benefits), and in Japanese: beside
    Japanese letters (never型), before a particle (any と), or as the only word in letters (if 文).
    """
    words, lower = morphemes(text), folded(text)
    functions = [word for word in words if word.term in FUNCTION_WORDS]
    if not functions:
        return words
    is_japanese = any(not is_letters(lower[word.start]) for word in words)
    meant = {position for match in _QUOTED.finditer(lower) for position in range(*match.span())}
    as_typed = text if len(text) == len(lower) else lower
    if is_japanese or not as_typed.isupper():
        meant |= {word.start for word in functions if _is_in_capitals(as_typed, word)}
    if is_japanese:
        meant |= set(_in_japanese(lower, words))
    if is_japanese and len(_WORD.findall(lower)) == 1:
        meant.add(functions[0].start)
    return [_as_content(word, meant) for word in words]


def _is_in_capitals(text: str, word: Morpheme) -> bool:
    return word.end - word.start >= _MIN_CAPITALS and text[word.start : word.end].isupper()


def _in_japanese(text: str, words: Sequence[Morpheme]) -> Iterator[int]:
    """The positions in stretches that contain Japanese letters, or precede a particle."""
    japanese = [word for word in words if not is_letters(text[word.start])]
    for match in _STRETCH.finditer(text):
        following = (word for word in japanese if word.end > match.start())
        next_one = next(following, None)
        if next_one is not None and (
            next_one.start < match.end()
            or (next_one.role is Role.GRAMMAR and text[match.end() : next_one.start].isspace())
        ):
            yield from range(*match.span())


def _as_content(word: Morpheme, meant: Collection[int]) -> Morpheme:
    is_meant = word.start in meant and word.term in FUNCTION_WORDS
    return replace(word, role=Role.CONTENT) if is_meant else word
