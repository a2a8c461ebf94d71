"""Budgets, how much of each is used as its month or year passes, and their Japanese texts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from decimal import ROUND_HALF_UP, Decimal
from statistics import median
from typing import Literal

from mdvec.dates import ONE_DAY, Days, Month, MonthRange
from mdvec.household.core.answers import MonthEnds, Percentage, SubjectText
from mdvec.household.core.categories import Category, Subject, Total
from mdvec.household.core.forecast import DuePayment, due_names, due_until, rest_of_month
from mdvec.household.core.recurring import RecurringPayment
from mdvec.household.core.shown import shown_name
from mdvec.household.core.sums import percent
from mdvec.household.core.transaction import CountedRow
from mdvec.household.core.wording import format_currency
from mdvec.tools import offered_name

BudgetSpan = Literal["month", "year"]
SPANS: tuple[BudgetSpan, ...] = ("month", "year")
_MIN_HISTORY, _MAX_HISTORY = 3, 6


@dataclass(frozen=True, slots=True)
class Budget:
    """How many yen to spend on a category, or on everything (支出), in each month or year."""

    subject: SubjectText
    per: BudgetSpan
    amount: int


@dataclass(frozen=True, slots=True)
class BudgetStatus:
    """A budget, and how much of it was spent.

    ``amount`` is the budget of all ``months`` together. ``used`` and ``elapsed`` are percentages
    of the budget and, up to the last day with data, of the days of ``months``. ``expected`` is the
    probable spending at the end, by the forecast or else at the pace so far; None once the data
    have all days. ``due``
    are the rows dated after today and the recurring payments that will probably still come;
    ``free`` is what is left after them.
    """

    budget: Budget
    months: MonthEnds
    amount: int
    spent: int
    used: Percentage
    elapsed: Percentage
    expected: int | None
    due: tuple[DuePayment, ...]
    free: int

    @property
    def left(self) -> int:
        """The remaining amount; negative if the budget is exceeded."""
        return self.amount - self.spent

    @property
    def warning(self) -> Literal["exceeded", "ahead"] | None:
        """``exceeded`` if more was spent than the budget, ``ahead`` if that is to be expected."""
        if self.left < 0:
            return "exceeded"
        return "ahead" if self.expected is not None and self.expected > self.amount else None


def budget_months(budget: Budget, requested: MonthRange) -> MonthRange:
    """The months of a budget: the requested ones, or the year of the last one."""
    if budget.per == "month":
        return requested
    year, starts_on = requested.last.year, requested.last.starts_on
    return MonthRange(Month(year, 1, starts_on), Month(year, 12, starts_on))


def covers(subject: Subject, category: Category) -> bool:
    """Whether spending of a category (with 中項目) is part of a budget's subject."""
    if subject is Total.SPENDING:
        return not category.is_income
    return (
        isinstance(subject, Category)
        and subject.major == category.major
        and subject.minor in (None, category.minor)
    )


def status_of_budget(
    budget: Budget,
    months: MonthRange,
    rows: Sequence[CountedRow],
    as_of: date,
    known: Days,
    recurring: Sequence[RecurringPayment],
) -> BudgetStatus:
    """The status of a budget over ``months``, as of a day.

    ``rows`` are those of the budget's subject, also of earlier months, from which the rest is
    estimated; on the days ``known`` they are complete. Rows after ``as_of`` are due, but not spent.
    """
    first, last = months.days.first, months.days.last
    until = min(as_of, last)
    amount = budget.amount * (len(months) if budget.per == "month" else 1)
    spent = _spent_between(rows, first, until)
    seen = min(known.last, until)
    days, passed = (last - first).days + 1, max((seen - first).days + 1, 0)
    own = (
        payment for payment in recurring
        if seen < last and covers(budget.subject, payment.rows[-1].full_category)
    )  # fmt: skip
    # Overdue payments count in these months, if the months have begun.
    due = [
        payment
        for payment in due_until(own, last, [row for row in rows if row.day > as_of])
        if (as_of >= first or payment.day >= first) and payment.day <= last
    ]
    payments = sum(payment.amount for payment in due)
    coming = max(_still_to_come(rows, months, known.first, seen), payments)
    return BudgetStatus(
        budget=budget,
        months=months,
        amount=amount,
        spent=spent,
        used=percent(spent, amount),
        elapsed=percent(passed, days),
        expected=None if seen >= last else spent + coming,
        due=tuple(due),
        free=amount - spent - payments,
    )


def _still_to_come(
    rows: Sequence[CountedRow], months: MonthRange, begins: date, known: date
) -> int:
    """The spending that the days after ``known`` will probably bring, to the end of ``months``.

    Without a year of rows, it is estimated from the days from ``begins`` on, the first with data.
    """
    first, last = months.days.first, months.days.last
    if months.last.first_day <= known < last:
        rest = rest_of_month(rows, known, months.last.starts_on)
        if rest is not None:
            return rest
    year_ago = known - timedelta(days=365)
    if any(row.day <= year_ago for row in rows):
        return _spent_between(rows, year_ago + ONE_DAY, known) * (last - known).days // 365
    passed = (known - max(first, begins)).days + 1
    return _spent_between(rows, first, known) * (last - known).days // passed if passed > 0 else 0


def _spent_between(rows: Sequence[CountedRow], first: date, last: date) -> int:
    """The spending of these days, both included."""
    return sum(row.yen for row in rows if first <= row.day <= last)


def typical_month(rows: Sequence[CountedRow], before: Month) -> int | None:
    """The median spending of the six months before ``before``; None with fewer than three."""
    if not rows:
        return None
    begun = Month.of(min(row.day for row in rows), before.starts_on)
    months = [before.plus(-back) for back in range(1, _MAX_HISTORY + 1)]
    sums = [
        _spent_between(rows, month.first_day, month.last_day) for month in months if month >= begun
    ]
    return int(median(sums)) if len(sums) >= _MIN_HISTORY else None


def worst_first(statuses: Sequence[BudgetStatus]) -> list[BudgetStatus]:
    """Exceeded budgets first, then those likely to be exceeded, then the others; by share used."""
    order = {"exceeded": 0, "ahead": 1, None: 2}
    return sorted(
        statuses, key=lambda status: (order[status.warning], -status.used, str(status.budget))
    )


PER = {"month": "毎月", "year": "毎年"}
_PASSED = {"month": "月", "year": "年"}


def name_of(budget: Budget) -> str:
    """A budget in words: 食費（毎月）."""
    return f"{shown_name(budget.subject)}（{PER[budget.per]}）"


def _whole_percent(percent: Decimal) -> str:
    """A percentage without decimals: 63 %."""
    return f"{percent.quantize(Decimal(1), ROUND_HALF_UP)} %"


def _status_line(status: BudgetStatus) -> str:
    is_longer = len(status.months) > 1 and status.budget.per == "month"
    span = "期間" if is_longer else _PASSED[status.budget.per]
    year = f"・{status.months.last.year}年" if status.budget.per == "year" else ""
    name = f"{shown_name(status.budget.subject)}（{PER[status.budget.per]}{year}）"
    used = _whole_percent(status.used)
    passed = f"{span}の {_whole_percent(status.elapsed)}が過ぎて "
    line = (
        f"- {name}: 予算 {format_currency(status.amount)} のうち "
        f"{format_currency(status.spent)}（{'' if status.expected is None else passed}{used}）"
    )
    if status.warning == "exceeded":
        return f"{line}、{format_currency(-status.left)} 超過"
    line += f"、残り {format_currency(status.left)}"
    if status.warning == "ahead":
        line += f"。このままだと {format_currency(status.expected)} になりそうです"
    elif status.expected is not None:
        line += f"、見込み {format_currency(status.expected)}"
    return line


def status_lines(
    months: str,
    statuses: Sequence[BudgetStatus],
    unbudgeted: int | None,
    without_rows: int,
    known: date,
) -> list[str]:
    """A line for each budget, and one for the spending outside of all budgets.

    ``known`` is the last day with data, which is named if a budget is still running.
    ``without_rows`` is how many budgets are of categories that no row has; these are not reported
    as being within the budget.
    """
    if not statuses:
        return [
            f"予算はまだありません。{offered_name('edit_household')}（what=budget）で、"
            "たとえば category=食費、amount=50000 のように決められます。"
        ]
    warned = sum(1 for status in statuses if status.warning)
    summary = f"注意が必要なものは {warned}件です。" if warned else "どれも予算のうちです。"
    if without_rows:
        others = f"注意が必要なものは、ほかに {warned}件です。" if warned else ""
        summary = f"どの明細のカテゴリでもない予算が {without_rows}件あります。{others}"
    is_running = any(status.expected is not None for status in statuses)
    as_of = f"（{known} の時点）" if is_running else ""
    lines = [f"{months}の予算と実績です{as_of}。{summary}"]
    for status in statuses:
        lines += [_status_line(status), *_free_lines(status)]
    if unbudgeted is not None:
        lines.append(f"- 予算のないカテゴリの支出: {format_currency(unbudgeted)}")
    return lines


def _free_lines(status: BudgetStatus) -> list[str]:
    """The remaining amount after the payments that are due; empty without any."""
    if not status.due:
        return []
    due = sum(payment.amount for payment in status.due)
    is_sure = all(payment.is_fixed for payment in status.due)
    about = "" if is_sure else "約 "
    kind = "" if any(payment.is_planned for payment in status.due) else "定期的な"
    return [
        f"  これからの{kind}支払い {about}{format_currency(due)}（{due_names(status.due)}）を"
        f"除くと、あと使えるのは {about}{format_currency(status.free)}"
    ]


def budget_set_text(budget: Budget, before: int | None, typical: int | None) -> str:
    """States the new budget, the previous one, and the usual spending of the category."""
    was = "" if before is None else f"（これまで {format_currency(before)}）"
    usual = (
        "" if typical is None or budget.per == "year"
        else f"直近6か月の中央値は {format_currency(typical)} です。"
    )  # fmt: skip
    name, amount = shown_name(budget.subject), format_currency(budget.amount)
    return f"{name}の予算を{PER[budget.per]} {amount} にしました{was}。{usual}"
