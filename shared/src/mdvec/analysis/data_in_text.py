"""Finds data embedded in text: JSON, and lists and dicts as Python prints them."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass

_OPENING = re.compile(r"[\[{]")
_BRACKET = re.compile(r"'(?:[^'\\\n]|\\.)*'|\"(?:[^\"\\\n]|\\.)*\"|[\[\](){}]")
_BETWEEN = re.compile(r"(?<=[\d.\]fn])\s+(?=[-+\[\d.in])")
"""The gap between two numbers, or rows of them, as numpy prints them: without a comma."""
_NOT_A_NUMBER = re.compile(r"\b(?:nan|NaN|NaT|inf|null)\b")
_CALL = re.compile(r"[\w.]{0,60}\(([^()]*)\)")
"""A constructor call, such as ``Decimal('1')`` or ``np.float64(1.0)``."""
_MAX_EFFORT = 2_000_000
"""Characters scanned without finding data before the rest counts as text."""


@dataclass(frozen=True, slots=True)
class TextPart:
    """A piece of a text; ``value`` is the parsed data, or None for plain text."""

    text: str
    value: object = None


def parts_of(text: str) -> Iterator[TextPart]:
    """Split a text into data and the plain text between them."""
    begin, effort_left = 0, _MAX_EFFORT
    for opening in _OPENING.finditer(text):
        at = opening.start()
        if at < begin:
            continue  # inside the data just found
        found, end = _json(text, at)
        effort_left -= end - at
        if found is None:
            found, end = _python(text, at)
            effort_left -= 10 * (end - at)
        if found is not None:
            yield TextPart(text[begin:at])
            yield TextPart(text[at:end], found)
            begin = end
        if effort_left < 0:
            break
    yield TextPart(text[begin:])


def _json(text: str, at: int) -> tuple[object, int]:
    """Parse JSON at a position; return it with its end, or None with how far the parser got."""
    try:
        return json.JSONDecoder().raw_decode(text, at)
    except json.JSONDecodeError as error:
        return None, max(error.pos, at + 1)
    except (ValueError, RecursionError):
        return None, at + 100_000


def _python(text: str, at: int) -> tuple[object, int]:
    """The same for a printed Python value or numpy array."""
    end = _bracket_end(text, at)
    if end is None:
        return None, len(text)
    shown = _NOT_A_NUMBER.sub("None", _CALL.sub(r"(\1)", text[at:end]))
    for written in (shown, _BETWEEN.sub(", ", shown)):
        try:
            return ast.literal_eval(written), end
        except (ValueError, SyntaxError, RecursionError, MemoryError):
            continue
    return None, end


def _bracket_end(text: str, at: int) -> int | None:
    """The end of the bracket that opens at a position; None if it is never closed."""
    depth = 0
    for sign in _BRACKET.finditer(text, at):
        if sign[0] in "[({":
            depth += 1
        elif sign[0] in "])}":
            depth -= 1
        if depth == 0 and len(sign[0]) == 1:
            return sign.end()
    return None
