"""Answers small queries with rows."""

from __future__ import annotations

from dataclasses import dataclass

from mdvec.tools.names import offered_name

from mdvec_mcp.analytics.core.guard import AnswerGuard, JsonAnswer, with_warnings
from mdvec_mcp.analytics.core.naming import shortened_name
from mdvec_mcp.analytics.process.query_process import QueryProcess


@dataclass(frozen=True, slots=True)
class RowQueries:
    """Queries that are answered with rows."""

    queries: QueryProcess

    def rows(self, query: str, guard: AnswerGuard) -> JsonAnswer:
        """The first rows of a query, with a warning if rows or columns are left out.

        Raises:
            QueryError: the query failed.
        """
        found = self.queries.rows(query, max_rows=guard.max_rows, max_bytes=guard.max_bytes)
        names = [shortened_name(column.name) for column in found.columns]
        answer: JsonAnswer = {"columns": names, "rows": found.rows}

        export = offered_name("export")

        def left_out(count: int) -> str:
            if count - int(found.more) > len(found.rows):
                return f"too many columns for an answer; select fewer, or {export} the query"
            return (
                f"there are more rows than these (at most {guard.max_rows}, within "
                f"{guard.max_bytes:,} bytes); aggregate in SQL, or {export} the query"
            )

        return guard.trim(
            with_warnings(answer, self.queries.take_warnings()),
            ("columns", "rows"),
            left_out,
            int(found.more),
        )
