"""`trend`: a measure by period, with its change from the period before."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from mdvec.datasets import Column, finite_value
from mdvec.queries import Bound, Parameter
from mdvec.sql.core.ready.plan import (
    DATE_COLUMN,
    MEASURE,
    TABLE,
    QuestionPlan,
    ReadyQuestion,
    date_column_of,
    measure_of,
    period_of,
)
from mdvec.text import identifier, literal


def _plan(columns: Sequence[Column], bound: Bound) -> QuestionPlan:
    measure, day = measure_of(columns, bound), date_column_of(columns, bound, "trend")
    period = period_of(bound)
    value = finite_value(measure)
    start = f"CAST(date_trunc({literal(period)}, {identifier(day.name)}) AS DATE)"
    there = f"isfinite({identifier(day.name)})"
    sums = (
        f"SELECT {start} AS period, count(*) AS rows, sum({value}) AS sum, avg({value}) AS mean "
        f"FROM {{source}} WHERE {there} GROUP BY 1"
    )
    sql = (
        "SELECT period, rows, sum, mean, sum - before AS change, "
        "round(100.0 * (sum - before) / abs(nullif(before, 0)), 2) AS change_percent "
        f"FROM (SELECT *, lag(sum) OVER (ORDER BY period) AS before FROM ({sums})) ORDER BY period"
    )
    facts = (
        f"SELECT count(*), count(*) FILTER (WHERE {there}), "
        f"count({value}) FILTER (WHERE {there}), "
        f"count(DISTINCT {start}) FILTER (WHERE {there}), "
        f"date_diff({literal(period)}, min({start}) FILTER (WHERE {there}), "
        f"max({start}) FILTER (WHERE {there})) + 1 FROM {{source}}"
    )

    def notes(row: Sequence[Any]) -> list[str]:
        rows, dated, valued, periods, span = row
        said = []
        if rows > dated:
            said.append(f"{rows - dated:,} rows have no date in {day.name} and are left out")
        if dated > valued:
            said.append(f"{dated - valued:,} rows have no {measure.name}; sum and mean ignore them")
        if periods == 1:
            said.append(f"all rows are in one {period}, so there is no change to report")
        elif periods and span > periods:
            said.append(
                f"{span - periods} of {span} {period}s have no rows and are not listed; the change "
                "is from the last one listed"
            )
        return said

    return QuestionPlan(sql, facts, notes, {})


TREND = ReadyQuestion(
    "A measure's sum and mean by period, and its change",
    (TABLE, MEASURE, Parameter("period", "text", "month"), DATE_COLUMN),
    _plan,
)
