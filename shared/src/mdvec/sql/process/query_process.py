"""Queries over the user's tables, run by two child processes."""

from __future__ import annotations

import math
import re
import secrets
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

from mdvec.analysis import ExportFormat
from mdvec.cancelling import cancelled_by
from mdvec.datasets import Column
from mdvec.errors import MdvecError
from mdvec.queries import Bound, Parameter
from mdvec.sql.core.refusals import QueriesUnavailable, TooManyRowsToExport, UnknownTable
from mdvec.sql.core.statement import SELECT_ALL, fold
from mdvec.sql.process.lane import Lane, NoTurn, Turns
from mdvec.sql.process.messages import (
    Data,
    ExportedFile,
    JudgedQuery,
    Message,
    QueryLimits,
    QueryRows,
    columns_in,
    export_request,
    materialize_request,
    rows_request,
    with_parameters,
)
from mdvec.sql.process.running_child import RunningChild
from mdvec.sql.process.table_registry import (
    Keeper,
    MaterializedTable,
    Remaking,
    TableRegistry,
)

_MIN_WAIT_SECONDS = 30.0
_QUERIES_WAITED_FOR = 6
_QUERIES_TO_REMAKE = 3
_LIST_WAIT_SECONDS = 1.0
"""How long a list of tables waits for running queries; after that it is the list before them."""
_REST_SECONDS = 60.0
"""How long the second child is kept without a query."""
_NOT_KEPT = "nothing can be written in the folder of exports"
_MAIN, _SECOND = 0, 1


class QueryProcess:
    """Runs queries over the user's tables in two children; thread-safe, two queries at a time.

    The first child is warm and holds the materialized tables. The second is started when a query
    that needs none of them finds the first one busy.

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
        kept: keeps the materialized tables for the next server; None keeps none.
    """

    def __init__(
        self,
        spool_root: Path,
        limits: QueryLimits,
        data: Callable[[], Data],
        keeper: Keeper | None = None,
    ) -> None:
        self._registry = TableRegistry(keeper)
        self._warnings: list[str] = []
        self._turns = Turns()
        main = RunningChild(spool_root, limits, self._warn)
        second = RunningChild(spool_root, limits, lambda _told_by_main: None)
        remaking = Remaking(
            main, self._registry, data, _QUERIES_TO_REMAKE * limits.seconds, self._warn
        )
        self._main = Lane(main, remaking, data, self.warm)
        self._lanes = (self._main, Lane(second, None, data, lambda: None))
        self._max_wait = max(_MIN_WAIT_SECONDS, _QUERIES_WAITED_FOR * limits.seconds)

    def warm(self) -> None:
        """Start the child in the background, so that the first query does not wait for it."""
        threading.Thread(target=self._warm, daemon=True).start()

    def is_ready(self) -> bool:
        """Whether ``tables`` would answer at once, without a child to be started."""
        return self._main.is_ready()

    def tables(self) -> dict[str, tuple[Column, ...]]:
        """The columns of every table by its name; the materialized tables come last.

        Waits for no query; if the tables have changed since queries began, says that they have.
        """
        if not self._main.is_ready():
            known = bool(self._main.child.tables)
            try:
                with self._turn(seconds=_LIST_WAIT_SECONDS if known else None):
                    self._main.prepare()
            except NoTurn:
                self._warn("queries are running; the tables are those from before they began")
        return self._main.child.tables | {
            table.name: table.columns for table in self.materialized()
        }

    def columns(self, source: str) -> tuple[Column, ...]:
        """The columns of a table, or of a query, which is not run."""
        response = self._ask({"do": "columns", "source": source})
        return columns_in(response["columns"])

    def judged(self, source: str) -> JudgedQuery:
        """A query that may have ``$parameters``, judged as if it were run, with their types."""
        response = self._ask({"do": "question", "source": source})
        parameters = tuple(Parameter(name, kind) for name, kind in response["parameters"])
        return JudgedQuery(response["sql"], parameters, columns_in(response["columns"]))

    def rows(
        self,
        source: str,
        sql: str = SELECT_ALL,
        *,
        max_rows: int,
        max_bytes: int = 1_000_000,
        parameters: Bound | None = None,
    ) -> QueryRows:
        """The first rows of our statement over a source, as JSON values.

        ``parameters`` are bound in both; with None there may be none. Long texts are cut, and say
        so. There are at most ``max_rows`` rows and ``max_bytes`` bytes of compact JSON (none, where
        the first row alone is larger).
        """
        request = rows_request(source, sql, max_rows=max_rows, max_bytes=max_bytes)
        response = self._ask(with_parameters(request, parameters))
        return QueryRows(columns_in(response["columns"]), response["rows"], response["more"])

    def export(
        self,
        source: str,
        sql: str = SELECT_ALL,
        *,
        fmt: ExportFormat,
        max_rows: int,
        parameters: Bound | None = None,
    ) -> ExportedFile:
        """All rows as a complete file, which the caller moves away.

        The file is private and its name random; without rows it still has its columns.

        Raises:
            TooManyRowsToExport: with the count; there is no file.
            ResultTooLarge: over the limit, or the disk is full; there is no file.
        """
        file = f"{secrets.token_hex(16)}.{fmt}"
        request = export_request(source, sql, fmt=fmt, file=file, max_rows=max_rows)
        finished: list[Path] = []

        def finish(lane: Lane, response: Message) -> None:
            if response["rows"] > max_rows:
                raise TooManyRowsToExport(response["rows"], max_rows)
            finished.append(lane.child.spool.finish(file))

        response = self._ask(with_parameters(request, parameters), finish)
        columns = columns_in(response["columns"])
        return ExportedFile(finished[0], response["rows"], columns, response["size"])

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
            request = materialize_request(name, source, sql, replace=replace)
            response = self._main.request(request)
            columns = columns_in(response["columns"])
            table = MaterializedTable(
                name, source, sql, response["rows"], columns, time.time() + ttl_seconds,
                stamp=self._main.child.stamp,
            )  # fmt: skip
            if not self._registry.add(table, response["reads"]):
                self._warn(f"{name} ends with this server: {_NOT_KEPT}")
        return table

    def drop(self, name: str) -> None:
        """Drop a materialized table; an unknown name is no error."""
        with self._turn():
            self._drop(name)

    def drop_expired(self) -> None:
        """Drop the tables whose time to live is over, and end the second child if it is unused.

        Waits for queries only if there are such tables.
        """
        if self._registry.kept is not None:
            self._registry.kept.sweep()
        if self._registry.expired(time.time()):
            with self._turn():
                pass  # every turn at the first child begins with dropping them
        with suppress(NoTurn), self._turns.turn([_SECOND], 0):
            self._lanes[_SECOND].rest(_REST_SECONDS)

    def materialized(self) -> list[MaterializedTable]:
        """The materialized tables, the oldest first; does not wait for a running query."""
        now = time.time()
        return [table for table in self._registry if table.expires > now]

    def expiries(self) -> dict[str, float]:
        """When each materialized table expires; does not wait for a running query."""
        return {table.name: table.expires for table in self._registry}

    def take_warnings(self) -> list[str]:
        """The warnings about tables since the last call, each once."""
        warnings, self._warnings = self._warnings, []
        return warnings

    def _warn(self, warning: str) -> None:
        if warning not in self._warnings:
            self._warnings.append(warning)

    def close(self) -> None:
        """End the children and remove their folders; later calls raise QueriesUnavailable."""
        for lane in self._lanes:
            lane.refuse()
        for slot, lane in enumerate(self._lanes):
            while True:
                try:
                    with cancelled_by(None), self._turns.turn([slot], 0):
                        lane.close()
                        break
                except NoTurn:
                    lane.child.interrupt()
        if self._registry.kept is not None:
            self._registry.kept.close()

    @contextmanager
    def _turn(
        self, places: Sequence[int] = (_MAIN,), seconds: float | None = None
    ) -> Iterator[Lane]:
        """A turn at the first free of these children; the main one drops the expired tables.

        Raises:
            NoTurn: there was none in ``seconds``.
            QueriesUnavailable: without ``seconds``, there was none in a long time.
        """
        try:
            wait = self._max_wait if seconds is None else seconds
            with self._turns.turn(places, wait) as slot:
                for table in self._registry.expired(time.time()) if slot == _MAIN else ():
                    self._drop(table.name)
                yield self._lanes[slot]
        except NoTurn as error:
            if seconds is not None:
                raise
            raise QueriesUnavailable(
                "other queries are still running; ask again when they are done"
            ) from error

    def _ask(
        self, request: Message, then: Callable[[Lane, Message], None] | None = None
    ) -> Message:
        """The response of the child that is free first, and holds what the source may read.

        ``request`` names a source; ``then`` gets the response while the turn still lasts.
        """

        def ask(lane: Lane) -> Message:
            response = lane.request(request)
            if then is not None:
                then(lane, response)
            return response

        if not self._needs_main(request["source"]):
            with self._turn((_MAIN, _SECOND)) as lane:
                try:
                    return ask(lane)
                except UnknownTable:
                    if lane is self._main or not self.materialized():
                        raise
        with self._turn() as lane:
            return ask(lane)

    def _needs_main(self, source: str) -> bool:
        """Whether a source may read a materialized table."""
        words = set(re.findall(r"\w+", fold(source)))
        return any(fold(table.name) in words for table in self._registry)

    def _warm(self) -> None:
        with suppress(MdvecError), self._turn():
            self._main.prepare()

    def _drop(self, name: str) -> None:
        self._registry.drop(name)
        if self._main.child.is_running:
            with cancelled_by(None):
                self._main.request({"do": "drop", "name": name})
