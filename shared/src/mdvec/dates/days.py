"""Spans of days."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, timedelta

ONE_DAY = timedelta(days=1)


@dataclass(frozen=True, slots=True)
class Days:
    """The days from ``first`` to ``last``, both included; ``last`` is not before ``first``."""

    first: date
    last: date

    def __post_init__(self) -> None:
        if self.last < self.first:
            raise ValueError(f"{self.last} is before {self.first}")

    @classmethod
    def one(cls, day: date) -> Days:
        """A single day."""
        return cls(day, day)

    @classmethod
    def week_of(cls, day: date) -> Days:
        """The week that contains a day, from Monday to Sunday."""
        monday = day - timedelta(days=day.weekday())
        return cls(monday, monday + timedelta(days=6))

    def within(self, other: Days) -> Days | None:
        """The intersection of both spans; None if it is empty."""
        first, last = max(self.first, other.first), min(self.last, other.last)
        return None if last < first else Days(first, last)

    @property
    def in_words(self) -> str:
        """The span in Japanese: 2025年01月10日〜2025年01月20日, or a single day."""
        if self.first == self.last:
            return _in_words(self.first)
        return f"{_in_words(self.first)}〜{_in_words(self.last)}"


def _in_words(day: date) -> str:
    return f"{day.year:04d}年{day.month:02d}月{day.day:02d}日"
