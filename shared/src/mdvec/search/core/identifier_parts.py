"""Finds a word as a part of an identifier, such as IdleConns in maxIdleConnsPerHost."""

from __future__ import annotations

import re
from functools import lru_cache

_BETWEEN_PARTS = re.compile(r"[_.:/-]+")


def has_part(text: str, spelling: str) -> bool:
    """Whether a text has a word in letters or digits by itself, or as a part of an identifier.

    Parts are separated by a change of case, "_", a sign, or between letters and digits: IdleConns
    is a part of maxIdleConnsPerHost and MAX_IDLE_CONNS, while corn is not a part of corner.
    """
    return any(
        _begins(text, match.start()) and _ends(text, match.end())
        for match in _pattern(spelling).finditer(text)
    )


@lru_cache(maxsize=256)
def _pattern(spelling: str) -> re.Pattern[str]:
    """A pattern for the letters of a spelling, with or without signs between them."""
    letters = _BETWEEN_PARTS.sub("", spelling)
    return re.compile("[_.:/-]{0,2}".join(map(re.escape, letters)), re.IGNORECASE)


def _is_word(sign: str) -> bool:
    return sign.isascii() and sign.isalnum()


def _begins(text: str, start: int) -> bool:
    if start == 0 or not _is_word(text[start - 1]):
        return True
    before, first = text[start - 1], text[start]
    if before.isdigit() != first.isdigit():
        return True
    after = text[start + 1 : start + 2]
    # The last capital of a run begins the next word: XMLHttp.
    return first.isupper() and (before.islower() or (before.isupper() and after.islower()))


def _ends(text: str, end: int) -> bool:
    return end == len(text) or not _is_word(text[end]) or _begins(text, end)
