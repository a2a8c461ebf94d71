"""A household's income, spending and rows in a month or longer period."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import date
from decimal import Decimal

import apsw

from mdvec.dates import Days, MonthRange
from mdvec.household.core import wording
from mdvec.household.core.answers import AnswerText, MonthText, Percentage, SubjectText, answer_text
from mdvec.household.core.categories import Category, Subject, Total
from mdvec.household.core.found import Paging, page_lines
from mdvec.household.core.periods import (
    AmbiguousPeriod,
    UnderstoodPeriod,
    resolve_year_month,
    span_in_words,
)
from mdvec.household.core.sums import (
    CategoryShare,
    MonthlySum,
    MonthMarks,
    RowCounts,
    counts_of,
    income_and_spending,
    savings_rate,
    shares,
)
from mdvec.household.core.transaction import ListedRow, RowNote, Transaction, listed_row
from mdvec.household.core.wording import (
    MAX_PAGE_SIZE,
    PAGE_SIZE,
    InvalidPage,
    InvalidPageSize,
    StatedSums,
)
from mdvec.household.interfaces import ledger_sums
from mdvec.household.interfaces.plans import notes_on
from mdvec.household.ledger_view import LedgerView, ledger_view


@dataclass(frozen=True, slots=True)
class HouseholdAnswer:
    """The sums of some days and a page of their rows; the months are those around these days.

    ``spending`` and ``income`` are positive yen, ``balance`` is income minus spending. With a
    category, the balance and the figure that it does not belong to are None. ``savings_rate`` is
    in percent; None unless requested, or without income. Shares are by 大項目; those of 収入, or
    with a category, by 中項目. ``rows`` includes rows that do not count, with the reason in
    ``left_out``. ``next_page`` is None on the last page. ``running`` months are probably
    incomplete, ``empty`` ones have no rows. ``age`` says that the ledger ends long before today.
    """

    first_day: date
    last_day: date
    first_month: MonthText
    last_month: MonthText
    understood: str
    category: SubjectText | None
    spending: int | None
    income: int | None
    balance: int | None
    savings_rate: Percentage | None
    spending_by_category: tuple[CategoryShare, ...]
    income_by_category: tuple[CategoryShare, ...]
    counts: RowCounts
    rows: tuple[ListedRow, ...]
    total_rows: int
    page: int
    pages: int
    next_page: int | None
    notes: tuple[str, ...]
    age: str
    text: AnswerText
    running: tuple[MonthText, ...] = ()
    empty: tuple[MonthText, ...] = ()

    @property
    def days(self) -> Days:
        """The days summed."""
        return Days(self.first_day, self.last_day)

    @property
    def months(self) -> MonthRange:
        """The months around these days."""
        return MonthRange(self.first_month, self.last_month)

    @property
    def marks(self) -> MonthMarks:
        """Which of these months are probably incomplete, or without rows."""
        return MonthMarks(self.running, self.empty)

    @property
    def period_in_words(self) -> str:
        """The days in Japanese; as months where they are whole months."""
        return span_in_words(self.days, self.months)


def monthly_household(
    connection: apsw.Connection,
    tool_id: int,
    *,
    year: int | None = None,
    month: int | None = None,
    since: str | None = None,
    until: str | None = None,
    period: str | None = None,
    category: str | None = None,
    page: int = 1,
    page_size: int = PAGE_SIZE,
    month_starts_on: int = 1,
    today: date,
) -> HouseholdAnswer:
    """The sums of a month, or of another period, by category, and a page of its rows.

    ``category`` is a category's name, or 支出, 収入, 収支 or 貯蓄率 for that total. Months start
    on the day ``month_starts_on``, in whatever statement a row was. The default period is the
    latest twelve months with data, up to the current one. ``page`` counts from 1; ``page_size``
    is at most 200, and 0 for the sums alone. The text of a later page has its rows alone.

    Raises:
        EmptyLedger, InvalidPeriod, AmbiguousPeriod: as of ``LedgerView``.
        UnknownCategory: no category, or several, have that name.
        InsufficientData: the ledger has nothing for these months.
        InvalidPage: the page does not exist.
        InvalidPageSize: the page size is out of range.
    """
    if not 0 <= page_size <= MAX_PAGE_SIZE:
        raise InvalidPageSize(page_size)
    with ledger_view(connection, tool_id, today, month_starts_on) as ledger:
        requested = _period(ledger, year, month, since, until, period)
        named, notes = ledger.subject(category)
        days, range_notes = ledger.shown_days(requested, named)
        notes += range_notes
        sums = ledger.sums(days, named, by_minor=True)
        counts = counts_of(sums)
        paging = Paging(page, page_size, counts.total)
        if not 1 <= page <= paging.pages:
            raise InvalidPage(page, paging.pages)
        rows = ledger_sums.page_of_rows(
            connection, tool_id, days, named, offset=paging.offset, limit=page_size
        )
        noted = notes_on(connection, tool_id, [row.id for row in rows])
        notes += ledger.doubts(days, named)
    months = MonthRange.around(days, month_starts_on)
    answer = _answer(
        requested.understood, days, months, named, sums, counts, rows, noted, paging, notes,
        ledger.age(requested),
    )  # fmt: skip
    marks = ledger.marks(months, days)
    return replace(answer, running=marks.running, empty=marks.empty)


def _period(
    ledger: LedgerView,
    year: int | None,
    month: int | None,
    since: str | None,
    until: str | None,
    period: str | None,
) -> UnderstoodPeriod:
    if year is None and month is None:
        return ledger.period(since, until, period)
    if any(given and given.strip() for given in (since, until, period)):
        raise AmbiguousPeriod
    return resolve_year_month(ledger.today, ledger.covered.default_range, year, month)


def _answer(
    understood: str,
    days: Days,
    months: MonthRange,
    subject: Subject | None,
    sums: list[MonthlySum],
    counts: RowCounts,
    rows: list[Transaction],
    noted: Mapping[int, RowNote],
    paging: Paging,
    notes: list[str],
    age: str,
) -> HouseholdAnswer:
    income, spending = income_and_spending(sums)
    spent = shares(spending, by_minor=isinstance(subject, Category))
    earned = shares(income, by_minor=True)
    figures = _figures(subject, spent, earned)
    rate = _rate(subject, figures)
    span = span_in_words(days, months)
    notes = [*notes, *wording.removed_notes(sums)]
    if paging.number > 1:
        about = span if subject is None else f"{span}の{wording.subject_in_words(subject)}"
        text = answer_text(page_lines(rows, noted, paging, f"{about}の"))
    else:
        text = answer_text(
            wording.household_text(span, subject, figures, spent, earned, rate),
            [*notes, understood, wording.counts_text(counts)],
            page_lines(rows, noted, paging),
            age=age,
        )
    return HouseholdAnswer(
        first_day=days.first,
        last_day=days.last,
        first_month=months.first,
        last_month=months.last,
        understood=understood,
        category=subject,
        spending=figures.spending,
        income=figures.income,
        balance=figures.balance,
        savings_rate=rate,
        spending_by_category=spent,
        income_by_category=earned,
        counts=counts,
        rows=tuple(listed_row(row, noted.get(row.id)) for row in rows),
        total_rows=paging.total,
        page=paging.number,
        pages=paging.pages,
        next_page=paging.next,
        notes=tuple(notes),
        age=age,
        text=text,
    )


def _figures(
    subject: Subject | None, spent: tuple[CategoryShare, ...], earned: tuple[CategoryShare, ...]
) -> StatedSums:
    spending = sum(line.amount for line in spent)
    income = sum(line.amount for line in earned)
    if subject in (None, Total.BALANCE, Total.SAVINGS_RATE):
        return StatedSums(spending, income, income - spending)
    if subject and subject.is_income:
        return StatedSums(None, income, None)
    return StatedSums(spending, None, None)


def _rate(subject: Subject | None, figures: StatedSums) -> Decimal | None:
    if subject is not Total.SAVINGS_RATE or figures.income is None or figures.spending is None:
        return None
    return savings_rate(figures.income, figures.spending)
