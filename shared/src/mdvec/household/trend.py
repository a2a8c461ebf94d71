"""Trends of spending, income and savings from month to month."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
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
from mdvec.household.core.shown import shown_name
from mdvec.household.core.sums import (
    WINDOW,
    CategoryTrend,
    MonthFigure,
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
from mdvec.household.core.wording import InsufficientData, format_currency, format_percentage
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
    ``behind_savings`` are the income, spending and balance that it is computed from. ``counts`` are
    over the rows of these months (and of the category, if there is one).
    """

    categories: tuple[CategoryTrend, ...]
    counts: RowCounts
    savings: SavingsTrend | None = None
    behind_savings: Annotated[tuple[CategoryTrend, ...], Field(exclude=True)] = ()

    @property
    def series(self) -> tuple[CategoryTrend, ...]:
        """The categories or totals to draw; for a savings rate, the totals behind it."""
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

    The default period is the latest twelve months with data, up to the current one. 収入 is income
    and 収支 income minus spending; everything else is spending minus refunds. Months are shown
    whole, also for a period of days. With ``begun``, months that have not begun are left out if
    there are other months.

    Raises:
        EmptyLedger, InvalidPeriod, AmbiguousPeriod: as in ``LedgerView``.
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
        trend = seen.trend(named, amounts_of(named, seen.sums))
        trends, body = [trend], _trend_lines(seen, trend)
        if len(trend.months) > 1:
            signed = named is Total.BALANCE
            body.append(f"- 期間の合計: {format_currency(trend.total, signed=signed)}")
    return seen.answer(trends, body + _averages_lines(trends))


@dataclass(frozen=True, slots=True)
class _TrendBasis:
    """The data of a trend: its months ``shown``, and the ``sums`` of these and earlier months.

    ``marks`` are those of the months shown, and of earlier months that are in their means.
    """

    view: LedgerView
    period: UnderstoodPeriod
    shown: MonthRange
    sums: list[MonthlySum]
    marks: MonthMarks
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
        if any(map(view.covered.begins_late, before)):  # changes and means use them
            notes += view.begin_notes(before.days)
        if subject is not Total.SAVINGS_RATE:  # the savings rate has no moving average
            notes += view.averaged_notes(month for month in before if month != before.first)
        marks = view.covered.marks(MonthRange(shown.first.plus(1 - WINDOW), shown.last))
        return cls(view, period, shown, sums, marks, notes)

    def marked(self, month: Month) -> str:
        """A month's name, marked if it is not complete yet."""
        return f"{month.in_words}{'（途中）' if month in self.marks.running else ''}"

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
        return [trend], [f"{wording.NO_SPENDING}。", *_trend_lines(seen, trend)]
    if not top:
        raise InsufficientData(shown.in_words, seen.view.covered.default_range)
    trends = [seen.trend(category, amounts[category]) for category in top]
    totals = "、".join(f"{shown_name(t.category)}（{format_currency(t.total)}）" for t in trends)
    head = f"{shown.in_words}の支出額上位 {len(trends)} カテゴリは {totals} です。"
    return trends, [head, *(line for trend in trends for line in ("", *_trend_lines(seen, trend)))]


def _savings(seen: _TrendBasis) -> TrendAnswer:
    parts: list[Subject] = [Category(INCOME), Total.SPENDING, Total.BALANCE]
    amounts = [amounts_of(part, seen.sums) for part in parts]
    trends = list(map(seen.trend, parts, amounts))
    savings = savings_of(amounts[0], amounts[1], seen.shown)
    answer = seen.answer(trends, _savings_lines(seen, savings))
    return replace(answer, categories=(), behind_savings=answer.categories, savings=savings)


def category_trend_summary(ledger: Ledger, *, months: MonthRange | None = None) -> TrendAnswer:
    """The trend of every major category (大項目): the largest first, income last.

    ``months`` may include months that have not begun; by default they are the latest twelve.

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
    return seen.answer(trends, _summary_lines(seen, trends))


def _trend_lines(seen: _TrendBasis, trend: CategoryTrend) -> list[str]:
    """A category month by month, with its average over the last twelve months."""
    signed = trend.category is Total.BALANCE
    lines = [f"{wording.subject_in_words(trend.category)}の {seen.shown.in_words}の推移です。"]
    for figure in trend.months:
        if figure.month in seen.marks.empty:
            lines.append(_no_rows(figure.month))
            continue
        line = f"- {seen.marked(figure.month)}: {format_currency(figure.amount, signed=signed)}"
        before, year = figure.month_over_month, figure.year_over_year
        if figure is trend.months[0] and before is None and year is None:
            lines.append(line)
        else:
            lines.append(f"{line} （{_changes(figure)}）")
    last = trend.months[-1]
    if last.moving_average is not None:
        mean = format_currency(last.moving_average, signed=signed)
        latest = "期間の最後の" if last.averaged_months < len(trend.months) else ""
        part = "" if trend.whole_months == last.averaged_months else "（揃っていない月を含む）"
        lines.append(f"- {latest}{last.averaged_months}か月平均{part}: {mean}")
    if trend.mean_of_whole_months is not None:
        mean = format_currency(trend.mean_of_whole_months, signed=signed)
        lines.append(f"- まる{trend.whole_months}か月平均: {mean}")
    return lines


def _averages_lines(trends: Iterable[CategoryTrend]) -> list[str]:
    """For each trend, the moving averages up to each month before the last, in order.

    In a ledger of less than a year, each average covers one month more than the previous.
    """
    lines = []
    for trend in trends:
        averages = [point.moving_average for point in trend.months[:-1]]
        listed = " ".join("-" if average is None else f"{average:,}" for average in averages)
        over = sorted({point.averaged_months for point in trend.months[:-1]} - {0})
        if over:
            months = "〜".join(str(number) for number in dict.fromkeys((over[0], over[-1])))
            lines.append(
                f"※ {shown_name(trend.category)}の前月までの{months}か月平均（円）: {listed}。"
            )
    return lines


def _savings_lines(seen: _TrendBasis, savings: SavingsTrend) -> list[str]:
    """The savings rate, income, spending and balance month by month, and the overall rate."""
    lines = [f"貯蓄率（収入に対する収支の割合）の {seen.shown.in_words}の推移です。"]
    for point in savings.months:
        if point.month in seen.marks.empty:
            lines.append(_no_rows(point.month))
            continue
        balance = format_currency(point.income - point.spending, signed=True)
        lines.append(
            f"- {seen.marked(point.month)}: {format_percentage(point.rate, signed=False)} "
            f"（収入 {format_currency(point.income)}, 支出 {format_currency(point.spending)}, "
            f"収支 {balance}）"
        )
    lines.append(f"- 期間全体: {format_percentage(savings.rate, signed=False)}")
    return lines


def _summary_lines(seen: _TrendBasis, trends: Iterable[CategoryTrend]) -> list[str]:
    """One line for each category: its sum, its last month and its average."""
    lines = [f"{seen.shown.in_words}のカテゴリ別の推移です。"]
    for trend in trends:
        last, whole = trend.months[-1], ""
        if trend.mean_of_whole_months is not None:
            mean = format_currency(trend.mean_of_whole_months)
            whole = f"、まる{trend.whole_months}か月平均 {mean}"
        lines.append(
            f"- {shown_name(trend.category)}: 合計 {format_currency(trend.total)}、"
            f"{seen.marked(last.month)} {format_currency(last.amount)} （{_changes(last)}）、"
            f"{last.averaged_months}か月平均 {format_currency(last.moving_average)}{whole}"
        )
    return lines


def _no_rows(month: Month) -> str:
    return f"- {month.in_words}: 明細なし"


def _changes(figure: MonthFigure) -> str:
    """The changes from the month before, and from the year before."""
    return (
        f"前月比 {format_percentage(figure.month_over_month)}, "
        f"前年同月比 {format_percentage(figure.year_over_year)}"
    )


TrendCache = Callable[..., TrendAnswer]
"""Returns ``make(ledger, **request)``, from the cache unless the ledger has changed.

Its arguments are ``make`` (such as ``category_trend``), ``ledger``, and those of the request.
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
