"""Finds words that a text writes as two (Wi-Fi for wifi), and compounds of several words."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from itertools import islice, pairwise, product

from mdvec.index.literal_words import chunk_texts
from mdvec.index.tables import Tables
from mdvec.index.words import chunks_matching, chunks_with_phrases
from mdvec.text import HYPHENS, folded, morphemes

_MAX_PHRASES, _MAX_COMPARED = 16, 30
_MIN_LETTERS = 4
"""A shorter word (api, use) may be two others by chance."""
_SIGN = f"[./&+{HYPHENS}]"


def chunks_in_parts(tables: Tables, word: str) -> list[int]:
    """The best hundred chunks that write a word as two (Wi-Fi, VS Code, Node.js).

    Between the two is one sign, or a space if both begin with a capital: "is land" is not island.
    """
    if len(word) < _MIN_LETTERS or not (word.isascii() and word.isalpha()):
        return []
    cuts = [(word[:at], word[at:]) for at in range(1, len(word))]
    ids = chunks_with_phrases(tables, cuts)
    if not ids:
        return []
    signs = rf"(?:{_SIGN}|\s)"
    spellings = "|".join(f"{first}{signs}{second}" for first, second in cuts)
    pattern = re.compile(f"(?<![a-z0-9])(?:{spellings})(?![a-z0-9])", re.IGNORECASE)
    saying = {
        number
        for number, names, text in chunk_texts(tables, ids)
        if any(
            map(_is_one_word, pattern.findall(unicodedata.normalize("NFKC", f"{names}\n{text}")))
        )
    }
    return [number for number in ids if number in saying]


def has_compound(tables: Tables, words: Sequence[Sequence[str]], between: str = "") -> bool:
    """Whether a text has the words of a compound one after another, with nothing between them.

    ``words`` has the accepted terms for each word; ``between`` is a particle that may stand between
    two words. If more chunks than are compared may have them, the result is True.
    """
    phrases = (f'"{" ".join(phrase)}"' for phrase in islice(product(*words), _MAX_PHRASES))
    ids = chunks_matching(tables, " OR ".join(phrases), _MAX_COMPARED + 1)
    return len(ids) > _MAX_COMPARED or any(
        _has_side_by_side(folded(f"{names}\n{text}"), words, between)
        for _, names, text in chunk_texts(tables, ids)
    )


def _is_one_word(parts: str) -> bool:
    """Whether two parts are one word: without a space, or both begin with a capital."""
    return all(part[0].isupper() for part in parts.split()) or len(parts.split()) == 1


def _has_side_by_side(text: str, words: Sequence[Sequence[str]], between: str) -> bool:
    spoken = [word for word in morphemes(text) if text[word.start : word.end] != between]
    firsts = range(len(spoken) - len(words) + 1)
    stretches = (spoken[first : first + len(words)] for first in firsts)
    return any(
        all(word.term in terms for word, terms in zip(stretch, words, strict=True))
        and all(
            text[before.end : after.start] in ("", between) for before, after in pairwise(stretch)
        )
        for stretch in stretches
    )
