"""What can be computed from a column of a given type: sums, averages, bins, date ranges."""

from __future__ import annotations

from typing import Literal

from mdvec.datasets.core.columns import Column
from mdvec.text.quoting import identifier

TypeFamily = Literal["integer", "number", "date", "timestamp", "category", "other"]
"""Groups of types that are counted, averaged and binned in the same way."""

_INTEGERS = frozenset(
    {
        "TINYINT", "SMALLINT", "INTEGER", "BIGINT", "HUGEINT",
        "UTINYINT", "USMALLINT", "UINTEGER", "UBIGINT", "UHUGEINT",
    }
)  # fmt: skip
_FLOATS = frozenset({"FLOAT", "DOUBLE"})
_SUMMED = 28
"""A billion DECIMALs with this many digits can be added without overflow."""
_CATEGORIES = frozenset({"VARCHAR", "BOOLEAN", "UUID", "TIME"})


def family(column: Column) -> TypeFamily:
    """The family of a column's type."""
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
    """Whether it holds dates or timestamps."""
    return family(column) in {"date", "timestamp"}


def may_be_infinite(column: Column) -> bool:
    """Whether it may hold NaN or infinity, which would spoil an average."""
    return column.type in _FLOATS


def is_measured(column: Column) -> bool:
    """Whether its values have a mean and a median."""
    return family(column) in {"integer", "number"}


def is_wide(column: Column) -> bool:
    """Whether a sum of its values may overflow every type."""
    if column.type in {"HUGEINT", "UHUGEINT"}:
        return True
    return _is_scalar(column.type, "DECIMAL(") and int(column.type[8:].split(",")[0]) > _SUMMED


def finite_value(column: Column) -> str:
    """The SQL for its value, with NaN and infinity as NULL."""
    name = identifier(column.name)
    return f"CASE WHEN isfinite({name}) THEN {name} END" if may_be_infinite(column) else name


def decimals(column: Column) -> int:
    """The number of digits after the decimal point; 0 for integers."""
    return int(column.type[:-1].split(",")[1]) if _is_scalar(column.type, "DECIMAL(") else 0


def _is_scalar(type_: str, beginning: str) -> bool:
    """Whether it is that type, and not a list of it."""
    return type_.startswith(beginning) and not type_.endswith("]")
