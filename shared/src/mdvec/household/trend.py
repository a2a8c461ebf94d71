"""Trends of spending, income and savings from month to month."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass, replace
from datetime import date
from threading import Lock
from typing import Annotated, Required, TypedDict, Unpack

import apsw
from cachetools import LRUCache, cached
from pydantic import Field

from mdvec.dates import Month, MonthRange
from mdvec.household.core import wording
from mdvec.household.core.answers import LedgerAnswer, answer_text
from mdvec.household.core.categories import INCOME, Category, Subject, Total
from mdvec.household.core.sums import (
    WINDOW,
    CategoryTrend,
    MonthlySum,
    MonthMarks,
    RowCounts,
    SavingsTrend,
    ShownMonths,
    amounts_by_category,
    amounts_of,
    counts_of,
    savings_of,
    trend_of,
)
from mdvec.household.core.wording import InsufficientData
from mdvec.household.ledger_view import LedgerView, ledger_view
from mdvec.household.overview import Coverage

TOP_CATEGORIES = 3
MAX_MONTHS = 120
"""A trend shows at most this many months, the last of the period."""

AmountsByMonth = Mapping[Category, Mapping[Month, int]]


@dataclass(frozen=True, slots=True)
class TrendAnswer(LedgerAnswer, ShownMonths):
    """The trend of one or more categories over ``months``.

    ``categories`` are empty if the savings rate was requested, which is then in ``savings``;
    ``behind_savings`` are the income, spending and balance that it comes from.
    ``counts`` are of the rows of these months (and of the category, if one was named).
    """

    categories: tuple[CategoryTrend, ...]
    counts: RowCounts
    savings: SavingsTrend | None = None
    behind_savings: Annotated[tuple[CategoryTrend, ...], Field(exclude=True)] = ()

    @property
    def series(self) -> tuple[CategoryTrend, ...]:
        """The categories or totals to draw, also those behind a savings rate."""
        return self.categories or self.behind_savings


class TrendAsked(TypedDict, total=False):
    """What a trend is asked for; what is not given is None, and months start on the 1st."""

    category: str | None
    start_month: str | None
    end_month: str | None
    since: str | None
    until: str | None
    period: str | None
    month_starts_on: int
    today: Required[date]


def category_trend(
    connection: apsw.Connection, tool_id: int, **asked: Unpack[TrendAsked]
) -> TrendAnswer:
    """The trend of a category or total, or by default of the three largest categories.

    The default period is the latest twelve months with data, up to the current one. 収入 is
    income and 収支 income minus spending; everything else is spending minus refunds. Months start
    on the day ``month_starts_on``, and are shown whole, also for a period of days.

    Raises:
        EmptyLedger, InvalidPeriod, AmbiguousPeriod: as of ``LedgerView``.
        UnknownCategory: no category, or several, have that name.
        InsufficientData: the ledger has nothing for these months.
    """
    today = asked["today"]
    with ledger_view(connection, tool_id, today, asked.get("month_starts_on", 1)) as ledger:
        requested = ledger.period(
            asked.get("since"), asked.get("until"), asked.get("period"),
            start_month=asked.get("start_month"), end_month=asked.get("end_month"),
        )  # fmt: skip
        named, notes = ledger.subject(asked.get("category"))
        shown, range_notes = ledger.shown_months(requested, named, MAX_MONTHS)
        notes += range_notes
        sums = _sums(ledger, shown, named)
        notes += ledger.doubts(shown.days, named)
    covered = ledger.covered
    marks, axis = covered.marks(shown, today), covered.axis(shown)
    age = ledger.age(requested)
    if named is None:
        trends, body = _of_the_top(sums, covered, shown, marks)
    elif named is Total.SAVINGS_RATE:
        return _savings(requested.understood, shown, sums, axis, marks, notes, age)
    else:
        trends = [trend_of(named, amounts_of(named, sums), axis, shown, marks.empty)]
        body = wording.trend_text(trends[0], shown, marks)
    notes += wording.removed_notes(cell for cell in sums if cell.month in shown)
    body += wording.averages_lines(trends)
    counts = _counts(sums, shown)
    return _answer(requested.understood, shown, trends, counts, notes, body, marks, age)


def _of_the_top(
    sums: list[MonthlySum], covered: Coverage, shown: MonthRange, marks: MonthMarks
) -> tuple[list[CategoryTrend], list[str]]:
    amounts = amounts_by_category(sums)
    axis, top = covered.axis(shown), _top(amounts, shown)
    income = Category(INCOME)
    if not top and any(month in shown for month in amounts.get(income, ())):
        trend = trend_of(income, amounts[income], axis, shown, marks.empty)
        return [trend], [f"{wording.NO_SPENDING}。", *wording.trend_text(trend, shown, marks)]
    if not top:
        raise InsufficientData(shown.in_words, covered.default_range)
    trends = [trend_of(category, amounts[category], axis, shown, marks.empty) for category in top]
    return trends, wording.top_text(trends, shown, marks)


def _savings(
    understood: str,
    shown: MonthRange,
    sums: list[MonthlySum],
    axis: MonthRange,
    marks: MonthMarks,
    notes: list[str],
    age: str,
) -> TrendAnswer:
    parts: list[Subject] = [Category(INCOME), Total.SPENDING, Total.BALANCE]
    amounts = [amounts_of(part, sums) for part in parts]
    trends = [
        trend_of(part, of_part, axis, shown, marks.empty)
        for part, of_part in zip(parts, amounts, strict=True)
    ]
    savings = savings_of(amounts[0], amounts[1], shown)
    body = wording.savings_text(savings, shown, marks)
    answer = _answer(understood, shown, trends, _counts(sums, shown), notes, body, marks, age)
    return replace(answer, categories=(), behind_savings=answer.categories, savings=savings)


def category_trend_summary(
    connection: apsw.Connection,
    tool_id: int,
    *,
    months: MonthRange | None = None,
    month_starts_on: int = 1,
    today: date,
) -> TrendAnswer:
    """The trend of every 大項目, by default over the latest twelve months: by size, income last.

    Raises:
        EmptyLedger: there are no rows yet.
        InsufficientData: the ledger has nothing for these months.
    """
    with ledger_view(connection, tool_id, today, month_starts_on) as ledger:
        ends = (None, None) if months is None else (str(months.first), str(months.last))
        requested = ledger.period(None, None, None, start_month=ends[0], end_month=ends[1])
        shown, notes = ledger.shown_months(requested, None)
        sums = _sums(ledger, shown, None)
        notes += ledger.doubts(shown.days, None)
    covered = ledger.covered
    amounts = {
        category: by_month
        for category, by_month in amounts_by_category(sums).items()
        if any(month in shown for month in by_month)
    }
    marks, axis = covered.marks(shown, today), covered.axis(shown)
    trends = [
        trend_of(category, amounts[category], axis, shown, marks.empty)
        for category in _ranked(amounts, shown)
    ]
    body = wording.summary_text(trends, shown, marks)
    notes += wording.removed_notes(cell for cell in sums if cell.month in shown)
    counts, age = _counts(sums, shown), ledger.age(None if months is None else requested)
    return _answer(requested.understood, shown, trends, counts, notes, body, marks, age)


def trend_cache(entries: int = 128) -> Callable[..., TrendAnswer]:
    """A thread-safe LRU cache of the trends that functions such as ``category_trend`` make.

    It is called with the function, its connection and tool id, the ``version`` of the ledger's
    state, which is to be read before, and the function's other arguments by name.
    """

    def key(
        make: object, ledger: apsw.Connection, *others: Hashable, **asked: Hashable
    ) -> Hashable:
        return (make, ledger.filename, *others, *sorted(asked.items()))

    @cached(LRUCache[Hashable, TrendAnswer](entries), key, Lock())
    def trend(
        make: Callable[..., TrendAnswer],
        connection: apsw.Connection,
        tool_id: int,
        version: Hashable,  # noqa: ARG001 - a part of the key
        **asked: object,
    ) -> TrendAnswer:
        return make(connection, tool_id, **asked)

    return trend


def _sums(ledger: LedgerView, shown: MonthRange, subject: Subject | None) -> list[MonthlySum]:
    """The sums of the months shown, and of the earlier months that they are compared with."""
    return ledger.sums(MonthRange(shown.first.plus(-WINDOW), shown.last).days, subject)


def _ranked(amounts: AmountsByMonth, shown: MonthRange) -> list[Category]:
    """The categories by their amount in the months shown, income last."""
    return sorted(amounts, key=lambda c: (c.is_income, -_total(amounts[c], shown), str(c)))


def _top(amounts: AmountsByMonth, shown: MonthRange) -> list[Category]:
    """The largest categories of spending."""
    spending = [c for c in _ranked(amounts, shown) if not c.is_income]
    return [c for c in spending if _total(amounts[c], shown) > 0][:TOP_CATEGORIES]


def _total(by_month: Mapping[Month, int], shown: MonthRange) -> int:
    return sum(amount for month, amount in by_month.items() if month in shown)


def _counts(sums: list[MonthlySum], shown: MonthRange) -> RowCounts:
    return counts_of(cell for cell in sums if cell.month in shown)


def _answer(
    understood: str,
    shown: MonthRange,
    trends: list[CategoryTrend],
    counts: RowCounts,
    notes: list[str],
    body: list[str],
    marks: MonthMarks,
    age: str,
) -> TrendAnswer:
    averaged = trends[0].months[-1].averaged_months if trends else WINDOW
    if averaged < WINDOW:
        notes = [f"過去 {averaged} か月分のデータで計算しました", *notes]
    text = answer_text(body, [*notes, understood, wording.counts_text(counts)], age=age)
    return TrendAnswer(
        tuple(trends), counts, first_month=shown.first, last_month=shown.last,
        understood=understood, running=marks.running, empty=marks.empty, notes=tuple(notes),
        age=age, text=text,
    )  # fmt: skip
