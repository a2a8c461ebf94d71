"""Kinds of typed cells, and the type that fits all cells of a column.

Typed cells are those of JSON files, workbooks and SQLite databases. A column gets a type only if
all of its values fit; else it is text, and the import says so.
"""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass, field
from datetime import date, datetime, time, timedelta

from mdvec.datasets.core.sheet_cells import Amount, Percent
from mdvec.datasets.core.value_types import BLANKS, trimmed

BLANK = "blank"
TEXT = "text"
_MAX_BIGINT = 2**63
_MAX_EXACT = 2**53
_WORDS = {
    "int": "whole numbers", "float": "numbers", "long": "numbers of very many digits",
    "bool": "true or false", "date": "dates", "datetime": "times", "zoned": "times with a zone",
    "time": "times of day", "bytes": "bytes", "nested": "lists or objects", TEXT: "texts",
}  # fmt: skip
_TYPES = {
    frozenset({"bool"}): "BOOLEAN",
    frozenset({"int"}): "BIGINT",
    frozenset({"float"}): "DOUBLE",
    frozenset({"int", "float"}): "DOUBLE",
    frozenset({"date"}): "DATE",
    frozenset({"datetime"}): "TIMESTAMP",
    frozenset({"date", "datetime"}): "TIMESTAMP",
    frozenset({"zoned"}): "TIMESTAMP WITH TIME ZONE",
    frozenset({"time"}): "TIME",
    frozenset({"bytes"}): "BLOB",
}


class LongNumber(str):
    """The text of a number that no number type here can hold."""

    __slots__ = ()


@dataclass(slots=True)
class SeenColumn:
    """The kinds of a column's cells, counted while they are read.

    Attributes:
        counts: the number of cells of each kind, without None.
        units: the currencies, or other units, in the formats of its cells.
        largest: its largest whole number, or 0.
        smallest: its smallest whole number, or 0.
        percents: how many of its numbers other than 0 are shown as percent.
        others: how many are not.
    """

    counts: Counter[str] = field(default_factory=Counter)
    units: set[str] = field(default_factory=set)
    largest: int = 0
    smallest: int = 0
    percents: int = 0
    others: int = 0

    def add(self, cell: object) -> str | None:
        """Count a cell; returns its value as a text that SQL can cast, None if it has no value."""
        if cell is None:
            return None
        is_percent = isinstance(cell, Percent)
        if isinstance(cell, Amount):
            self.units |= {cell.unit} - {""}
            cell = cell.number
        if isinstance(cell, (int, float)) and cell:
            self.percents += is_percent
            self.others += not is_percent
        if cell != cell:
            self.counts[BLANK] += 1
            return None
        kind, text = _kind_and_text(cell)
        if kind == "int":
            number = int(text)
            self.largest, self.smallest = max(self.largest, number), min(self.smallest, number)
        self.counts[kind] += 1
        return text

    @property
    def kinds(self) -> frozenset[str]:
        """The kinds of its values, without cells such as "-" and NA."""
        return frozenset(self.counts) - {BLANK}

    @property
    def are_truths(self) -> bool:
        """Whether all of its cells are 0 or 1, or NULL."""
        return {*self.counts} == {"int"} and self.smallest >= 0 and self.largest <= 1

    def type(self) -> str | None:
        """The SQL type that fits all of its values; None if that is text."""
        kinds = self.kinds
        limit = _MAX_EXACT if "float" in kinds else _MAX_BIGINT
        if "int" in kinds and not -limit <= self.smallest <= self.largest < limit:
            return None
        return None if "bytes" in kinds and self.counts[BLANK] else _TYPES.get(kinds)

    def note(self) -> str:
        """A note on values other than texts in a column of text; "" if there are none."""
        if self.kinds <= {TEXT}:
            return ""
        if self.kinds == {"nested"}:
            return "lists and objects are kept as JSON text"
        if self.kinds <= {"int", "float", "long"}:
            return "numbers of too many digits are kept as text"
        kinds = [f"{_WORDS[kind]} ({self.counts[kind]:,})" for kind in _WORDS if kind in self.kinds]
        return f"mixed, kept as text: {', '.join(kinds)}"


def _kind_and_text(cell: object) -> tuple[str, str]:  # noqa: C901 - one line a type
    match cell:
        case LongNumber():
            return "long", str(cell)
        case str():
            return (BLANK if trimmed(cell) in BLANKS else TEXT), cell
        case bool():
            return "bool", "true" if cell else "false"
        case int():
            return "int", str(cell)
        case float():
            return "float", repr(cell)
        case datetime():
            return "datetime" if cell.tzinfo is None else "zoned", cell.isoformat(" ")
        case date():
            return "date", cell.isoformat()
        case time():
            return "time", cell.isoformat()
        case timedelta():
            return TEXT, duration(cell)
        case bytes():
            return "bytes", cell.hex()
    return "nested", json.dumps(cell, ensure_ascii=False)


def duration(length: timedelta) -> str:
    """A duration as hours, minutes and seconds: 26:03:00."""
    seconds = abs(length) // timedelta(seconds=1)
    rest = abs(length) % timedelta(seconds=1) // timedelta(microseconds=1)
    fraction = f".{rest:06d}".rstrip("0") if rest else ""
    sign = "-" if length < timedelta(0) else ""
    return f"{sign}{seconds // 3600:d}:{seconds // 60 % 60:02d}:{seconds % 60:02d}{fraction}"
