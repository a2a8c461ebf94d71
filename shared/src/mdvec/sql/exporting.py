"""Writes results to files with handles or as named tables, and deletes what has expired."""

from __future__ import annotations

import logging
import threading
import time
from dataclasses import dataclass

from mdvec.analysis import ExportFolder, ExportFormat
from mdvec.errors import MdvecError
from mdvec.log import milliseconds, record
from mdvec.queries import Bound
from mdvec.sql.core.guard import AnswerGuard, JsonAnswer, with_warnings
from mdvec.sql.core.refusals import named
from mdvec.sql.core.statement import SELECT_ALL, fold
from mdvec.sql.process.query_process import QueryProcess

_MIN_WAIT_SECONDS = 0.05
_MAX_WAIT_SECONDS = 5.0
logger = logging.getLogger("mdvec")


@dataclass(frozen=True, slots=True)
class Exporter:
    """Writes results to files with handles, or as tables with names.

    By default, an export has at most ``max_rows`` rows, and a table expires after
    ``table_seconds``.
    """

    queries: QueryProcess
    exports: ExportFolder
    guard: AnswerGuard
    max_rows: int
    table_seconds: int = 3_600

    def export(
        self,
        query: str,
        fmt: ExportFormat,
        max_rows: int | None,
        sql: str = SELECT_ALL,
        *,
        parameters: Bound | None = None,
    ) -> JsonAnswer:
        """Write all rows of the statement ``sql`` over a query to a file; returns its handle.

        Raises:
            QueryError, ExportError: as of ``write``.
        """
        answer = self.write(query, fmt, max_rows, sql, parameters=parameters)
        return self.guard.trim(answer, ("columns",), lambda gone: f"it has {gone} more columns")

    def write(
        self,
        query: str,
        fmt: ExportFormat,
        max_rows: int | None,
        sql: str = SELECT_ALL,
        *,
        parameters: Bound | None = None,
    ) -> JsonAnswer:
        """The answer of ``export`` with all columns, however many they are.

        Raises:
            QueryError: the query failed, or has too many rows or bytes.
            ExportError: the file could not be put in place.
        """
        began = time.perf_counter()
        file = self.queries.export(
            query, sql, fmt=fmt, max_rows=max_rows or self.max_rows, parameters=parameters
        )
        types = {column.name: column.type for column in file.columns}
        export = self.exports.place(file.path, types=types, made_from=file.made_from, fmt=fmt)
        record(
            "export",
            query=query,
            format=fmt,
            rows=file.rows,
            bytes=export.size,
            ms=milliseconds(time.perf_counter() - began),
        )
        warnings = self.queries.take_warnings()
        if export.dropped:
            warnings.append(f"older exports were deleted to make room: {named(export.dropped)}")
        answer = {
            "handle": export.handle,
            "rows": file.rows,
            "size_mb": export.size_mb,
            "columns": list(types),
            "expires_at": export.expires_at,
        }
        return with_warnings(answer, warnings)

    def materialize(self, name: str, query: str, ttl_seconds: int | None) -> JsonAnswer:
        """Store the rows of a query as a table for later queries of this session.

        It replaces a table of the same name, and becomes the newest table.

        Raises:
            QueryError: the query failed, or no table can have that name.
            ExportError: its file could not be put in place.
        """
        ttl = ttl_seconds or self.table_seconds
        table = self.queries.materialize(fold(name), query, ttl_seconds=ttl)
        answer = {
            "view": table.name,
            "rows": table.rows,
            "expires_at": table.expires_at,
            "handle": table.handle,
        }
        return with_warnings(answer, self.queries.take_warnings())


class Reaper:
    """A thread that deletes exports when they expire, and ends an unused second child."""

    def __init__(self, exports: ExportFolder, queries: QueryProcess) -> None:
        self._exports = exports
        self._queries = queries
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._run, name="mdvec-reaper", daemon=True)

    def start(self) -> None:
        """Start the thread; it first deletes what expired while no server ran."""
        self._thread.start()

    def close(self) -> None:
        """Tell the thread to end."""
        self._ended.set()

    def _run(self) -> None:
        wait = 0.0
        while not self._ended.wait(wait):
            try:
                self._exports.sweep()
                self._queries.rest()
                expiry = self._exports.next_expiry()
            except (MdvecError, OSError) as error:
                logger.warning("exports: %s", error)
                expiry = None
            # Meanwhile this server and others may add exports that expire earlier.
            until = _MAX_WAIT_SECONDS if expiry is None else expiry - time.time()
            wait = min(max(until, _MIN_WAIT_SECONDS), _MAX_WAIT_SECONDS)
