"""A household's ledger at a glance: its categories, its months, and what a question is about."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import date

import apsw

from mdvec.core.household import wording
from mdvec.core.household.categories import Category, hierarchy_of, resolve_category
from mdvec.core.household.months import Month, MonthRange
from mdvec.core.household.periods import Period
from mdvec.core.household.wording import EmptyLedger, InsufficientData
from mdvec.interfaces.database import ledger_sums
from mdvec.interfaces.database.sqlite import snapshot


@dataclass(frozen=True, slots=True)
class AvailableMonth:
    """A month between the first and the last row of the ledger.

    ``is_gap``: it has no rows at all. ``may_be_filling``: its statements are likely not all
    there: it is the month of today or a later one, or the last, and its rows end before it does.
    """

    year: int
    month: int
    rows: int
    is_gap: bool
    may_be_filling: bool


@dataclass(frozen=True, slots=True)
class Coverage:
    """The days of the first and the last row of a ledger."""

    first_day: date
    last_day: date

    @property
    def months(self) -> MonthRange:
        """The months of these days and all between."""
        return MonthRange(Month.of(self.first_day), Month.of(self.last_day))

    def may_be_filling(self, month: Month, today: date) -> bool:
        """Whether rows of a month are likely still to come."""
        ends_early = month == Month.of(self.last_day) and self.last_day < month.last_day
        return ends_early or month >= Month.of(today)


def category_hierarchy(connection: apsw.Connection, tool_id: int) -> dict[str, list[str]]:
    """Each 大項目 of the ledger with its 中項目, by name.

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
    """Every month from the first row to the last, those without rows included and marked.

    A row belongs to the calendar month of its date, whatever statement it stood in.

    Raises:
        EmptyLedger: there are no rows yet.
    """
    with one_state(connection):
        covered = coverage(connection, tool_id)
        return _marked(connection, tool_id, covered, covered.months, today)


def coverage(connection: apsw.Connection, tool_id: int) -> Coverage:
    """From when to when a ledger goes.

    Raises:
        EmptyLedger: there are no rows yet.
    """
    days = ledger_sums.covered_days(connection, tool_id)
    if days is None:
        raise EmptyLedger(ledger_sums.tool_name(connection, tool_id))
    return Coverage(*days)


def shown_months(
    connection: apsw.Connection, tool_id: int, period: Period, covered: Coverage, today: date
) -> tuple[MonthRange, list[str]]:
    """The months of a period that the ledger covers, and what must be said about them.

    Raises:
        InsufficientData: it covers none of them, or has no rows in any.
    """
    shown = period.months.within(covered.months)
    if shown is None:
        raise InsufficientData(period.months, covered.months)
    marks = _marked(connection, tool_id, covered, shown, today)
    if all(month.is_gap for month in marks):
        raise InsufficientData(period.months, covered.months)
    gaps = [Month(m.year, m.month) for m in marks if m.is_gap]
    filling = [Month(m.year, m.month) for m in marks if m.may_be_filling]
    notes = [wording.clipped_note(shown)] if shown != period.months else []
    notes += [wording.gaps_note(gaps)] if gaps else []
    return shown, notes + [wording.filling_note(month) for month in filling]


def _marked(
    connection: apsw.Connection, tool_id: int, covered: Coverage, months: MonthRange, today: date
) -> tuple[AvailableMonth, ...]:
    rows = ledger_sums.rows_by_month(connection, tool_id, months)
    return tuple(
        AvailableMonth(
            year=month.year,
            month=month.month,
            rows=rows.get(month, 0),
            is_gap=month not in rows,
            may_be_filling=covered.may_be_filling(month, today),
        )
        for month in months
    )


def named_category(
    connection: apsw.Connection, tool_id: int, category: str | None
) -> Category | None:
    """The category of a name; None where none was named.

    Raises:
        UnknownCategory: there is none of that name, or several.
    """
    if category is None or not category.strip():
        return None
    return resolve_category(category, hierarchy_of(ledger_sums.category_names(connection, tool_id)))


@contextmanager
def one_state(connection: apsw.Connection) -> Iterator[None]:
    """Read everything within from one state of the file, also inside such a reading."""
    if connection.in_transaction:
        yield
    else:
        with snapshot(connection):
            yield
