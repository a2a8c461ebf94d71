"""The days or months that an answer shows, and the notes on them and their rows."""

from __future__ import annotations

from datetime import date

import apsw

from mdvec.dates import ONE_DAY, Days, Month, MonthRange
from mdvec.household.core import wording
from mdvec.household.core.categories import Subject
from mdvec.household.core.periods import UnderstoodPeriod, span_in_words
from mdvec.household.core.sums import MonthMarks
from mdvec.household.core.wording import InsufficientData
from mdvec.household.interfaces import ledger_sums
from mdvec.household.interfaces.plans import renamed_rows
from mdvec.household.overview import Coverage

MAX_NAMED_ROWS = 3
"""How many rows with a stray date a note names; it only counts the others."""


def shown_days(
    connection: apsw.Connection,
    tool_id: int,
    period: UnderstoodPeriod,
    subject: Subject | None,
    covered: Coverage,
    today: date,
) -> tuple[Days, list[str]]:
    """The days of a period in months that the ledger covers, and the notes on their rows.

    Raises:
        InsufficientData: none of its months has rows.
    """
    months = _covered_months(period, covered)
    days = months.days.within(period.days) or period.days
    notes = [] if days == period.days else [wording.clipped_note(span_in_words(days, months))]
    return days, notes + _notes(connection, tool_id, period, subject, covered, today, days, months)


def shown_months(
    connection: apsw.Connection,
    tool_id: int,
    period: UnderstoodPeriod,
    subject: Subject | None,
    covered: Coverage,
    today: date,
    max_months: int | None = None,
    *,
    until_today: bool = False,
) -> tuple[MonthRange, list[str]]:
    """The whole months of a period that the ledger covers, and the notes on them and their rows.

    Of more than ``max_months``, only the last are shown. With ``until_today`` the notes say that
    rows after today are not in the figures.

    Raises:
        InsufficientData: none of the months has rows.
    """
    months = _covered_months(period, covered)
    notes = [wording.clipped_note(months.in_words)] if months != period.months else []
    if max_months is not None and len(months) > max_months:
        months = MonthRange(months.last.plus(1 - max_months), months.last)
        notes = [wording.shortened_note(months)]
    if _is_widened(period, today):
        notes.append(wording.whole_months_note(months))
    return months, notes + _notes(
        connection, tool_id, period, subject, covered, today, months.days, months,
        until_today=until_today,
    )  # fmt: skip


def marks_of(covered: Coverage, months: MonthRange, days: Days, today: date) -> MonthMarks:
    """The marks of the months around some days; a month is complete if its requested days are."""
    marks = covered.marks(months, today)
    if days.last >= covered.last_day:
        return marks
    running = tuple(month for month in marks.running if month != covered.latest)
    return MonthMarks(running, marks.empty)


def _covered_months(period: UnderstoodPeriod, covered: Coverage) -> MonthRange:
    months = covered.shown(period.months)
    if months is None:
        raise InsufficientData(period.in_words, covered.default_range)
    return months


def _is_widened(period: UnderstoodPeriod, today: date) -> bool:
    """Whether the months of a period have days outside of it, up to today."""
    whole = period.months.days
    return whole.first < period.days.first or min(whole.last, today) > period.days.last


def _notes(
    connection: apsw.Connection,
    tool_id: int,
    period: UnderstoodPeriod,
    subject: Subject | None,
    covered: Coverage,
    today: date,
    days: Days,
    months: MonthRange,
    *,
    until_today: bool = False,
) -> list[str]:
    """The notes on the days shown, in these months, and on their rows."""
    marks = marks_of(covered, months, days, today)
    filling = [month for month in marks.running if month <= Month.of(today, covered.starts_on)]
    notes = [wording.gaps_note(marks.empty)] if marks.empty else []
    notes += [wording.filling_note(month) for month in filling]
    if covered.astray_matters(period.months, months):
        notes.append(
            wording.astray_note(
                *ledger_sums.rows_outside(connection, tool_id, covered.body.days, MAX_NAMED_ROWS)
            )
        )
    summed = Days(min(days.first, today), min(days.last, today)) if until_today else days
    left_out = wording.PLANNED_DUE if until_today else wording.PLANNED_LEFT_OUT
    notes += _planned_notes(connection, tool_id, subject, summed, covered, today, left_out)
    notes += wording.renamed_notes(
        renamed_rows(connection, tool_id, lambda: ledger_sums.where_rows(tool_id, days, subject))
    )
    pending = ledger_sums.counted_sums(
        connection, tool_id, days, subject, covered.starts_on, pending_only=True
    )
    return notes + wording.pending_removal_notes(
        pending, ledger_sums.tool_name(connection, tool_id)
    )


def _planned_notes(
    connection: apsw.Connection,
    tool_id: int,
    subject: Subject | None,
    shown: Days,
    covered: Coverage,
    today: date,
    left_out: str,
) -> list[str]:
    """Notes on rows dated after today: those in the sums, and those that are not."""
    tomorrow = min(today, date.max - ONE_DAY) + ONE_DAY
    notes = []
    if shown.last >= tomorrow:
        inside = Days(max(shown.first, tomorrow), shown.last)
        where = wording.PLANNED_INCLUDED
        notes += _planned_note(connection, tool_id, subject, inside, covered, where)
    end = covered.body.days.last
    later = max(shown.last, today)
    if end > later and shown.last >= min(covered.latest.last_day, today):
        outside = Days(later + ONE_DAY, end)
        notes += _planned_note(connection, tool_id, subject, outside, covered, left_out)
    return notes


def _planned_note(
    connection: apsw.Connection,
    tool_id: int,
    subject: Subject | None,
    days: Days,
    covered: Coverage,
    where: str,
) -> list[str]:
    sums = ledger_sums.counted_sums(connection, tool_id, days, subject, covered.starts_on)
    return [wording.planned_note(sums, where)] if sums else []
