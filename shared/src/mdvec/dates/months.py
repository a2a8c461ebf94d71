"""Calendar months and ranges of them."""

from __future__ import annotations

import calendar
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date


@dataclass(frozen=True, slots=True, order=True)
class Month:
    """A calendar month.

    A transaction belongs to the month of its own date, even if its statements run from the 25th
    to the 24th; such a statement file holds parts of two months.
    """

    year: int
    month: int

    def __post_init__(self) -> None:
        if not 1 <= self.month <= 12:
            raise ValueError(f"there is no month {self.month}")

    @classmethod
    def of(cls, day: date) -> Month:
        """The month of a day."""
        return cls(day.year, day.month)

    @classmethod
    def from_iso(cls, text: str) -> Month:
        """Parses ``YYYY-MM``; anything after it is ignored."""
        return cls(int(text[:4]), int(text[5:7]))

    def plus(self, months: int) -> Month:
        """The month that is ``months`` later; earlier if negative."""
        year, month = divmod(self._number + months, 12)
        return Month(year, month + 1)

    def since(self, earlier: Month) -> int:
        """The number of months from ``earlier`` to this one."""
        return self._number - earlier._number

    @property
    def last_day(self) -> date:
        """The last day of the month."""
        return date(self.year, self.month, calendar.monthrange(self.year, self.month)[1])

    @property
    def in_words(self) -> str:
        """The month in Japanese: 2025年06月."""
        return f"{self.year:04d}年{self.month:02d}月"

    def __str__(self) -> str:
        return f"{self.year:04d}-{self.month:02d}"

    @property
    def _number(self) -> int:
        return self.year * 12 + self.month - 1


@dataclass(frozen=True, slots=True)
class MonthRange:
    """The months from ``first`` to ``last``, both included; ``last`` is not before ``first``."""

    first: Month
    last: Month

    def __post_init__(self) -> None:
        if self.last < self.first:
            raise ValueError(f"{self.last} is before {self.first}")

    def __iter__(self) -> Iterator[Month]:
        return (self.first.plus(number) for number in range(len(self)))

    def __len__(self) -> int:
        return self.last.since(self.first) + 1

    def __contains__(self, month: Month) -> bool:
        return self.first <= month <= self.last

    def within(self, other: MonthRange) -> MonthRange | None:
        """The intersection of both ranges; None if it is empty."""
        first, last = max(self.first, other.first), min(self.last, other.last)
        return None if last < first else MonthRange(first, last)

    @property
    def in_words(self) -> str:
        """The range in Japanese: 2025年06月〜2025年07月, or a single month."""
        if self.first == self.last:
            return self.first.in_words
        return f"{self.first.in_words}〜{self.last.in_words}"
