"""Histograms: the statements that count a column's values in bins, and their results."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Any

from mdvec.datasets.core.columns import Column
from mdvec.datasets.core.families import family
from mdvec.errors import MdvecError
from mdvec.text.quoting import identifier
from mdvec.tools.names import offered_name

from mdvec_mcp.analytics.core.edges import Edges, Scale, edges_between, scale_of

Bin = dict[str, Any]
_NULL, _NOT_FINITE = -1, -2
_OTHER_ROWS = 2
_MAX_VALUE = 60


class NoHistogram(MdvecError):
    """Values of this type have no bins."""

    def __init__(self, column: Column) -> None:
        super().__init__(
            f"{column.name[:60]!r} is {column.type[:40]}, which falls into no bins; cast it in a "
            "query, or count it with GROUP BY"
        )


class RowsDiffer(MdvecError):
    """The query returned other rows when it was run again."""

    def __init__(self) -> None:
        super().__init__(
            "the query gives other rows each time it runs; "
            f"{offered_name('materialize')} it, and ask about that table"
        )


@dataclass(frozen=True, slots=True)
class Histogram:
    """The count of each bin; nulls and values that are not finite are counted apart.

    A bin includes its ``min`` but not its ``max``, except that the last bin includes both.
    The bins of categories have a ``value``; ``other_values`` of them share ``other_count``.
    ``total_count`` is the sum of all counts.
    """

    bins: tuple[Bin, ...]
    total_count: int
    null_count: int = 0
    not_finite_count: int = 0
    other_count: int | None = None
    other_values: int | None = None

    def most_frequent(self, max_bins: int) -> Histogram:
        """The most frequent categories, at most ``max_bins``; the others count as other values."""
        kept, gone = self.bins[:max_bins], self.bins[max_bins:]
        return replace(
            self,
            bins=kept,
            other_count=(self.other_count or 0) + sum(one["count"] for one in gone),
            other_values=(self.other_values or 0) + len(gone),
        )

    def without_repeats(self) -> Histogram:
        """The same bins without ``max`` where the next bin's ``min`` is the same."""
        inner = ({"min": one["min"], "count": one["count"]} for one in self.bins[:-1])
        return replace(self, bins=(*inner, *self.bins[-1:]))

    def over(self, blank: Histogram) -> Histogram:
        """The longest answer possible with the bins of ``blank``: every bin holds all rows."""
        bins = tuple({**one, "count": self.total_count} for one in blank.bins)
        return replace(self, bins=bins)


@dataclass(frozen=True, slots=True)
class ValueSpan:
    """The smallest and the largest value on the column's scale."""

    low: Decimal
    high: Decimal


def _span(low: str | None, high: str | None) -> ValueSpan | None:
    return None if low is None or high is None else ValueSpan(Decimal(low), Decimal(high))


def is_counted_by_value(column: Column) -> bool:
    """Whether each value is a bin of its own.

    Raises:
        NoHistogram: the column's type has no bins at all.
    """
    found = family(column)
    if found == "other":
        raise NoHistogram(column)
    return found == "category"


def span_sql(column: Column, condition: str | None) -> str:
    """The statement that finds the span of a source."""
    return f"""
SELECT CAST(min(v) AS VARCHAR), CAST(max(v) AS VARCHAR) FROM (
{_values(column, scale_of(column), condition)}
)"""


def read_span(rows: Sequence[Sequence[Any]]) -> ValueSpan | None:
    """Reads the result of ``span_sql``; None where there are no values."""
    return _span(*rows[0])


def empty(column: Column, span: ValueSpan | None, bins: int) -> tuple[Edges, Histogram]:
    """The edges of the bins over a span, and a histogram with empty bins."""
    if span is None:
        return Edges((), ()), Histogram((), 0)
    edges = edges_between(column, span.low, span.high, bins)
    return edges, Histogram(_bins(edges, {}), 0)


def counts_sql(column: Column, edges: Edges, condition: str | None) -> str:
    """The statement that counts the values in each bin, compared with the edges of the answer.

    Only the counts are kept in memory, however many rows there are.
    """
    scale = scale_of(column)
    place = _place(scale, edges, 0, max(len(edges.exact) - 2, 0))
    return f"""
SELECT CASE WHEN missing THEN {_NULL} WHEN v IS NULL THEN {_NOT_FINITE} ELSE {place} END AS bin,
       count(*), CAST(min(min(v)) OVER () AS VARCHAR), CAST(max(max(v)) OVER () AS VARCHAR)
FROM (
{_values(column, scale, condition)}
) GROUP BY bin ORDER BY bin"""


def read_counts(span: ValueSpan | None, edges: Edges, rows: Sequence[Sequence[Any]]) -> Histogram:
    """Reads the result of ``counts_sql``.

    Raises:
        RowsDiffer: they are not the rows that had that span.
    """
    if rows and _span(*rows[0][2:4]) != span:
        raise RowsDiffer
    counts = {int(row[0]): int(row[1]) for row in rows}
    return Histogram(
        _bins(edges, counts),
        sum(counts.values()),
        counts.get(_NULL, 0),
        counts.get(_NOT_FINITE, 0),
    )


def categories_sql(column: Column, bins: int, condition: str | None) -> str:
    """The statement that counts the most frequent values."""
    value = f"CAST({identifier(column.name)} AS VARCHAR)"
    return f"""
WITH counted AS (
    SELECT {value} AS v, count(*) AS n FROM {{source}} {_where(condition)} GROUP BY 1
)
SELECT CASE WHEN length(v) > {_MAX_VALUE} THEN left(v, {_MAX_VALUE - 1}) || '…' ELSE v END,
       n, sum(n) OVER (), count(v) OVER (), v IS NULL
FROM counted ORDER BY v IS NULL DESC, n DESC, v LIMIT {bins + 1}
"""


def read_categories(rows: Sequence[Sequence[Any]], bins: int) -> Histogram:
    """Reads the result of ``categories_sql``."""
    if not rows:
        return Histogram((), 0, other_count=0, other_values=0)
    total, values = int(rows[0][2]), int(rows[0][3])
    nulls = sum(int(row[1]) for row in rows if row[4])
    found = tuple({"value": row[0], "count": int(row[1])} for row in rows if not row[4])[:bins]
    return Histogram(
        found,
        total,
        nulls,
        other_count=total - nulls - sum(one["count"] for one in found),
        other_values=values - len(found),
    )


def max_result_rows(bins: int) -> int:
    """The largest number of rows in a result of those statements."""
    return bins + _OTHER_ROWS


def _values(column: Column, scale: Scale, condition: str | None) -> str:
    """The SQL for each row's value on the scale; null where it is missing or not finite."""
    name = identifier(column.name)
    return (
        f"SELECT CASE WHEN {scale.finite} THEN {scale.value} END AS v, {name} IS NULL AS missing\n"
        f"FROM {{source}} {_where(condition)}"
    )


def _where(condition: str | None) -> str:
    return f"WHERE {condition}" if condition else ""


def _place(scale: Scale, edges: Edges, first: int, last: int) -> str:
    """The SQL for the number of a value's bin, by binary search: 7 comparisons for 100 bins."""
    if first == last:
        return str(first)
    middle = (first + last + 1) // 2
    below, above = _place(scale, edges, first, middle - 1), _place(scale, edges, middle, last)
    return f"CASE WHEN v < {scale.bound(edges.exact[middle])} THEN {below} ELSE {above} END"


def _bins(edges: Edges, counts: dict[int, int]) -> tuple[Bin, ...]:
    return tuple(
        {"min": edges.told[at], "max": edges.told[at + 1], "count": counts.get(at, 0)}
        for at in range(len(edges.told) - 1)
    )
