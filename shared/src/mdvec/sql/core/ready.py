"""The ready-made questions: trend, compare_periods, anomalies and correlations of any table."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from itertools import combinations
from typing import Any

from mdvec.datasets import Column, finite_value, has_dates, is_measured
from mdvec.dates import parse_dated
from mdvec.queries import Bound, Parameter, WrongParameters
from mdvec.sql.core.period import found_column, period_column
from mdvec.text import identifier, literal

_MAX_LISTED = 8
PERIODS = ("day", "week", "month", "quarter", "year")

TABLE = Parameter("table", "text")
MEASURE = Parameter("measure", "text")
DATE_COLUMN = Parameter("date_column", "text", is_optional=True)


@dataclass(frozen=True, slots=True)
class QuestionPlan:
    """Our statements over a table, with the placeholder ``{source}``.

    Attributes:
        sql: returns the rows of the answer.
        facts: returns one row about the table.
        notes: gives the notes on the row of ``facts``.
        bound: the values of the parameters of both.
    """

    sql: str
    facts: str
    notes: Callable[[Sequence[Any]], list[str]]
    bound: Bound

    def bound_of(self, statement: str) -> Bound:
        """The values for the parameters of a statement; DuckDB refuses others."""
        return {name: value for name, value in self.bound.items() if f"${name}" in statement}


@dataclass(frozen=True, slots=True)
class ReadyQuestion:
    """A question that needs a table and some of its columns."""

    description: str
    parameters: tuple[Parameter, ...]
    plan: Callable[[Sequence[Column], Bound], QuestionPlan]


def text_value(bound: Bound, name: str) -> str | None:
    """The value of a parameter that is a text; None if it was left out."""
    return str(bound[name][1]) if name in bound else None


def measure_of(columns: Sequence[Column], bound: Bound) -> Column:
    """The column to compute with.

    Raises:
        UnknownColumn, WrongParameters: it does not exist, or holds no numbers.
    """
    column = found_column(columns, str(bound["measure"][1]))
    if not is_measured(column):
        raise WrongParameters(
            f"measure {column.name[:60]!r} is {column.type[:40]}; choose a column of numbers: "
            f"{names_of(columns, is_measured)}"
        )
    return column


def date_column_of(columns: Sequence[Column], bound: Bound, question: str) -> Column:
    """The column of dates: the named one, or the only one.

    Raises:
        UnknownColumn, PeriodRefused, WrongParameters: it does not exist, holds no dates, or there
            are several.
    """
    column = period_column(columns, text_value(bound, "date_column"))
    if column is None:
        raise WrongParameters(
            f"{question} needs date_column, a column of dates: {names_of(columns, has_dates)}"
        )
    return column


def period_of(bound: Bound) -> str:
    """The length of a period.

    Raises:
        WrongParameters: it is none.
    """
    period = str(bound["period"][1]).lower()
    if period not in PERIODS:
        raise WrongParameters(f"period must be one of {', '.join(PERIODS)}, not {period[:40]!r}")
    return period


def names_of(columns: Sequence[Column], fits: Callable[[Column], bool]) -> str:
    """The names of the columns that fit, for a message."""
    names = [column.name[:40] for column in columns if fits(column)]
    more = ", …" if len(names) > _MAX_LISTED else ""
    return ", ".join(names[:_MAX_LISTED]) + more or "this table has none"


_TAKE_SEVERAL = ("by", "columns")
_LISTED = re.compile(r'\s*"(?P<quoted>(?:[^"]|"")*)"\s*(?:,|\Z)|(?P<plain>[^,]*)(?:,|\Z)')
"""A name in a list; in quotes it may have any sign."""


def with_lists_as_texts(arguments: Mapping[str, object]) -> dict[str, object]:
    """The values for a ready-made question, with a list of columns joined to a text."""
    return {
        name: ", ".join(map(identifier, value))
        if isinstance(value, list)
        and all(isinstance(column, str) for column in value)
        and name.removeprefix("$").casefold() in _TAKE_SEVERAL
        else value
        for name, value in arguments.items()
    }


def _listed_columns(columns: Sequence[Column], listed_names: str) -> list[Column]:
    """The columns in a text, separated by commas, which may be quoted as in SQL.

    Raises:
        UnknownColumn: one does not exist.
    """
    if any(column.name == listed_names for column in columns):
        return [found_column(columns, listed_names)]
    names = (
        listed["plain"].strip() if listed["quoted"] is None else listed["quoted"].replace('""', '"')
        for listed in _LISTED.finditer(listed_names)
    )
    return [found_column(columns, name) for name in dict.fromkeys(filter(None, names))]


def _of_other_months(columns: Sequence[Column], day: Column) -> str:
    """Counts rows with a month (YYYY-MM), such as a household's, that is not their calendar's."""
    if not any((column.name, column.type) == ("month", "VARCHAR") for column in columns):
        return "0"
    calendar = f"strftime({identifier(day.name)}, '%Y-%m')"
    there = f"isfinite({identifier(day.name)}) AND month LIKE '____-__'"
    return f"count(*) FILTER (WHERE {there} AND month <> {calendar})"


def _trend(columns: Sequence[Column], bound: Bound) -> QuestionPlan:
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
        f"max({start}) FILTER (WHERE {there})) + 1, {_of_other_months(columns, day)} "
        "FROM {source}"
    )

    def notes(row: Sequence[Any]) -> list[str]:
        rows, dated, valued, periods, span, others = row
        sentences = []
        if others and period not in ("day", "week"):
            sentences.append(
                f"{others:,} rows are of another month by their column month, as where months "
                "start on a later day; these are calendar months, so group by month in SQL"
            )
        if rows > dated:
            sentences.append(f"{rows - dated:,} rows have no date in {day.name} and are left out")
        if dated > valued:
            sentences.append(
                f"{dated - valued:,} rows have no {measure.name}; sum and mean ignore them"
            )
        if periods == 1:
            sentences.append(f"all rows are in one {period}, so there is no change to report")
        elif periods and span > periods:
            sentences.append(
                f"{span - periods} of {span} {period}s have no rows and are not listed; the change "
                "is from the last one listed"
            )
        return sentences

    return QuestionPlan(sql, facts, notes, {})


_SIDES = ("first", "second")


def days_of(name: str, text: str) -> tuple[date, date]:
    """The first and the last day of a period: 2025, 2025-06, 2025-06-15 or 2025-06-01/2025-06-15.

    Raises:
        WrongParameters: it is no period, or has no year.
    """
    days = parse_dated(text)
    if days is None:
        raise WrongParameters(
            f"{name} must be a period such as 2025, 2025-06 or 2025-06-01/2025-06-15, "
            f"not {text[:60]!r}"
        )
    return days.first, days.last


def _comparison(columns: Sequence[Column], bound: Bound) -> QuestionPlan:
    measure, day = measure_of(columns, bound), date_column_of(columns, bound, "compare_periods")
    groups = _listed_columns(columns, text_value(bound, "by") or "")
    days, values, bounds, inside = identifier(day.name), finite_value(measure), Bound(), {}
    for side in _SIDES:
        first, last = days_of(side, str(bound[side][1]))
        bounds[f"{side}_from"] = ("date", first.isoformat())
        # The end is exclusive, so that the times of the last day are included.
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
    key = "".join(f"{identifier(each.name)} AS {identifier(each.name)}, " for each in groups)
    grouped = (
        f"SELECT {key}{figures} FROM {{source}} WHERE {any_side}{' GROUP BY ALL' if groups else ''}"
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
        sentences = [
            f"no rows are in {side} ({bound[side][1]})"
            for side, count in zip(_SIDES, row[:2], strict=True)
            if not count
        ]
        if row[2]:
            sentences.append(f"{row[2]:,} rows have no {measure.name}; sum and mean ignore them")
        if row[3]:
            sentences.append(f"{row[3]:,} rows have no date in {day.name} and are left out")
        return sentences

    return QuestionPlan(sql, facts, notes, bounds)


MIN_WINDOW = 5
MAX_WINDOW = 1_000
_TO_SIGMA = 0.6745
"""The MAD of a normal distribution in standard deviations."""


def _anomalies(columns: Sequence[Column], bound: Bound) -> QuestionPlan:
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
        sentences = [] if anomalies else [f"none of {judged_count} {period}s is an anomaly"]
        if constant:
            differ = f", from which {jumps} differ" if jumps else ""
            sentences.append(
                f"before {constant} of {judged_count} {period}s the typical deviation (MAD) is 0, "
                f"as at least half of the values are the same{differ}: no z can be computed there"
            )
        return sentences

    return QuestionPlan(sql, facts, notes, {"threshold": ("number", threshold)})


_MAX_COLUMNS = 20


def _correlations(columns: Sequence[Column], bound: Bound) -> QuestionPlan:
    chosen = _chosen_columns(columns, text_value(bound, "columns"))
    if len(chosen) < 2:
        raise WrongParameters(
            "correlations needs two columns of numbers or more; the table has: "
            f"{names_of(columns, is_measured)}"
        )
    values = {column.name: f"CAST({finite_value(column)} AS DOUBLE)" for column in chosen}
    pairs = ", ".join(
        # For a constant column, corr() is NaN or an error.
        f"{{'first': {literal(a.name)}, 'second': {literal(b.name)}, 'r': CASE WHEN "
        f"regr_sxx({values[a.name]}, {values[b.name]}) > 0 AND "
        f"regr_syy({values[a.name]}, {values[b.name]}) > 0 "
        f"THEN corr({values[a.name]}, {values[b.name]}) END, "
        f"'rows': regr_count({values[a.name]}, {values[b.name]})}}"
        for a, b in combinations(chosen, 2)
    )
    sql = (
        f"SELECT * FROM (SELECT unnest([{pairs}], recursive := true) FROM {{source}}) "
        "WHERE r IS NOT NULL ORDER BY abs(r) DESC"
    )
    spans = ", ".join(f"count({value}), min({value}) = max({value})" for value in values.values())

    def notes(row: Sequence[Any]) -> list[str]:
        names = [column.name for column in chosen]
        empty = [name for name, count in zip(names, row[::2], strict=True) if not count]
        same = [name for name, flat in zip(names, row[1::2], strict=True) if flat]
        sentences = [f"no value is in: {', '.join(empty)}"] if empty else []
        if same:
            sentences.append(f"always the same value, so without a correlation: {', '.join(same)}")
        if len(chosen) == _MAX_COLUMNS and text_value(bound, "columns") is None:
            sentences.append(f"the first {_MAX_COLUMNS} columns of numbers; name others in columns")
        return sentences

    return QuestionPlan(sql, f"SELECT {spans} FROM {{source}}", notes, {})


def _chosen_columns(columns: Sequence[Column], names: str | None) -> list[Column]:
    """The named columns, or the first ones that hold numbers."""
    if names is None:
        return [column for column in columns if is_measured(column)][:_MAX_COLUMNS]
    chosen = _listed_columns(columns, names)
    if len(chosen) > _MAX_COLUMNS:
        raise WrongParameters(f"columns names {len(chosen)} columns, more than {_MAX_COLUMNS}")
    for column in chosen:
        if not is_measured(column):
            raise WrongParameters(
                f"{column.name[:60]!r} is {column.type[:40]}; choose columns of numbers: "
                f"{names_of(columns, is_measured)}"
            )
    return chosen


READY: dict[str, ReadyQuestion] = {
    "trend": ReadyQuestion(
        "A measure's sum and mean by period, and its change",
        (TABLE, MEASURE, Parameter("period", "text", "month"), DATE_COLUMN),
        _trend,
    ),
    "compare_periods": ReadyQuestion(
        "A measure in two periods, such as 2025-05 and 2025-06, in all or by columns",
        (
            TABLE, MEASURE, Parameter("first", "text"), Parameter("second", "text"),
            Parameter("by", "text", is_optional=True), DATE_COLUMN,
        ),
        _comparison,
    ),
    "anomalies": ReadyQuestion(
        "Periods whose sum is far (robust z) from the median of the window of periods before",
        (
            TABLE, MEASURE, Parameter("period", "text", "day"), Parameter("window", "integer", 30),
            Parameter("threshold", "number", 3.5), DATE_COLUMN,
        ),
        _anomalies,
    ),
    "correlations": ReadyQuestion(
        "Pearson's r of pairs of columns, such as columns='a, b, c'; default: all numbers",
        (TABLE, Parameter("columns", "text", is_optional=True)),
        _correlations,
    ),
}  # fmt: skip
"""The ready-made questions by their reserved names."""
