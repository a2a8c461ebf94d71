"""A histogram: how a column's values are spread, in bins that hold no single row."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime, timedelta
from typing import Any

from mdvec.core.datasets.columns import Column
from mdvec.core.datasets.sql import identifier
from mdvec.errors import MdvecError

from mdvec_mcp.core.analytics.column import family, has_dates
from mdvec_mcp.core.analytics.profile import rounded

Bin = dict[str, Any]
_EPOCH = datetime(1970, 1, 1)  # noqa: DTZ001 - DuckDB's timestamps without a zone
_NULL, _NOT_FINITE = -1, -2


class NoHistogram(MdvecError):
    """A column whose values fall into no bins."""

    def __init__(self, column: Column) -> None:
        super().__init__(
            f"{column.name[:60]!r} is {column.type[:40]}, which falls into no bins; cast it in a "
            "query, or count it with GROUP BY"
        )


@dataclass(frozen=True, slots=True)
class Histogram:
    """How many values each bin has; nulls, and what is not a finite number, stand apart.

    A bin reaches from its ``min`` up to, but without, its ``max``; the last one has its ``max``.
    The bins of categories have a ``value``; ``other_values`` of them share ``other_count``.
    ``total_count`` is the sum of all counts.
    """

    bins: tuple[Bin, ...]
    total_count: int
    null_count: int = 0
    not_finite_count: int = 0
    other_count: int | None = None
    other_values: int | None = None

    def fewer(self, most: int) -> Histogram:
        """The same values in ``most`` bins or fewer: neighbours join, rare categories go apart."""
        if len(self.bins) <= most:
            return self
        if self.other_count is not None and self.other_values is not None:
            gone = self.bins[most:]
            return replace(
                self,
                bins=self.bins[:most],
                other_count=self.other_count + sum(one["count"] for one in gone),
                other_values=self.other_values + len(gone),
            )
        step = math.ceil(len(self.bins) / most)
        groups = [self.bins[at : at + step] for at in range(0, len(self.bins), step)]
        joined = (
            {"min": g[0]["min"], "max": g[-1]["max"], "count": sum(one["count"] for one in g)}
            for g in groups
        )
        return replace(self, bins=tuple(joined))


def histogram_sql(column: Column, bins: int, condition: str | None) -> str:
    """The statement that counts; ``{source}`` stands for the table or query.

    Raises:
        NoHistogram: the column's type has no bins.
    """
    where = f"WHERE {condition}" if condition else ""
    match family(column):
        case "category":
            return _counted_categories(column, bins, where)
        case "integer":
            return _counted_integers(column, f"{identifier(column.name)}::HUGEINT", bins, where)
        case "date":
            value = f"({identifier(column.name)} - DATE '1970-01-01')::HUGEINT"
            return _counted_integers(column, value, bins, where)
        case "timestamp":
            return _counted_integers(
                column, f"epoch_us({identifier(column.name)})::HUGEINT", bins, where
            )
        case "number":
            return _counted_numbers(column, bins, where)
        case "other":
            raise NoHistogram(column)


def read_histogram(column: Column, rows: Sequence[Sequence[Any]], bins: int) -> Histogram:
    """The histogram out of the rows of ``histogram_sql``."""
    if family(column) == "category":
        return _read_categories(rows, bins)
    counts = {int(row[0]): int(row[1]) for row in rows}
    nulls, not_finite = counts.pop(_NULL, 0), counts.pop(_NOT_FINITE, 0)
    total = sum(counts.values()) + nulls + not_finite
    if not counts:
        return Histogram((), total, nulls, not_finite)
    low, high = next((row[2], row[3]) for row in rows if int(row[0]) >= 0)
    edges = _edges(column, low, high, bins)
    found = tuple(
        {"min": edges[at], "max": edges[at + 1], "count": counts.get(at, 0)}
        for at in range(len(edges) - 1)
    )
    return Histogram(found, total, nulls, not_finite)


def _counted_integers(column: Column, value: str, bins: int, where: str) -> str:
    """Bins as wide as a whole number of steps, so that no bin can have more values than another."""
    finite, unit = "true", _unit(column)
    if has_dates(column):
        finite = f"isfinite({identifier(column.name)})"
    return f"""
WITH found AS MATERIALIZED (
    SELECT CASE WHEN {finite} THEN {value} END AS v,
           {identifier(column.name)} IS NOT NULL AND NOT {finite} AS odd
    FROM {{source}} {where}
), span AS (
    SELECT min(v) AS low, max(v) AS high, (max(v) - min(v) + {bins}) // {bins} AS fine,
           CASE WHEN fine > {unit} THEN (fine + {unit - 1}) // {unit} * {unit} ELSE fine END
               AS width
    FROM found
)
SELECT CASE WHEN odd THEN {_NOT_FINITE} WHEN v IS NULL THEN {_NULL}
       ELSE (v - low) // width END::INTEGER AS bin, count(*), any_value(low), any_value(high)
FROM found, span GROUP BY bin ORDER BY bin
"""


def _counted_numbers(column: Column, bins: int, where: str) -> str:
    """Bins of equal width; halves keep the span of the largest numbers finite."""
    return f"""
WITH found AS MATERIALIZED (
    SELECT {identifier(column.name)}::DOUBLE AS v FROM {{source}} {where}
), span AS (
    SELECT min(v) FILTER (WHERE isfinite(v)) AS low, max(v) FILTER (WHERE isfinite(v)) AS high
    FROM found
)
SELECT CASE WHEN v IS NULL THEN {_NULL} WHEN NOT isfinite(v) THEN {_NOT_FINITE}
       WHEN low = high THEN 0
       ELSE least(floor((v / 2 - low / 2) / (high / 2 - low / 2) * {bins}), {bins - 1})
       END::INTEGER AS bin, count(*), any_value(low), any_value(high)
FROM found, span GROUP BY bin ORDER BY bin
"""


def _counted_categories(column: Column, bins: int, where: str) -> str:
    return f"""
WITH counted AS (
    SELECT {identifier(column.name)}::VARCHAR AS v, count(*) AS n FROM {{source}} {where} GROUP BY 1
)
SELECT left(v, 60) AS v, n, sum(n) OVER (), count(v) OVER (), v IS NULL
FROM counted ORDER BY v IS NULL DESC, n DESC, v LIMIT {bins + 1}
"""


def _read_categories(rows: Sequence[Sequence[Any]], bins: int) -> Histogram:
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


def _edges(column: Column, low: Any, high: Any, bins: int) -> list[Any]:  # noqa: ANN401 - JSON
    """Where the bins begin, and where the last one ends."""
    if family(column) == "number":
        return _number_edges(float(low), float(high), bins)
    first, last = int(low), int(high)
    width, unit = (last - first + bins) // bins, _unit(column)
    if width > unit:
        width = (width + unit - 1) // unit * unit
    steps = range(first, last + width + 1, width)
    if family(column) == "integer":
        return list(steps)
    if family(column) == "date":
        return [_day(step) for step in steps]
    zone = "+00:00" if column.type == "TIMESTAMP WITH TIME ZONE" else ""
    return [_moment(step) + zone for step in steps]


def _number_edges(low: float, high: float, bins: int) -> list[float]:
    """The edges, with as many digits as tell neighbours apart."""
    if low == high:
        return [low, high]
    width = high / bins - low / bins
    digits = 3 + math.ceil(math.log10(max(abs(low), abs(high)) / width))
    edges = [low + width * at for at in range(bins)] + [high]
    return [rounded(edge, min(max(digits, 6), 17)) for edge in edges]


def _unit(column: Column) -> int:
    """Times are told in whole seconds where that is fine enough."""
    return 1_000_000 if family(column) == "timestamp" else 1


def _day(number: int) -> str:
    try:
        return (date(1970, 1, 1) + timedelta(days=number)).isoformat()
    except OverflowError:
        return f"{number} days after 1970-01-01"


def _moment(microseconds: int) -> str:
    try:
        moment = _EPOCH + timedelta(microseconds=microseconds)
    except OverflowError:
        return f"{microseconds} µs after 1970-01-01"
    return moment.isoformat()
