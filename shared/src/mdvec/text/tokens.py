"""The tokenizer interface that chunking needs, and helpers for blank and long texts."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator
from typing import Protocol

TokenSpan = tuple[int, int]
"""A token's character range in the text: first character, and one past the last."""


class Tokenizer(Protocol):
    """A model's tokenizer, with its input limit."""

    def token_spans(self, text: str) -> list[TokenSpan]:
        """The tokens of ``text`` in order; starts never decrease."""

    def oversized(self, text: str) -> bool:
        """Whether ``text`` exceeds the model's input limit."""


def is_blank(text: str) -> bool:
    """Whether ``text`` has no visible character: only white space, controls, zero-width ones."""
    return all(unicodedata.category(char) in ("Zs", "Zl", "Zp", "Cc", "Cf") for char in text)


def blocks(text: str, size: int) -> Iterator[tuple[int, int]]:
    """Split ``text`` into ranges of at most ``size`` characters, in order.

    For tokenizers whose cost grows faster than linearly. A block ends before white space if its
    second half has any: no token crosses that position, so the tokens are those of the whole
    text.
    """
    start = 0
    while start < len(text):
        end = _block_end(text, start, size)
        yield start, end
        start = end


def _block_end(text: str, start: int, size: int) -> int:
    end = start + size
    if end >= len(text):
        return len(text)
    for cut in range(end, start + size // 2, -1):
        if text[cut].isspace() and not text[cut - 1].isspace():
            return cut
    return end
