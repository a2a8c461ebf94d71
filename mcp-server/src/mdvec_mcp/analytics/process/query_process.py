"""The process that runs what a model asks, and its replacement when it breaks or data change."""

from __future__ import annotations

import logging
import secrets
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict
from pathlib import Path

from mdvec.datasets.core.columns import Column
from mdvec.errors import MdvecError

from mdvec_mcp.analytics.core.naming import named
from mdvec_mcp.analytics.core.refusals import (
    QueriesUnavailable,
    QueryError,
    TooManyRows,
    error_named,
    out_of_memory,
    out_of_time,
    process_died,
)
from mdvec_mcp.analytics.core.statement import SELECT_ALL
from mdvec_mcp.analytics.process.child_process import ChildProcess, TookTooLong, TookTooMuch
from mdvec_mcp.analytics.process.kept_tables import KeptTable, KeptTables
from mdvec_mcp.analytics.process.messages import (
    Data,
    ExportedFile,
    ExportFormat,
    Limits,
    QueryRows,
)
from mdvec_mcp.analytics.process.questions import (
    Lost,
    columns_in,
    making,
    missing_tables,
)
from mdvec_mcp.analytics.process.spool import Spool
from mdvec_mcp.analytics.process.wire import Message, WireClosed

logger = logging.getLogger("mdvec")

_TURNS_WAITED = 6
_QUERIES_TO_REMAKE = 3


class QueryProcess:
    """Answers questions about the user's tables in a warm child; thread-safe, one at a time.

    A ``source`` is what a model wrote: a table's name, or one SELECT. It is checked alone, in the
    child, before it becomes part of anything. ``sql`` is our own statement around it: a SELECT
    with the placeholder ``{source}`` where a table's name could stand (``FROM {source}``), in
    which names and texts are quoted with ``sql.identifier`` and ``sql.literal``.

    Every method that asks may raise:
        QueryRefused (UnknownTable): the source is not allowed; nothing was run.
        QueryFailed: DuckDB could not run it.
        QueryStopped: it took too much time or memory, or broke the child; the next call works.
        QueriesUnavailable: no child could be started, or others keep it busy.

    Args:
        spool_root: the folder in which the child's private folder is made, mode 0700; on the
            file system of the exports. What dead processes left there is removed.
        limits: what one query may take.
        data: what there is to ask about now; called before each question, so it must be quick.
    """

    def __init__(self, spool_root: Path, limits: Limits, data: Callable[[], Data]) -> None:
        self._limits = limits
        self._data = data
        self._spool_root = spool_root
        self._opened: Spool | None = None
        self._turn_lock = threading.Lock()
        self._child: ChildProcess | None = None
        self._started_with: Data | None = None
        self._tables: dict[str, tuple[Column, ...]] = {}
        self._kept = KeptTables()
        self._warnings: list[str] = []
        self._closed = False

    def warm(self) -> None:
        """Start the child in the background, so that the first question does not wait for it."""
        threading.Thread(target=self._warm, daemon=True).start()

    def tables(self) -> dict[str, tuple[Column, ...]]:
        """Every table by name, the materialized ones included (after the others)."""
        with self._turn():
            self._current()
            return self._tables | {table.name: table.columns for table in self._kept}

    def columns(self, source: str) -> tuple[Column, ...]:
        """The columns of a table or of a query, which is not run."""
        return columns_in(self._ask({"do": "columns", "source": source})["columns"])

    def rows(
        self, source: str, sql: str = SELECT_ALL, *, max_rows: int, max_bytes: int = 1_000_000
    ) -> QueryRows:
        """The first rows of our statement over a source, as JSON values.

        Long texts are cut, and say so. There are at most ``max_rows`` rows and ``max_bytes``
        bytes of compact JSON (none, where the first alone is larger); ``more`` says that there
        were others.
        """
        question = {
            "do": "rows", "source": source, "sql": sql, "max_rows": max_rows,
            "max_bytes": max_bytes,
        }  # fmt: skip
        answer = self._ask(question)
        return QueryRows(columns_in(answer["columns"]), answer["rows"], answer["more"])

    def export(
        self, source: str, sql: str = SELECT_ALL, *, fmt: ExportFormat, max_rows: int
    ) -> ExportedFile:
        """All rows as a finished file, which the caller moves away.

        No rows make a file with its schema. The file is private, and has a name of no meaning.

        Raises:
            TooManyRows: with the count; there is no file.
            ResultTooLarge: over the limit, or the disk is full; there is no file.
        """
        name = f"{secrets.token_hex(16)}.{fmt}"
        question = {
            "do": "export", "source": source, "sql": sql, "format": fmt, "file": name,
            "max_rows": max_rows,
        }  # fmt: skip
        with self._turn():
            answer = self._exchange(question)
            if answer["rows"] > max_rows:
                raise TooManyRows(answer["rows"], max_rows)
            path = self._spool.finish(name)
        return ExportedFile(path, answer["rows"], columns_in(answer["columns"]), answer["size"])

    def materialize(
        self, name: str, source: str, sql: str = SELECT_ALL, *, replace: bool = False
    ) -> int:
        """Keep the rows of a source as a table of that name; return how many.

        Raises:
            BadTableName: the name needs quotes, is a data table's, or is taken (see ``replace``).
        """
        with self._turn():
            answer = self._exchange(making(name, source, sql, replace=replace))
            columns = columns_in(answer["columns"])
            self._kept.add(name, source, sql, answer["reads"], answer["rows"], columns)
        return int(answer["rows"])

    def drop(self, name: str) -> None:
        """Let go of a materialized table; one that is gone already is no error."""
        with self._turn():
            self._kept.drop(name)
            if self._child is not None:
                self._exchange({"do": "drop", "name": name})

    def materialized(self) -> dict[str, int]:
        """The materialized tables that are alive, with their rows, oldest first."""
        with self._turn():
            return {table.name: table.rows for table in self._kept}

    def take_warnings(self) -> list[str]:
        """What happened to tables since this was last asked: made again, gone, not readable."""
        warnings, self._warnings = self._warnings, []
        return warnings

    def close(self) -> None:
        """End the child and remove its folder; nothing can be asked afterwards."""
        self._closed = True
        if not self._turn_lock.acquire(blocking=False):
            if (child := self._child) is not None:
                child.stop()
            self._turn_lock.acquire()
        try:
            child, self._child = self._child, None
            if child is not None:
                child.end()
            if self._opened is not None:
                self._opened.close()
        finally:
            self._turn_lock.release()

    @contextmanager
    def _turn(self) -> Iterator[None]:
        wait = max(30.0, _TURNS_WAITED * self._limits.seconds)
        if not self._turn_lock.acquire(timeout=wait):
            raise QueriesUnavailable(
                "other queries are still running; ask again when they are done"
            )
        try:
            yield
        finally:
            self._turn_lock.release()

    def _warm(self) -> None:
        with suppress(MdvecError), self._turn():
            self._current()

    def _ask(self, question: Message) -> Message:
        with self._turn():
            return self._exchange(question)

    def _exchange(self, question: Message) -> Message:
        """The child's answer; a child that gives none is ended, and the next one started."""
        try:
            return self._asked(self._current(), question)
        except Lost as lost:
            self.warm()
            raise lost.reason from lost

    def _asked(self, child: ChildProcess, question: Message) -> Message:
        limits = self._limits
        try:
            answer = child.ask(question, limits.seconds)
        except (TookTooLong, TookTooMuch, WireClosed) as error:
            self._end()
            match error:
                case TookTooLong():
                    reason = out_of_time(limits.seconds)
                case TookTooMuch():
                    reason = out_of_memory(limits.memory_mb)
                case _:
                    reason = process_died()
            logger.info("analytics: a query lost its process: %s", reason)
            raise Lost(reason) from error
        if "error" in answer:
            self._spool.clear()
            raise error_named(answer["error"], answer["message"])
        return answer

    def _current(self) -> ChildProcess:
        """The child for the data of now, started when there is none."""
        if self._closed:
            raise QueriesUnavailable("the server is about to end; nothing can be asked any more")
        if self._opened is not None and not self._opened.is_there():
            self._end()
            self._opened.close()
            self._opened = None
        data = self._data()
        child = self._child
        if child is not None and child.alive() and data == self._started_with:
            return child
        self._end()
        changed = self._started_with is not None and data != self._started_with
        self._start(data)
        self._remake(changed=changed)
        return self._child or self._start(data)

    @property
    def _spool(self) -> Spool:
        """The spool, made when the first child needs it."""
        if self._opened is None:
            try:
                self._opened = Spool(self._spool_root)
            except OSError as error:
                raise _not_started(f"no folder for exports: {error}") from error
        return self._opened

    def _start(self, data: Data) -> ChildProcess:
        limits = self._limits
        config: Message = {
            "limits": asdict(limits),
            "spool": str(self._spool.work),
            "database": str(data.database.absolute()),
            "tables": [
                [table.name, str(table.path.absolute()), str(table.folder or table.path)]
                for table in data.parquet
            ],
            "households": [[tool_id, name] for tool_id, name, _ in data.households],
        }
        try:
            child = ChildProcess(config, self._spool.work, limits.memory_mb)
        except (WireClosed, TookTooLong, TookTooMuch, OSError) as error:
            raise _not_started(repr(error)) from error
        if "broken" in child.ready:
            child.kill()
            raise _not_started(child.ready["broken"])
        if "error" in child.ready:
            child.kill()
            raise error_named(child.ready["error"], child.ready["message"])
        self._child, self._started_with = child, data
        self._tables = {name: columns_in(found) for name, found in child.ready["tables"].items()}
        self._warnings += missing_tables(child.ready["missing"])
        return child

    def _remake(self, *, changed: bool) -> None:
        """Make the materialized tables again in a new child, as far as that is possible.

        Together they have the time of a few queries: whoever asked waits for that.
        """
        deadline = time.monotonic() + _QUERIES_TO_REMAKE * self._limits.seconds
        waiting = self._kept.take_all()
        while waiting:
            table = waiting.pop(0)
            try:
                why = self._made_again(table, deadline)
            except Lost as lost:
                # With the child went those that were made again in it; they are made once more.
                why, waiting = str(lost.reason), self._kept.take_all() + waiting
            if why is not None:
                self._warnings.append(f"the materialized table {table.name} is gone: {why}")
        again = [table.name for table in self._kept]
        if again and changed:
            self._warnings.append(f"the data have changed; made again from them: {named(again)}")

    def _made_again(self, table: KeptTable, deadline: float) -> str | None:
        """Make one table again; why not, where it cannot be."""
        if not self._kept.has(table.needs):
            return "a table that it was made of is gone"
        if time.monotonic() > deadline:
            return "there was no time to make it again"
        making_it = making(table.name, table.source, table.sql, replace=False)
        try:
            answer = self._asked(self._child or self._start(self._data()), making_it)
        except QueryError as error:
            return str(error)
        self._kept.keep(table, answer["rows"], columns_in(answer["columns"]))
        return None

    def _end(self) -> None:
        child, self._child = self._child, None
        if child is not None:
            child.kill()
            self._spool.clear()


def _not_started(reason: str) -> QueriesUnavailable:
    """The refusal when no child can be started; the reason goes to the log."""
    logger.warning("analytics: the query process did not start: %s", reason)
    return QueriesUnavailable(
        "the process that runs queries did not start; the server's log says why, and "
        "[analytics] max_memory_mb may be too small for these data"
    )
