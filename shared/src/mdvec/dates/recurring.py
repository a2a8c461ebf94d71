"""Days that come each year (「6月」「GW」), each month (「15日」) or each week (「月曜」)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from datetime import date, timedelta
from typing import TypeVar

from mdvec.dates.months import Days, Month, MonthRange

T = TypeVar("T")

_YEARS_AROUND = 9
"""29 February may be eight years away."""
_MONTHS_AROUND = 2
"""A month without a 31st is never two in a row, except July and August, which have one."""


@dataclass(frozen=True, slots=True)
class RecurringDays:
    """Days without a year or month of their own; ``near`` yields those around a day, in order."""

    near: Callable[[date], Iterable[Days]]

    def latest(self, not_after: date) -> Days:
        """The latest occurrence that has begun by the given day.

        Raises:
            ValueError: there is none.
        """
        begun = [days for days in self.near(not_after) if days.first <= not_after]
        if not begun:
            raise ValueError("these days never come")
        return begun[-1]

    def next(self, not_before: date) -> Days:
        """The first occurrence that ends on the given day or later.

        Raises:
            ValueError: there is none.
        """
        for days in self.near(not_before):
            if days.last >= not_before:
                return days
        raise ValueError("these days never come")


@dataclass(frozen=True, slots=True)
class Yearly(RecurringDays):
    """Days that come each year, beginning in the month ``month``.

    ``of`` gives those that begin in a year, and raises ValueError in a year without them.
    """

    month: int
    of: Callable[[int], Days]


def yearly(month: int, of: Callable[[int], Days]) -> Yearly:
    """Days of each year, from those of a given one."""
    return Yearly(lambda day: _existing(of, _years_around(day)), month, of)


def yearly_months(month: int, length: int, starts_on: int) -> Yearly:
    """Months of each year, ``length`` of them from ``month`` on."""

    def of(year: int) -> Days:
        first = Month(year, month, starts_on)
        return MonthRange(first, first.plus(length - 1)).days

    return yearly(month, of)


def monthly(of: Callable[[Month], Days]) -> RecurringDays:
    """Days of each calendar month, from those of a given one."""

    def near(day: date) -> Iterator[Days]:
        now = Month.of(day)
        return _existing(of, map(now.plus, range(-_MONTHS_AROUND, _MONTHS_AROUND + 1)))

    return RecurringDays(near)


def weekly(weekday: int, length: int = 1) -> RecurringDays:
    """Days of each week from a weekday on (0 is Monday)."""

    def near(day: date) -> Iterator[Days]:
        start = Days.week_of(day).first + timedelta(days=weekday)
        for first in (start - timedelta(days=7), start, start + timedelta(days=7)):
            yield Days(first, first + timedelta(days=length - 1))

    return RecurringDays(near)


def _years_around(day: date) -> range:
    return range(max(1, day.year - _YEARS_AROUND), min(9998, day.year + _YEARS_AROUND) + 1)


def _existing(of: Callable[[T], Days], each: Iterable[T]) -> Iterator[Days]:
    for element in each:
        try:
            yield of(element)
        except ValueError:  # 29 February, the 31st
            continue
