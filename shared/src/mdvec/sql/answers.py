"""Answers a query with its first rows, their number and a handle, or writes all to a file."""

from __future__ import annotations

import logging
import threading
import time
from dataclasses import dataclass

from mdvec.analysis import ExportError, ExportFolder, ExportFormat
from mdvec.errors import MdvecError
from mdvec.log import milliseconds, record
from mdvec.queries import Bound
from mdvec.sql.core.guard import AnswerGuard, JsonAnswer, with_warnings
from mdvec.sql.core.refusals import (
    QueryStopped,
    ResultTooLarge,
    TooManyRowsToExport,
    named,
    shortened_name,
)
from mdvec.sql.core.statement import SELECT_ALL, fold
from mdvec.sql.process.query_process import QueryProcess
from mdvec.tools import offered_name

ONWARDS_IN_SQL = "page with ORDER BY, LIMIT and OFFSET, or aggregate"
"""How a model gets at the rows of its own SQL that an answer has no room for."""
_IN_PYTHON = "; all in Python: mdvec.analysis.safe_load_export(handle)"
_NO_ROW = "no row fits into an answer; select fewer columns"
_MIN_WAIT_SECONDS = 0.05
_MAX_WAIT_SECONDS = 5.0
logger = logging.getLogger("mdvec")


@dataclass(frozen=True, slots=True)
class Exporter:
    """Exports results to a folder of files with handles, or as tables with names.

    Args:
        max_rows: the default limit of an export.
        table_seconds: the default lifetime of a table.
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
        """Write all rows of our statement over a query to a file; the answer has its handle.

        Raises:
            QueryError: the query failed, or has too many rows or bytes.
            ExportError: the file could not be put in place.
        """
        began = time.perf_counter()
        file = self.queries.export(
            query, sql, fmt=fmt, max_rows=max_rows or self.max_rows, parameters=parameters
        )
        columns = [column.name for column in file.columns]
        try:
            export = self.exports.place(
                file.path,
                rows=file.rows,
                columns=columns,
                types=[column.type for column in file.columns],
                fmt=fmt,
            )
        except ExportError:
            file.path.unlink(missing_ok=True)
            raise
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
            "columns": columns,
            "expires_at": export.expires_at,
        }
        return self.guard.trim(
            with_warnings(answer, warnings),
            ("columns",),
            lambda gone: f"it has {gone} more columns",
        )

    def materialize(self, name: str, query: str, ttl_seconds: int | None) -> JsonAnswer:
        """Store the rows of a query as a table for later queries of this session.

        Replaces a table of the same name, and counts as the newest.

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
    """A thread that wakes up when the next export expires."""

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
            # This server and others may add exports meanwhile.
            until = _MAX_WAIT_SECONDS if expiry is None else expiry - time.time()
            wait = min(max(until, _MIN_WAIT_SECONDS), _MAX_WAIT_SECONDS)


@dataclass(frozen=True, slots=True)
class SmallAnswers:
    """Queries over any table, the household's included.

    Args:
        exporter: writes results that are larger than an answer.
        guard: the limits of an answer.
    """

    queries: QueryProcess
    exporter: Exporter
    guard: AnswerGuard

    def answer(
        self,
        query: str,
        sql: str = SELECT_ALL,
        *,
        parameters: Bound | None = None,
        onwards: str = ONWARDS_IN_SQL,
        may_export: bool = True,
    ) -> JsonAnswer:
        """The first rows of our statement over a query; if there are more, how to get at them.

        Args:
            query: a table's name or a SELECT.
            sql: our statement over it.
            parameters: the values of the parameters of both.
            onwards: how to get at rows that are left out.
            may_export: whether all rows are written to a file, whose handle is answered.

        Raises:
            QueryError: the query failed.
            ExportError: the file of all rows could not be put in place.
        """
        guard = self.guard
        fetched = self.queries.rows(
            query, sql, max_rows=guard.max_rows, max_bytes=guard.max_bytes, parameters=parameters
        )
        answer: JsonAnswer = {
            "columns": [shortened_name(column.name) for column in fetched.columns],
            "rows": fetched.rows,
            "total_rows": len(fetched.rows),
        }
        warnings = self.queries.take_warnings()
        whole = with_warnings(answer, warnings)
        if not fetched.more and guard.fits(whole):
            return whole
        if may_export:
            rest, notes = self._rest(query, sql, parameters)
        elif fetched.more:
            rest, notes = {"total_rows": self.count(query, sql, parameters)}, []
        else:
            rest, notes = {}, []
        every = dict.fromkeys([*warnings, *notes])  # the export was warned of the same query
        return self._cut(with_warnings(answer | rest, list(every)), onwards)

    def rows(
        self,
        query: str,
        guard: AnswerGuard,
        sql: str = SELECT_ALL,
        *,
        parameters: Bound | None = None,
    ) -> JsonAnswer:
        """The first rows of our statement over a query, with a warning if any are left out.

        Raises:
            QueryError: the query failed.
        """
        fetched = self.queries.rows(
            query, sql, max_rows=guard.max_rows, max_bytes=guard.max_bytes, parameters=parameters
        )
        names = [shortened_name(column.name) for column in fetched.columns]
        answer: JsonAnswer = {"columns": names, "rows": fetched.rows}
        export = offered_name("export")

        def left_out(count: int) -> str:
            if count - int(fetched.more) > len(fetched.rows):
                return f"too many columns for an answer; select fewer, or {export} the query"
            return (
                f"there are more rows than these (at most {guard.max_rows}, within "
                f"{guard.max_bytes:,} bytes); aggregate in SQL, or {export} the query"
            )

        return guard.trim(
            with_warnings(answer, self.queries.take_warnings()),
            ("columns", "rows"),
            left_out,
            int(fetched.more),
        )

    def _cut(self, answer: JsonAnswer, onwards: str) -> JsonAnswer:
        """As many rows as fit, and how to get at the rest; where none fits, fewer columns."""
        total, in_python = answer["total_rows"], _IN_PYTHON if "handle" in answer else ""
        counted = "more" if total is None else f"{total:,}"
        for count in range(len(answer["rows"]), 0, -1):
            more = f"the first {count} of {counted} rows; {onwards}{in_python}"
            cut = {**answer, "rows": answer["rows"][:count], "more": more}
            if self.guard.fits(cut):
                return cut
        return self.guard.trim(
            {**answer, "rows": [], "more": f"{_NO_ROW}{in_python}"},
            ("columns",),
            lambda gone: f"{gone} columns left out",
        )

    def _rest(self, query: str, sql: str, parameters: Bound | None) -> tuple[JsonAnswer, list[str]]:
        """The exact number of rows, a handle of all of them if they fit a file, and warnings."""
        try:
            made = self.exporter.export(query, "parquet", None, sql, parameters=parameters)
        except TooManyRowsToExport as error:
            limit = f"{error.count:,} rows are too many for a file ({error.max_rows:,})"
            return {"total_rows": error.count}, [f"{limit}; aggregate or filter in SQL"]
        except ResultTooLarge as error:
            return {"total_rows": self.count(query, sql, parameters)}, [str(error)]
        except QueryStopped:
            return {"total_rows": None}, [
                "there was no time to count all rows; filter or aggregate"
            ]
        exported = {"total_rows": made["rows"], "handle": made["handle"]}
        return exported | {"expires_at": made["expires_at"]}, made.get("warnings", [])

    def count(self, query: str, sql: str, parameters: Bound | None) -> int:
        """The number of rows of our statement over a query."""
        counting = f"SELECT count(*) FROM ({sql})"
        (counted,) = self.queries.rows(query, counting, max_rows=1, parameters=parameters).rows
        return int(str(counted[0]))
