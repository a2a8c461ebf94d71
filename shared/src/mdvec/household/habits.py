"""A household's recurring payments, its forecast of spending, and what is unusual."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import date

import apsw

from mdvec.dates import Month
from mdvec.errors import MdvecError
from mdvec.household.core import habit_wording
from mdvec.household.core.anomalies import Anomaly, anomalies, anomaly_lines
from mdvec.household.core.answer_json import AnswerText
from mdvec.household.core.answer_text import answer_text
from mdvec.household.core.forecast import MonthForecast, forecast
from mdvec.household.core.periods import resolve_period
from mdvec.household.core.recurring import (
    DuePayment,
    RecurringPayment,
    due_until,
    recurring_payments,
)
from mdvec.household.core.transaction import CountedRow
from mdvec.household.core.wording import NO_SPENDING, InsufficientData
from mdvec.household.interfaces.ledger_sums import counted_rows
from mdvec.household.overview import Coverage, coverage, one_state

_MONTHS_READ = 37


class NotOneMonth(MdvecError):
    """Anomalies were asked for in a period that is not a month, or a month up to a day."""

    def __init__(self) -> None:
        super().__init__(
            "anomalies の期間は、ひと月か、月の初日からその月のある日までを指定してください。"
        )


@dataclass(frozen=True, slots=True)
class RecurringAnswer:
    """The recurring payments and income, and the payments due until the month's end."""

    as_of: date
    payments: tuple[RecurringPayment, ...]
    due: tuple[DuePayment, ...]
    notes: tuple[str, ...]
    age: str
    text: AnswerText


@dataclass(frozen=True, slots=True)
class ForecastAnswer:
    """The running month and the next three; none without three whole months before."""

    as_of: date
    months: tuple[MonthForecast, ...]
    notes: tuple[str, ...]
    age: str
    text: AnswerText


@dataclass(frozen=True, slots=True)
class AnomaliesAnswer:
    """What is unusual in the month of ``as_of``."""

    as_of: date
    anomalies: tuple[Anomaly, ...]
    notes: tuple[str, ...]
    age: str
    text: AnswerText


def list_recurring_payments(
    connection: apsw.Connection, tool_id: int, *, month_starts_on: int = 1, today: date
) -> RecurringAnswer:
    """What recurs in the last three years of the ledger, as of its last row up to today.

    Raises:
        EmptyLedger: there are no rows yet.
    """
    rows, as_of, age = rows_until_now(connection, tool_id, today, month_starts_on)
    payments, unknown = _without_unknown(recurring_payments(rows, as_of), rows, as_of)
    until = Month.of(as_of, month_starts_on).last_day
    due = due_until(payments, until)
    lines = habit_wording.recurring_lines(payments, as_of)
    lines += habit_wording.due_lines(due, until) if payments else []
    notes = (habit_wording.unknown_note(unknown),) if unknown else ()
    shown = tuple(habit_wording.as_shown(payment, as_of) for payment in payments)
    return RecurringAnswer(as_of, shown, tuple(due), notes, age, answer_text(lines, notes, age=age))


def _without_unknown(
    payments: list[RecurringPayment], rows: list[CountedRow], as_of: date
) -> tuple[list[RecurringPayment], list[Month]]:
    """The series without missed days in months that have no row at all, and the last of these."""
    known = {Month.of(row.day) for row in rows}
    recent = as_of - habit_wording.RECENT
    unknown = {
        Month.of(day) for payment in payments for day in payment.missed if day >= recent
    } - known
    cleaned = [
        replace(payment, missed=tuple(day for day in payment.missed if Month.of(day) in known))
        for payment in payments
    ]
    return cleaned, sorted(unknown)


def forecast_spending(
    connection: apsw.Connection, tool_id: int, *, month_starts_on: int = 1, today: date
) -> ForecastAnswer:
    """The spending of the ledger's latest month and the next three, with how wrong it would be.

    Months start on the day ``month_starts_on``.

    Raises:
        EmptyLedger: there are no rows yet.
    """
    rows, as_of, age = rows_until_now(connection, tool_id, today, month_starts_on)
    months = forecast(rows, as_of, month_starts_on)
    lines = habit_wording.forecast_lines(months, as_of)
    if rows and all(row.is_income for row in rows):
        lines = [f"{NO_SPENDING}。"]
    notes = habit_wording.error_note(months, as_of)
    text = answer_text(lines, notes, age=age)
    return ForecastAnswer(as_of, tuple(months), tuple(notes), age, text)


def find_anomalies(
    connection: apsw.Connection,
    tool_id: int,
    *,
    since: str | None = None,
    until: str | None = None,
    period: str | None = None,
    month_starts_on: int = 1,
    today: date,
) -> AnomaliesAnswer:
    """What is far from its own history in a month up to a day, by default the latest month.

    Raises:
        EmptyLedger: there are no rows yet.
        InvalidPeriod: the period was not understood.
        AmbiguousPeriod: it was given in two ways.
        NotOneMonth: it is not one month, or a month up to a day.
        InsufficientData: the ledger has nothing for that month.
    """
    with one_state(connection):
        covered = coverage(connection, tool_id, today, month_starts_on)
        span = resolve_period(
            today, covered.default_range, since=since, until=until, period=period,
            default=covered.latest,
        )  # fmt: skip
        month = span.months.first
        if len(span.months) > 1 or span.days.first != month.first_day:
            raise NotOneMonth
        if month not in covered.present:
            raise InsufficientData(span.in_words, covered.default_range)
        as_of = min(covered.last_day, today, span.days.last)
        rows = _rows_until(connection, tool_id, covered, as_of)
    unusual = anomalies(rows, as_of, month_starts_on)
    notes = (span.understood,) if span.understood else ()
    age = covered.age(today, span)
    lines = anomaly_lines(unusual, as_of, month_starts_on)
    if rows and all(row.is_income for row in rows):
        lines = [f"{NO_SPENDING}。"]
    text = answer_text(lines, notes, age=age)
    return AnomaliesAnswer(as_of, tuple(unusual), notes, age, text)


def rows_until_now(
    connection: apsw.Connection, tool_id: int, today: date, month_starts_on: int = 1
) -> tuple[list[CountedRow], date, str]:
    """The counting rows of three years, the last day with rows up to today, and how old it is.

    Raises:
        EmptyLedger: there are no rows yet.
    """
    with one_state(connection):
        covered = coverage(connection, tool_id, today, month_starts_on)
        as_of = min(covered.last_day, today)
        return _rows_until(connection, tool_id, covered, as_of), as_of, covered.age(today)


def _rows_until(
    connection: apsw.Connection, tool_id: int, covered: Coverage, as_of: date
) -> list[CountedRow]:
    begun = Month.of(as_of, covered.starts_on).plus(-_MONTHS_READ)
    first = max(begun, covered.body.first).first_day
    return counted_rows(connection, tool_id, first, as_of)
