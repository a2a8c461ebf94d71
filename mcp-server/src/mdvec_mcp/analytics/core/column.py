"""Finds the column that a query or a model names."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from mdvec.datasets.core.columns import Column
from mdvec.errors import MdvecError

from mdvec_mcp.analytics.core.statement import fold

Cell = Any
"""A value in a result row; its type depends on the SQL."""


class UnknownColumn(MdvecError):
    """The table or query has no column of that name."""

    def __init__(self, name: str, columns: Sequence[Column]) -> None:
        names = ", ".join(repr(column.name[:40]) for column in columns[:15])
        more = "" if len(columns) <= 15 else f" and {len(columns) - 15} more"
        super().__init__(f"there is no column {name[:60]!r}; there are: {names}{more}")


def found_column(columns: Sequence[Column], name: str) -> Column:
    """The column of that name, as DuckDB finds names: whatever the case of its ASCII letters.

    Raises:
        UnknownColumn: it does not exist.
    """
    for same in (str, fold):
        for column in columns:
            if same(column.name) == same(name):
                return column
    raise UnknownColumn(name, columns)
