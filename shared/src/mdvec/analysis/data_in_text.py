"""Data within a text, wherever they begin: JSON, and what Python prints of lists and dicts."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass

_OPENING = re.compile(r"[\[{]")
_BRACKET = re.compile(r"'(?:[^'\\\n]|\\.)*'|\"(?:[^\"\\\n]|\\.)*\"|[\[\](){}]")
_BETWEEN = re.compile(r"(?<=[\d.\]fn])\s+(?=[-+\[\d.in])")
"""Between two numbers, or rows of them, as numpy prints them: without a comma."""
_NO_NUMBER = re.compile(r"\b(?:nan|NaN|NaT|inf|null)\b")
_CALL = re.compile(r"[\w.]{0,60}\(([^()]*)\)")
"""A constructor: of a Decimal, a Timestamp, or a number of numpy."""
_ROOM = 2_000_000
"""How many characters are looked at in vain before the rest is taken for text."""


@dataclass(frozen=True, slots=True)
class Part:
    """A piece of a text; ``value`` is what it holds if it is data."""

    text: str
    value: object = None


def parts_of(text: str) -> Iterator[Part]:
    """The text in pieces: those that are data, and what stands between them."""
    begin, room = 0, _ROOM
    for opening in _OPENING.finditer(text):
        at = opening.start()
        if at < begin:
            continue  # within the data before
        found, end = _json(text, at)
        room -= end - at
        if found is None:
            found, end = _python(text, at)
            room -= 10 * (end - at)
        if found is not None:
            yield Part(text[begin:at])
            yield Part(text[at:end], found)
            begin = end
        if room < 0:
            break
    yield Part(text[begin:])


def _json(text: str, at: int) -> tuple[object, int]:
    """The JSON that begins there and its end; or None and how far it was looked at."""
    try:
        return json.JSONDecoder().raw_decode(text, at)
    except json.JSONDecodeError as error:
        return None, max(error.pos, at + 1)
    except (ValueError, RecursionError):
        return None, at + 100_000


def _python(text: str, at: int) -> tuple[object, int]:
    """The same for what Python prints, of numpy too."""
    end = _closed(text, at)
    if end is None:
        return None, len(text)
    shown = _NO_NUMBER.sub("None", _CALL.sub(r"(\1)", text[at:end]))
    for written in (shown, _BETWEEN.sub(", ", shown)):
        try:
            return ast.literal_eval(written), end
        except (ValueError, SyntaxError, RecursionError, MemoryError):
            continue
    return None, end


def _closed(text: str, at: int) -> int | None:
    """Where the bracket that opens there is closed; None where it is not."""
    depth = 0
    for sign in _BRACKET.finditer(text, at):
        if sign[0] in "[({":
            depth += 1
        elif sign[0] in "])}":
            depth -= 1
        if depth == 0 and len(sign[0]) == 1:
            return sign.end()
    return None
