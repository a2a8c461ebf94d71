"""Histograms: the edges of bins, the SQL that counts values in bins, and reading its results."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime, timedelta
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from fractions import Fraction
from typing import Any

from mdvec.datasets import Column, decimals, family, may_be_infinite
from mdvec.errors import MdvecError
from mdvec.sql.core.refusals import RowsDiffer
from mdvec.text import cited, identifier, literal

_EPOCH = datetime(1970, 1, 1)  # noqa: DTZ001 - DuckDB's timestamps without a zone
_MILLISECOND, _SECOND, _MINUTE, _HOUR = 1_000, 1_000_000, 60_000_000, 3_600_000_000
_ROUND_TIMES = (24 * _HOUR, _HOUR, _MINUTE, _SECOND, _MILLISECOND)
_TIMESPECS = {_MINUTE: "minutes", _SECOND: "seconds", _MILLISECOND: "milliseconds"}
_ZONED = ("TIMESTAMP WITH TIME ZONE", "TIMESTAMPTZ_NS")
_MIN_DIGITS, _MAX_DIGITS = 6, 17
_EXACTLY = Context(prec=60)
ValueSpan = tuple[Decimal, Decimal]
"""The smallest and the largest value, on the column's ``Scale``."""
Bin = dict[str, Any]
_NULL, _NOT_FINITE = -1, -2
OTHER_ROWS = 2
"""The rows of a result besides those of its bins: NULLs, and values that are not finite."""
_MAX_VALUE = 60


@dataclass(frozen=True, slots=True)
class Scale:
    """SQL to compare a column's values with edges.

    ``value`` is SQL for a value, ``finite`` SQL for whether a bin can hold it. ``type`` is the SQL
    type for values and edges, chosen so that comparing does not round.
    """

    value: str
    finite: str
    type: str


def scale_of(column: Column) -> Scale:
    """The scale of a column whose family is integer, number, date or timestamp."""
    name = identifier(column.name)
    if column.type in _ZONED:  # as local time, so that bins begin at local days
        name = f"CAST(CAST({name} AS TIMESTAMP WITH TIME ZONE) AS TIMESTAMP)"
    finite = f"isfinite({name})"
    match family(column):
        case "date":
            return Scale(f"({name} - DATE '1970-01-01')", finite, "BIGINT")
        case "timestamp":
            return Scale(f"epoch_us({name})", finite, "BIGINT")
    if may_be_infinite(column):
        return Scale(f"CAST({name} AS DOUBLE)", finite, "DOUBLE")
    return Scale(name, "true", column.type)


@dataclass(frozen=True, slots=True)
class Edges:
    """The edges in order: as texts for SQL (``exact``), and as JSON values (``shown``)."""

    exact: tuple[str, ...]
    shown: tuple[Any, ...]


def edges_over(column: Column, span: ValueSpan | None, bins: int) -> Edges:
    """The edges of at most ``bins`` bins of equal width over all values of a span.

    The first edge is at most the smallest value, the last at least the largest. The width of bins
    of days, integers and decimals is a whole number of steps, so that each bin can hold equally
    many different values. Edges of floats have enough digits to differ. Edges of times are round
    if that costs no bin.
    """
    if span is None:
        return Edges((), ())
    if may_be_infinite(column):
        numbers = _number_edges(float(span[0]), float(span[1]), bins)
        return Edges(tuple(map(repr, numbers)), tuple(map(_whole_number, numbers)))
    places = decimals(column)
    first, last = (int(end.scaleb(places, _EXACTLY)) for end in span)
    if family(column) == "timestamp":
        steps = _steps(first, last, bins, _unit(first, last, bins))
        return Edges(tuple(map(str, steps)), _moments(steps))
    steps = _steps(first, last, bins, 1)
    exact = tuple(f"{Decimal(step).scaleb(-places, _EXACTLY):f}" for step in steps)
    labels = (_edge_value(column, step, text) for step, text in zip(steps, exact, strict=True))
    return Edges(exact, tuple(labels))


def _steps(first: int, last: int, bins: int, unit: int) -> range:
    """Edges at multiples of a unit, equally far apart."""
    first -= first % unit
    width = (last - first + bins) // bins
    width += -width % unit
    return range(first, last + width + 1, width)


def _unit(first: int, last: int, bins: int) -> int:
    """The unit for edges of times: the largest that costs no bin, if possible at least a second."""
    width = (last - first) // bins
    fine = next((unit for unit in _ROUND_TIMES if unit * bins <= width), 1)
    return max(fine, _SECOND) if width >= _SECOND else fine


def _edge_value(column: Column, step: int, text: str) -> Any:  # noqa: ANN401 - JSON
    match family(column):
        case "integer":
            return step
        case "date":
            return _day(step)
    # A text keeps digits that a number in JSON would lose.
    return _whole_number(float(text)) if Decimal(repr(float(text))) == Decimal(text) else text


def _number_edges(low: float, high: float, bins: int) -> list[float]:
    """Edges with enough digits to differ from each other, the outer ones rounded outwards."""
    if low == high:
        return [low, high]
    span = Fraction(high) - Fraction(low)
    ratio = max(abs(Fraction(low)), abs(Fraction(high))) * bins / span
    digits = min(max(3 + len(str(math.ceil(ratio))), _MIN_DIGITS), _MAX_DIGITS)
    inner = (float(Fraction(low) + span * at / bins) for at in range(1, bins))
    short = (float(f"{edge:.{digits}g}") for edge in inner)
    begin = _outwards(low, digits, ROUND_FLOOR)
    end = _outwards(high, digits, ROUND_CEILING)
    # Between neighbouring floats there is no room for an edge.
    between = {edge for edge in short if begin < edge < end}
    return [begin, *sorted(between), end]


def _outwards(value: float, digits: int, rounding: str) -> float:
    """The value rounded outwards to ``digits``; unchanged if the result would not be finite."""
    short = float(Context(prec=digits, rounding=rounding).create_decimal(Decimal(value)))
    outside = short <= value if rounding == ROUND_FLOOR else short >= value
    return short if outside and math.isfinite(short) else value


def _whole_number(value: float) -> int | float:
    return int(value) if value.is_integer() and abs(value) < 2**53 else value


def _day(number: int) -> str:
    try:
        return (date(1970, 1, 1) + timedelta(days=number)).isoformat()
    except OverflowError:
        return f"{number} days after 1970-01-01"


def _moments(steps: range) -> tuple[str, ...]:
    """Times as ISO 8601, all to the minute, second or smaller unit in which they are exact."""
    units = (unit for unit in _TIMESPECS if not (steps.start % unit or steps.step % unit))
    timespec = _TIMESPECS.get(next(units, 1), "microseconds")
    return tuple(_moment(step, timespec) for step in steps)


def _moment(microseconds: int, timespec: str) -> str:
    try:
        moment = _EPOCH + timedelta(microseconds=microseconds)
    except OverflowError:
        return f"{microseconds} µs after 1970-01-01"
    return moment.isoformat(timespec=timespec)


class NoHistogram(MdvecError):
    """Values of this type have no bins."""

    def __init__(self, column: Column) -> None:
        super().__init__(
            f"{cited(column.name[:60])} is {column.type[:40]}, which falls into no bins; cast it "
            "in a query, or count it with GROUP BY"
        )


@dataclass(frozen=True, slots=True)
class Histogram:
    """The count of each bin; NULLs and values that are not finite are counted separately.

    A bin includes its ``min`` but not its ``max``, except that the last bin includes both. A
    category's bin has a ``value`` instead; ``other_values`` is the number of categories without a
    bin, ``other_count`` the number of their rows. ``total_count`` is the number of all rows.
    """

    bins: tuple[Bin, ...]
    total_count: int
    null_count: int = 0
    not_finite_count: int = 0
    other_count: int | None = None
    other_values: int | None = None

    def most_frequent(self, max_bins: int) -> Histogram:
        """The most frequent categories, at most ``max_bins``; the others count as other values."""
        frequent, gone = self.bins[:max_bins], self.bins[max_bins:]
        return replace(
            self,
            bins=frequent,
            other_count=(self.other_count or 0) + sum(bin_["count"] for bin_ in gone),
            other_values=(self.other_values or 0) + len(gone),
        )

    def without_repeats(self) -> Histogram:
        """The same bins without a ``max`` that equals the next bin's ``min``."""
        inner = ({"min": bin_["min"], "count": bin_["count"]} for bin_ in self.bins[:-1])
        return replace(self, bins=(*inner, *self.bins[-1:]))

    def over(self, edges: Edges) -> Histogram:
        """The histogram with the longest JSON for these edges: each bin counts all rows."""
        everywhere = dict.fromkeys(range(len(edges.shown)), self.total_count)
        return replace(self, bins=_bins(edges, everywhere))


def is_counted_by_value(column: Column) -> bool:
    """Whether each value of the column is a bin.

    Raises:
        NoHistogram: the column's type has no bins at all.
    """
    kind = family(column)
    if kind == "other":
        raise NoHistogram(column)
    return kind == "category"


def span_sql(column: Column) -> str:
    """The statement that finds the span of a column in ``{source}``."""
    return f"""
SELECT CAST(min(v) AS VARCHAR), CAST(max(v) AS VARCHAR) FROM (
{_values(column, scale_of(column))}
)"""


def read_span(low: str | None, high: str | None) -> ValueSpan | None:
    """Reads the row of ``span_sql``; None if there are no values."""
    return None if low is None or high is None else (Decimal(low), Decimal(high))


def counts_sql(column: Column, edges: Edges) -> str:
    """The statement that counts the values in each bin, using the edges that the answer shows.

    Only the counts are kept in memory, however many rows there are.
    """
    scale = scale_of(column)
    bin_sql = _place(scale, edges, 0, max(len(edges.exact) - 2, 0))
    return f"""
SELECT CASE WHEN missing THEN {_NULL} WHEN v IS NULL THEN {_NOT_FINITE} ELSE {bin_sql} END AS bin,
       count(*), CAST(min(min(v)) OVER () AS VARCHAR), CAST(max(max(v)) OVER () AS VARCHAR)
FROM (
{_values(column, scale)}
) GROUP BY bin ORDER BY bin"""


def read_counts(span: ValueSpan | None, edges: Edges, rows: Sequence[Sequence[Any]]) -> Histogram:
    """Reads the result of ``counts_sql``.

    Raises:
        RowsDiffer: the rows do not have the given span.
    """
    if rows and read_span(*rows[0][2:4]) != span:
        raise RowsDiffer
    counts = {int(row[0]): int(row[1]) for row in rows}
    return Histogram(
        _bins(edges, counts),
        sum(counts.values()),
        counts.get(_NULL, 0),
        counts.get(_NOT_FINITE, 0),
    )


def categories_sql(column: Column, bins: int) -> str:
    """The statement that counts the most frequent values."""
    value = f"CAST({identifier(column.name)} AS VARCHAR)"
    return f"""
WITH counted AS (
    SELECT {value} AS v, count(*) AS n FROM {{source}} GROUP BY 1
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
    categories = tuple({"value": row[0], "count": int(row[1])} for row in rows if not row[4])[:bins]
    return Histogram(
        categories,
        total,
        nulls,
        other_count=total - nulls - sum(category["count"] for category in categories),
        other_values=values - len(categories),
    )


def _values(column: Column, scale: Scale) -> str:
    """The SQL for each row's value on the scale; null if it is missing or not finite."""
    name = identifier(column.name)
    return (
        f"SELECT CASE WHEN {scale.finite} THEN {scale.value} END AS v, {name} IS NULL AS missing\n"
        "FROM {source}"
    )


def _place(scale: Scale, edges: Edges, first: int, last: int) -> str:
    """The SQL for the number of a value's bin, by binary search: 7 comparisons for 100 bins."""
    if first == last:
        return str(first)
    middle = (first + last + 1) // 2
    below, above = _place(scale, edges, first, middle - 1), _place(scale, edges, middle, last)
    edge = f"CAST({literal(edges.exact[middle])} AS {scale.type})"
    return f"CASE WHEN v < {edge} THEN {below} ELSE {above} END"


def _bins(edges: Edges, counts: dict[int, int]) -> tuple[Bin, ...]:
    return tuple(
        {"min": edges.shown[at], "max": edges.shown[at + 1], "count": counts.get(at, 0)}
        for at in range(len(edges.shown) - 1)
    )
