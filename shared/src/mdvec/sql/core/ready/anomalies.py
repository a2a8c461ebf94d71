"""`anomalies`: periods whose sum is far from the median of the periods before them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from mdvec.datasets import Column, finite_value
from mdvec.queries import Bound, Parameter, WrongParameters
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

MIN_WINDOW = 5
MAX_WINDOW = 1_000
_TO_SIGMA = 0.6745
"""The MAD of a normal distribution in standard deviations."""


def _plan(columns: Sequence[Column], bound: Bound) -> QuestionPlan:
    measure, day = measure_of(columns, bound), date_column_of(columns, bound, "anomalies")
    period, window = period_of(bound), int(bound["window"][1])
    threshold = float(bound["threshold"][1])
    if not MIN_WINDOW <= window <= MAX_WINDOW:
        raise WrongParameters(f"window must be {MIN_WINDOW} to {MAX_WINDOW} periods, not {window}")
    if threshold <= 0:
        raise WrongParameters(f"threshold must be above 0, such as 3.5, not {threshold:g}")
    name = identifier(day.name)
    series = (
        f"SELECT CAST(date_trunc({literal(period)}, {name}) AS DATE) AS period, "
        f"CAST(sum({finite_value(measure)}) AS DOUBLE) AS value FROM {{source}} "
        f"WHERE isfinite({name}) GROUP BY 1 HAVING value IS NOT NULL"
    )
    judged = (
        "SELECT period, value, median(value) OVER earlier AS median, mad(value) OVER earlier "
        "AS mad, min(period) OVER earlier AS window_from, max(period) OVER earlier AS window_to, "
        f"count(*) OVER earlier AS before FROM ({series}) WINDOW earlier AS "
        f"(ORDER BY period ROWS BETWEEN {window:d} PRECEDING AND 1 PRECEDING)"
    )
    z = f"{_TO_SIGMA} * (value - median) / nullif(mad, 0)"
    sql = (
        f"SELECT period, value, round({z}, 2) AS robust_z, median, mad, window_from, window_to "
        f"FROM ({judged}) WHERE before >= {MIN_WINDOW} AND abs({z}) >= $threshold ORDER BY period"
    )
    facts = (
        f"SELECT count(*), count(*) FILTER (WHERE before >= {MIN_WINDOW}), "
        f"count(*) FILTER (WHERE before >= {MIN_WINDOW} AND mad = 0), "
        f"count(*) FILTER (WHERE before >= {MIN_WINDOW} AND mad = 0 AND value <> median), "
        f"count(*) FILTER (WHERE before >= {MIN_WINDOW} AND abs({z}) >= {threshold!r}) "
        f"FROM ({judged})"
    )

    def notes(row: Sequence[Any]) -> list[str]:
        periods, judged_count, constant, jumps, anomalies = row
        if not judged_count:
            return [
                f"{periods} {period}s have values, and one is judged by at least {MIN_WINDOW} "
                "before it, so none could be; take a shorter period"
            ]
        said = [] if anomalies else [f"none of {judged_count} {period}s is an anomaly"]
        if constant:
            differ = f", from which {jumps} differ" if jumps else ""
            said.append(
                f"before {constant} of {judged_count} {period}s the typical deviation (MAD) is 0, "
                f"as at least half of the values are the same{differ}: no z can be computed there"
            )
        return said

    return QuestionPlan(sql, facts, notes, {"threshold": ("number", threshold)})


ANOMALIES = ReadyQuestion(
    "Periods whose sum is far (robust z) from the median of the window of periods before",
    (
        TABLE, MEASURE, Parameter("period", "text", "day"), Parameter("window", "integer", 30),
        Parameter("threshold", "number", 3.5), DATE_COLUMN,
    ),
    _plan,
)  # fmt: skip
