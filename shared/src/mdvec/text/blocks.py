"""A long text in blocks, for readers whose cost grows faster than the text."""

from __future__ import annotations

from collections.abc import Iterator


def blocks(text: str, size: int) -> Iterator[tuple[int, int]]:
    """First and end character of stretches of at most ``size`` characters, in order.

    A cut falls in front of white space where there is any in the second half of a block:
    tokens do not cross such a place, so a text read in blocks has the tokens of the whole.
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
