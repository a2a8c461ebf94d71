"""`correlations`: Pearson's r of each pair of columns of numbers, the strongest first."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from typing import Any

from mdvec.datasets import Column, finite_value, is_measured
from mdvec.queries import Bound, Parameter, WrongParameters
from mdvec.sql.core.period import found_column
from mdvec.sql.core.ready.plan import (
    TABLE,
    QuestionPlan,
    ReadyQuestion,
    names_of,
    text_value,
)

_MAX_COLUMNS = 20
_HEADER = ["first", "second", "r", "rows"]


def _plan(columns: Sequence[Column], bound: Bound) -> QuestionPlan:
    chosen = _chosen(columns, text_value(bound, "columns"))
    if len(chosen) < 2:
        raise WrongParameters(
            "correlations needs two columns of numbers or more; the table has: "
            f"{names_of(columns, is_measured)}"
        )
    pairs = list(combinations(chosen, 2))
    values = {column.name: f"CAST({finite_value(column)} AS DOUBLE)" for column in chosen}
    figures = ", ".join(
        # Where a column is constant, corr() is a NaN or an error.
        f"CASE WHEN regr_sxx({values[a.name]}, {values[b.name]}) > 0 "
        f"AND regr_syy({values[a.name]}, {values[b.name]}) > 0 "
        f"THEN corr({values[a.name]}, {values[b.name]}) END, "
        f"regr_count({values[a.name]}, {values[b.name]})"
        for a, b in pairs
    )
    spans = ", ".join(f"count({value}), min({value}) = max({value})" for value in values.values())

    def read(rows: list[list[Any]]) -> tuple[list[str], list[list[Any]]]:
        (row,) = rows
        correlations = [
            [a.name, b.name, row[2 * position], row[2 * position + 1]]
            for position, (a, b) in enumerate(pairs)
            if row[2 * position] is not None
        ]
        return _HEADER, sorted(correlations, key=lambda pair: -abs(pair[2]))

    def notes(row: Sequence[Any]) -> list[str]:
        names = [column.name for column in chosen]
        empty = [name for name, count in zip(names, row[::2], strict=True) if not count]
        same = [name for name, flat in zip(names, row[1::2], strict=True) if flat]
        said = [f"no value is in: {', '.join(empty)}"] if empty else []
        if same:
            said.append(f"always the same value, so without a correlation: {', '.join(same)}")
        if len(chosen) == _MAX_COLUMNS and text_value(bound, "columns") is None:
            said.append(f"the first {_MAX_COLUMNS} columns of numbers; name others in columns")
        return said

    return QuestionPlan(
        f"SELECT {figures} FROM {{source}}", f"SELECT {spans} FROM {{source}}", notes, {}, read
    )


def _chosen(columns: Sequence[Column], given: str | None) -> list[Column]:
    """The named columns, or the first ones that hold numbers."""
    if given is None:
        return [column for column in columns if is_measured(column)][:_MAX_COLUMNS]
    names = list(dict.fromkeys(name.strip() for name in given.split(",") if name.strip()))
    if len(names) > _MAX_COLUMNS:
        raise WrongParameters(f"columns names {len(names)} columns, more than {_MAX_COLUMNS}")
    chosen = [found_column(columns, name) for name in names]
    for column in chosen:
        if not is_measured(column):
            raise WrongParameters(
                f"{column.name[:60]!r} is {column.type[:40]}; choose columns of numbers: "
                f"{names_of(columns, is_measured)}"
            )
    return chosen


CORRELATIONS = ReadyQuestion(
    "Pearson's r of pairs of columns, such as columns='a, b, c'; default: all numbers",
    (TABLE, Parameter("columns", "text", is_optional=True)),
    _plan,
)
