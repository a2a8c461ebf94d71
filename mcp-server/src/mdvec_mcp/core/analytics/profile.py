"""A profile: what a table's columns hold, in a few numbers each."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from mdvec.core.datasets.columns import Column
from mdvec.core.datasets.sql import identifier

from mdvec_mcp.core.analytics.column import Family, family, found_column, may_be_infinite

Cell = Any
"""A value of a result as JSON has it."""

EXACT_UP_TO = 200_000
"""Rows of a table up to which everything is computed, as that takes no time."""
_SAMPLE = 65_536
_VALUE_DIGITS, _MEAN_DIGITS = 15, 8
_MEASURED: frozenset[Family] = frozenset({"integer", "number"})
_APPROXIMATE = ("median", "distinct_count")


@dataclass(frozen=True, slots=True)
class ProfilePlan:
    """One statement that computes everything, and how its one row is read.

    ``{source}`` stands for the table or query. ``figures`` are the names of what is computed of
    each column, in the order of the row.
    """

    sql: str
    figures: Mapping[str, tuple[str, ...]]
    approximate: tuple[str, ...]

    def columns(self, row: Sequence[Cell]) -> dict[str, dict[str, Cell]]:
        """The figures of each column; the row's first three cells are its count and its period."""
        rows, cells = int(row[0]), iter(row[3:])
        return {
            column: _shown({name: next(cells) for name in names}, rows)
            for column, names in self.figures.items()
        }


def chosen(columns: Sequence[Column], names: Sequence[str] | None) -> list[Column]:
    """The columns of those names; all without names.

    Raises:
        UnknownColumn: one is not there.
    """
    if names is None:
        return list(columns)
    return list(dict.fromkeys(found_column(columns, name) for name in names))


def plan_profile(
    columns: Sequence[Column], period: Column | None, condition: str | None, *, exact: bool
) -> ProfilePlan:
    """The statement that profiles ``columns``.

    ``exact`` computes each median and counts every distinct value; else medians come from a
    sample and counts are estimates, which is quick and small whatever the number of rows.
    """
    expressions = [_expressions(column, at, exact=exact) for at, column in enumerate(columns)]
    inner = [f"{_finite(column)} AS c{at}" for at, column in enumerate(columns)]
    inner += [f"isfinite({identifier(one.name)}) AS f{at}"
              for at, one in enumerate(columns) if may_be_infinite(one)]  # fmt: skip
    when = "NULL, NULL"
    if period is not None:
        inner.append(f"{identifier(period.name)} AS period")
        when = "min(period), max(period)"
    parts = ["count(*)", when, *(sql for found in expressions for sql in found.values())]
    where = f"\nWHERE {condition}" if condition else ""
    sql = (
        "SELECT " + ",\n".join(parts) + "\nFROM (\nSELECT " + ",\n".join(inner or ["1"])
        + "\nFROM {source}" + where + "\n)"
    )  # fmt: skip
    figures = {
        column.name: tuple(found) for column, found in zip(columns, expressions, strict=True)
    }
    names = {name for found in figures.values() for name in found}
    estimated = () if exact else tuple(name for name in _APPROXIMATE if name in names)
    return ProfilePlan(sql, figures, estimated)


def _finite(column: Column) -> str:
    """The column, its NaN and infinity left out."""
    name = identifier(column.name)
    return f"CASE WHEN isfinite({name}) THEN {name} END" if may_be_infinite(column) else name


def _expressions(column: Column, at: int, *, exact: bool) -> dict[str, str]:
    """What is computed of the column that the inner statement calls c and its number."""
    name = f"c{at}"
    kind, found = family(column), {"present": f"count({name})"}
    if may_be_infinite(column):
        found["odd"] = f"count(*) FILTER (WHERE NOT f{at})"
    if kind == "other":
        return found
    found |= {"min": f"min({name})", "max": f"max({name})"}
    if kind in _MEASURED:
        sampled = f"reservoir_quantile({name}, 0.5, {_SAMPLE})"
        found |= {"mean": f"avg({name})", "median": f"median({name})" if exact else sampled}
    distinct = f"count(DISTINCT {name})" if exact else f"approx_count_distinct({name})"
    return found | {"distinct_count": distinct}


def _shown(values: dict[str, Cell], rows: int) -> dict[str, Cell]:
    """The figures of one column as the answer has them."""
    odd = int(values.pop("odd", None) or 0)
    present = int(values.pop("present"))
    # A value of the column, such as an ID or yen, is told to the last digit.
    shown = {
        name: rounded(value, _MEAN_DIGITS if name == "mean" else _VALUE_DIGITS)
        for name, value in values.items()
    }
    if "distinct_count" in shown:
        # An estimate may say that there are more values than rows.
        shown["distinct_count"] = min(int(shown["distinct_count"]), present)
    shown["null_rate"] = rounded((rows - present - odd) / rows) if rows else None
    if odd:
        shown["not_finite"] = odd
    return shown


def rounded(value: Cell, digits: int = 6) -> Cell:
    """A number with as many digits as say something; anything else as it is, long texts cut."""
    if isinstance(value, float) and math.isfinite(value):
        short = float(f"{value:.{digits}g}")
        return int(short) if short.is_integer() and abs(short) < 2**53 else short
    if isinstance(value, str) and len(value) > 40:
        return value[:39] + "…"
    return value
