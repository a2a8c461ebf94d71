"""Superscripts and subscripts in plain text, so that they do not extend a number: 10^6, not 106.

A writer marks them; when the whole text is known, the marks are written out if adjacent characters
require it, and dropped otherwise.
"""

from __future__ import annotations

import re

# Noncharacters, which Unicode reserves for internal use.
_UP, _DOWN, _END = "\ufdd0", "\ufdd1", "\ufdd2"
_DIGIT = "[0-9０-９]"
_THROUGH = f"[ *_~`{_END}]*"
"""What may stand between a number and its exponent: marks of bold text, and spaces."""
_LENGTHENS = rf"(?=[*_~` ]*[-−–+＋]?{_DIGIT}|[A-Za-z]{_END})"
"""A number, or a single letter, but not the letters of 2nd and 3rd."""
_FRACTION = re.compile(rf"({_DIGIT}?){_UP}(\d+){_END}\s?[/⁄∕]\s?{_DOWN}(\d+){_END}")
_RAISED = re.compile(rf"(?<=[0-9０-９)])({_THROUGH}){_UP}{_LENGTHENS}")
_LOWERED = re.compile(rf"(?<={_DIGIT})({_THROUGH}){_DOWN}{_LENGTHENS}")
_TOUCHING = re.compile(rf"(?<={_DIGIT})([*_~`]*){_END}([*_~`]*)(?={_DIGIT})")
_MARKS = re.compile(f"[{_UP}{_DOWN}{_END}]")


def raised(text: str) -> str:
    """A superscript, such as an exponent or the number of a note."""
    return f"{_UP}{text}{_END}"


def lowered(text: str) -> str:
    """A subscript, such as the base of a logarithm."""
    return f"{_DOWN}{text}{_END}"


def set_apart(text: str) -> str:
    """Text whose digits must not join adjacent ones, such as a formula."""
    return f"{_END}{text}{_END}"


def with_marks_written(text: str) -> str:
    """The text with ``^`` and ``_`` where digits would change a number; H2O and m2 stay."""
    if _MARKS.search(text) is None:
        return text
    text = _FRACTION.sub(lambda m: f"{m[1]}{' ' * bool(m[1])}{m[2]}/{m[3]}{_END}", text)
    text = _LOWERED.sub(r"\1_", _RAISED.sub(r"\1^", text))
    return _MARKS.sub("", _TOUCHING.sub(r"\1 \2", text))
