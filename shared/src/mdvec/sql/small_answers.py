"""Answers one query with its first rows; for a model, also with their number and a handle."""

from __future__ import annotations

from dataclasses import dataclass

from mdvec.queries import Bound
from mdvec.sql.core.guard import AnswerGuard, JsonAnswer, with_warnings
from mdvec.sql.core.refusals import (
    QueryStopped,
    ResultTooLarge,
    TooManyRowsToExport,
    shortened_name,
)
from mdvec.sql.core.statement import SELECT_ALL
from mdvec.sql.exporter import Exporter
from mdvec.sql.process.query_process import QueryProcess
from mdvec.tools import offered_name

ONWARDS_IN_SQL = "page with ORDER BY, LIMIT and OFFSET, or aggregate"
"""How a model gets at the rows of its own SQL that an answer has no room for."""
_IN_PYTHON = "; all in Python: mdvec.analysis.safe_load_export(handle)"
_NO_ROW = "no row fits into an answer; select fewer columns"


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

    def rows(self, query: str, guard: AnswerGuard) -> JsonAnswer:
        """The first rows of a query, with a warning if rows or columns are left out.

        Raises:
            QueryError: the query failed.
        """
        fetched = self.queries.rows(query, max_rows=guard.max_rows, max_bytes=guard.max_bytes)
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
        """The exact number of rows, the handle of all of them if they fit into a file."""
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
