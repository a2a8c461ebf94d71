"""Chooses types to cast columns to before export, if a file format would change their values."""

from __future__ import annotations

from mdvec.datasets.core.duckdb_types import DuckDBType, UnknownType, parse_type

_LARGE = {"HUGEINT", "UHUGEINT"}
"""Every sum is one. Parquet has no integers beyond 64 bits, so DuckDB would write doubles."""
_AS_TEXT = {"INTERVAL", "TIME WITH TIME ZONE", "BIT", "BIGNUM"}
"""Parquet drops the zone of a time, and many readers fail at intervals."""
_AS_JSON = {"VARIANT", "UNION"}
"""Few readers know VARIANT; a UNION would lose the name of its member."""


def stored_type(kind: str, large: str | None) -> str | None:
    """The type to cast a column to before it is written; None to leave it unchanged.

    Types inside structs, lists and maps are cast as well.

    Args:
        kind: the column's type as DuckDB writes it.
        large: the type for integers beyond 64 bits, ``BIGINT`` or ``VARCHAR``; None for a CSV
            file, where every value is text.
    """
    try:
        found = parse_type(kind)
    except UnknownType:
        return None

    def change(part: DuckDBType) -> DuckDBType | None:
        if part.name in _AS_JSON:
            return DuckDBType("JSON")
        if large is None:
            return None
        if part.name in _LARGE:
            return DuckDBType(large)
        return DuckDBType("VARCHAR") if part.name in _AS_TEXT else None

    stored = found.replaced(change)
    return None if stored == found else str(stored)
