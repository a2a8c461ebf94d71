"""Questions about the user's tables, answered in little: figures, bins and handles, never bulk."""

from __future__ import annotations

from collections.abc import Sequence

from mdvec.analytics_settings import AnalyticsSettings
from mdvec.core.datasets.columns import Column
from mdvec.exports import ExportError, ExportFolder

from mdvec_mcp.core.analytics.asking import Format
from mdvec_mcp.core.analytics.column import found_column
from mdvec_mcp.core.analytics.guard import Answer, Guard
from mdvec_mcp.core.analytics.histogram import Histogram, histogram_sql, read_histogram
from mdvec_mcp.core.analytics.naming import named, shortened_name
from mdvec_mcp.core.analytics.period import Period, period_column, required_column
from mdvec_mcp.core.analytics.profile import EXACT_UP_TO, chosen, plan_profile
from mdvec_mcp.interfaces.duckdb.query_process import QueryProcess
from mdvec_mcp.materialized import MaterializedTables

_BYTES_A_COLUMN = 60
"""The least that a profile says of a column."""


class Analytics:
    """The analytics family: each method is one tool, and returns its answer within the guard."""

    def __init__(
        self, queries: QueryProcess, exports: ExportFolder, settings: AnalyticsSettings
    ) -> None:
        self.queries = queries
        self.exports = exports
        self.settings = settings
        self.kept = MaterializedTables(queries, settings.max_tables)
        self.guard = Guard(settings.max_output_bytes, settings.max_output_rows)

    def export(self, query: str, fmt: Format, max_rows: int | None) -> Answer:
        """All rows of a query as a file; the answer has its handle.

        Raises:
            QueryError: the query was not answered, or has too many rows or bytes.
            ExportError: the file could not be put in place.
        """
        self.kept.sweep()
        made = self.queries.export(query, fmt=fmt, max_rows=max_rows or self.settings.max_rows)
        columns = [column.name for column in made.columns]
        try:
            export = self.exports.place(made.path, rows=made.rows, columns=columns, fmt=fmt)
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
            _warned(answer, warnings), ("columns",), lambda gone: f"{gone} more columns are in it"
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
        self.kept.sweep()
        known = self.queries.columns(table_or_query)
        period, condition = _period(known, date_range, date_column)
        picked = chosen(known, columns)
        guard = guard or self.guard
        told = picked[: guard.max_bytes // _BYTES_A_COLUMN]
        exact = exact or self._is_small(table_or_query)
        plan = plan_profile(told, period, condition, exact=exact)
        row = self.queries.rows(table_or_query, plan.sql, max_rows=1).rows[0]
        answer: Answer = {
            "row_count": int(row[0]),  # type: ignore[arg-type]
            "date_range": None if row[1] is None else [row[1], row[2]],
            "columns": plan.columns(row),
        }
        if plan.approximate:
            answer["approximate"] = list(plan.approximate)
        names = [column.name for column in picked]

        def left_out(gone: int) -> str:
            return (
                f"{gone} columns left out: {named(names[len(names) - gone :])}; "
                "name those you need in columns"
            )

        return guard.trimmed(
            _warned(answer, self.queries.take_warnings()),
            ("columns",),
            left_out,
            len(picked) - len(told),
        )

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
            QueryError, UnknownColumn, PeriodRefused, NoHistogram: it could not be answered.
        """
        self.kept.sweep()
        known = self.queries.columns(table_or_query)
        asked = found_column(known, column)
        _, condition = _period(known, date_range, date_column)
        sql = histogram_sql(asked, bins, condition)
        rows = self.queries.rows(table_or_query, sql, max_rows=bins + 3).rows
        found = read_histogram(asked, rows, bins)
        warnings = self.queries.take_warnings()
        answer = _histogram_answer(asked, found, warnings)
        most = len(found.bins)
        while most > 1 and not self.guard.fits(answer):
            most -= 1
            fewer = found.fewer(most)
            cut = (
                f"{len(fewer.bins)} bins instead of {len(found.bins)}, to stay under "
                f"{self.guard.max_bytes:,} bytes; for all of them export a query with GROUP BY"
            )
            answer = _histogram_answer(asked, fewer, [*warnings, cut])
        return answer

    def materialize(self, name: str, query: str, ttl_seconds: int | None) -> Answer:
        """The rows of a query as a table for later queries.

        Raises:
            QueryError: it could not be made.
        """
        ttl = ttl_seconds or self.settings.table_ttl_seconds
        kept, gone = self.kept.keep(name, query, ttl)
        warnings = self.queries.take_warnings()
        if gone:
            warnings.append(f"the oldest tables had to go for it: {named(gone)}")
        answer = {"view": kept.name, "rows": kept.rows, "expires_at": kept.expires_at}
        return _warned(answer, warnings)

    def alive(self) -> Answer:
        """The tables and handles that can be used now."""
        materialized = self.kept.alive()
        names = {kept.name for kept in materialized}
        answer = {
            "tables": {
                name: [column.name for column in columns][:30]
                for name, columns in self.queries.tables().items()
                if name not in names
            },
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
        return self._listed(_warned(answer, self.queries.take_warnings()))

    def ask(self, query: str, guard: Guard) -> Answer:
        """The rows of a small query: what does not fit is left out, with a warning.

        Raises:
            QueryError: it was not answered.
        """
        self.kept.sweep()
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
            _warned(answer, self.queries.take_warnings()),
            ("columns", "rows"),
            left_out,
            int(found.more),
        )

    def sweep(self) -> None:
        """Remove the exports and tables whose time is over."""
        self.exports.sweep()
        self.kept.sweep()

    def next_expiry(self) -> float | None:
        """When the next of them goes, in seconds since 1970; None when there is none."""
        moments = (self.exports.next_expiry(), self.kept.next_expiry())
        return min((moment for moment in moments if moment is not None), default=None)

    def _is_small(self, source: str) -> bool:
        """Whether it is a table, and so short that everything can be computed."""
        if source.strip().lower() not in self.queries.tables():
            return False
        counted = self.queries.rows(source, "SELECT count(*) FROM {source}", max_rows=1)
        return int(counted.rows[0][0]) <= EXACT_UP_TO  # type: ignore[arg-type]

    def _listed(self, answer: Answer) -> Answer:
        """The list within the guard: first without columns, then without the oldest handles."""
        if self.guard.fits(answer):
            return answer
        names = list(answer["tables"])
        brief = {**answer, "tables": names}
        return self.guard.trimmed(
            brief,
            ("tables", "materialized", "exports"),
            lambda gone: f"{gone} more are there, but not listed",
        )


def _period(
    columns: Sequence[Column], date_range: tuple[str, str] | None, date_column: str | None
) -> tuple[Column | None, str | None]:
    """The column that tells the period, and the condition of a range."""
    if date_range is None:
        return period_column(columns, date_column), None
    column = required_column(columns, date_column)
    return column, Period(*date_range).condition(column)


def _histogram_answer(column: Column, found: Histogram, warnings: Sequence[str]) -> Answer:
    answer: Answer = {
        "column": column.name,
        "bins": list(found.bins),
        "total_count": found.total_count,
        "null_count": found.null_count,
    }
    if found.not_finite_count:
        answer["not_finite_count"] = found.not_finite_count
    if found.other_count:
        answer |= {"other_count": found.other_count, "other_values": found.other_values}
    return _warned(answer, warnings)


def _warned(answer: Answer, warnings: Sequence[str]) -> Answer:
    return {**answer, "warnings": list(warnings)} if warnings else answer
