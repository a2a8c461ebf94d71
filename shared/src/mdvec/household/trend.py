"""Trends of spending, income and savings from month to month."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from threading import Lock
from typing import Annotated

from cachetools import LRUCache, cached
from pydantic import Field

from mdvec.dates import Month, MonthRange
from mdvec.household.core import wording
from mdvec.household.core.answers import LedgerAnswer, answer_words
from mdvec.household.core.categories import INCOME, Category, Subject, Total
from mdvec.household.core.periods import UnderstoodPeriod
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
from mdvec.household.interfaces.ledger import Ledger
from mdvec.household.interfaces.ledger_sums import data_version
from mdvec.household.ledger_view import LedgerView, doubt_notes, ledger_view
from mdvec.household.overview import named_subject

TOP_CATEGORIES = 3
MAX_MONTHS = 120
"""A trend shows at most this many months, the last of the period."""


@dataclass(frozen=True, slots=True)
class TrendAnswer(LedgerAnswer, ShownMonths):
    """The trend of one or more categories over ``months``.

    ``categories`` are empty if the savings rate was requested, which is then in ``savings``;
    ``behind_savings`` are the income, spending and balance that it is computed from. ``counts``
    are over the rows of these months (and of the category, if one was named).
    """

    categories: tuple[CategoryTrend, ...]
    counts: RowCounts
    savings: SavingsTrend | None = None
    behind_savings: Annotated[tuple[CategoryTrend, ...], Field(exclude=True)] = ()

    @property
    def series(self) -> tuple[CategoryTrend, ...]:
        """The categories or totals to draw, also those behind a savings rate."""
        return self.categories or self.behind_savings


def category_trend(
    ledger: Ledger,
    *,
    category: str | None = None,
    start_month: str | None = None,
    end_month: str | None = None,
    since: str | None = None,
    until: str | None = None,
    period: str | None = None,
    begun: bool = True,
) -> TrendAnswer:
    """The trend of a category or total, or by default of the three largest categories.

    The default period is the latest twelve months with data, up to the current one. 収入 is
    income and 収支 income minus spending; everything else is spending minus refunds. Months
    are shown whole, also for a period of days. With ``begun`` those that have not begun are left
    out, if there are others.

    Raises:
        EmptyLedger, InvalidPeriod, AmbiguousPeriod: as of ``LedgerView``.
        UnknownCategory: no category, or several, have that name.
        InsufficientData: the ledger has nothing for these months.
    """
    with ledger_view(ledger) as view:
        requested = view.period(since, until, period, start_month=start_month, end_month=end_month)
        named, notes = named_subject(ledger, category)
        seen = _TrendBasis.of(view, requested, named, MAX_MONTHS, notes, begun=begun)
    if named is Total.SAVINGS_RATE:
        return _savings(seen)
    if named is None:
        trends, body = _of_the_top(seen)
    else:
        trends = [seen.trend(named, amounts_of(named, seen.sums))]
        body = wording.trend_text(trends[0], seen.shown, seen.marks)
    return seen.answer(trends, body + wording.averages_lines(trends))


@dataclass(frozen=True, slots=True)
class _TrendBasis:
    """The data of a trend: its months ``shown``, and the ``sums`` of these and earlier months."""

    view: LedgerView
    period: UnderstoodPeriod
    shown: MonthRange
    sums: list[MonthlySum]
    notes: list[str]

    @classmethod
    def of(
        cls,
        view: LedgerView,
        period: UnderstoodPeriod,
        subject: Subject | None,
        most: int | None,
        notes: list[str],
        *,
        begun: bool = True,
    ) -> _TrendBasis:
        shown, range_notes = view.shown_months(period, subject, most, begun=begun)
        before = MonthRange(shown.first.plus(-WINDOW), shown.first.plus(-1))
        sums = view.sums(MonthRange(before.first, shown.last).days, subject)
        notes = [*notes, *range_notes, *doubt_notes(view.ledger, shown.days, subject)]
        if any(map(view.covered.begins_late, before)):  # changes and means are from these months
            notes += view.begin_notes(before.days)
        if subject is not Total.SAVINGS_RATE:  # it has no means
            notes += view.averaged_notes(month for month in before if month != before.first)
        return cls(view, period, shown, sums, notes)

    @property
    def marks(self) -> MonthMarks:
        """The marks of the months shown, and of the earlier ones in their means."""
        months = MonthRange(self.shown.first.plus(1 - WINDOW), self.shown.last)
        return self.view.covered.marks(months)

    def trend(self, subject: Subject, amounts: Mapping[Month, int]) -> CategoryTrend:
        axis = self.view.covered.axis(self.shown)
        return trend_of(subject, amounts, axis, self.shown, self.marks.empty, self.marks.running)

    def answer(self, trends: Sequence[CategoryTrend], body: list[str]) -> TrendAnswer:
        cells = [cell for cell in self.sums if cell.month in self.shown]
        counts, marks = counts_of(cells), self.view.covered.marks(self.shown)
        averaged = trends[0].months[-1].averaged_months if trends else WINDOW
        notes = [
            *([f"過去 {averaged} か月分のデータで計算しました"] if averaged < WINDOW else []),
            *self.notes,
            *wording.removed_notes(cells),
        ]
        understood = self.period.understood
        only_told = [understood, wording.counts_text(counts)]
        return TrendAnswer(
            tuple(trends), counts, first_month=self.shown.first, last_month=self.shown.last,
            understood=understood, running=marks.running, empty=marks.empty,
            **answer_words(body, notes, self.view.age(self.period), only_told=only_told),
        )  # fmt: skip


def _of_the_top(seen: _TrendBasis) -> tuple[list[CategoryTrend], list[str]]:
    amounts, shown = amounts_by_category(seen.sums), seen.shown
    sizes = _by_size(amounts, shown)
    top = [category for category, yen in sizes if yen > 0 and not category.is_income]
    top = top[:TOP_CATEGORIES]
    if not top and sizes and (income := sizes[-1][0]).is_income:
        trend = seen.trend(income, amounts[income])
        return [trend], [f"{wording.NO_SPENDING}。", *wording.trend_text(trend, shown, seen.marks)]
    if not top:
        raise InsufficientData(shown.in_words, seen.view.covered.default_range)
    trends = [seen.trend(category, amounts[category]) for category in top]
    return trends, wording.top_text(trends, shown, seen.marks)


def _savings(seen: _TrendBasis) -> TrendAnswer:
    parts: list[Subject] = [Category(INCOME), Total.SPENDING, Total.BALANCE]
    amounts = [amounts_of(part, seen.sums) for part in parts]
    trends = list(map(seen.trend, parts, amounts))
    savings = savings_of(amounts[0], amounts[1], seen.shown)
    body = wording.savings_text(savings, seen.shown, seen.marks)
    answer = seen.answer(trends, body)
    return replace(answer, categories=(), behind_savings=answer.categories, savings=savings)


def category_trend_summary(ledger: Ledger, *, months: MonthRange | None = None) -> TrendAnswer:
    """The trend of every 大項目, by default over the latest twelve months: by size, income last.

    ``months`` may include some that have not begun.

    Raises:
        EmptyLedger: there are no rows yet.
        InsufficientData: the ledger has nothing for these months.
    """
    with ledger_view(ledger) as view:
        ends = (None, None) if months is None else (str(months.first), str(months.last))
        requested = view.period(None, None, None, start_month=ends[0], end_month=ends[1])
        seen = _TrendBasis.of(view, requested, None, None, [], begun=months is None)
    amounts = amounts_by_category(seen.sums)
    trends = [seen.trend(each, amounts[each]) for each, _ in _by_size(amounts, seen.shown)]
    return seen.answer(trends, wording.summary_text(trends, seen.shown, seen.marks))


TrendCache = Callable[..., TrendAnswer]
"""Returns ``make(ledger, **request)``, computed anew if the ledger has changed.

Its arguments are ``make``, such as ``category_trend``, ``ledger`` and those of the request.
"""


def trend_cache(entries: int = 128) -> TrendCache:
    """A thread-safe LRU cache of trends."""

    def key(make: object, ledger: Ledger, **request: Hashable) -> Hashable:
        return (make, ledger.key, data_version(ledger), *sorted(request.items()))

    @cached(LRUCache[Hashable, TrendAnswer](entries), key, Lock())
    def trend(make: Callable[..., TrendAnswer], ledger: Ledger, **request: object) -> TrendAnswer:
        return make(ledger, **request)

    return trend


def _by_size(
    amounts: Mapping[Category, Mapping[Month, int]], shown: MonthRange
) -> list[tuple[Category, int]]:
    """The categories with rows in the months shown and their amounts there; income last."""
    known = {
        category: [yen for month, yen in by_month.items() if month in shown]
        for category, by_month in amounts.items()
    }
    sizes = [(category, sum(yen)) for category, yen in known.items() if yen]
    return sorted(sizes, key=lambda each: (each[0].is_income, -each[1], str(each[0])))
