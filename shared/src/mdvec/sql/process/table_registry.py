"""The materialized tables: how each was made, when it expires, and how it is made again."""

from __future__ import annotations

import secrets
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Protocol

from mdvec.datasets import Column
from mdvec.sql.core.refusals import QueryError, named
from mdvec.sql.core.statement import fold
from mdvec.sql.process.messages import Data, columns_in, materialize_request
from mdvec.sql.process.running_child import ChildDied, RunningChild


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


@dataclass(frozen=True, slots=True)
class Remaking:
    """Fills a new child with the registered tables, as far as that is possible.

    Args:
        child: the new child; restarted where making a table kills it.
        data: the current data of the user.
        seconds: the time limit for all tables together, as the next query waits for them.
        warn: gets a sentence about each table that was lost or made from changed data.
    """

    child: RunningChild
    registry: TableRegistry
    data: Callable[[], Data]
    seconds: float
    warn: Callable[[str], None]

    def remake_all(self) -> None:
        """Recreate every table; drop from the registry those that fail.

        Warns of those that were made from other data.
        """
        deadline = time.monotonic() + self.seconds
        waiting = self.registry.take_all()
        stamps = {table.id: table.stamp for table in waiting}
        while waiting:
            table = waiting.pop(0)
            try:
                trouble = self._remake(table, deadline)
            except ChildDied as died:
                # The tables made so far died with the child; they are made once more.
                trouble, waiting = str(died.reason), self.registry.take_all() + waiting
            if trouble is not None:
                self.registry.lose(table)
                self.warn(f"the materialized table {table.name} is gone: {trouble}")
        remade = [table.name for table in self.registry if table.stamp != stamps[table.id]]
        if remade:
            self.warn(f"the data have changed; made again from them: {named(remade)}")

    def _remake(self, table: MaterializedTable, deadline: float) -> str | None:
        """Recreate one table; returns the reason if that fails."""
        if not self.registry.has_all(table.needs):
            return "a table that it was made of is gone"
        if time.monotonic() > deadline:
            return "there was no time to make it again"
        request = materialize_request(table.name, table.source, table.sql, replace=False)
        try:
            if not self.child.is_running:
                self.child.start(self.data())
            response = self.child.request(request)
        except QueryError as error:
            return str(error)
        columns = columns_in(response["columns"])
        stamp = self.child.stamp
        self.registry.put(replace(table, rows=response["rows"], columns=columns, stamp=stamp))
        return None
