"""The registry of materialized tables: how each was made, and when it expires."""

from __future__ import annotations

import secrets
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Protocol

from mdvec.datasets.core.columns import Column

from mdvec_mcp.analytics.core.statement import fold


@dataclass(frozen=True, slots=True)
class MaterializedTable:
    """The rows of a source, kept under a name.

    Args:
        source: what was materialized: a table's name or a SELECT.
        sql: our statement around the source.
        expires: when the table is dropped, in seconds since 1970; infinity for never.
        id: given when a table is made, so that one that replaces another has another one.
        needs: the ids of the materialized tables that the source reads.
        stamp: that of the data that it was made from.
    """

    name: str
    source: str
    sql: str
    rows: int
    columns: tuple[Column, ...]
    expires: float
    id: str = ""
    needs: frozenset[str] = frozenset()
    stamp: str = ""

    @property
    def expires_at(self) -> str:
        """The expiry in UTC as ISO with Z."""
        return f"{datetime.fromtimestamp(self.expires, UTC):%Y-%m-%dT%H:%M:%SZ}"


class Keeper(Protocol):
    """Keeps tables beyond the end of the server."""

    def load(self) -> list[MaterializedTable]:
        """The tables that it keeps, the oldest first."""

    def keep(self, table: MaterializedTable) -> bool:
        """Keep a table, if it can."""

    def release(self, table_id: str) -> None:
        """Forget a table."""

    def sweep(self) -> None:
        """Forget what has expired."""

    def close(self) -> None:
        """Let go of the tables, which stay kept."""


@dataclass
class TableRegistry:
    """The materialized tables by name, the oldest first.

    Args:
        kept: where tables outlive the server; None keeps none.
    """

    kept: Keeper | None = None
    _tables: dict[str, MaterializedTable] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for table in self.kept.load() if self.kept else ():
            self.put(table)

    def __iter__(self) -> Iterator[MaterializedTable]:
        return iter(tuple(self._tables.values()))

    def add(self, table: MaterializedTable, reads: Iterable[str]) -> bool:
        """Add a new table, which replaces one of its name; return whether it is kept.

        Args:
            table: the table, which is given its id here.
            reads: the names of the materialized tables that it was made from.
        """
        needs = frozenset(self._tables[fold(other)].id for other in reads)
        self.drop(table.name)
        whole = replace(table, id=secrets.token_hex(16), needs=needs)
        self.put(whole)
        return self.kept is None or self.kept.keep(whole)

    def put(self, table: MaterializedTable) -> None:
        """Put a table back that was made again, with its old id."""
        self._tables[fold(table.name)] = table

    def drop(self, name: str) -> None:
        """Remove a table; an unknown name is no error."""
        table = self._tables.pop(fold(name), None)
        if table is not None:
            self.lose(table)

    def lose(self, table: MaterializedTable) -> None:
        """Forget a table that was taken and could not be made again."""
        if self.kept is not None:
            self.kept.release(table.id)

    def expired(self, now: float) -> list[MaterializedTable]:
        """The tables whose time to live was over at ``now``, in seconds since 1970."""
        return [table for table in self if table.expires <= now]

    def take_all(self) -> list[MaterializedTable]:
        """Remove every table and return them, the oldest first."""
        tables = list(self._tables.values())
        self._tables.clear()
        return tables

    def has_all(self, ids: Iterable[str]) -> bool:
        """Whether the tables of these ids are all registered, none replaced."""
        return set(ids) <= {table.id for table in self._tables.values()}
