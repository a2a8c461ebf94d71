"""Parses DuckDB's type names, nested ones included."""

from __future__ import annotations

import re
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace

from mdvec.text import cited, identifier

_OPENING = re.compile(r"(STRUCT|TUPLE|UNION|MAP)\(")
_FIELD = re.compile(r'("(?:[^"]|"")*"|\w+) ')
_SCALAR = re.compile(
    r"""\w+(?: [A-Z]+)*(?:\((?:'(?:[^']|'')*'|[^()'])*\))?|"(?:[^"]|"")*\"""", re.ASCII
)
_MANY = re.compile(r"\[\d*\]")
_NAMED = {"STRUCT", "UNION"}


MAX_DIGITS = 38
"""The most digits of a DuckDB DECIMAL; DuckDB reads longer decimals as DOUBLE."""


def long_decimals(column: str) -> str:
    """Why a file with decimals of more than ``MAX_DIGITS`` digits is not read."""
    return (
        f"its column {cited(column)} has decimals of more than {MAX_DIGITS} digits, which would be "
        "rounded; write them as text"
    )


@dataclass(frozen=True, slots=True)
class DuckDBType:
    """A type: its name, and for a nested type the types of its parts.

    ``fields`` are the names of the parts of a STRUCT or UNION. A list has the name ``[]`` and an
    array ``[3]``; each has one part.
    """

    name: str
    parts: tuple[DuckDBType, ...] = ()
    fields: tuple[str, ...] = ()

    def __str__(self) -> str:
        if self.name.startswith("["):
            return f"{self.parts[0]}{self.name}"
        if not self.is_nested:
            return self.name
        parts = [str(part) for part in self.parts]
        if self.fields:
            named = zip(self.fields, parts, strict=True)
            parts = [f"{identifier(field)} {part}" for field, part in named]
        return f"{self.name}({', '.join(parts)})"

    @property
    def is_nested(self) -> bool:
        """Whether it is a list, array, STRUCT, TUPLE, UNION or MAP."""
        return bool(self.parts) or self.name in {"STRUCT", "TUPLE", "UNION", "MAP"}

    @property
    def family(self) -> str:
        """Its name without parameters: DECIMAL for DECIMAL(18,3)."""
        return self.name.partition("(")[0]

    def leaves(self) -> frozenset[str]:
        """The families of all scalar types in it; for a scalar, its own."""
        if not self.is_nested:
            return frozenset({self.family})
        return frozenset().union(*(part.leaves() for part in self.parts))

    def replaced(self, change: Callable[[DuckDBType], DuckDBType | None]) -> DuckDBType:
        """The type with each part, at any depth, replaced by the result of ``change``, if any."""
        replacement = change(self)
        if replacement is not None:
            return replacement
        return replace(self, parts=tuple(part.replaced(change) for part in self.parts))


def parse_type(text: str) -> DuckDBType:
    """Parse a type as printed by ``DESCRIBE`` and ``typeof``; ``text`` names an unknown one."""
    with suppress(ValueError):
        parsed, end = _type(text, 0)
        if end == len(text):
            return parsed
    return DuckDBType(text)


def changed_type(text: str, change: Callable[[DuckDBType], DuckDBType | None]) -> str:
    """A type with each part, at any depth, replaced by the result of ``change``, if any."""
    parsed = parse_type(text)
    changed = parsed.replaced(change)
    return text if changed == parsed else str(changed)


def _type(text: str, at: int) -> tuple[DuckDBType, int]:
    opening = _OPENING.match(text, at)
    if opening is not None:
        parsed, at = _parse_nested(opening[1], text, opening.end())
    else:
        scalar = _SCALAR.match(text, at)
        if scalar is None:
            raise ValueError(text)
        parsed, at = DuckDBType(scalar[0]), scalar.end()
    while many := _MANY.match(text, at):
        parsed, at = DuckDBType(many[0], (parsed,)), many.end()
    return parsed, at


def _parse_nested(name: str, text: str, at: int) -> tuple[DuckDBType, int]:
    parts: list[DuckDBType] = []
    fields: list[str] = []
    while not text.startswith(")", at):
        at = at + 2 if text.startswith(", ", at) else at
        if name in _NAMED:
            field = _FIELD.match(text, at)
            if field is None:
                raise ValueError(text)
            quoted, at = field[1], field.end()
            fields.append(quoted[1:-1].replace('""', '"') if quoted[0] == '"' else quoted)
        part, at = _type(text, at)
        parts.append(part)
    return DuckDBType(name, tuple(parts), tuple(fields)), at + 1
