"""Forecasts spending: what recurs, plus what such days usually bring; tried on the past."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from statistics import median

from mdvec.dates.months import Month
from mdvec.household.core.counted_row import CountedRow
from mdvec.household.core.recurring import recurring_payments

AHEAD = 3
"""How many months after the running one are forecast."""
_HABIT, _MIN_HABIT = 6, 3
_SEEN = 25
"""How many months before the running one tell what recurs: a yearly payment came twice."""
_TRIALS, _MIN_TRIALS = 12, 4
_TAIL = 10  # per cent of the trials that lie below the band, and above it


@dataclass(frozen=True, slots=True)
class MonthForecast:
    """The spending of a month in yen: ``amount`` = ``spent`` + ``recurring`` + ``other``.

    ``low`` and ``high`` are the band that holds 80 % of the errors of the trials.
    ``typical_error`` is their median absolute error, over ``trials`` months of the past; None if
    there are too few.
    """

    month: Month
    spent: int
    recurring: int
    other: int
    low: int | None
    high: int | None
    typical_error: int | None
    trials: int

    @property
    def amount(self) -> int:
        """The spending to expect."""
        return self.spent + self.recurring + self.other


@dataclass(frozen=True, slots=True)
class _Parts:
    spent: int
    recurring: int
    other: int

    @property
    def amount(self) -> int:
        return self.spent + self.recurring + self.other


def forecast(rows: Sequence[CountedRow], as_of: date) -> list[MonthForecast]:
    """The month of ``as_of`` and the next three, from the spending up to ``as_of``.

    Empty without three whole months before. Each trial takes the rows up to the same day of an
    earlier month, and nothing later.
    """
    rows = sorted((row for row in rows if not row.is_income), key=lambda row: row.day)
    found = _predict(rows, as_of)
    if not found:
        return []
    errors = _errors(rows, as_of)
    month = Month.of(as_of)
    return [_with_band(month.plus(at), parts, errors[at]) for at, parts in enumerate(found)]


def _with_band(month: Month, parts: _Parts, errors: list[int]) -> MonthForecast:
    low = high = typical = None
    if len(errors) >= _MIN_TRIALS:
        ranked = sorted(errors)
        out = len(ranked) * _TAIL // 100
        low = max(parts.amount + ranked[out], parts.spent)
        high = parts.amount + ranked[-1 - out]
        typical = int(median(abs(error) for error in errors))
    return MonthForecast(
        month, parts.spent, parts.recurring, parts.other, low, high, typical, len(errors)
    )


def _errors(rows: Sequence[CountedRow], as_of: date) -> list[list[int]]:
    """For each month ahead, the actual minus the forecast amount of every trial."""
    errors: list[list[int]] = [[] for _ in range(AHEAD + 1)]
    now = Month.of(as_of)
    actual = _by_month(rows)
    for back in range(1, _TRIALS + AHEAD + 1):
        month = now.plus(-back)
        day = month.last_day.replace(day=min(as_of.day, month.last_day.day))
        if as_of == now.last_day:
            day = month.last_day
        for at, parts in enumerate(_predict(rows, day)):
            if month.plus(at) < now and len(errors[at]) < _TRIALS:
                errors[at].append(actual.get(month.plus(at), 0) - parts.amount)
    return errors


def _predict(rows: Sequence[CountedRow], as_of: date) -> list[_Parts]:
    """The running month and those ahead, from rows up to ``as_of``; empty without a habit.

    ``rows`` are in order of days, perhaps with later ones.
    """
    now = Month.of(as_of)
    begun = Month.of(rows[0].day) if rows else now
    rows = _between(rows, now.plus(-_SEEN).first_day, as_of)
    habit = [one for back in range(1, _HABIT + 1) if (one := now.plus(-back)) >= begun]
    if len(habit) < _MIN_HABIT:
        return []
    series = [one for one in recurring_payments(rows, as_of) if not one.is_income]
    regular = {row.id for one in series for row in one.rows}
    recent = _between(rows, habit[-1].first_day, as_of)
    other = [row for row in recent if row.id not in regular]
    last = now.plus(AHEAD).last_day
    due: dict[Month, int] = {}
    for payment in series:
        for day in payment.expected(last):
            month = max(Month.of(day), now)
            due[month] = due.get(month, 0) + payment.amount_on(day)
    spent = sum(row.yen for row in _between(rows, now.first_day, as_of))
    is_over = as_of == now.last_day
    rest = 0 if is_over else _usual(other, habit, as_of.day)
    found = [_Parts(spent, 0 if is_over else due.get(now, 0), rest)]
    whole = _usual(other, habit, 0)
    for at in range(1, AHEAD + 1):
        late = due.get(now, 0) if is_over and at == 1 else 0
        found.append(_Parts(0, due.get(now.plus(at), 0) + late, whole))
    return found


def _usual(rows: Sequence[CountedRow], habit: Sequence[Month], after_day: int) -> int:
    """The median of what these months brought after a day of the month."""
    sums = _by_month([row for row in rows if row.day.day > after_day])
    return int(median(sums.get(month, 0) for month in habit))


def _by_month(rows: Sequence[CountedRow]) -> dict[Month, int]:
    by_number: dict[tuple[int, int], int] = {}
    for row in rows:
        number = row.day.year, row.day.month
        by_number[number] = by_number.get(number, 0) + row.yen
    return {Month(*number): yen for number, yen in by_number.items()}


def _between(rows: Sequence[CountedRow], first: date, last: date) -> Sequence[CountedRow]:
    """The rows of these days, both included."""
    begin = bisect_left(rows, first, key=lambda row: row.day)
    return rows[begin : bisect_right(rows, last, key=lambda row: row.day)]
