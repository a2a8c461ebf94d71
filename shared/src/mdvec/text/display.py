"""Texts on a terminal, where Japanese characters take two columns."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator

_PIECE = re.compile(r"[!-~]+ ?|.", re.DOTALL)
_NEVER_FIRST = "、。，．）」』】〉》！？：；…ー)]}"
_NEVER_FIRST_ASCII = re.compile(r"[\])},.:;!?]")


def display_width(text: str) -> int:
    """The width of a text in columns of a terminal."""
    return sum(2 if unicodedata.east_asian_width(sign) in "WF" else 1 for sign in text)


def wrapped(text: str, width: int) -> Iterator[str]:
    """The lines of a text; words are kept whole, and no line begins with a closing mark."""
    line = ""
    for piece in _PIECE.findall(text):
        may_break = piece[0] not in _NEVER_FIRST and not _NEVER_FIRST_ASCII.match(piece)
        if line and may_break and display_width(line + piece.rstrip()) > width:
            yield line.rstrip()
            line = ""
        line += piece if line or piece != " " else ""
    yield line.rstrip()
