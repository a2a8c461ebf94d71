"""The materialized tables: how long each lives, and which one goes for the next."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from mdvec_mcp.analytics.core.statement import folded
from mdvec_mcp.analytics.process.query_process import QueryProcess


@dataclass(frozen=True, slots=True)
class Kept:
    """A materialized table: its rows, and when it goes, in UTC as ISO with Z."""

    name: str
    rows: int
    expires_at: str


class MaterializedTables:
    """The materialized tables of a query process, each until its time is over.

    Args:
        queries: where the tables are.
        most: how many there are at once; the oldest goes for the next.
        clock: the seconds since 1970 that count.
    """

    def __init__(
        self, queries: QueryProcess, most: int, clock: Callable[[], float] = time.time
    ) -> None:
        self._queries = queries
        self._most = most
        self._clock = clock
        self._expiries: dict[str, float] = {}
        self._lock = threading.Lock()

    def keep(self, name: str, source: str, ttl_seconds: int) -> tuple[Kept, list[str]]:
        """Keep the rows of a table or query under a name; returns it, and what had to go.

        A table of that name is replaced, and then counts as new.

        Raises:
            QueryError: the query was not answered, or no table can have that name.
        """
        name = folded(name)
        with self._lock:
            self._sweep()
            rows = self._queries.materialize(name, source, replace=True)
            self._expiries.pop(name, None)
            expires = self._clock() + ttl_seconds
            self._expiries[name] = expires
            oldest = list(self._expiries)[: -self._most]
            self._drop(oldest)
        return Kept(name, rows, _iso(expires)), oldest

    def alive(self) -> list[Kept]:
        """The tables that are there, the oldest first."""
        with self._lock:
            self._sweep()
            rows = self._queries.materialized()
            return [
                Kept(name, rows[name], _iso(expires))
                for name, expires in self._expiries.items()
                if name in rows
            ]

    def sweep(self) -> None:
        """Drop the tables whose time is over, and forget those that went with their process."""
        with self._lock:
            self._sweep()

    def next_expiry(self) -> float | None:
        """When the next table goes, in the clock's seconds; None without tables."""
        return min(list(self._expiries.values()), default=None)

    def _sweep(self) -> None:
        if not self._expiries:
            return
        now, there = self._clock(), self._queries.materialized()
        self._expiries = {
            name: expires for name, expires in self._expiries.items() if name in there
        }
        self._drop([name for name, expires in self._expiries.items() if expires <= now])

    def _drop(self, names: Sequence[str]) -> None:
        for name in names:
            self._queries.drop(name)
            self._expiries.pop(name, None)


def _iso(seconds: float) -> str:
    return f"{datetime.fromtimestamp(seconds, UTC):%Y-%m-%dT%H:%M:%SZ}"
