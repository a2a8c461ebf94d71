"""Profiles and histograms of tables and queries."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain

from mdvec.datasets import Column
from mdvec.sql.core import histogram, profile
from mdvec.sql.core.guard import AnswerGuard, JsonAnswer, with_warnings
from mdvec.sql.core.histogram import Edges, Histogram, ValueSpan
from mdvec.sql.core.period import Cell, found_column, period_column, required_column, within
from mdvec.sql.core.profile import EXACTLY, SPREAD, ProfileEffort, chosen, plan_profile
from mdvec.sql.core.refusals import named
from mdvec.sql.core.statement import with_source
from mdvec.sql.process.query_process import QueryProcess
from mdvec.tools import offered_name

_BYTES_A_COLUMN = 30
"""The smallest size of a column's entry in a profile."""
_ALL_DIGITS = 17
_BRIEFER: tuple[tuple[tuple[str, ...], int], ...] = (
    (SPREAD, _ALL_DIGITS),
    (SPREAD, 6),
    ((*SPREAD, "distinct_count"), 5),
    ((*SPREAD, "distinct_count", "median"), 4),
)
"""The steps that shorten a profile: the figures to omit, and the digits that the others keep."""
_LISTED = (
    ("min", "max", "mean", "median", "null_rate"),
    ("min", "max", "mean", "null_rate"),
    ("min", "max", "null_rate"),
)
"""The next steps: the figures that are listed for each column, without their names."""
_LISTED_DIGITS = 4
_SHORTENED = "shortened; columns=[…] tells all of a few"
_MAX_LEFT_OUT = 80
"""The maximum characters of a list of the columns left out; longer lists are cut."""


@dataclass(frozen=True, slots=True)
class Summaries:
    """Computes profiles and histograms in the query process."""

    queries: QueryProcess
    effort: ProfileEffort
    guard: AnswerGuard

    def profile(
        self,
        table_or_query: str,
        date_range: tuple[str, str] | None,
        date_column: str | None,
        names: Sequence[str] | None,
        *,
        exact: bool,
        guard: AnswerGuard | None = None,
    ) -> JsonAnswer:
        """The row count, the period, and a few figures of the named columns, or of all.

        With ``exact``, every figure is computed from all rows, even if that is slow.

        Raises:
            QueryError: a query failed.
            UnknownColumn, PeriodRefused: a column or the date range does not exist.
            RowsDiffer: the query returns other rows each time it is run.
        """
        guard = guard or self.guard
        known = self.queries.columns(table_or_query)
        period, selected = self._select_rows(table_or_query, known, date_range, date_column)
        picked = chosen(known, names)
        shown = picked[: guard.max_bytes // _BYTES_A_COLUMN]
        (counts,) = selected.rows(profile.size_sql(shown))
        sizes = profile.read_sizes(shown, counts)
        samples = EXACTLY if exact else profile.plan_samples(shown, sizes, self.effort)
        plan = plan_profile(shown, period, samples, sizes)
        (row,) = selected.rows(plan.sql)
        answer: JsonAnswer = {
            "row_count": int(row[0]),
            "date_range": None if row[1] is None else [row[1], row[2]],
            "columns": plan.columns(row),
        }
        if estimated := plan.approximate(row):
            answer["approximate"] = estimated
        every = [column.name for column in picked]

        def left_out(gone: int) -> str:
            return (
                f"{gone} columns left out; name those you need in columns: "
                f"{named(every[len(every) - gone :], _MAX_LEFT_OUT)}"
            )

        gone = len(picked) - len(shown)
        answers = [*_briefer(answer, self.queries.take_warnings())]
        whole = answers[-1] if gone else guard.first_fitting(answers)
        return guard.trim(whole if len(picked) > 1 else answers[0], ("columns",), left_out, gone)

    def histogram(
        self,
        table_or_query: str,
        name: str,
        bins: int,
        date_range: tuple[str, str] | None,
        date_column: str | None,
    ) -> JsonAnswer:
        """The distribution of a column's values over bins.

        Raises:
            QueryError: a query failed.
            UnknownColumn, PeriodRefused: a column or the date range does not exist.
            NoHistogram: values of this type have no bins.
            RowsDiffer: the query returns other rows each time it is run.
        """
        guard, known = self.guard, self.queries.columns(table_or_query)
        column = found_column(known, name)
        _, selected = self._select_rows(table_or_query, known, date_range, date_column)
        if histogram.is_counted_by_value(column):
            return self._categories(selected, column, bins)
        span = histogram.read_span(*selected.rows(histogram.span_sql(column))[0])
        edges = histogram.edges_over(column, span, bins)
        counted = selected.counted(column, span, edges)
        warnings = shown_warnings = self.queries.take_warnings()
        for candidate in (counted, counted.without_repeats()):
            if guard.fits(answer := _histogram_answer(column, candidate, shown_warnings)):
                return answer
        for fewer in range(len(counted.bins) - 1, 0, -1):
            edges = histogram.edges_over(column, span, fewer)
            longest = counted.over(edges).without_repeats()
            shown_warnings = [*warnings, _cut(len(longest.bins), len(counted.bins), guard)]
            if guard.fits(_histogram_answer(column, longest, shown_warnings)):
                break
        counted = selected.counted(column, span, edges)
        return _histogram_answer(column, counted.without_repeats(), shown_warnings)

    def _select_rows(
        self,
        source: str,
        columns: Sequence[Column],
        date_range: tuple[str, str] | None,
        date_column: str | None,
    ) -> tuple[Column | None, _Selected]:
        """The column of dates (by default the only one), and the rows in the date range."""
        if date_range is None:
            return period_column(columns, date_column), _Selected(self.queries, source)
        column = required_column(columns, date_column)
        over = f"(SELECT * FROM {{source}} WHERE {within(column, *date_range)})"
        return column, _Selected(self.queries, source, over)

    def _categories(self, selected: _Selected, column: Column, bins: int) -> JsonAnswer:
        sql = histogram.categories_sql(column, bins)
        rows = selected.rows(sql, bins + histogram.OTHER_ROWS)
        counted = histogram.read_categories(rows, bins)
        warnings, all_bins = self.queries.take_warnings(), len(counted.bins)
        whole = _histogram_answer(column, counted, warnings)
        ever_fewer = (
            _histogram_answer(
                column,
                counted.most_frequent(fewer),
                [*warnings, _cut(fewer, all_bins, self.guard)],
            )
            for fewer in range(all_bins - 1, 0, -1)
        )
        return self.guard.first_fitting(chain([whole], ever_fewer))


@dataclass(frozen=True, slots=True)
class _Selected:
    """The selected rows of a table or query, as the SQL ``over``; by default all rows."""

    queries: QueryProcess
    source: str
    over: str = "{source}"

    def rows(self, sql: str, max_rows: int = 1) -> Sequence[Sequence[Cell]]:
        """Run a statement of mdvec over the selected rows."""
        sql = with_source(sql, self.over)
        return self.queries.rows(self.source, sql, max_rows=max_rows).rows

    def counted(self, column: Column, span: ValueSpan | None, edges: Edges) -> Histogram:
        """How many of the selected rows' values are in each bin."""
        sql = histogram.counts_sql(column, edges)
        rows = self.rows(sql, len(edges.exact) + histogram.OTHER_ROWS)
        return histogram.read_counts(span, edges, rows)


def _briefer(answer: JsonAnswer, warnings: Sequence[str]) -> Iterator[JsonAnswer]:
    """The answer, then ever shorter forms of it, with a warning.

    Whole numbers keep their digits, and a share of NULLs is kept unless it is 0.
    """
    whole, shortened = answer["columns"], [*warnings, _SHORTENED]
    yield with_warnings(answer, warnings)
    for left_out, digits in _BRIEFER:
        columns = {
            name: {
                figure: profile.rounded(cell, digits)
                for figure, cell in figures.items()
                if figure not in left_out or (figure == "null_rate" and cell)
            }
            for name, figures in whole.items()
        }
        warnings_left = shortened if digits < _ALL_DIGITS else warnings
        yield with_warnings(answer | {"columns": columns}, warnings_left)
    for names in _LISTED:
        listed = {name: _figure_list(figures, names) for name, figures in whole.items()}
        yield with_warnings({"figures": names} | answer | {"columns": listed}, shortened)


def _figure_list(figures: Mapping[str, Cell], names: Sequence[str]) -> list[Cell]:
    """The figures of a column with these names, as a list without missing figures at its end."""
    cells = [profile.rounded(figures.get(name), _LISTED_DIGITS) for name in names]
    if not cells[-1]:
        cells.pop()  # no NULLs
    while cells and cells[-1] is None:
        cells.pop()
    return cells


def _cut(fewer: int, bins: int, guard: AnswerGuard) -> str:
    return (
        f"{fewer} bins instead of {bins}, to stay under {guard.max_bytes:,} bytes; for all of "
        f"them {offered_name('export')} a query with GROUP BY"
    )


def _histogram_answer(column: Column, counted: Histogram, warnings: Sequence[str]) -> JsonAnswer:
    answer: JsonAnswer = {
        "column": column.name,
        "bins": list(counted.bins),
        "total_count": counted.total_count,
        "null_count": counted.null_count,
    }
    if counted.not_finite_count:
        answer["not_finite_count"] = counted.not_finite_count
    if counted.other_count:
        answer |= {"other_count": counted.other_count, "other_values": counted.other_values}
    return with_warnings(answer, warnings)
