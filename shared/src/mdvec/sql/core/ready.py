"""Ready-made questions for any table: trend, compare_periods, anomalies and correlations."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from itertools import combinations
from typing import Any

from mdvec.datasets import Column, finite_value, has_dates, is_measured
from mdvec.dates import ONE_DAY, Days, MonthRange, parse_dated
from mdvec.queries import Bound, Parameter, WrongParameters
from mdvec.sql.core.period import found_column, period_column
from mdvec.text import cited, identifier, literal

_MAX_LISTED = 8
PERIODS = ("day", "week", "month", "quarter", "year")

TABLE = Parameter("table", "text")
MEASURE = Parameter("measure", "text")
DATE_COLUMN = Parameter("date_column", "text", is_optional=True)
_TAKE_SEVERAL = ("by", "columns")
_LISTED = re.compile(r'\s*"(?P<quoted>(?:[^"]|"")*)"\s*(?:,|\Z)|(?P<plain>[^,]*)(?:,|\Z)')
"""A name in a list; a quoted name may contain any characters."""
_STEP = (
    "CASE WHEN distance < 28 THEN to_days(distance::INTEGER) "
    "WHEN distance BETWEEN 28 AND 31 THEN to_months(1) "
    "WHEN distance BETWEEN 89 AND 92 THEN to_months(3) "
    "WHEN distance BETWEEN 181 AND 184 THEN to_months(6) "
    "ELSE to_days(ceil(distance * 31 / 28)::INTEGER) END"
)
"""SQL: the calendar step for a distance in days; about 1, 3 or 6 months are steps of months."""
_SIDES = ("first", "second")
MIN_WINDOW = 5
MAX_WINDOW = 1_000
_TO_SIGMA = 0.6745
"""The median absolute deviation of a normal distribution, in standard deviations."""
_MAX_COLUMNS = 20


@dataclass(frozen=True, slots=True)
class QuestionPlan:
    """Statements over ``{source}``: ``sql`` for the answer's rows, ``facts`` for one row of facts.

    ``notes`` turns the row of ``facts`` into notes.
    """

    sql: str
    facts: str
    notes: Callable[[Sequence[Any]], list[str]]


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
            f"measure {cited(column.name[:60])} is {column.type[:40]}; choose a column of numbers: "
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
    """The argument ``period`` in lower case.

    Raises:
        WrongParameters: it is not in ``PERIODS``.
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


def with_lists_as_texts(arguments: Mapping[str, object]) -> dict[str, object]:
    """The values for a ready-made question, with lists of columns joined into a text."""
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


def _by_period_sql(period: str, day: Column, measure: Column) -> str:
    """SQL for each row's period (NULL without a date, or for an infinite one) and its value."""
    name = identifier(day.name)
    start = f"CAST(date_trunc({literal(period)}, {name}) AS DATE)"
    return (
        f"SELECT CASE WHEN isfinite({name}) THEN {start} END AS period, "
        f"{finite_value(measure)} AS value FROM {{source}}"
    )


def _ends_sql(day: Column, measure: Column) -> str:
    """SQL for the first and last day with values, and the days expected ``before`` and ``after``.

    These are expected at the 90 % quantile of the distances between days. If all days are the last
    of their months, so are the expected days.
    """
    name = identifier(day.name)
    days = (
        f"SELECT DISTINCT CAST({name} AS DATE) AS day FROM {{source}} "
        f"WHERE isfinite({name}) AND {finite_value(measure)} IS NOT NULL"
    )
    beside = ", ".join(
        f"TRY(CASE WHEN at_ends THEN last_day({end} {sign} step) "
        f"ELSE CAST({end} {sign} step AS DATE) END) AS {beyond}"  # NULL beyond the calendar
        for end, sign, beyond in (("first", "-", "before"), ("last", "+", "after"))
    )
    return (
        f"SELECT first, last, {beside} FROM (SELECT *, TRY({_STEP}) AS step FROM (SELECT "
        "min(day) AS first, max(day) AS last, quantile_disc(distance, 0.9) AS distance, "
        "bool_and(day = last_day(day)) AS at_ends FROM "
        f"(SELECT day, day - lag(day) OVER (ORDER BY day) AS distance FROM ({days}))))"
    )


def _with_cut_periods(facts: str, period: str, day: Column, measure: Column) -> str:
    """SQL for the facts, and the first and last day of values if these cut a period, else NULL.

    The first day cuts its period if the day expected before it is in the same period; the last, if
    the day expected after it is.
    """
    unit = literal(period)
    cuts = ", ".join(
        f"CASE WHEN date_trunc({unit}, {end}) = date_trunc({unit}, {beyond}) THEN {end} END"
        for end, beyond in (("first", "before"), ("last", "after"))
    )
    return f"SELECT * FROM ({facts}), (SELECT {cuts} FROM ({_ends_sql(day, measure)}))"


def _cut_notes(first: str, last: str, begins: Any, ends: Any) -> list[str]:  # noqa: ANN401 - cells
    """Notes on the periods called ``first`` and ``last``, if values begin or end within them."""
    cuts = ((first, "from", begins), (last, "up to", ends))
    return [f"{name} has values only {which} {day}" for name, which, day in cuts if day]


def _left_out_notes(undated: int, day: Column, unvalued: int, measure: Column) -> list[str]:
    """Notes on rows without a date or a value."""
    sentences = []
    if undated:
        sentences.append(f"{undated:,} rows have no date in {day.name} and are left out")
    if unvalued:
        sentences.append(f"{unvalued:,} rows have no {measure.name}; sum and mean ignore them")
    return sentences


def _of_other_months(columns: Sequence[Column], day: Column) -> str:
    """SQL for how many rows have a ``month`` (YYYY-MM) unlike the calendar month; 0 without one."""
    if not any((column.name, column.type) == ("month", "VARCHAR") for column in columns):
        return "0"
    calendar = f"strftime({identifier(day.name)}, '%Y-%m')"
    there = f"isfinite({identifier(day.name)}) AND month LIKE '____-__'"
    return f"(SELECT count(*) FROM {{source}} WHERE {there} AND month <> {calendar})"


def _trend(columns: Sequence[Column], bound: Bound) -> QuestionPlan:
    measure, day = measure_of(columns, bound), date_column_of(columns, bound, "trend")
    period = period_of(bound)
    by_period = _by_period_sql(period, day, measure)
    sums = (
        "SELECT period, count(*) AS rows, sum(value) AS sum, avg(value) AS mean "
        f"FROM ({by_period}) WHERE period IS NOT NULL GROUP BY period"
    )
    sql = (
        "SELECT period, rows, sum, mean, sum - before AS sum_change, "
        "round(100.0 * (sum - before) / abs(nullif(before, 0)), 2) AS sum_change_percent "
        f"FROM (SELECT *, lag(sum) OVER (ORDER BY period) AS before FROM ({sums})) ORDER BY period"
    )
    facts = (
        "SELECT count(*), count(period), count(value) FILTER (WHERE period IS NOT NULL), "
        f"count(DISTINCT period), date_diff({literal(period)}, min(period), max(period)) + 1, "
        f"{_of_other_months(columns, day)} FROM ({by_period})"
    )

    def notes(row: Sequence[Any]) -> list[str]:
        rows, dated, valued, periods, span, others, *cuts = row
        sentences = _left_out_notes(rows - dated, day, dated - valued, measure)
        if others and period not in ("day", "week"):
            sentences.append(
                f"{others:,} rows are of another month by their column month, as where months "
                "start on a later day; these are calendar months, so group by month in SQL"
            )
        if periods == 1:
            sentences.append(f"all rows are in one {period}, so there is no change to report")
            return sentences
        if periods and span > periods:
            sentences.append(
                f"{span - periods} of {span} {period}s have no rows and are not listed; the change "
                "is from the last one listed"
            )
        return sentences + _cut_notes(f"the first {period}", f"the last {period}", *cuts)

    return QuestionPlan(sql, _with_cut_periods(facts, period, day, measure), notes)


def days_of(name: str, text: str) -> Days:
    """The days of a period: 2025, 2025-06, 2025-06-15 or 2025-06-01/2025-06-15.

    Raises:
        WrongParameters: it is no period, has no year, or ends before it begins.
    """
    days = parse_dated(text)
    if days is None:
        raise WrongParameters(
            f"{name} must be a period such as 2025, 2025-06 or 2025-06-01/2025-06-15 (the earlier "
            f"day first), not {text[:60]!r}"
        )
    return days


def _unlike(first: Days, second: Days) -> list[str]:
    """Notes on why the sums of two periods are hard to compare: shared days, unequal lengths."""
    sentences = []
    if shared := first.within(second):
        sentences.append(
            f"first and second overlap: the rows from {shared.first} to {shared.last} are in both"
        )
    lengths = [(days.last - days.first).days + 1 for days in (first, second)]
    months = [MonthRange.around(days) for days in (first, second)]
    are_months = [months[0].days, months[1].days] == [first, second]
    if lengths[0] != lengths[1] and not (are_months and len(months[0]) == len(months[1])):
        sentences.append(
            f"first has {lengths[0]:,} days and second {lengths[1]:,}; their sums may differ for "
            "that alone"
        )
    return sentences


def _bounds(period: Days) -> tuple[str, str]:
    """SQL: the first day of a period and the day after its last, so that all its times are in."""
    after = min(period.last, date.max - ONE_DAY) + ONE_DAY
    return f"DATE '{period.first.isoformat()}'", f"DATE '{after.isoformat()}'"


def _comparison_facts(
    day: Column, measure: Column, inside: Sequence[str], periods: Sequence[Days]
) -> str:
    """SQL: the rows in each period, those without date or value, and where periods are cut."""
    counts = [f"count(*) FILTER (WHERE {condition})" for condition in inside]
    counts.append(f"count(*) FILTER (WHERE {identifier(day.name)} IS NULL)")
    any_side = " OR ".join(inside)
    counts.append(f"count(*) FILTER (WHERE ({any_side}) AND {finite_value(measure)} IS NULL)")
    cuts = ", ".join(
        f"CASE WHEN before >= {begin} AND first < {end} THEN first END, "
        f"CASE WHEN after < {end} AND last >= {begin} THEN last END"
        for begin, end in map(_bounds, periods)
    )
    return (
        f"SELECT * FROM (SELECT {', '.join(counts)} FROM {{source}}), "
        f"(SELECT {cuts} FROM ({_ends_sql(day, measure)}))"
    )


def _comparison(columns: Sequence[Column], bound: Bound) -> QuestionPlan:
    measure, day = measure_of(columns, bound), date_column_of(columns, bound, "compare_periods")
    groups = _listed_columns(columns, text_value(bound, "by") or "")
    days, values = identifier(day.name), finite_value(measure)
    periods = [days_of(side, str(bound[side][1])) for side in _SIDES]
    inside = [f"({days} >= {begin} AND {days} < {end})" for begin, end in map(_bounds, periods)]
    figures = ", ".join(
        f"count(*) FILTER (WHERE {condition}) AS {side}_rows, "
        f"sum({values}) FILTER (WHERE {condition}) AS {side}_sum, "
        f"avg({values}) FILTER (WHERE {condition}) AS {side}_mean"
        for side, condition in zip(_SIDES, inside, strict=True)
    )
    key = "".join(f"{identifier(each.name)} AS {identifier(each.name)}, " for each in groups)
    grouped = (
        f"SELECT {key}{figures} FROM {{source}} WHERE {' OR '.join(inside)}"
        f"{' GROUP BY ALL' if groups else ''}"
    )
    difference = "coalesce(second_sum, 0) - coalesce(first_sum, 0)"
    sql = (
        f"SELECT *, {difference} AS sum_difference, "
        f"round(100.0 * ({difference}) / abs(nullif(first_sum, 0)), 2) AS sum_difference_percent "
        f"FROM ({grouped}) ORDER BY abs({difference}) DESC, 1"
    )

    def notes(row: Sequence[Any]) -> list[str]:
        first, second, undated, unvalued, *cuts = row
        first_name, second_name = (f"{side} ({bound[side][1]})" for side in _SIDES)
        counts = ((first_name, first), (second_name, second))
        return [
            *_unlike(*periods),
            *(f"no rows are in {name}" for name, count in counts if not count),
            *_left_out_notes(undated, day, unvalued, measure),
            *_cut_notes(first_name, first_name, *cuts[:2]),
            *_cut_notes(second_name, second_name, *cuts[2:]),
        ]

    return QuestionPlan(sql, _comparison_facts(day, measure, inside, periods), notes)


def _anomalies(columns: Sequence[Column], bound: Bound) -> QuestionPlan:
    measure, day = measure_of(columns, bound), date_column_of(columns, bound, "anomalies")
    period, window = period_of(bound), int(bound["window"][1])
    threshold = float(bound["threshold"][1])
    if not MIN_WINDOW <= window <= MAX_WINDOW:
        raise WrongParameters(f"window must be {MIN_WINDOW} to {MAX_WINDOW} periods, not {window}")
    if threshold <= 0:
        raise WrongParameters(f"threshold must be above 0, such as 3.5, not {threshold:g}")
    series = (
        "SELECT period, CAST(sum(value) AS DOUBLE) AS sum FROM "
        f"({_by_period_sql(period, day, measure)}) "
        "WHERE period IS NOT NULL GROUP BY period HAVING count(value) > 0"
    )
    judged = (
        "SELECT period, sum, median(sum) OVER earlier AS median, mad(sum) OVER earlier "
        "AS mad, min(period) OVER earlier AS window_from, max(period) OVER earlier AS window_to, "
        f"count(*) OVER earlier AS before FROM ({series}) WINDOW earlier AS "
        f"(ORDER BY period ROWS BETWEEN {window:d} PRECEDING AND 1 PRECEDING)"
    )
    z = f"{_TO_SIGMA} * (sum - median) / nullif(mad, 0)"
    is_anomaly = f"before >= {MIN_WINDOW} AND abs({z}) >= {threshold!r}"
    sql = (
        f"SELECT period, sum, round({z}, 2) AS robust_z, median, mad, window_from, window_to "
        f"FROM ({judged}) WHERE {is_anomaly} ORDER BY period"
    )
    facts = (
        f"SELECT count(*), count(*) FILTER (WHERE before >= {MIN_WINDOW}), "
        f"count(*) FILTER (WHERE before >= {MIN_WINDOW} AND mad = 0), "
        f"count(*) FILTER (WHERE before >= {MIN_WINDOW} AND mad = 0 AND sum <> median), "
        f"count(*) FILTER (WHERE {is_anomaly}), "
        f"count(*) FILTER (WHERE {is_anomaly} AND before < {window:d}) FROM ({judged})"
    )

    def notes(row: Sequence[Any]) -> list[str]:
        periods, judged_count, constant, jumps, anomalies, short, *cuts = row
        if not judged_count:
            return [
                f"{periods} {period}s have values, and one is judged by at least {MIN_WINDOW} "
                "before it, so none could be; take a shorter period"
            ]
        sentences = [] if anomalies else [f"none of {judged_count} {period}s is an anomaly"]
        if short:
            sentences.append(
                f"{short} of {anomalies} anomalies have fewer than {window} {period}s before them "
                "to be judged by (from window_from to window_to)"
            )
        if constant:
            differ = f", from which {jumps} differ" if jumps else ""
            sentences.append(
                f"before {constant} of {judged_count} {period}s the typical deviation (MAD) is 0, "
                f"as at least half of the values are the same{differ}: no z can be computed there"
            )
        return sentences + _cut_notes(f"the first {period}", f"the last {period}", *cuts)

    return QuestionPlan(sql, _with_cut_periods(facts, period, day, measure), notes)


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

    return QuestionPlan(sql, f"SELECT {spans} FROM {{source}}", notes)


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
                f"{cited(column.name[:60])} is {column.type[:40]}; choose columns of numbers: "
                f"{names_of(columns, is_measured)}"
            )
    return chosen


READY: dict[str, ReadyQuestion] = {
    "trend": ReadyQuestion(
        "A measure's sum and mean by period, and the sum's change",
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
