"""What can be computed of a column, by its type."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from mdvec.core.datasets.columns import Column
from mdvec.errors import MdvecError

from mdvec_mcp.core.analytics.statement import folded

Family = Literal["integer", "number", "date", "timestamp", "category", "other"]
"""What counts, averages and bins mean for a column."""

_INTEGERS = frozenset(
    {
        "TINYINT", "SMALLINT", "INTEGER", "BIGINT", "HUGEINT",
        "UTINYINT", "USMALLINT", "UINTEGER", "UBIGINT", "UHUGEINT",
    }
)  # fmt: skip
_FLOATS = frozenset({"FLOAT", "DOUBLE"})
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
