"""Answers one query with its first rows, their exact number, and a handle of all of them."""

from __future__ import annotations

from dataclasses import dataclass

from mdvec.queries.parameters import Bound

from mdvec_mcp.analytics.core.guard import AnswerGuard, JsonAnswer, with_warnings
from mdvec_mcp.analytics.core.naming import shortened_name
from mdvec_mcp.analytics.core.refusals import ResultTooLarge, TooManyRowsToExport
from mdvec_mcp.analytics.core.statement import SELECT_ALL
from mdvec_mcp.analytics.exporter import Exporter
from mdvec_mcp.analytics.process.query_process import QueryProcess

_NO_ROW = "no row fits into an answer; select fewer columns, or load the handle in Python"


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
        self, query: str, sql: str = SELECT_ALL, *, parameters: Bound | None = None
    ) -> JsonAnswer:
        """The first rows of our statement over a query; if there are more, a handle of all rows.

        Raises:
            QueryError: the query failed.
            ExportError: the file of all rows could not be put in place.
        """
        guard = self.guard
        found = self.queries.rows(
            query, sql, max_rows=guard.max_rows, max_bytes=guard.max_bytes, parameters=parameters
        )
        answer: JsonAnswer = {
            "columns": [shortened_name(column.name) for column in found.columns],
            "rows": found.rows,
            "total_rows": len(found.rows),
        }
        warnings = self.queries.take_warnings()
        whole = with_warnings(answer, warnings)
        if not found.more and guard.fits(whole):
            return whole
        rest, told = self._rest(query, sql, parameters)
        every = dict.fromkeys([*warnings, *told])  # the export was warned of the same query
        return self._cut(with_warnings(answer | rest, list(every)))

    def _cut(self, answer: JsonAnswer) -> JsonAnswer:
        """As many rows as fit, of which ``total_rows`` tells; where none fits, fewer columns."""
        for count in range(len(answer["rows"]), 0, -1):
            cut = {**answer, "rows": answer["rows"][:count]}
            if self.guard.fits(cut):
                return cut
        told = [*answer.get("warnings", ()), _NO_ROW]
        return self.guard.trim(
            with_warnings({**answer, "rows": []}, told),
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
            counting = f"SELECT count(*) FROM ({sql})"
            (counted,) = self.queries.rows(query, counting, max_rows=1, parameters=parameters).rows
            return {"total_rows": counted[0]}, [str(error)]
        kept = {"total_rows": made["rows"], "handle": made["handle"]}
        return kept | {"expires_at": made["expires_at"]}, made.get("warnings", [])
