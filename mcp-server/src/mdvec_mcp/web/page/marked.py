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
    for end in range(1, len(text) + 1):
        if end == len(text) or is_marked[end] != is_marked[start]:
            piece = escape(text[start:end])
            parts.append(Markup("<mark>{}</mark>").format(piece) if is_marked[start] else piece)
            start = end
    return Markup("").join(parts)


def _folded(text: str) -> str:
    """The text without differences of case and width; each character stays one."""
    return "".join(map(_fold, text))


def _fold(char: str) -> str:
    folded = unicodedata.normalize("NFKC", char).casefold()
    return folded if len(folded) == 1 else char
