"""SQL with its texts, quoted names and comments hidden, so that a pattern sees only code."""

from __future__ import annotations

import re
from dataclasses import dataclass

_LITERAL = re.compile(
    r"""(?P<t>'(?:[^']|'')*')|(?P<n>"(?:[^"]|"")*")|(?P<c>--[^\n]*|/\*.*?\*/)""", re.DOTALL
)
_BEGIN, _END = "\ue000", "\ue001"
_HIDDEN = re.compile(f"{_BEGIN}[tnc](\\d+){_END}")
TEXT = f"{_BEGIN}t\\d+{_END}"
"""The pattern of a hidden text."""
NAME = f"(?:{_BEGIN}n\\d+{_END}|\\b[^\\W\\d]\\w*)"
"""The pattern of a name, in quotes or not."""
COLUMN = f"(?:{NAME}\\.)?{NAME}"
"""The pattern of a column, perhaps after its table."""
VALUE = f"(?:{TEXT}|{COLUMN}|\\b\\d+(?:\\.\\d+)?)"
"""The pattern of a text, a column or a number."""


@dataclass(frozen=True, slots=True)
class Masked:
    """The code, and what stands at each mark."""

    code: str
    hidden: tuple[str, ...]

    def shown(self, code: str | None = None) -> str:
        """The SQL again, or other code with the same marks."""
        return _HIDDEN.sub(
            lambda mark: self.hidden[int(mark[1])], self.code if code is None else code
        )


def mask(sql: str) -> Masked:
    """Hide every text, quoted name and comment."""
    hidden: list[str] = []

    def hide(literal: re.Match[str]) -> str:
        hidden.append(literal[0])
        return f"{_BEGIN}{literal.lastgroup}{len(hidden) - 1}{_END}"

    bare = sql.replace(_BEGIN, " ").replace(_END, " ")
    return Masked(_LITERAL.sub(hide, bare), tuple(hidden))
