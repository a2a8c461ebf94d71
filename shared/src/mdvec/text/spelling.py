"""Finds words that differ by a typing error or two, by hiragana and katakana, or by numerals."""

from __future__ import annotations

import re
from collections.abc import Iterable

_CHECKED = re.compile(r"[a-z_][a-z0-9_]*|[\u30a1-\u30fa\u30fc]+")
_ONE_EDIT, _TWO_EDITS = 4, 8
_KANA = 0x60
"""The code point offset from hiragana to katakana."""
_TO_KATAKANA = {place: place + _KANA for place in range(0x3041, 0x3097)}
_TO_HIRAGANA = {katakana: hiragana for hiragana, katakana in _TO_KATAKANA.items()}
_NUMBER = re.compile(r"=?\d+")
_ONE_KANA = re.compile("=(?:[\u3041-\u3096\u30fc]{2,}|[\u30a1-\u30f6\u30fc]{2,})")


def in_other_kana(term: str) -> tuple[str, ...]:
    """The term of a kana word in the other kana (ごみ: ゴミ); empty for other words."""
    if not _ONE_KANA.fullmatch(term):
        return ()
    return (term.translate(_TO_KATAKANA | _TO_HIRAGANA),)


def in_other_numerals(term: str) -> tuple[str, ...]:
    """The term of a number in the other numerals, kanji or digits (二: 2); empty for other words.

    A normalised form has kanji's numbers in digits, while digits alone are a word in letters.
    """
    if not _NUMBER.fullmatch(term):
        return ()
    return (term[1:],) if term[0] == "=" else (f"={term}",)


def max_edits(word: str) -> int:
    """How many typing errors a word may have: 0 if it is short or not in letters or katakana."""
    if _CHECKED.fullmatch(word) is None or len(word) < _ONE_EDIT:
        return 0
    return 2 if len(word) >= _TWO_EDITS else 1


def nearest_spellings(word: str, known: Iterable[str], edits: int) -> list[str]:
    """The known words at the smallest edit distance, which is at most ``edits``."""
    best: list[str] = []
    fewest = edits
    letters = set(word)
    for other in known:
        if len(letters.symmetric_difference(other)) > 2 * edits or not _CHECKED.fullmatch(other):
            continue
        needed = edit_distance(word, other, fewest)
        if needed < fewest:
            best, fewest = [other], needed
        elif needed == fewest:
            best.append(other)
    return best


def edit_distance(first: str, second: str, limit: int) -> int:
    """Letters omitted, added, changed or swapped with the next; ``limit + 1`` if that is more."""
    if abs(len(first) - len(second)) > limit:
        return limit + 1
    before: list[int] = []
    above = list(range(len(second) + 1))
    for row, letter in enumerate(first, 1):
        current = [row]
        for column, other in enumerate(second, 1):
            cost = min(above[column] + 1, current[-1] + 1, above[column - 1] + (letter != other))
            if row > 1 and column > 1 and letter == second[column - 2] and first[row - 2] == other:
                cost = min(cost, before[column - 2] + 1)
            current.append(cost)
        if min(current) > limit:
            return limit + 1
        before, above = above, current
    return min(above[-1], limit + 1)
