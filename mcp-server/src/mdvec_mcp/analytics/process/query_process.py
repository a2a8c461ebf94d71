"""Queries over the user's tables, run one at a time in a child process."""

from __future__ import annotations

import math
import secrets
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from mdvec.cancelling import cancelled_by, raise_if_cancelled
from mdvec.datasets.core.columns import Column
from mdvec.errors import MdvecError

from mdvec_mcp.analytics.core.refusals import QueriesUnavailable, TooManyRows
from mdvec_mcp.analytics.core.statement import SELECT_ALL
from mdvec_mcp.analytics.process.messages import (
    Data,
    ExportedFile,
    ExportFormat,
    Limits,
    QueryRows,
)
from mdvec_mcp.analytics.process.remaking import Remaking
from mdvec_mcp.analytics.process.requests import (
    columns_in,
    export_request,
    materialize_request,
    rows_request,
)
from mdvec_mcp.analytics.process.running_child import ChildDied, RunningChild
from mdvec_mcp.analytics.process.table_registry import MaterializedTable, TableRegistry
from mdvec_mcp.analytics.process.wire import Message

_MIN_WAIT_SECONDS = 30.0
_QUERIES_WAITED_FOR = 6
_QUERIES_TO_REMAKE = 3
_CANCELLATION_CHECK_SECONDS = 0.05


class QueryProcess:
    """Runs queries over the user's tables in a warm child; thread-safe, one query at a time.

    A ``source`` is what a model wrote: a table's name, or one SELECT. It is checked alone, in the
    child, before it becomes part of anything. ``sql`` is our own statement around it: a SELECT
    with the placeholder ``{source}`` where a table's name could stand (``FROM {source}``), in
    which names and texts are quoted with ``identifier`` and ``literal``.

    Every method that runs a query may raise:
        QueryRefused (UnknownTable): the source is not allowed; nothing was run.
        QueryFailed: DuckDB could not run it.
        QueryStopped: it exceeded its time or memory, or broke the child; the next call works.
        QueriesUnavailable: no child could be started, or other queries keep it busy.
        Cancelled: the call was cancelled; the next query has its turn at once.

    Args:
        spool_root: the folder in which the child's private folder is made, mode 0700; on the
            file system of the exports. The folders of dead processes are removed from it.
        limits: the limits of one query.
        data: returns the user's tables at this moment; called before each query, so it must be
            quick.
    """

    def __init__(self, spool_root: Path, limits: Limits, data: Callable[[], Data]) -> None:
        self._data = data
        self._child = RunningChild(spool_root, limits, self._warn)
        self._registry = TableRegistry()
        self._remaking = Remaking(
            self._child, self._registry, data, _QUERIES_TO_REMAKE * limits.seconds, self._warn
        )
        self._max_wait = max(_MIN_WAIT_SECONDS, _QUERIES_WAITED_FOR * limits.seconds)
        self._turn_lock = threading.Lock()
        self._warnings: list[str] = []
        self._closed = False

    def warm(self) -> None:
        """Start the child in the background, so that the first query does not wait for it."""
        threading.Thread(target=self._warm, daemon=True).start()

    def tables(self) -> dict[str, tuple[Column, ...]]:
        """The columns of every table by its name; the materialized tables come last."""
        with self._turn():
            self._prepare()
            return self._child.tables | {table.name: table.columns for table in self._registry}

    def columns(self, source: str) -> tuple[Column, ...]:
        """The columns of a table, or of a query, which is not run."""
        with self._turn():
            response = self._request({"do": "columns", "source": source})
        return columns_in(response["columns"])

    def rows(
        self, source: str, sql: str = SELECT_ALL, *, max_rows: int, max_bytes: int = 1_000_000
    ) -> QueryRows:
        """The first rows of our statement over a source, as JSON values.

        Long texts are cut, and say so. There are at most ``max_rows`` rows and ``max_bytes``
        bytes of compact JSON (none, where the first row alone is larger).
        """
        request = rows_request(source, sql, max_rows=max_rows, max_bytes=max_bytes)
        with self._turn():
            response = self._request(request)
        return QueryRows(columns_in(response["columns"]), response["rows"], response["more"])

    def export(
        self, source: str, sql: str = SELECT_ALL, *, fmt: ExportFormat, max_rows: int
    ) -> ExportedFile:
        """All rows as a complete file, which the caller moves away.

        The file is private and its name random; without rows it still has its columns.

        Raises:
            TooManyRows: with the count; there is no file.
            ResultTooLarge: over the limit, or the disk is full; there is no file.
        """
        file = f"{secrets.token_hex(16)}.{fmt}"
        request = export_request(source, sql, fmt=fmt, file=file, max_rows=max_rows)
        with self._turn():
            response = self._request(request)
            if response["rows"] > max_rows:
                raise TooManyRows(response["rows"], max_rows)
            path = self._child.spool.finish(file)
        columns = columns_in(response["columns"])
        return ExportedFile(path, response["rows"], columns, response["size"])

    def materialize(
        self,
        name: str,
        source: str,
        sql: str = SELECT_ALL,
        *,
        replace: bool = False,
        ttl_seconds: float = math.inf,
    ) -> MaterializedTable:
        """Keep the rows of a source as a table, until its time to live is over.

        Raises:
            BadTableName: the name needs quotes, is a data table's, or is taken (see ``replace``).
        """
        with self._turn():
            response = self._request(materialize_request(name, source, sql, replace=replace))
            columns = columns_in(response["columns"])
            expires = time.time() + ttl_seconds
            table = MaterializedTable(name, source, sql, response["rows"], columns, expires)
            self._registry.add(table, response["reads"])
        return table

    def drop(self, name: str) -> None:
        """Drop a materialized table; an unknown name is no error."""
        with self._turn():
            self._drop(name)

    def drop_expired(self) -> None:
        """Drop the tables whose time to live is over; waits for a query only if there are any."""
        if self._registry.expired(time.time()):
            with self._turn():
                pass  # every turn begins with dropping them

    def materialized(self) -> list[MaterializedTable]:
        """The materialized tables, the oldest first."""
        with self._turn():
            return list(self._registry)

    def expiries(self) -> dict[str, float]:
        """When each materialized table expires; does not wait for a running query."""
        return {table.name: table.expires for table in self._registry}

    def take_warnings(self) -> list[str]:
        """The warnings about tables since the last call: made again, lost, not readable."""
        warnings, self._warnings = self._warnings, []
        return warnings

    def close(self) -> None:
        """End the child and remove its folder; later calls raise QueriesUnavailable."""
        self._closed = True
        if not self._turn_lock.acquire(blocking=False):
            self._child.interrupt()
            self._turn_lock.acquire()
        try:
            self._child.close()
        finally:
            self._turn_lock.release()

    def _warn(self, warning: str) -> None:
        self._warnings.append(warning)

    @contextmanager
    def _turn(self) -> Iterator[None]:
        self._wait_for_turn()
        try:
            for table in self._registry.expired(time.time()):
                self._drop(table.name)
            yield
        finally:
            self._turn_lock.release()

    def _wait_for_turn(self) -> None:
        deadline = time.monotonic() + self._max_wait
        raise_if_cancelled()
        while not self._turn_lock.acquire(timeout=_CANCELLATION_CHECK_SECONDS):
            raise_if_cancelled()
            if time.monotonic() > deadline:
                raise QueriesUnavailable(
                    "other queries are still running; ask again when they are done"
                )

    def _warm(self) -> None:
        with suppress(MdvecError), self._turn():
            self._prepare()

    def _drop(self, name: str) -> None:
        self._registry.drop(name)
        if self._child.is_running:
            with cancelled_by(None):
                self._request({"do": "drop", "name": name})

    def _request(self, message: Message) -> Message:
        """The child's response; when the child dies, the next one is started."""
        try:
            # Cancelled half-way, it would lose tables that other queries need.
            with cancelled_by(None):
                self._prepare()
            response = self._child.request(message)
        except ChildDied as died:
            self.warm()
            raise_if_cancelled()
            raise died.reason from died
        for note in response.pop("notes", ()):
            if note not in self._warnings:  # a profile asks several times
                self._warn(note)
        return response

    def _prepare(self) -> None:
        """Have a child running that holds the current data and every materialized table."""
        if self._closed:
            raise QueriesUnavailable("the server is shutting down and takes no more queries")
        data = self._data()
        if self._child.is_ready_for(data):
            return
        changed = self._child.restart(data)
        self._remaking.remake_all(changed=changed)
        if not self._child.is_running:
            self._child.start(data)
