"""Cutting documents by tokens: a tool's options, the tokenizer, windows of exact length."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal, Protocol

from mdvec.errors import MdvecError

Strategy = Literal["heading", "token"]
MIN_SIZE, MAX_SIZE = 64, 4096
CUT = 2
"""The version of the rules by which documents are cut and their passages embedded."""
TokenSpan = tuple[int, int]
"""A token's character range in the text: first character, and one past the last."""
_ZERO_WIDTH_JOINER = "\u200d"
_FLAG_LETTER = re.compile("[\U0001f1e6-\U0001f1ff]")
_EXTENDS = re.compile("[\U0001f3fb-\U0001f3ffﾞﾟ\U000e0020-\U000e007f]")
"""Skin tones, half-width voicing marks, and tag characters (as in Scotland's flag)."""
_MAX_CHARACTER = 32
_MAX_FLAG_RUN = 1024
Range = tuple[int, int]
_BLANK_LINE = re.compile(r"(?:\r\n|\r|\n)[^\S\r\n]*(?:\r\n|\r|\n)")
_SENTENCE_END = re.compile(r"[。！？!?．]+[」』）)\]\"']*|\.[)\]\"']*(?=\s)")
_LINE_END = re.compile(r"\r\n|\r|\n")


class InvalidChunking(MdvecError):
    """The chunking options contradict each other or are out of range."""

    is_wrong_usage = True


@dataclass(frozen=True, slots=True)
class ChunkingOptions:
    """Chunking options; sizes are in the model's tokens, ``min_chars`` in characters.

    A section shorter than ``min_chars`` is joined to the next section. ``cut`` is the version of
    the rules by which a tool's documents were cut; a rebuild uses the current version (``CUT``).
    """

    strategy: Strategy
    size: int
    overlap: int
    heading_levels: tuple[int, ...]
    min_chars: int
    cut: int = CUT

    def __post_init__(self) -> None:
        if not MIN_SIZE <= self.size <= MAX_SIZE:
            raise InvalidChunking(
                f"a chunk size of {self.size} is not possible: "
                f"choose {MIN_SIZE} to {MAX_SIZE} tokens"
            )
        if not 0 <= self.overlap < self.size:
            raise InvalidChunking(
                f"an overlap of {self.overlap} is not possible with chunks of {self.size} tokens: "
                f"choose 0 to {self.size - 1}"
            )


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


def safe_cut(content: str, cut: int, low: int) -> int:
    """``cut``, moved back (at most to ``low``) so that it splits no visible character.

    Letters stay with their combining and half-width voicing marks and variation selectors;
    joined emoji, flags and CRLF stay whole. A sequence too long to be one character is cut at
    ``cut``.
    """
    for moved in range(cut, max(cut - _MAX_CHARACTER, low), -1):
        if moved >= len(content) or not splits_a_character(content, moved):
            return moved
    return low if cut - low <= _MAX_CHARACTER else cut


def splits_a_character(content: str, cut: int) -> bool:
    """Whether a cut within ``content`` splits what a reader sees as one character."""
    before, after = content[cut - 1], content[cut]
    if before in "\r\n" or after.isascii():
        return before + after == "\r\n"
    if _ZERO_WIDTH_JOINER in (before, after):
        return True
    if _FLAG_LETTER.match(after):
        # Two letters make a flag, so a cut after an odd number of letters splits one.
        return _flag_letters_before(content, cut) % 2 == 1
    return _EXTENDS.match(after) is not None or unicodedata.category(after) in ("Mn", "Me", "Mc")


def _flag_letters_before(content: str, cut: int) -> int:
    first = cut
    while first > max(cut - _MAX_FLAG_RUN, 0) and _FLAG_LETTER.match(content, first - 1):
        first -= 1
    return cut - first


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
        begin, cut = (safe_cut(content, edges[at], start) for at in (first, last))
        if not windows or cut > windows[-1][1]:  # not within the previous window
            windows.append((begin, cut))
        if last == count:
            break
        first = last - options.overlap
    return windows


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
        for match in pattern.finditer(content, low, high):
            last = match.end()
        if last is not None and last > low:
            return safe_cut(content, last, low)
    return None
