"""Aligns a tokenizer's pieces with the text, for tokenizers that report no positions.

A piece is plain text (``東京``), text whose spaces are written ``▁`` (``▁the``), or one byte of
a character that the vocabulary lacks (``<0xE3>``). Pieces are matched along the text. Where the
tokenizer normalised the text so that they do not match, the text up to the next match is divided
evenly among the pieces in between.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from mdvec.text import TokenSpan

_SPACE = "▁"
_BYTE = re.compile(r"<0x([0-9A-Fa-f]{2})>")
_WHITE = re.compile(r"\s*")
_LOOK_AHEAD = 32
_OCCURRENCES = 3
_PROOF = 3
"""After a mismatch: how many of the following pieces to look for, at how many places each, and how
many pieces after a found one must match as well."""


def align(text: str, pieces: Sequence[str]) -> list[TokenSpan]:
    """The character range of each piece of ``text``, in order.

    Each range starts where the previous one ends, or equals it where both pieces are bytes of one
    character; together they cover the text. White space that the tokenizer dropped belongs to the
    next piece, and at the end to the last one.
    """
    spans: list[TokenSpan] = []
    start = 0
    while len(spans) < len(pieces):
        fit = _fit(text, start, pieces, len(spans))
        if fit:
            count, end = fit
            spans.extend([(start, end)] * count)
        else:
            count, end = _misfit(text, start, pieces, len(spans))
            spans.extend(_shares(start, end, count))
        start = end
    if spans and start < len(text):
        spans[-1] = (spans[-1][0], len(text))
    return spans


def _fit(text: str, start: int, pieces: Sequence[str], number: int) -> tuple[int, int] | None:
    """The number of pieces, from ``number`` on, that match at ``start``, and where they end."""
    piece = pieces[number]
    if piece.startswith("<0x") and (fit := _fit_bytes(text, start, pieces, number)):
        return fit
    end = _fit_text(text, start, piece)
    return None if end is None else (1, end)


def _fit_bytes(text: str, start: int, pieces: Sequence[str], number: int) -> tuple[int, int] | None:
    """The same as ``_fit``, for pieces that are the bytes of one character."""
    for position in (start, _after_white(text, start)):
        encoded = text[position : position + 1].encode(errors="surrogatepass")
        if encoded and encoded == _bytes(pieces[number : number + len(encoded)]):
            return len(encoded), position + 1
    return None


def _bytes(pieces: Sequence[str]) -> bytes:
    matches = (_BYTE.fullmatch(piece) for piece in pieces)
    return bytes(int(byte[1], 16) for byte in matches if byte)


def _fit_text(text: str, start: int, piece: str) -> int | None:
    """The end of ``piece`` if it is at ``start`` or after white space there."""
    if _reads(text, start, piece):
        return start + len(piece)
    # A tokenizer may add a space before a text, and drop spaces of the text.
    bare = piece.lstrip(_SPACE)
    white = _after_white(text, start)
    if not bare:
        return min(white, start + len(piece))
    return white + len(bare) if _reads(text, white, bare) else None


def _reads(text: str, start: int, piece: str) -> bool:
    if text.startswith(piece, start):
        return True
    there = text[start : start + len(piece)]
    return len(there) == len(piece) and all(
        character == sign or (sign == _SPACE and character.isspace())
        for character, sign in zip(there, piece, strict=True)
    )


def _after_white(text: str, start: int) -> int:
    white = _WHITE.match(text, start)
    return white.end() if white else start


def _misfit(text: str, start: int, pieces: Sequence[str], first: int) -> tuple[int, int]:
    """The number of pieces that do not match from ``start`` on, and where the next one does."""
    reach = start
    for number in range(first + 1, min(first + _LOOK_AHEAD, len(pieces))):
        # No farther than the skipped pieces can be long: the same word may occur again later.
        reach += 4 * len(pieces[number - 1]) + 4
        position = _resumption(text, start, reach, pieces, number)
        if position is not None:
            return number - first, position
    return len(pieces) - first, len(text)


def _resumption(
    text: str, start: int, reach: int, pieces: Sequence[str], number: int
) -> int | None:
    """Where, between ``start`` and ``reach``, the pieces from ``number`` on match again."""
    word = pieces[number].replace(_SPACE, " ").strip()
    position = start - 1
    for _ in range(_OCCURRENCES if word else 0):
        position = text.find(word, position + 1, reach + len(word))
        if position < 0:
            return None
        if _goes_on(text, position + len(word), pieces, number + 1):
            spaced = pieces[number].startswith(_SPACE) and text[start:position][-1:].isspace()
            return position - 1 if spaced else position
    return None


def _goes_on(text: str, start: int, pieces: Sequence[str], number: int) -> bool:
    """Whether the next few pieces match as well: a single one may by chance."""
    last = min(number + _PROOF, len(pieces))
    while number < last:
        fit = _fit(text, start, pieces, number)
        if fit is None:
            return False
        number, start = number + fit[0], fit[1]
    return True


def _shares(start: int, end: int, count: int) -> list[TokenSpan]:
    edges = [start + (end - start) * share // count for share in range(count + 1)]
    return list(zip(edges[:-1], edges[1:], strict=True))
