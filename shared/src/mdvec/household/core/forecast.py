"""Forecasts spending: recurring payments plus the usual other spending, tested on past months."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import date, timedelta
from itertools import accumulate
from statistics import median

from mdvec.dates import ONE_DAY, Month
from mdvec.household.core.answers import MonthText
from mdvec.household.core.recurring import MAX_SPREAD, Payees, RecurringPayment
from mdvec.household.core.shown import shown_name
from mdvec.household.core.transaction import CountedRow
from mdvec.household.core.wording import format_currency

AHEAD = 3
"""How many months after the running one are forecast."""
HABIT, _MIN_HABIT = 6, 3
"""How many earlier months, at most and at least, estimate the spending that does not recur."""
_SEEN = 25
"""How many earlier months are searched for series: enough for two payments of a yearly series."""
_TRIALS, _MIN_TRIALS = 12, 4
_TAIL = 10  # percent of the trials below the band, and as many above it


@dataclass(frozen=True, slots=True)
class DuePayment:
    """A payment expected on about ``day``, in yen; the amount is estimated unless ``is_fixed``.

    ``is_planned``: the ledger has its row already, dated after today. ``account`` is that of its
    series, where a shop has one for each account.
    """

    day: date
    name: str
    amount: int
    is_fixed: bool
    is_planned: bool = False
    account: str = ""


def due_until(
    payments: Iterable[RecurringPayment], until: date, planned: Iterable[CountedRow] = ()
) -> list[DuePayment]:
    """The payments, without income, that will come up to a day.

    They are the ``planned`` rows, and the further payments that these series will probably bring.
    """
    expected = [
        (payment, day)
        for payment in payments
        if not payment.is_income
        for day in payment.expected(until + timedelta(days=payment.interval.days // 2))
    ]
    due = []
    for row in planned:
        if row.is_income:
            continue
        due.append(DuePayment(row.day, row.shop, row.yen, is_fixed=True, is_planned=True))
        same = [each for each in expected if _is_expected(row, *each)]
        if same:
            expected.remove(min(same, key=lambda each: abs((each[1] - row.day).days)))
    due += [
        DuePayment(
            day, payment.name, payment.amount_on(day), payment.is_fixed, account=payment.account
        )
        for payment, day in expected
        if day <= until
    ]
    return sorted(due, key=lambda each: (each.day, each.name))


def _is_expected(row: CountedRow, payment: RecurringPayment, day: date) -> bool:
    """Whether a row is a series' payment due on about a day, even if its amount differs."""
    amount = payment.amount_on(day)
    return (
        row.shop == payment.rows[-1].shop
        and abs((row.day - day).days) * 2 <= payment.interval.days
        and abs(row.yen - amount) <= MAX_SPREAD * amount
    )


def due_names(due: Sequence[DuePayment], most: int = 5) -> str:
    """The ``most`` largest payments to come, by name, and the number of the others."""
    times = Counter((payment.name, payment.amount, payment.is_fixed) for payment in due)
    largest = sorted(times.items(), key=lambda each: -each[0][1] * each[1])
    names = [
        f"{shown_name(name)} {'' if is_fixed else '約 '}{format_currency(amount)}"
        + (f" ×{count}" if count > 1 else "")
        for (name, amount, is_fixed), count in largest[:most]
    ]
    others = sum(count for _, count in largest[most:])
    return "、".join([*names, *([f"ほか {others}件"] if others else [])])


@dataclass(frozen=True, slots=True)
class MonthForecast:
    """The spending of a month in yen: ``amount`` = ``spent`` + ``recurring`` + ``other``.

    ``low`` and ``high`` are the band around it that holds 80 % of the errors of the trials.
    ``typical_error`` is their median absolute error, over ``trials`` months of the past; None if
    there are too few. ``due`` are the payments that make up ``recurring``.
    """

    month: MonthText
    spent: int
    recurring: int
    other: int
    low: int | None = None
    high: int | None = None
    typical_error: int | None = None
    trials: int = 0
    due: tuple[DuePayment, ...] = ()

    @property
    def amount(self) -> int:
        """The spending to expect."""
        return self.spent + self.recurring + self.other


class _Spending:
    """A ledger's spending, indexed for sums over any days and for recurring payments."""

    def __init__(self, rows: Iterable[CountedRow], starts_on: int) -> None:
        spending = sorted((row for row in rows if not row.is_income), key=lambda row: row.day)
        self.payees = Payees(spending)
        self.starts_on = starts_on
        self.days = [row.day for row in spending]
        self.months = {Month.of(day, starts_on) for day in set(self.days)}
        self._until = [0, *accumulate(row.yen for row in spending)]

    def between(self, first: date, last: date) -> int:
        """The sum of these days, both included."""
        return (
            self._until[bisect_right(self.days, last)] - self._until[bisect_left(self.days, first)]
        )


def forecast(rows: Iterable[CountedRow], as_of: date, starts_on: int = 1) -> list[MonthForecast]:
    """The month of ``as_of`` and the next three, from the spending up to ``as_of``.

    Later rows are planned payments; those outside any series are taken out of the usual other
    spending, as long as they are less. Months start on ``starts_on``. Empty with fewer than three
    earlier months. Each trial forecasts from the rows up to the same day of an earlier month.
    """
    spending, predicted = _predictions(rows, as_of, starts_on)
    if not predicted:
        return []
    errors = _errors(spending, as_of)
    return [_with_band(month, errors[at]) for at, month in enumerate(predicted)]


def rest_of_month(rows: Iterable[CountedRow], as_of: date, starts_on: int) -> int | None:
    """The month's spending after ``as_of``, as in ``forecast``; None if it has no months."""
    _, predicted = _predictions(rows, as_of, starts_on)
    return predicted[0].recurring + predicted[0].other if predicted else None


def _predictions(
    rows: Iterable[CountedRow], as_of: date, starts_on: int
) -> tuple[_Spending, list[MonthForecast]]:
    known: list[CountedRow] = []
    planned: list[CountedRow] = []
    for row in rows:
        (known if row.day <= as_of else planned).append(row)
    spending = _Spending(known, starts_on)
    return spending, _predict(spending, as_of, planned)


def _with_band(forecast: MonthForecast, errors: list[int]) -> MonthForecast:
    if len(errors) < _MIN_TRIALS:
        return replace(forecast, trials=len(errors))
    ranked, amount = sorted(errors), forecast.amount
    out = len(ranked) * _TAIL // 100
    # If nearly all errors have the same sign, the band is extended to the estimate.
    return replace(
        forecast,
        low=min(max(amount + ranked[out], forecast.spent), amount),
        high=max(amount + ranked[-1 - out], amount),
        typical_error=int(median(abs(error) for error in errors)),
        trials=len(errors),
    )


def _errors(spending: _Spending, as_of: date) -> list[list[int]]:
    """For this month and each one ahead, the actual minus the forecast amount of every trial."""
    errors: list[list[int]] = [[] for _ in range(AHEAD + 1)]
    now = Month.of(as_of, spending.starts_on)
    begun = as_of - now.first_day
    for back in range(1, _TRIALS + AHEAD + 1):
        month = now.plus(-back)
        day = min(month.first_day + begun, month.last_day)
        if as_of == now.last_day:
            day = month.last_day
        for at, ahead in enumerate(_predict(spending, day)):
            if ahead.month != now and ahead.month in spending.months and len(errors[at]) < _TRIALS:
                errors[at].append(
                    spending.between(ahead.month.first_day, ahead.month.last_day) - ahead.amount
                )
    return errors


def _predict(
    spending: _Spending, as_of: date, planned: Sequence[CountedRow] = ()
) -> list[MonthForecast]:
    """The running month and those ahead, from rows up to ``as_of``; empty for a short ledger."""
    now = Month.of(as_of, spending.starts_on)
    # A month without a row of spending is unknown rather than cheap.
    before = (now.plus(-back) for back in range(1, HABIT + 1))
    habit = [earlier for earlier in before if earlier in spending.months]
    if len(habit) < _MIN_HABIT:
        return []
    series = spending.payees.series(as_of, since=now.plus(-_SEEN).first_day)
    regular = [row for recurring in series for row in recurring.rows]
    last = now.plus(AHEAD).last_day
    is_over = as_of == now.last_day
    over = as_of - now.first_day + ONE_DAY
    coming = [row for row in planned if row.day <= last]
    begin = now.plus(1) if is_over else now
    due = _by_month(due_until(series, last, coming), begin)
    expected = _by_month(due_until(series, last), begin) if coming else due
    whole = _usual(spending, regular, habit, timedelta(0))
    rest = 0 if is_over else _usual(spending, regular, habit, over)
    predicted = []
    for month in (now.plus(at) for at in range(AHEAD + 1)):
        recurring = _sum(due[month])
        # A planned row outside any series is part of the usual spending.
        planned_too = max(recurring - _sum(expected[month]), 0)
        spent, usual = (0, whole) if month > now else (spending.between(now.first_day, as_of), rest)
        other = max(usual - planned_too, min(usual, 0))
        predicted.append(MonthForecast(month, spent, recurring, other, due=tuple(due[month])))
    return predicted


def _by_month(due: Iterable[DuePayment], begin: Month) -> defaultdict[Month, list[DuePayment]]:
    """The payments by month; overdue ones are in the month ``begin``."""
    by_month: defaultdict[Month, list[DuePayment]] = defaultdict(list)
    for payment in due:
        by_month[max(Month.of(payment.day, begin.starts_on), begin)].append(payment)
    return by_month


def _sum(due: Iterable[DuePayment]) -> int:
    return sum(payment.amount for payment in due)


def _usual(
    spending: _Spending, regular: Sequence[CountedRow], habit: Sequence[Month], over: timedelta
) -> int:
    """The median of these months' spending without ``regular`` rows, from ``over`` days on."""
    sums = []
    for month in habit:
        first, last = month.first_day + over, month.last_day
        regular_sum = sum(row.yen for row in regular if first <= row.day <= last)
        sums.append(spending.between(first, last) - regular_sum if first <= last else 0)
    return int(median(sums))
