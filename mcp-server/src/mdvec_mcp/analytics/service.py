"""Questions about the user's tables, answered in little: figures, bins and handles, never bulk."""

from __future__ import annotations

from collections.abc import Sequence

from mdvec.analysis.errors import ExportError
from mdvec.analysis.exports import ExportFolder
from mdvec.settings import AnalyticsSettings

from mdvec_mcp.analytics.core.effort import Effort
from mdvec_mcp.analytics.core.guard import Answer, Guard, warned
from mdvec_mcp.analytics.core.naming import named, shortened_name
from mdvec_mcp.analytics.materialized import MaterializedTables
from mdvec_mcp.analytics.process.messages import ExportFormat
from mdvec_mcp.analytics.process.query_process import QueryProcess
from mdvec_mcp.analytics.summaries import Asked, Summaries

_MOST_COLUMNS = 30
"""Of each table in a list of all of them."""


class Analytics:
    """The analytics family: each method is one tool, and returns its answer within the guard."""

    def __init__(
        self, queries: QueryProcess, exports: ExportFolder, settings: AnalyticsSettings
    ) -> None:
        self.queries = queries
        self.exports = exports
        self.settings = settings
        self.kept = MaterializedTables(queries, settings.max_tables, settings.table_ttl_seconds)
        effort = Effort.within(settings.max_seconds, settings.max_memory_mb)
        self._summaries = Summaries(queries, effort)
        self.guard = Guard(settings.max_output_bytes, settings.max_output_rows)

    def export(self, query: str, fmt: ExportFormat, max_rows: int | None) -> Answer:
        """All rows of a query as a file; the answer has its handle.

        Raises:
            QueryError: the query was not answered, or has too many rows or bytes.
            ExportError: the file could not be put in place.
        """
        made = self.queries.export(query, fmt=fmt, max_rows=max_rows or self.settings.max_rows)
        columns = [column.name for column in made.columns]
        try:
            export = self.exports.place(
                made.path,
                rows=made.rows,
                columns=columns,
                types=[column.type for column in made.columns],
                fmt=fmt,
            )
        except ExportError:
            made.path.unlink(missing_ok=True)
            raise
        warnings = self.queries.take_warnings()
        if export.dropped:
            warnings.append(f"older exports had to go for it: {named(export.dropped)}")
        answer = {
            "handle": export.handle,
            "rows": made.rows,
            "size_mb": round(export.size / 1_000_000, 4),
            "columns": columns,
            "expires_at": export.expires_at,
        }
        return self.guard.trimmed(
            warned(answer, warnings), ("columns",), lambda gone: f"{gone} more columns are in it"
        )

    def profile(
        self,
        table_or_query: str,
        date_range: tuple[str, str] | None,
        date_column: str | None,
        columns: Sequence[str] | None,
        *,
        exact: bool,
        guard: Guard | None = None,
    ) -> Answer:
        """The row count, the period, and a few figures of each column.

        Raises:
            QueryError, UnknownColumn, PeriodRefused: it could not be answered.
        """
        asked = Asked(table_or_query, date_range, date_column)
        return self._summaries.profile(asked, columns, guard or self.guard, exact=exact)

    def histogram(
        self,
        table_or_query: str,
        column: str,
        bins: int,
        date_range: tuple[str, str] | None,
        date_column: str | None,
    ) -> Answer:
        """How the values of a column are spread over bins.

        Raises:
            QueryError, UnknownColumn, PeriodRefused: it could not be answered.
            NoHistogram, RowsDiffer: the values fall into no bins.
        """
        asked = Asked(table_or_query, date_range, date_column)
        return self._summaries.histogram(asked, column, bins, self.guard)

    def materialize(self, name: str, query: str, ttl_seconds: int | None) -> Answer:
        """The rows of a query as a table for later queries.

        Raises:
            QueryError: it could not be made.
        """
        return self.kept.materialize(name, query, ttl_seconds)

    def alive(self) -> Answer:
        """The tables and handles that can be used now."""
        materialized = self.queries.materialized()
        names = {kept.name for kept in materialized}
        tables = {
            name: [column.name for column in columns]
            for name, columns in self.queries.tables().items()
            if name not in names
        }
        answer: Answer = {
            "tables": {name: columns[:_MOST_COLUMNS] for name, columns in tables.items()},
            "materialized": [
                {"name": kept.name, "rows": kept.rows, "expires_at": kept.expires_at}
                for kept in materialized
            ],
            "exports": [
                {
                    "handle": export.handle,
                    "size_mb": round(export.size / 1_000_000, 4),
                    "expires_at": export.expires_at,
                }
                for export in reversed(self.exports.list())
            ],
        }
        wide = [name for name, columns in tables.items() if len(columns) > _MOST_COLUMNS]
        return self._listed(answer, wide, self.queries.take_warnings())

    def ask(self, query: str, guard: Guard) -> Answer:
        """The rows of a small query: what does not fit is left out, with a warning.

        Raises:
            QueryError: it was not answered.
        """
        found = self.queries.rows(query, max_rows=guard.max_rows, max_bytes=guard.max_bytes)
        names = [shortened_name(column.name) for column in found.columns]
        answer: Answer = {"columns": names, "rows": found.rows}

        def left_out(gone: int) -> str:
            if gone - int(found.more) > len(found.rows):
                return "too many columns for an answer; select fewer, or export the query"
            return (
                f"there are more rows than these (at most {guard.max_rows}, within "
                f"{guard.max_bytes:,} bytes); aggregate in SQL, or export the query"
            )

        return guard.trimmed(
            warned(answer, self.queries.take_warnings()),
            ("columns", "rows"),
            left_out,
            int(found.more),
        )

    def sweep(self) -> None:
        """Remove the exports and tables whose time is over."""
        self.exports.sweep()
        self.queries.drop_expired()

    def next_expiry(self) -> float | None:
        """When the next of them goes, in seconds since 1970; None when there is none."""
        moments = (self.exports.next_expiry(), min(self.queries.expiries().values(), default=None))
        return min((moment for moment in moments if moment is not None), default=None)

    def _listed(self, answer: Answer, wide: Sequence[str], warnings: Sequence[str]) -> Answer:
        """The list within the guard: first without columns, then without the oldest handles."""
        said = [*warnings]
        if wide:
            said.append(f"of {named(wide)} only {_MOST_COLUMNS} columns are listed; {_find(wide)}")
        if self.guard.fits(full := warned(answer, said)):
            return full
        names = list(answer["tables"])
        brief = {**answer, "tables": names}
        said = [*warnings, *([f"columns are left out; {_find(names)}"] if names else [])]
        return self.guard.trimmed(
            warned(brief, said),
            ("tables", "materialized", "exports"),
            lambda gone: f"{gone} more are there, but not listed",
        )


def _find(names: Sequence[str]) -> str:
    """How to find the columns of the first of them."""
    return (
        f"find them with SELECT column_name FROM (DESCRIBE {names[0]}) WHERE column_name LIKE '%…%'"
    )
