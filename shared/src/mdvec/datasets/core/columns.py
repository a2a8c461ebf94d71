"""A table's columns, and column names from a file's header."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Any

_VALUE = re.compile(r"[-+¥￥\\]?\d[\d,.:/ T-]*")
_YEAR = re.compile(r"(19|20)\d\d")


@dataclass(frozen=True, slots=True)
class Column:
    """A column's name, and its DuckDB type as text."""

    name: str
    type: str


@dataclass(frozen=True, kw_only=True)
class TableExtent:
    """What a table holds.

    Attributes:
        rows: the number of rows.
        columns: the columns, in order.
        period_column: the first column of dates or timestamps, if any.
        first: its earliest value, in ISO 8601.
        last: its latest value, in ISO 8601.
    """

    rows: int
    columns: tuple[Column, ...]
    period_column: str | None
    first: str | None
    last: str | None

    @property
    def extent(self) -> dict[str, Any]:
        """The fields by name, as arguments for another object with the same content."""
        return {each.name: getattr(self, each.name) for each in fields(TableExtent)}


class NoHeader(ValueError):
    """The first line is not a header; the message says why."""


def column_names(header: Sequence[str]) -> tuple[str, ...]:
    """One name for each cell of a header: trimmed, never empty, and unique regardless of case.

    Raises:
        NoHeader: the line is empty, or holds HTML.
    """
    cells = [cell.strip() for cell in header]
    named = [cell for cell in cells if cell]
    if not named:
        raise NoHeader("its first line is empty; put the names of the columns there")
    if cells[0].lower().startswith(("<!doctype", "<html", "<?xml")):
        raise NoHeader("it is a web page, not a table; download the file again")
    return numbered_names(cells)


def is_value(cell: str) -> bool:
    """Whether a cell looks like a number, an amount or a date rather than a name."""
    return _VALUE.fullmatch(cell.strip()) is not None


def is_year(cell: str) -> bool:
    """Whether a cell is a year, which may name a column."""
    return _YEAR.fullmatch(cell.strip()) is not None


def is_no_year(cell: str) -> bool:
    """Whether a cell is a value, other than a year, which may be a name."""
    return is_value(cell) and not is_year(cell)


def numbered_names(cells: Sequence[str]) -> tuple[str, ...]:
    """Unique names: an empty third cell becomes ``column3``, repeated ones get a number added."""
    taken: dict[str, int] = {}
    all_named = {cell.lower() for cell in cells}
    return tuple(
        _unique(cell or f"column{number}", taken, all_named) for number, cell in enumerate(cells, 1)
    )


def _unique(wanted: str, taken: dict[str, int], named: set[str]) -> str:
    """``wanted``, with a number appended if an earlier column has that name; adds it to ``taken``.

    ``taken`` maps names of earlier columns to the last number appended to them. ``named`` are all
    names of the header: a numbered name must not be among them.
    """
    name, number = wanted, taken.get(wanted.lower(), 1)
    while name.lower() in taken or (number > 1 and name.lower() in named):
        number += 1
        name = f"{wanted}_{number}"
    taken[wanted.lower()] = number
    taken.setdefault(name.lower(), 1)
    return name
