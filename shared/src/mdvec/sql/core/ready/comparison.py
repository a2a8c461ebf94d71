"""`compare_periods`: a measure in two periods side by side, in all or by group."""

from __future__ import annotations

import calendar
import re
from collections.abc import Sequence
from datetime import date, timedelta
from typing import Any

from mdvec.datasets import Column, finite_value
from mdvec.queries import Bound, Parameter, WrongParameters
from mdvec.sql.core.period import found_column
from mdvec.sql.core.ready.plan import (
    DATE_COLUMN,
    MEASURE,
    TABLE,
    QuestionPlan,
    ReadyQuestion,
    date_column_of,
    measure_of,
    text_value,
)
from mdvec.text import identifier

_YEAR = re.compile(r"(\d{4})")
_MONTH = re.compile(r"(\d{4})-(\d{1,2})")
_SIDES = ("first", "second")


def days_of(name: str, text: str) -> tuple[date, date]:
    """The first and the last day of a period: 2025, 2025-06, 2025-06-15 or 2025-06-01/2025-06-15.

    Raises:
        WrongParameters: it is no period.
    """
    first, slash, last = text.strip().partition("/")
    try:
        begin, end = _days(first)[0], _days(last if slash else first)[1]
    except ValueError:
        begin, end = date.max, date.min
    if begin > end:
        raise WrongParameters(
            f"{name} must be a period such as 2025, 2025-06 or 2025-06-01/2025-06-15, "
            f"not {text[:60]!r}"
        )
    return begin, end


def _days(text: str) -> tuple[date, date]:
    """The first and the last day of a year, a month or a day."""
    text = text.strip()
    if year := _YEAR.fullmatch(text):
        return date(int(year[1]), 1, 1), date(int(year[1]), 12, 31)
    if month := _MONTH.fullmatch(text):
        first = date(int(month[1]), int(month[2]), 1)
        return first, first.replace(day=calendar.monthrange(first.year, first.month)[1])
    day = date.fromisoformat(text)
    return day, day


def _plan(columns: Sequence[Column], bound: Bound) -> QuestionPlan:
    measure, day = measure_of(columns, bound), date_column_of(columns, bound, "compare_periods")
    by = text_value(bound, "by")
    group = None if by is None else found_column(columns, by)
    days, values, bounds, inside = identifier(day.name), finite_value(measure), Bound(), {}
    for side in _SIDES:
        first, last = days_of(side, str(bound[side][1]))
        bounds[f"{side}_from"] = ("date", first.isoformat())
        # Exclusive, so that times of the last day are in it.
        bounds[f"{side}_to"] = (
            "date",
            (min(last, date.max - timedelta(1)) + timedelta(1)).isoformat(),
        )
        inside[side] = f"{days} >= $" + f"{side}_from AND {days} < $" + f"{side}_to"
    any_side = " OR ".join(f"({inside[side]})" for side in _SIDES)
    figures = ", ".join(
        f"count(*) FILTER (WHERE {inside[side]}) AS {side}_rows, "
        f"sum({values}) FILTER (WHERE {inside[side]}) AS {side}_sum, "
        f"avg({values}) FILTER (WHERE {inside[side]}) AS {side}_mean"
        for side in _SIDES
    )
    key = "" if group is None else f"{identifier(group.name)} AS {identifier(group.name)}, "
    grouped = (
        f"SELECT {key}{figures} FROM {{source}} WHERE {any_side}"
        f"{'' if group is None else ' GROUP BY ALL'}"
    )
    difference = "coalesce(second_sum, 0) - coalesce(first_sum, 0)"
    sql = (
        f"SELECT *, {difference} AS difference, "
        f"round(100.0 * ({difference}) / abs(nullif(first_sum, 0)), 2) AS difference_percent "
        f"FROM ({grouped}) ORDER BY abs({difference}) DESC, 1"
    )
    facts = (
        f"SELECT count(*) FILTER (WHERE {inside['first']}), "
        f"count(*) FILTER (WHERE {inside['second']}), "
        f"count(*) FILTER (WHERE ({any_side}) AND {values} IS NULL), "
        f"count(*) FILTER (WHERE {days} IS NULL) FROM {{source}}"
    )

    def notes(row: Sequence[Any]) -> list[str]:
        said = [
            f"no rows are in {side} ({bound[side][1]})"
            for side, count in zip(_SIDES, row[:2], strict=True)
            if not count
        ]
        if row[2]:
            said.append(f"{row[2]:,} rows have no {measure.name}; sum and mean ignore them")
        if row[3]:
            said.append(f"{row[3]:,} rows have no date in {day.name} and are left out")
        return said

    return QuestionPlan(sql, facts, notes, bounds)


COMPARISON = ReadyQuestion(
    "A measure in two periods, such as 2025-05 and 2025-06, in all or by a column",
    (
        TABLE, MEASURE, Parameter("first", "text"), Parameter("second", "text"),
        Parameter("by", "text", is_optional=True), DATE_COLUMN,
    ),
    _plan,
)  # fmt: skip
