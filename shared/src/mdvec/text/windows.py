"""Token windows: of exact size, or ending at the end of a sentence."""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_right

from mdvec.text.options import ChunkingOptions
from mdvec.text.tokens import Tokenizer

Range = tuple[int, int]

_BLANK_LINE = re.compile(r"(?:\r\n|\r|\n)[^\S\r\n]*(?:\r\n|\r|\n)")
_SENTENCE_END = re.compile(r"[。！？!?．]+[」』）)\]\"']*|\.[)\]\"']*(?=\s)")
_LINE_END = re.compile(r"\r\n|\r|\n")
_ZERO_WIDTH_JOINER = "\u200d"
_FLAG_LETTER = re.compile("[\U0001f1e6-\U0001f1ff]")
_EXTENDS = re.compile("[\U0001f3fb-\U0001f3ffﾞﾟ\U000e0020-\U000e007f]")
"""Skin tones, half-width voicing marks, and the tags of a flag such as Scotland's."""
_MAX_CHARACTER = 32
_MAX_FLAG_RUN = 1024


def token_windows(
    content: str, start: int, end: int, options: ChunkingOptions, tokenizer: Tokenizer
) -> list[Range]:
    """Windows of exactly ``size`` tokens; each overlaps the previous one by ``overlap`` tokens."""
    edges = _edges(content, start, end, tokenizer)
    count = len(edges) - 1
    windows: list[Range] = []
    first = 0
    while first < count:
        last = min(first + options.size, count)
        _add(windows, _safe(content, edges[first], start), _safe(content, edges[last], start))
        if last == count:
            break
        first = last - options.overlap
    return windows


def sentence_windows(
    content: str, start: int, end: int, options: ChunkingOptions, tokenizer: Tokenizer
) -> list[Range]:
    """The whole range if it fits, otherwise windows of at most ``size`` tokens.

    A window ends in its second half at a blank line, or else at the end of a sentence, or else at
    the end of a line; if there is none of these, after ``size`` tokens.
    """
    edges = _edges(content, start, end, tokenizer)
    count = len(edges) - 1
    if count <= options.size:
        return [(start, end)] if start < end else []
    windows: list[Range] = []
    first, begin, cut = 0, start, start
    while first + options.size < count:
        last = first + options.size
        # With a large overlap, the previous window ends in the second half of this one.
        low = max(edges[first + options.size // 2], cut)
        good = _good_end(content, low, edges[last])
        cut = _safe(content, edges[last], low) if good is None else good
        _add(windows, begin, cut)
        reached = bisect_right(edges, cut, lo=first, hi=last + 1) - 1
        if edges[reached] < cut and not content[cut : edges[reached + 1]].strip():
            reached += 1  # only white space after that token is left
        first = max(reached - options.overlap, first + 1)
        begin = cut if first >= reached else min(_safe(content, edges[first], start), cut)
    _add(windows, begin, end)
    return windows


def _add(windows: list[Range], begin: int, end: int) -> None:
    """Append a window unless it lies within the previous one."""
    if not windows or end > windows[-1][1]:
        windows.append((begin, end))


def fitting_pieces(content: str, start: int, end: int, tokenizer: Tokenizer) -> list[Range]:
    """Halve a range until the model takes each piece at once."""
    if end - start < 2 or not tokenizer.oversized(content[start:end]):
        return [(start, end)]
    middle = start + (end - start) // 2
    cut = _good_end(content, start + (end - start) // 4, middle)
    cut = _safe(content, middle, start) if cut is None else cut
    if not start < cut < end:
        cut = middle
    return [
        *fitting_pieces(content, start, cut, tokenizer),
        *fitting_pieces(content, cut, end, tokenizer),
    ]


def _edges(content: str, start: int, end: int, tokenizer: Tokenizer) -> list[int]:
    """The start of each token, then ``end``: text between two tokens belongs to the first."""
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
            return _safe(content, last, low)
    return None


def _safe(content: str, cut: int, low: int) -> int:
    """``cut``, moved back (at most to ``low``) so that it splits no visible character.

    Combining and half-width voicing marks, variation selectors, joined emoji, flags and CRLF
    stay whole. A run of them too long to be one character is cut at ``cut``.
    """
    for moved in range(cut, max(cut - _MAX_CHARACTER, low), -1):
        if moved >= len(content) or not _splits_a_character(content, moved):
            return moved
    return low if cut - low <= _MAX_CHARACTER else cut


def _splits_a_character(content: str, cut: int) -> bool:
    before, after = content[cut - 1], content[cut]
    if before in "\r\n" or after.isascii():
        return before + after == "\r\n"
    if _ZERO_WIDTH_JOINER in (before, after):
        return True
    if _FLAG_LETTER.match(after):
        # Two letters make a flag: a cut splits one only after an odd number of them.
        return _flag_letters_before(content, cut) % 2 == 1
    return _EXTENDS.match(after) is not None or unicodedata.category(after) in ("Mn", "Me", "Mc")


def _flag_letters_before(content: str, cut: int) -> int:
    first = cut
    while first > max(cut - _MAX_FLAG_RUN, 0) and _FLAG_LETTER.match(content, first - 1):
        first -= 1
    return cut - first
