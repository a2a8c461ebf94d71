"""Where a tokenizer's pieces lie in a text, for tokenizers that do not tell.

A piece is plain text (``東京``), text whose spaces are written ``▁`` (``▁the``), or one byte of
a character that the vocabulary lacks (``<0xE3>``). Pieces are walked along the text. Where a
tokenizer changed the text so that they do not fit, the stretch up to the next piece that fits is
shared out evenly among the pieces in it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from mdvec.text.tokens import TokenSpan

_SPACE = "▁"
_BYTE = re.compile(r"<0x([0-9A-Fa-f]{2})>")
_WHITE = re.compile(r"\s*")
_LOOK_AHEAD = 32
_OCCURRENCES = 3
_PROOF = 3
"""Where pieces stop to fit: how many of the next ones to look for, at how many places each, and
how many behind a found one must fit as well."""


def align(text: str, pieces: Sequence[str]) -> list[TokenSpan]:
    """The characters of each piece, in order.

    In: a text and the pieces that a tokenizer made of all of it. Out: one span per piece. Each
    starts where the one before ends, or is the same where both are bytes of one character;
    together they cover the text. White space that the tokenizer dropped belongs to the piece
    behind it, at the end to the last.
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
    """How many pieces from ``number`` on make whole characters at ``start``, and where they end."""
    piece = pieces[number]
    if piece.startswith("<0x") and (fit := _fit_bytes(text, start, pieces, number)):
        return fit
    end = _fit_text(text, start, piece)
    return None if end is None else (1, end)


def _fit_bytes(text: str, start: int, pieces: Sequence[str], number: int) -> tuple[int, int] | None:
    """The same for pieces that are the bytes of one character."""
    for place in (start, _behind_white(text, start)):
        encoded = text[place : place + 1].encode(errors="surrogatepass")
        if encoded and encoded == _bytes(pieces[number : number + len(encoded)]):
            return len(encoded), place + 1
    return None


def _bytes(pieces: Sequence[str]) -> bytes:
    found = (_BYTE.fullmatch(piece) for piece in pieces)
    return bytes(int(byte[1], 16) for byte in found if byte)


def _fit_text(text: str, start: int, piece: str) -> int | None:
    """Where ``piece`` ends if it stands at ``start``, or behind white space there."""
    if _reads(text, start, piece):
        return start + len(piece)
    # A tokenizer may add a space in front of a text, and drop spaces that the text has.
    bare = piece.lstrip(_SPACE)
    white = _behind_white(text, start)
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


def _behind_white(text: str, start: int) -> int:
    white = _WHITE.match(text, start)
    return white.end() if white else start


def _misfit(text: str, start: int, pieces: Sequence[str], first: int) -> tuple[int, int]:
    """How many pieces do not fit from ``start`` on, and where the text fits again."""
    reach = start
    for number in range(first + 1, min(first + _LOOK_AHEAD, len(pieces))):
        # Not farther than the skipped pieces may well be long: the same word stands elsewhere too.
        reach += 4 * len(pieces[number - 1]) + 4
        place = _resumption(text, start, reach, pieces, number)
        if place is not None:
            return number - first, place
    return len(pieces) - first, len(text)


def _resumption(
    text: str, start: int, reach: int, pieces: Sequence[str], number: int
) -> int | None:
    """Where, from ``start`` to ``reach``, the pieces from ``number`` on fit the text again."""
    word = pieces[number].replace(_SPACE, " ").strip()
    place = start - 1
    for _ in range(_OCCURRENCES if word else 0):
        place = text.find(word, place + 1, reach + len(word))
        if place < 0:
            return None
        if _goes_on(text, place + len(word), pieces, number + 1):
            spaced = pieces[number].startswith(_SPACE) and text[start:place][-1:].isspace()
            return place - 1 if spaced else place
    return None


def _goes_on(text: str, start: int, pieces: Sequence[str], number: int) -> bool:
    """Whether a few pieces in a row fit: one alone may do so by chance."""
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
