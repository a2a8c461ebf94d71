"""A table's columns: names from a file's header, families of types, and the SQL of their values."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields
from typing import Any, Literal

from mdvec.text import identifier
from mdvec.tools import InvalidToolName

_VALUE = re.compile(r"[-+¥￥\\]?\d[\d,.:/ T-]*")
_YEAR = re.compile(r"(19|20)\d\d")
TypeFamily = Literal["integer", "number", "date", "timestamp", "category", "other"]
"""Groups of types that are counted, averaged and binned in the same way."""
INTEGERS = {
    "TINYINT", "SMALLINT", "INTEGER", "BIGINT", "HUGEINT",
    "UTINYINT", "USMALLINT", "UINTEGER", "UBIGINT", "UHUGEINT",
}  # fmt: skip
_FLOATS = {"FLOAT", "DOUBLE"}
_DECIMAL = re.compile(r"DECIMAL\((\d+),(\d+)\)")
_SUMMED = 28
"""The most digits of a DECIMAL column of which a billion values can be summed without overflow."""
_FAMILIES: dict[str, TypeFamily] = {
    **dict.fromkeys(INTEGERS, "integer"),
    **dict.fromkeys((*_FLOATS, "DECIMAL"), "number"),
    **dict.fromkeys(("VARCHAR", "BOOLEAN", "UUID", "TIME", "ENUM"), "category"),
    "DATE": "date",
}
HOUSEHOLD_TABLE = "transactions"
"""The SQL name of the household's rows, which no dataset may take."""
_SEPARATOR = "__"


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


def family(column: Column) -> TypeFamily:
    """The family of a column's type."""
    name = column.type.partition("(")[0]
    if column.type.endswith("]"):  # a list
        return "other"
    return "timestamp" if name.startswith("TIMESTAMP") else _FAMILIES.get(name, "other")


def has_dates(column: Column) -> bool:
    """Whether it holds dates or timestamps."""
    return family(column) in {"date", "timestamp"}


def may_be_infinite(column: Column) -> bool:
    """Whether it may hold NaN or infinity, which would spoil an average."""
    return column.type in _FLOATS


def is_measured(column: Column) -> bool:
    """Whether its values have a mean and a median."""
    return family(column) in {"integer", "number"}


def is_wide(column: Column) -> bool:
    """Whether a sum of its values may overflow DuckDB's widest type."""
    return column.type in {"HUGEINT", "UHUGEINT"} or _decimal(column)[0] > _SUMMED


def finite_value(column: Column) -> str:
    """The SQL for its value, with NaN and infinity as NULL."""
    name = identifier(column.name)
    return f"CASE WHEN isfinite({name}) THEN {name} END" if may_be_infinite(column) else name


def decimals(column: Column) -> int:
    """The number of digits after the decimal point; 0 for integers."""
    return _decimal(column)[1]


def _decimal(column: Column) -> tuple[int, int]:
    """The digits of a DECIMAL, and how many follow the point; 0 and 0 for other types."""
    match = _DECIMAL.fullmatch(column.type)
    return (int(match[1]), int(match[2])) if match else (0, 0)


def table_name(tool_name: str, *parts: str) -> str:
    """The SQL name of a table: the tool's name, then its file and inner table if there are any.

    Letters of any script and digits are kept, in lower case; other characters become '_'.
    """
    return _SEPARATOR.join(_plain(part) for part in (tool_name, *parts))


def checked_dataset_name(name: str, others: Iterable[str]) -> str:
    """Return a dataset's ``name`` if its tables' names cannot clash with tables of ``others``.

    Raises:
        InvalidToolName: they can clash, with those or with the household's table.
    """
    own = table_name(name)
    if own == HOUSEHOLD_TABLE:
        raise InvalidToolName(
            f"the name {name!r} belongs to the household's table; "
            f"choose another for a dataset, such as 'my-{name}'"
        )
    for other in others:
        theirs = table_name(other)
        if own == theirs or _is_prefixed_by(own, theirs) or _is_prefixed_by(theirs, own):
            raise InvalidToolName(
                f"the tables of a dataset {name!r} would have the names of those of {other!r} "
                f"(in SQL: {own}); choose another name"
            )
    return name


def _plain(part: str) -> str:
    composed = unicodedata.normalize("NFC", part).lower()
    return re.sub(r"\W", "_", composed)


def _is_prefixed_by(name: str, other: str) -> bool:
    return name.startswith(other + _SEPARATOR)
