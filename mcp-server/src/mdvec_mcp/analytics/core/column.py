"""What can be computed of a column, by its type."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

from mdvec.datasets.core.columns import Column
from mdvec.errors import MdvecError
from mdvec.text.quoting import identifier

from mdvec_mcp.analytics.core.statement import folded

Cell = Any
"""A value of a result as JSON has it."""

Family = Literal["integer", "number", "date", "timestamp", "category", "other"]
"""What counts, averages and bins mean for a column."""

_INTEGERS = frozenset(
    {
        "TINYINT", "SMALLINT", "INTEGER", "BIGINT", "HUGEINT",
        "UTINYINT", "USMALLINT", "UINTEGER", "UBIGINT", "UHUGEINT",
    }
)  # fmt: skip
_FLOATS = frozenset({"FLOAT", "DOUBLE"})
_SUMMED = 28
"""Digits of a DECIMAL that leave room to add a billion of them."""
_CATEGORIES = frozenset({"VARCHAR", "BOOLEAN", "UUID", "TIME"})


class UnknownColumn(MdvecError):
    """A column that is not there."""

    def __init__(self, asked: str, columns: Sequence[Column]) -> None:
        names = ", ".join(repr(column.name[:40]) for column in columns[:15])
        more = "" if len(columns) <= 15 else f" and {len(columns) - 15} more"
        super().__init__(f"there is no column {asked[:60]!r}; there are: {names}{more}")


def family(column: Column) -> Family:
    """How the column is counted, averaged and binned."""
    type_ = column.type
    if type_ in _INTEGERS:
        return "integer"
    if type_ in _FLOATS or _is_scalar(type_, "DECIMAL("):
        return "number"
    if type_ == "DATE":
        return "date"
    if _is_scalar(type_, "TIMESTAMP"):
        return "timestamp"
    if type_ in _CATEGORIES or _is_scalar(type_, "ENUM("):
        return "category"
    return "other"


def has_dates(column: Column) -> bool:
    """Whether a range of dates can be cut out of it."""
    return family(column) in {"date", "timestamp"}


def may_be_infinite(column: Column) -> bool:
    """Whether it may hold NaN or infinity, which no average survives."""
    return column.type in _FLOATS


def is_measured(column: Column) -> bool:
    """Whether its values have a mean and a median."""
    return family(column) in {"integer", "number"}


def is_wide(column: Column) -> bool:
    """Whether a sum of its values may be larger than any type holds."""
    if column.type in {"HUGEINT", "UHUGEINT"}:
        return True
    return _is_scalar(column.type, "DECIMAL(") and int(column.type[8:].split(",")[0]) > _SUMMED


def finite_value(column: Column) -> str:
    """The column in SQL, its NaN and infinity left out."""
    name = identifier(column.name)
    return f"CASE WHEN isfinite({name}) THEN {name} END" if may_be_infinite(column) else name


def decimals(column: Column) -> int:
    """The digits that its values have behind the point; 0 where they are whole numbers."""
    return int(column.type[:-1].split(",")[1]) if _is_scalar(column.type, "DECIMAL(") else 0


def found_column(columns: Sequence[Column], asked: str) -> Column:
    """The column of that name, as DuckDB finds names: whatever the case of its ASCII letters.

    Raises:
        UnknownColumn: it is not there.
    """
    for same in (str, folded):
        for column in columns:
            if same(column.name) == same(asked):
                return column
    raise UnknownColumn(asked, columns)


def _is_scalar(type_: str, beginning: str) -> bool:
    """Of that type, and not a list of it."""
    return type_.startswith(beginning) and not type_.endswith("]")
