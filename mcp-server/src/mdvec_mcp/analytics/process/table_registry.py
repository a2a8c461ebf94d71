"""The registry of materialized tables: how each was made, and when it expires."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime

from mdvec.datasets.core.columns import Column

from mdvec_mcp.analytics.core.statement import fold


@dataclass(frozen=True, slots=True)
class MaterializedTable:
    """The rows of a source, kept under a name.

    Args:
        source: what was materialized: a table's name or a SELECT.
        sql: our statement around the source.
        number: grows with each table made, so that a replaced table has another one.
        needs: the numbers of the materialized tables that the source reads.
        expires: when the table is dropped, in seconds since 1970; infinity for never.
    """

    name: str
    source: str
    sql: str
    rows: int
    columns: tuple[Column, ...]
    expires: float
    number: int = 0
    needs: frozenset[int] = frozenset()

    @property
    def expires_at(self) -> str:
        """The expiry in UTC as ISO with Z."""
        return f"{datetime.fromtimestamp(self.expires, UTC):%Y-%m-%dT%H:%M:%SZ}"


@dataclass
class TableRegistry:
    """The materialized tables by name, the oldest first."""

    _tables: dict[str, MaterializedTable] = field(default_factory=dict)
    _last_number: int = 0

    def __iter__(self) -> Iterator[MaterializedTable]:
        return iter(tuple(self._tables.values()))

    def add(self, table: MaterializedTable, reads: Iterable[str]) -> None:
        """Add a new table, which replaces one of its name.

        Args:
            table: the table, which is given its number here.
            reads: the names of the materialized tables that it was made from.
        """
        needs = frozenset(self._tables[fold(other)].number for other in reads)
        self._last_number += 1
        self.drop(table.name)
        self.put(replace(table, number=self._last_number, needs=needs))

    def put(self, table: MaterializedTable) -> None:
        """Put a table back that was made again, with its old number."""
        self._tables[fold(table.name)] = table

    def drop(self, name: str) -> None:
        """Remove a table; an unknown name is no error."""
        self._tables.pop(fold(name), None)

    def expired(self, now: float) -> list[MaterializedTable]:
        """The tables whose time to live was over at ``now``, in seconds since 1970."""
        return [table for table in self if table.expires <= now]

    def take_all(self) -> list[MaterializedTable]:
        """Remove every table and return them, the oldest first."""
        tables = list(self._tables.values())
        self._tables.clear()
        return tables

    def has_all(self, numbers: Iterable[int]) -> bool:
        """Whether the tables of these numbers are all registered, none replaced."""
        return set(numbers) <= {table.number for table in self._tables.values()}
