"""Token windows of exact size, and ranges halved until they fit a model."""

from __future__ import annotations

import re

from mdvec.text.options import ChunkingOptions
from mdvec.text.tokens import Tokenizer, safe_cut

Range = tuple[int, int]

_BLANK_LINE = re.compile(r"(?:\r\n|\r|\n)[^\S\r\n]*(?:\r\n|\r|\n)")
_SENTENCE_END = re.compile(r"[。！？!?．]+[」』）)\]\"']*|\.[)\]\"']*(?=\s)")
_LINE_END = re.compile(r"\r\n|\r|\n")


def token_windows(
    content: str, start: int, end: int, options: ChunkingOptions, tokenizer: Tokenizer
) -> list[Range]:
    """Windows of exactly ``size`` tokens; each overlaps the previous one by ``overlap`` tokens."""
    edges = token_edges(content, start, end, tokenizer)
    count = len(edges) - 1
    windows: list[Range] = []
    first = 0
    while first < count:
        last = min(first + options.size, count)
        _add(windows, safe_cut(content, edges[first], start), safe_cut(content, edges[last], start))
        if last == count:
            break
        first = last - options.overlap
    return windows


def _add(windows: list[Range], begin: int, end: int) -> None:
    """Append a window unless it lies within the previous one."""
    if not windows or end > windows[-1][1]:
        windows.append((begin, end))


def fitting_pieces(content: str, start: int, end: int, tokenizer: Tokenizer) -> list[Range]:
    """Halve a range until each piece fits the model's input limit."""
    if end - start < 2 or not tokenizer.oversized(content[start:end]):
        return [(start, end)]
    middle = start + (end - start) // 2
    cut = _good_end(content, start + (end - start) // 4, middle)
    cut = safe_cut(content, middle, start) if cut is None else cut
    if not start < cut < end:
        cut = middle
    return [
        *fitting_pieces(content, start, cut, tokenizer),
        *fitting_pieces(content, cut, end, tokenizer),
    ]


def token_edges(content: str, start: int, end: int, tokenizer: Tokenizer) -> list[int]:
    """The start of each token, then ``end``; text between two tokens belongs to the first."""
    spans = tokenizer.token_spans(content[start:end])
    edges = [start + span[0] for span in spans]
    if edges:
        edges[0] = start
        edges.append(end)
    return edges


def _good_end(content: str, low: int, high: int) -> int | None:
    """The last paragraph, sentence or line end in ``(low, high]``, or None."""
    for pattern in (_BLANK_LINE, _SENTENCE_END, _LINE_END):
        last = None
        for found in pattern.finditer(content, low, high):
            last = found.end()
        if last is not None and last > low:
            return safe_cut(content, last, low)
    return None
