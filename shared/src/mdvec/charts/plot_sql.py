"""The SQL behind the charts of a query: its values as numbers, aggregated if they are many."""

from __future__ import annotations

from collections.abc import Sequence

from mdvec.datasets import Column, has_dates, is_measured
from mdvec.errors import MdvecError

MAX_POINTS = 2_000
MAX_BINS = 40
_QUARTERS = (0, 0.25, 0.5, 0.75, 1)


class PlotRefused(MdvecError):
    """A query whose columns the kind of chart cannot show."""


def is_scale(column: Column) -> bool:
    """Whether its values (numbers or times) can be placed on an axis."""
    return is_measured(column) or has_dates(column)


def source_as(columns: Sequence[Column]) -> str:
    """The FROM clause that calls the columns c0, c1, …."""
    return f"FROM {{source}} AS t({', '.join(f'c{position}' for position in range(len(columns)))})"


def number_sql(columns: Sequence[Column], position: int) -> str:
    """A column as a finite number or NULL; a time as its seconds since 1970."""
    if has_dates(columns[position]):
        time = f"CAST(c{position} AS TIMESTAMP)"
        return f"CASE WHEN isfinite({time}) THEN epoch({time}) END"
    value = f"CAST(c{position} AS DOUBLE)"
    return f"CASE WHEN isfinite({value}) THEN {value} END"


def text(position: int) -> str:
    """A column as a label of at most 60 characters."""
    return f"left(coalesce(CAST(c{position} AS VARCHAR), '—'), 60)"


def span_sql(columns: Sequence[Column], position: int) -> str:
    """The number of values of a column, the least and the greatest."""
    value = number_sql(columns, position)
    return f"SELECT count({value}), min({value}), max({value}) {source_as(columns)}"


def rows_sql(columns: Sequence[Column], first: str, rest: Sequence[int]) -> str:
    """The rows with ``first``, where it is known, and the numbers of the columns ``rest``."""
    values = ", ".join([first, *(number_sql(columns, position) for position in rest)])
    return f"SELECT {values} {source_as(columns)} WHERE {first} IS NOT NULL"


def cells_of_names_sql(columns: Sequence[Column], first: str, largest: int | None = None) -> str:
    """The mean of the third column for each ``first`` and text of the second, and its rows.

    They are in the order in which the rows have them; only those of the ``largest`` texts.
    """
    is_large = f"AND k1 IN (SELECT k1 FROM {_totals(columns, largest)})" if largest else ""
    return (
        f"SELECT k0, k1, avg(v), count(*) FROM (SELECT {first} AS k0, {text(1)} AS k1, "
        f"{number_sql(columns, 2)} AS v, row_number() OVER () AS n {source_as(columns)}) "
        f"WHERE k0 IS NOT NULL {is_large} GROUP BY k0, k1 ORDER BY min(n)"
    )


def largest_sql(columns: Sequence[Column], largest: int) -> str:
    """SQL for the texts of the second column with the largest sums of absolute values in the third.

    Every row also has the number of all texts.
    """
    return f"SELECT k1, texts FROM {_totals(columns, largest)}"


def means_of_names_sql(
    columns: Sequence[Column], low: float, high: float, bins: int, largest: int
) -> str:
    """Like ``cells_of_names_sql``, by the middles of bins of the first column."""
    width = (high - low) / bins or 1.0
    x = number_sql(columns, 0)
    middle = f"{low!r} + (CAST({_bin(x, low, high, bins)} AS DOUBLE) + 0.5) * {width!r}"
    return cells_of_names_sql(columns, f"CASE WHEN {x} IS NOT NULL THEN {middle} END", largest)


def means_sql(
    columns: Sequence[Column], rest: Sequence[int], low: float, high: float, bins: int
) -> str:
    """The means of the first column and of ``rest``, by bins of the first."""
    x = number_sql(columns, 0)
    values = ", ".join(f"avg({number_sql(columns, position)})" for position in rest)
    key = _bin(x, low, high, bins)
    return (
        f"SELECT avg({x}), {values} {source_as(columns)} WHERE {x} IS NOT NULL "
        f"GROUP BY {key} ORDER BY 1"
    )


def cells_sql(
    columns: Sequence[Column], xs: tuple[float, float], ys: tuple[float, float], bins: int
) -> str:
    """The mean point of each cell of the first two columns' plane, cell by cell."""
    x, y = number_sql(columns, 0), number_sql(columns, 1)
    keys = f"{_bin(x, *xs, bins)}, {_bin(y, *ys, bins)}"
    return (
        f"SELECT avg({x}), avg({y}) {source_as(columns)} WHERE {x} IS NOT NULL "
        f"AND {y} IS NOT NULL GROUP BY {keys} ORDER BY {keys}"
    )


def counts_sql(columns: Sequence[Column], low: float, high: float, bins: int) -> str:
    """The number of values of the first column in each bin, by the bin's number."""
    x = number_sql(columns, 0)
    key = _bin(x, low, high, bins)
    return (
        f"SELECT {key}, count(*) {source_as(columns)} WHERE {x} IS NOT NULL GROUP BY 1 ORDER BY 1"
    )


def quarters_sql(columns: Sequence[Column], position: int, by: str, limit: int) -> str:
    """Name, minimum, quartiles and maximum of a column, the largest groups first."""
    value = number_sql(columns, position)
    parts = ", ".join(f"quantile_cont({value}, {part})" for part in _QUARTERS)
    return (
        f"SELECT {by}, {parts} {source_as(columns)} GROUP BY 1 "
        f"HAVING count({value}) > 0 ORDER BY count({value}) DESC, 1 LIMIT {limit}"
    )


def _totals(columns: Sequence[Column], largest: int) -> str:
    total = f"sum(abs({number_sql(columns, 2)}))"
    return (
        f"(SELECT {text(1)} AS k1, count(*) OVER () AS texts {source_as(columns)} GROUP BY 1 "
        f"ORDER BY {total} DESC NULLS LAST, 1 LIMIT {largest})"
    )


def _bin(value: str, low: float, high: float, bins: int) -> str:
    width = (high - low) / bins or 1.0
    return (
        f"CAST(least(greatest(floor(({value} - {low!r}) / {width!r}), 0), {bins - 1}) AS INTEGER)"
    )
