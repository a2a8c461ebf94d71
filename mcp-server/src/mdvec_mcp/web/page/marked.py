"""Marks the words of a question in a text."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable

from markupsafe import Markup, escape

_MAX_WORDS = 100


def marked(text: str, words: Iterable[str]) -> Markup:
    """The text as HTML with each occurrence of the words in ``<mark>``; overlapping ones join."""
    folded = _folded(text)
    is_marked = bytearray(len(text))
    for word in list(dict.fromkeys(map(_folded, words)))[:_MAX_WORDS]:
        if not word.strip():
            continue
        start = folded.find(word)
        while start >= 0:
            is_marked[start : start + len(word)] = b"\1" * len(word)
            start = folded.find(word, start + 1)
    parts, start = [], 0
    while start < len(text):
        end = is_marked.find(1 - is_marked[start], start)
        end = len(text) if end < 0 else end
        piece = escape(text[start:end])
        parts.append(f"<mark>{piece}</mark>" if is_marked[start] else piece)
        start = end
    return Markup("".join(parts))  # noqa: S704 - each piece is escaped


class _Folds(dict[int, str]):
    """What each character is without differences of case and width, found once."""

    def __missing__(self, code: int) -> str:
        folded = unicodedata.normalize("NFKC", chr(code)).casefold()
        self[code] = folded if len(folded) == 1 else chr(code)
        return self[code]


_FOLDS = _Folds()


def _folded(text: str) -> str:
    """The text without differences of case and width; each character stays one."""
    return text.translate(_FOLDS)
