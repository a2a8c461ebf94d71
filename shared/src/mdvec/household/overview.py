"""A ledger's categories and months; the months, subject and notes of a question about it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import date

import apsw

from mdvec.database.connection import snapshot
from mdvec.dates.months import Month, MonthRange
from mdvec.household.core import coverage_notes, wording
from mdvec.household.core.categories import hierarchy_of
from mdvec.household.core.periods import Period
from mdvec.household.core.span import MAX_ASTRAY_ROWS, Run, body_of, latest_of, runs_of
from mdvec.household.core.subjects import Subject, resolve_subject
from mdvec.household.core.wording import EmptyLedger, InsufficientData
from mdvec.household.interfaces import sums as ledger_sums

MAX_NAMED_ROWS = 3
"""How many rows with a stray date a note names; it only counts the others."""


@dataclass(frozen=True, slots=True)
class AvailableMonth:
    """A month of the ledger.

    ``is_gap``: it has no rows. ``may_be_filling``: it is probably incomplete, being the current
    or a later month, or the last with rows, which end before the month does. ``is_planned``: it
    has not begun. ``is_astray``: it has a few rows dated years away from all others, and is not
    in any default period.
    """

    year: int
    month: int
    rows: int
    is_gap: bool
    may_be_filling: bool
    is_planned: bool = False
    is_astray: bool = False


@dataclass(frozen=True, slots=True)
class Coverage:
    """The months in which a ledger has rows (``present``).

    ``body`` excludes stray months. ``latest`` is the last month with rows that has begun, and
    ``last_day`` the day of its last row.
    """

    present: tuple[Month, ...]
    body: MonthRange
    latest: Month
    last_day: date

    @property
    def default_range(self) -> MonthRange:
        """The months for default periods: up to the latest, without planned ones."""
        return MonthRange(self.body.first, self.latest)

    def shown(self, requested: MonthRange) -> MonthRange | None:
        """The months of a period that an answer covers; None if none of them has rows.

        Future months are only covered up to the last with rows.
        """
        present = [month for month in self.present if month in requested]
        present = [month for month in present if month in self.body] or present
        if not present:
            return None
        common = requested.within(self.default_range)
        if common is None:
            return MonthRange(present[0], present[-1])
        return MonthRange(common.first, max(common.last, present[-1]))

    def axis(self, shown: MonthRange) -> MonthRange:
        """The months in which a month without rows counts as 0 yen, for an answer on ``shown``."""
        if shown.within(self.body) is None:
            return shown
        return MonthRange(self.body.first, max(self.latest, shown.last))

    def may_be_filling(self, month: Month, today: date) -> bool:
        """Whether a month is probably incomplete."""
        ends_early = month == self.latest and self.last_day < month.last_day
        return ends_early or month >= Month.of(today)

    def astray_matters(self, requested: MonthRange, shown: MonthRange) -> bool:
        """Whether the period covers the whole ledger, or a stray month that is not shown."""
        astray = [month for month in self.present if month not in self.body]
        everything = self.default_range.within(requested) == self.default_range
        return any(everything or month in requested for month in astray if month not in shown)


def category_hierarchy(connection: apsw.Connection, tool_id: int) -> dict[str, list[str]]:
    """Each 大項目 of the ledger with its 中項目, sorted by name.

    Raises:
        EmptyLedger: there are no rows yet.
    """
    with one_state(connection):
        names = ledger_sums.category_names(connection, tool_id)
        if not names:
            raise EmptyLedger(ledger_sums.tool_name(connection, tool_id))
        return hierarchy_of(names)


def available_months(
    connection: apsw.Connection, tool_id: int, today: date
) -> tuple[AvailableMonth, ...]:
    """Every month from the first row to the latest, and which of them are gaps.

    Future and stray months are only included if they have rows. A row belongs to the calendar
    month of its date, in whatever statement it was.

    Raises:
        EmptyLedger: there are no rows yet.
    """
    with one_state(connection):
        covered = coverage(connection, tool_id, today)
        others = (month for month in covered.present if month not in covered.default_range)
        months = sorted([*covered.default_range, *others])
        return _describe_months(connection, tool_id, covered, months, today)


def coverage(connection: apsw.Connection, tool_id: int, today: date) -> Coverage:
    """The months that a ledger covers as of today.

    Raises:
        EmptyLedger: there are no rows yet.
    """
    present = ledger_sums.months_with_rows(connection, tool_id)
    if not present:
        raise EmptyLedger(ledger_sums.tool_name(connection, tool_id))
    now, apart = Month.of(today), runs_of(present)
    runs = [
        Run(months, ledger_sums.rows_at_most(connection, tool_id, months, MAX_ASTRAY_ROWS + 1))
        for months in (apart if len(apart) > 1 else ())
    ]
    body = body_of(runs, now) if runs else apart[0]
    latest = latest_of(present, body, now)
    last_day = ledger_sums.last_day(connection, tool_id, MonthRange(latest, latest))
    return Coverage(tuple(present), body, latest, last_day or latest.last_day)


def shown_months(
    connection: apsw.Connection,
    tool_id: int,
    period: Period,
    subject: Subject | None,
    covered: Coverage,
    today: date,
    max_months: int | None = None,
) -> tuple[MonthRange, list[str]]:
    """The months of a period that the ledger covers, and the notes on them and their rows.

    Of more than ``max_months``, only the last are shown.

    Raises:
        InsufficientData: none of the months has rows.
    """
    shown, notes = _covered_months(connection, tool_id, period, covered, today, max_months)
    notes += _planned_notes(connection, tool_id, subject, shown, covered, today)
    pending = ledger_sums.pending_removal_sums(connection, tool_id, shown, subject)
    notes += wording.pending_removal_notes(pending, ledger_sums.tool_name(connection, tool_id))
    return shown, notes


def _covered_months(
    connection: apsw.Connection,
    tool_id: int,
    period: Period,
    covered: Coverage,
    today: date,
    max_months: int | None,
) -> tuple[MonthRange, list[str]]:
    shown = covered.shown(period.months)
    if shown is None:
        raise InsufficientData(period.months, covered.default_range)
    notes = [wording.clipped_note(shown)] if shown != period.months else []
    if max_months is not None and len(shown) > max_months:
        shown = MonthRange(shown.last.plus(1 - max_months), shown.last)
        notes = [coverage_notes.shortened_note(shown)]
    marks = _describe_months(connection, tool_id, covered, shown, today)
    gaps = [Month(m.year, m.month) for m in marks if m.is_gap]
    filling = [Month(m.year, m.month) for m in marks if m.may_be_filling and not m.is_planned]
    notes += [wording.gaps_note(gaps)] if gaps else []
    notes += [wording.filling_note(month) for month in filling]
    if covered.astray_matters(period.months, shown):
        notes.append(
            coverage_notes.astray_note(
                *ledger_sums.rows_outside(connection, tool_id, covered.body, MAX_NAMED_ROWS)
            )
        )
    return shown, notes


def _planned_notes(
    connection: apsw.Connection,
    tool_id: int,
    subject: Subject | None,
    shown: MonthRange,
    covered: Coverage,
    today: date,
) -> list[str]:
    """Notes on rows dated after today: those in the sums, and those that are not."""
    months = MonthRange(min(covered.body.first, shown.first), max(covered.body.last, shown.last))
    planned = ledger_sums.planned_sums(connection, tool_id, months, subject, today)
    inside = [cell for cell in planned if cell.month in shown]
    outside = [cell for cell in planned if cell.month in covered.body and cell.month > shown.last]
    notes = [coverage_notes.planned_note(inside, included=True)] if inside else []
    if outside and shown.last >= covered.latest:
        notes.append(coverage_notes.planned_note(outside, included=False))
    return notes


def _describe_months(
    connection: apsw.Connection,
    tool_id: int,
    covered: Coverage,
    months: Iterable[Month],
    today: date,
) -> tuple[AvailableMonth, ...]:
    months = tuple(months)
    rows = ledger_sums.rows_by_month(connection, tool_id, MonthRange(months[0], months[-1]))
    return tuple(
        AvailableMonth(
            year=month.year,
            month=month.month,
            rows=rows.get(month, 0),
            is_gap=month not in rows,
            may_be_filling=covered.may_be_filling(month, today),
            is_planned=month > Month.of(today),
            is_astray=month not in covered.body,
        )
        for month in months
    )


def named_subject(
    connection: apsw.Connection, tool_id: int, name: str | None
) -> tuple[Subject | None, list[str]]:
    """The category or total of a name, and the notes on it; None without a name.

    Raises:
        UnknownCategory: no category, or several, have that name.
    """
    if name is None or not name.strip():
        return None, []
    resolved = resolve_subject(name, hierarchy_of(ledger_sums.category_names(connection, tool_id)))
    return resolved.subject, [] if resolved.remark is None else [resolved.remark]


@contextmanager
def one_state(connection: apsw.Connection) -> Iterator[None]:
    """Read within one snapshot of the database; can be nested."""
    if connection.in_transaction:
        yield
    else:
        with snapshot(connection):
            yield
