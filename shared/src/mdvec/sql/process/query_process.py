"""Queries over the user's tables, run by two child processes."""

from __future__ import annotations

import secrets
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

from mdvec.analysis import ExportFolder, ExportFormat
from mdvec.cancelling import cancelled_by
from mdvec.datasets import Column
from mdvec.errors import MdvecError
from mdvec.queries import Bound, Parameter
from mdvec.sql.core.refusals import (
    QueriesUnavailable,
    QueryFailed,
    TooManyRowsToExport,
    UnknownTable,
    named,
)
from mdvec.sql.core.statement import SELECT_ALL
from mdvec.sql.process.child_process import Child
from mdvec.sql.process.messages import (
    Data,
    ExportedFile,
    JudgedQuery,
    Message,
    QueryLimits,
    QueryRows,
    columns_in,
)
from mdvec.sql.process.named_tables import NamedTable, NamedTables, states_of, with_plain_handles
from mdvec.sql.process.turns import ALONE, NoTurn, Turns, current_call, current_session

_MIN_WAIT_SECONDS = 30.0
_QUERIES_WAITED_FOR = 6
_MAX_TABLES = 10
_EXPORT_SECONDS = 3_600
_ANY_NUMBER = 2**62
_LIST_WAIT_SECONDS = 1.0
"""How long a list of tables waits for running queries; after that the previous list is used."""
_REST_SECONDS = 60.0
"""How long the second child is kept without a query."""
_MAIN, _SECOND = 0, 1


class QueryProcess:
    """Runs queries over the user's tables in two children; thread-safe, two queries at a time.

    The children are equal and stateless: the first is kept running, the second is started when a
    query finds the first busy. A materialized table is a named export.

    A ``source`` is written by a model: a table's name, or one SELECT. The child checks it by itself
    before it becomes part of a statement. ``sql`` is such a statement, written by mdvec: a SELECT
    with the placeholder ``{source}`` in place of a table's name (``FROM {source}``), in which names
    and texts are quoted with ``identifier`` and ``literal``.

    Every method that runs a query may raise:
        QueryRefused (UnknownTable): the source is not allowed; nothing was run.
        QueryFailed: DuckDB could not run it.
        QueryStopped: it exceeded its time or memory, or crashed the child; the next call works.
        QueriesUnavailable: no child could be started, or other queries keep both busy.
        Cancelled: the call was cancelled; the next query runs at once.

    Args:
        spool_root: the folder in which each child's private folder (mode 0700) is made, on the
            file system of the exports. The folders of dead processes are removed from it.
        limits: the limits of one query.
        data: returns the user's tables at this moment; it must be quick, as each query calls it.
        exports: the folder of materialized tables and exports; by default ``spool_root``.
        max_tables: how many materialized tables a session may have.
    """

    def __init__(
        self,
        spool_root: Path,
        limits: QueryLimits,
        data: Callable[[], Data],
        exports: ExportFolder | None = None,
        max_tables: int = _MAX_TABLES,
    ) -> None:
        self._limits = limits
        self._warnings: list[str] = []
        self._turns = Turns()
        self._exports = exports or ExportFolder(spool_root, _EXPORT_SECONDS, limits.export_bytes)
        self._named = NamedTables(self._exports, max_tables)
        self._main = Child(spool_root, limits, data, self._warn, self.warm)
        second = Child(spool_root, limits, data, lambda _warned_by_main: None, lambda: None)
        self._children = (self._main, second)
        self._max_wait = max(_MIN_WAIT_SECONDS, _QUERIES_WAITED_FOR * limits.seconds)

    def warm(self) -> None:
        """Start the child in the background, so that the first query does not wait for it."""
        threading.Thread(target=self._warm, daemon=True).start()

    def is_ready(self) -> bool:
        """Whether ``tables`` would return at once, without starting a child."""
        return self._main.is_ready()

    def tables(self) -> dict[str, tuple[Column, ...]]:
        """The columns of every table by its name; the materialized tables come last.

        If tables have changed while queries run, it waits only a second, and then returns the
        previous list with a warning.
        """
        if not self._main.is_ready():
            known = bool(self._main.tables)
            try:
                with self._turn(seconds=_LIST_WAIT_SECONDS if known else None):
                    self._main.prepare()
            except NoTurn:
                self._warn("queries are running; the tables are those from before they began")
        self._warn(*self._main.missing)
        return self._main.tables | {
            table.name: table.columns or () for table in self.materialized()
        }

    def columns(self, source: str) -> tuple[Column, ...]:
        """The columns of a table, or of a query, which is not run."""
        with self._answer_from_free_child({"do": "columns", "source": source}) as (_, response):
            return columns_in(response["columns"])

    def judged(self, source: str, arguments: Mapping[str, object] | None = None) -> JudgedQuery:
        """Check a query with or without ``$parameters`` as if it were run, and find their types.

        The values ``arguments`` are only used if the query cannot be checked with sample values.
        """
        request = {"do": "question", "source": source, "given": arguments}
        with self._answer_from_free_child(request) as (_, response):
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
        """The first rows of the statement ``sql`` over a source, as JSON values.

        ``parameters`` are bound in both; with None, parameters are refused. Long texts are cut and
        marked. The result has at most ``max_rows`` rows and ``max_bytes`` bytes of compact JSON,
        and no rows if the first is larger than that.
        """
        request = {
            "do": "rows", "source": source, "sql": sql, "max_rows": max_rows,
            "max_bytes": max_bytes, "parameters": parameters,
            "notes": current_call().is_first_run_of(source),
        }  # fmt: skip
        with self._answer_from_free_child(request) as (_, response):
            return QueryRows(columns_in(response["columns"]), response["rows"], response["more"])

    def export(
        self,
        source: str,
        sql: str = SELECT_ALL,
        *,
        fmt: ExportFormat,
        max_rows: int,
        parameters: Bound | None = None,
        name: str | None = None,
    ) -> ExportedFile:
        """Write all rows to a file in the spool, which the caller moves away.

        The file is private and has a random name; without rows it still has the columns. If it is
        to become a table, ``name`` is the table's name, which is checked.

        Raises:
            TooManyRowsToExport: there are more than ``max_rows``; no file is left.
            ResultTooLarge: the file exceeds the limit, or the disk is full; no file is left.
        """
        request: Message = {
            "do": "export", "source": source, "sql": sql, "format": fmt, "max_rows": max_rows,
            "file": f"{secrets.token_hex(16)}.{fmt}", "name": name, "parameters": parameters,
            "notes": current_call().is_first_run_of(source),
        }  # fmt: skip
        tables = self._named.named_in(with_plain_handles(source))
        with self._answer_from_free_child(request) as (child, response):
            if response["rows"] > max_rows:
                raise TooManyRowsToExport(response["rows"], max_rows)
            path, states = child.spool.finish(request["file"]), states_of(child.data)
        reads = response["reads"]
        made_from = {table: states[table] for table in reads if table in states}
        for other in tables:
            made_from |= other.made_from if other.name in reads else {}
        columns = columns_in(response["columns"])
        return ExportedFile(path, response["rows"], columns, made_from)

    def materialize(
        self, name: str, source: str, *, ttl_seconds: float = _EXPORT_SECONDS
    ) -> NamedTable:
        """Write the rows of a source to an export that this session can use as a table.

        Raises:
            QueryRefused: the name needs quotes, or a data table has it.
            ResultTooLarge: over the limit, or the disk is full.
            ExportError: the file could not be put in place.
        """
        written = self.export(source, fmt="parquet", max_rows=_ANY_NUMBER, name=name)
        made_from = written.made_from
        export = self._exports.place(written.path, made_from=made_from, ttl_seconds=ttl_seconds)
        table = NamedTable(
            name, export.handle, written.rows, written.columns, export.expires, made_from
        )
        replaced, dropped = self._named.add(table)
        if replaced:
            self._warn(f"{name} was a materialized table already, and is now this one")
        if current_session().startswith(ALONE):
            handle = export.handle.removesuffix(".parquet")
            self._warn(f"this client has no session to keep {name} in; write FROM {handle}")
        if dropped:
            self._warn(f"the oldest tables were dropped to make room: {named(dropped)}")
        return table

    def rest(self) -> None:
        """End the second child if it is unused."""
        with suppress(NoTurn), self._turns.turn([_SECOND], 0):
            self._children[_SECOND].rest(_REST_SECONDS)

    def materialized(self) -> list[NamedTable]:
        """The materialized tables of this session, the oldest first."""
        return self._named.living()

    def take_warnings(self) -> list[str]:
        """The warnings about tables since the last call, each once."""
        warnings, self._warnings = self._warnings, []
        return warnings

    def _warn(self, *warnings: str) -> None:
        self._warnings += [each for each in warnings if each not in self._warnings]

    def close(self) -> None:
        """End the children and remove their folders; later calls raise QueriesUnavailable."""
        for child in self._children:
            child.refuse()
        for slot, child in enumerate(self._children):
            while True:
                try:
                    with cancelled_by(None), self._turns.turn([slot], 0):
                        child.close()
                        break
                except NoTurn:
                    child.interrupt()

    @contextmanager
    def _turn(
        self, places: Sequence[int] = (_MAIN,), seconds: float | None = None
    ) -> Iterator[Child]:
        """Wait for a turn at the first of these children that is free.

        Raises:
            NoTurn: no child was free within ``seconds``.
            QueriesUnavailable: ``seconds`` is None, and no child was free for a long time.
        """
        try:
            wait = self._max_wait if seconds is None else seconds
            with self._turns.turn(places, wait) as slot:
                yield self._children[slot]
        except NoTurn as error:
            if seconds is not None:
                raise
            raise QueriesUnavailable(
                "other queries are still running; ask again when they are done"
            ) from error

    @contextmanager
    def _answer_from_free_child(self, request: Message) -> Iterator[tuple[Child, Message]]:
        """Send a request to the first free child, and reserve the child for the block."""
        source, call = with_plain_handles(request["source"]), current_call()
        tables = self._named.named_in(source)
        with self._turn((_MAIN, _SECOND)) as child:
            child.prepare()
            seconds = call.time_left(self._limits.seconds)
            began = time.monotonic()
            files = [self._exports.path_of(table.handle) for table in tables]
            shown = [
                [table.name, file.name, self._named.types_of(table)]
                for table, file in zip(tables, files, strict=True)
            ]
            try:
                with child.spool.showing(files):
                    question = request | {"source": source, "named": shown}
                    response = _respond(child, question, seconds)
            except UnknownTable as error:  # the child only has tables that the source names
                self._warn(*child.missing)  # the unknown table may be one that could not be loaded
                living = [table.name for table in self._named.living()]
                expired = self._named.expired_in(source)
                raise UnknownTable(
                    f"{error}"
                    + (f"; materialized: {named(living)}" if living else "")
                    + (f"; expired, so materialize again: {named(expired)}" if expired else ""),
                    error.hint,
                ) from error
            finally:
                call.seconds += time.monotonic() - began
            call.reads.update(response.get("reads", ()))
            self._warn(*response.get("notes", ()))
            for table in tables:
                call.reads.update(table.made_from)
                self._warn_if_old(table, child)
            yield child, response

    def _warn_if_old(self, table: NamedTable, child: Child) -> None:
        if table.is_older_than(child.data):
            again = "export" if table.rows is None else "materialize"
            self._warn(
                f"{table.name} is from before its data changed; {again} it again for "
                "the current rows"
            )

    def _warm(self) -> None:
        with suppress(MdvecError), self._turn():
            self._main.prepare()


def _respond(child: Child, question: Message, seconds: float) -> Message:
    """The response of a child; a second one if an import replaced a file during the query."""
    try:
        return child.request(question, seconds)
    except QueryFailed:
        if child.is_ready():
            raise
        child.prepare()
        return child.request(question, seconds)
