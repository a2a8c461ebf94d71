"""Results that SQL can name: a session's materialized tables, and exports by their handles."""

from __future__ import annotations

import re
import threading
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime

from mdvec.analysis import ExportFolder
from mdvec.datasets import Column
from mdvec.sql.core.statement import fold
from mdvec.sql.process.messages import Data
from mdvec.sql.process.turns import current_session

_WORD = re.compile(r"\w+")
_HANDLE = r"export_\d{8}t\d{6}z_[0-9a-f]{32}"
_WRITTEN = re.compile(
    rf"(?P<before>\b(?:from|join)\s+)'(?P<text>{_HANDLE})\.(?:parquet|csv)'"
    rf"|(?<![\w'])(?P<name>{_HANDLE})\.(?:parquet|csv)\b(?!')",
    re.IGNORECASE,
)
_SECONDS_EXPLAINED = 3_600
"""How long the name of an expired table is remembered, so that errors can say that it expired."""
_IN_SQL = re.compile(rf"(?<!\w){_HANDLE}(?!\w)", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class NamedTable:
    """An export as a table of SQL; ``expires`` is in seconds since 1970.

    ``rows`` and ``columns`` are None for an export that is named by its handle. ``made_from`` has
    the state of each table from which it was made.
    """

    name: str
    handle: str
    rows: int | None = None
    columns: tuple[Column, ...] | None = None
    expires: float = 0.0
    made_from: Mapping[str, str] = field(default_factory=dict)

    @property
    def is_living(self) -> bool:
        """Whether it has not expired."""
        return self.expires > time.time()

    @property
    def expires_at(self) -> str:
        """The expiry in UTC as ISO with Z."""
        return f"{datetime.fromtimestamp(self.expires, UTC):%Y-%m-%dT%H:%M:%SZ}"

    def is_older_than(self, data: Data) -> bool:
        """Whether a table that this table was made from has changed since."""
        now = states_of(data)
        return any(now.get(name) != state for name, state in self.made_from.items())


def states_of(data: Data) -> dict[str, str]:
    """By table, a text that identifies its content; all ledgers are one table."""
    states = {table.name: f"{table.size} {table.mtime_ns} {table.inode}" for table in data.parquet}
    return states | {"transactions": f"{data.households} {data.month_starts_on}"}


def with_plain_handles(source: str) -> str:
    """A query with handles as table names, without quotes and file extensions."""
    return _WRITTEN.sub(
        lambda match: (match["before"] or "") + fold(match["text"] or match["name"]), source
    )


@dataclass
class NamedTables:
    """The materialized tables of each session, the oldest first. Thread-safe."""

    exports: ExportFolder
    max_tables: int
    _by_session: dict[str, dict[str, NamedTable]] = field(default_factory=dict)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def living(self) -> list[NamedTable]:
        """The tables of this session that have not expired."""
        return [table for table in self._remembered() if table.is_living]

    def expired_in(self, source: str) -> list[str]:
        """The recently expired materialized tables that a query names."""
        return [table.name for table in _in(source, self._remembered()) if not table.is_living]

    def _remembered(self) -> list[NamedTable]:
        with self._lock:
            return list(self._by_session.get(current_session(), {}).values())

    def add(self, table: NamedTable) -> tuple[bool, list[str]]:
        """Add a table; returns whether it replaced another, and the tables dropped to make room."""
        with self._lock:
            recent = time.time() - _SECONDS_EXPLAINED
            for session, others in list(self._by_session.items()):
                if all(other.expires < recent for other in others.values()):
                    del self._by_session[session]
            tables = self._by_session.setdefault(current_session(), {})
            replaced = tables.pop(fold(table.name), None)
            was_living = replaced is not None and replaced.is_living
            tables[fold(table.name)] = table
            # If there are too many, expired tables are dropped first.
            order = sorted(tables.values(), key=lambda other: other.is_living)
            surplus = [tables.pop(fold(other.name)) for other in order[: -self.max_tables]]
        return was_living, [other.name for other in surplus if other.is_living]

    def named_in(self, source: str) -> list[NamedTable]:
        """The materialized tables and exports that a query names.

        Raises:
            ExportMissing: no export has a handle that the query names.
        """
        handles = dict.fromkeys(map(fold, _IN_SQL.findall(source)))
        return _in(source, self.living()) + [
            NamedTable(name, handle := self._handle(name), made_from=self.exports.made_from(handle))
            for name in handles
        ]

    def types_of(self, table: NamedTable) -> dict[str, str] | None:
        """The columns' original types, if they are known."""
        if table.columns is not None:
            return {column.name: column.type for column in table.columns}
        return self.exports.types_of(table.handle)

    def _handle(self, name: str) -> str:
        handle = name.replace("t", "T").replace("z", "Z").replace("exporT", "export")
        csv = f"{handle}.csv"
        return csv if (self.exports.folder / csv).exists() else f"{handle}.parquet"


def _in(source: str, tables: Iterable[NamedTable]) -> list[NamedTable]:
    """The tables whose names are words of a query."""
    words = set(_WORD.findall(fold(source)))
    return [table for table in tables if fold(table.name) in words]
