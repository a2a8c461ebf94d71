"""Plans which figures of a profile are computed exactly and which from a sample, with its error."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from mdvec.datasets.core.columns import Column
from mdvec.datasets.core.families import family, is_measured
from mdvec.text.quoting import identifier

from mdvec_mcp.analytics.core.column import Cell

_SECONDS, _MEGABYTES = 10, 1_664
_OWN_MEGABYTES = 384
"""The memory of a query process before it holds any value."""
_MEDIANS, _DISTINCT = 40_000_000, 10_000_000
"""The values that medians and distinct counts can hold within that time and memory."""
_MIN_SCALE = 0.01
_MAX_DRAWN = 1_000_000
_MAX_COUNTED = 250_000
_TEXT = 32
"""The bytes of a text that weigh as much as one number."""
_SURE = 3.2905
"""Standard deviations that 999 of 1,000 estimates stay within."""


@dataclass(frozen=True, slots=True)
class ProfileEffort:
    """The number of values that one profile may hold for medians and for distinct counts."""

    medians: int
    distinct: int

    @classmethod
    def within(cls, seconds: float, memory_mb: int) -> ProfileEffort:
        """The effort that fits into a query's time and memory."""
        scale = max(min(seconds / _SECONDS, (memory_mb - _OWN_MEGABYTES) / _MEGABYTES), _MIN_SCALE)
        return cls(int(_MEDIANS * scale), int(_DISTINCT * scale))


@dataclass(frozen=True, slots=True)
class Sample:
    """The sample that a column's figures are computed from; by default all rows.

    Args:
        rows: the share of the rows, drawn at random, that the median is computed from.
        one_in: distinct values are counted among those whose hash is a multiple of this number.
    """

    rows: float = 1.0
    one_in: int = 1


@dataclass(frozen=True, slots=True)
class Samples:
    """The sample of each column by name; other columns are computed from all rows."""

    by_name: Mapping[str, Sample] = field(default_factory=dict)

    def of(self, column: Column) -> Sample:
        """The sample of a column."""
        return self.by_name.get(column.name, Sample())


EXACTLY = Samples()


def size_sql(columns: Sequence[Column], condition: str | None) -> str:
    """The statement that counts the rows, and the bytes of each column of texts."""
    texts = (f"sum(strlen({identifier(one.name)}))" for one in columns if one.type == "VARCHAR")
    return f"SELECT {', '.join(['count(*)', *texts])} FROM {{source}}{_where(condition)}"


def spread_sql(columns: Sequence[Column], condition: str | None) -> str:
    """The statement that estimates how many values and distinct values each column has.

    NaN and infinity count as values: the estimate is cheaper so, and they are few.
    """
    figures = (
        f"count({value}), approx_count_distinct({value})"
        for value in (identifier(column.name) for column in columns)
    )
    return f"SELECT {', '.join(figures)} FROM {{source}}{_where(condition)}"


def column_weights(columns: Sequence[Column], sizes: Sequence[Cell]) -> list[float]:
    """The weight of a value in each column, by the result of ``size_sql``; a number weighs 1."""
    rows, texts = max(int(sizes[0] or 0), 1), iter(sizes[1:])
    return [
        1 + (float(next(texts) or 0) / rows / _TEXT if one.type == "VARCHAR" else 0)
        for one in columns
    ]


def fits(columns: Sequence[Column], sizes: Sequence[Cell], effort: ProfileEffort) -> bool:
    """Whether every figure can be computed from all rows, even if no value occurs twice."""
    rows = int(sizes[0] or 0)
    measured = sum(is_measured(column) for column in columns)
    counted = sum(
        weight
        for column, weight in zip(columns, column_weights(columns, sizes), strict=True)
        if family(column) != "other"
    )
    return rows * measured <= effort.medians and rows * counted <= effort.distinct


def plan_samples(
    columns: Sequence[Column], sizes: Sequence[Cell], spread: Sequence[Cell], effort: ProfileEffort
) -> Samples:
    """The samples with which a profile stays within the effort; small columns stay whole.

    ``sizes`` and ``spread`` are the results of ``size_sql`` and ``spread_sql``.
    """
    weighed = column_weights(columns, sizes)
    present = [int(cell or 0) for cell in spread[::2]]
    distinct = [min(int(cell or 0), have) for cell, have in zip(spread[1::2], present, strict=True)]
    sorted_ = [have if is_measured(one) else 0 for one, have in zip(columns, present, strict=True)]
    told_apart = [
        0 if family(one) == "other" else have * weight
        for one, have, weight in zip(columns, distinct, weighed, strict=True)
    ]
    max_sorted, max_told = _share(sorted_, effort.medians), _share(told_apart, effort.distinct)
    found = {}
    for at, column in enumerate(columns):
        rows, one_in = 1.0, 1
        if sorted_[at] > max_sorted:
            rows = min(max_sorted, _MAX_DRAWN) / sorted_[at]
        if told_apart[at] > max_told:
            one_in = 2 ** math.ceil(math.log2(distinct[at] / min(max_told, _MAX_COUNTED)))
        found[column.name] = Sample(rows, max(one_in, 1))
    return Samples(found)


def median_is_within(drawn: int) -> float:
    """How far from the middle a sample's median may rank, as a share of all rows.

    The rank of a sample's median is spread around 1/2 by 1/(2√n), whatever the values are and in
    whatever order they are stored.
    """
    return _SURE / 2 / math.sqrt(drawn)


def count_is_within(counted: int) -> float:
    """The relative error of a count that was scaled up from ``counted`` values."""
    return _SURE / math.sqrt(counted)


def _share(sizes: Sequence[float], room: float) -> float:
    """The largest size at which all fit, when each is cut to it and small ones leave room."""
    left, share = float(room), 0.0
    for at, size in enumerate(sorted(sizes)):
        share = left / (len(sizes) - at)
        if size > share:
            return share
        left -= size
    return max([share, *sizes])


def _where(condition: str | None) -> str:
    return f" WHERE {condition}" if condition else ""
