"""What values are written as where the file, or those who read it, would change them."""

from __future__ import annotations

from mdvec.datasets.core.duckdb_types import DuckDBType, UnknownType, parse_type

_LARGE = {"HUGEINT", "UHUGEINT"}
"""Parquet has no integers of more than 64 bits, which every sum is; DuckDB writes doubles."""
_AS_TEXT = {"INTERVAL", "TIME WITH TIME ZONE", "BIT", "BIGNUM"}
"""Parquet drops the zone of a time; intervals break its readers."""
_AS_JSON = {"VARIANT", "UNION"}
"""Few readers know the first; of the second only a number would tell which member it is."""


def stored_type(kind: str, large: str | None) -> str | None:
    """The type that a column is cast to before it is written; None where it stays as it is.

    At any depth: a sum in a struct, list or map is one as well.

    Args:
        kind: the column's type as DuckDB writes it.
        large: what integers of more than 64 bits become, ``BIGINT`` or ``VARCHAR``; None for a
            CSV file, which has everything as text.
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
