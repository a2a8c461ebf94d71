"""Days, months of a household, which may begin on any day, and ranges of them."""

from __future__ import annotations

import calendar
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import date, timedelta

ENGLISH_MONTHS = (
    "january", "february", "march", "april", "may", "june", "july", "august", "september",
    "october", "november", "december",
)  # fmt: skip
ENGLISH_MONTH = "sept|" + "|".join(f"{month[:3]}(?:{month[3:]})?" for month in ENGLISH_MONTHS)
"""A pattern for an English month, or for its first three letters."""
ONE_DAY = timedelta(days=1)
_BEFORE_ERAS = {
    "令和": 2018, "r": 2018, "平成": 1988, "h": 1988, "昭和": 1925, "s": 1925, "大正": 1911,
    "明治": 1867,
}  # fmt: skip


def today() -> date:
    """The local date, as days in statements, notes and questions are local too."""
    return date.today()  # noqa: DTZ011


def month_named(name: str) -> int:
    """The number of a month, 1 to 12, by at least the first three letters of its English name."""
    return next(number for number, month in enumerate(ENGLISH_MONTHS, 1) if month[:3] == name[:3])


def year_of_era(era: str, count: int) -> int:
    """The calendar year of an era year: 令和7年 is 2025."""
    return _BEFORE_ERAS[era] + count


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


@dataclass(frozen=True, slots=True, order=True)
class Month:
    """A month that begins on the day ``starts_on``; 1 makes it a calendar month.

    It is named after the calendar month in which it ends: if months start on the 26th, June is 5/26
    to 6/25. If a calendar month is too short for ``starts_on``, its last day is used. Only months
    that start on the same day may be compared.
    """

    year: int
    month: int
    starts_on: int = 1

    def __post_init__(self) -> None:
        if not 1 <= self.month <= 12:
            raise ValueError(f"there is no month {self.month}")
        if not 1 <= self.starts_on <= 31:
            raise ValueError(f"no month starts on day {self.starts_on}")

    @classmethod
    def of(cls, day: date, starts_on: int = 1) -> Month:
        """The month that contains a day."""
        month = cls(day.year, day.month, starts_on)
        return month if day <= month.last_day else month.plus(1)

    @classmethod
    def from_iso(cls, text: str) -> Month:
        """Parses ``YYYY-MM``, a calendar month; anything after it is ignored."""
        return cls(int(text[:4]), int(text[5:7]))

    def plus(self, months: int) -> Month:
        """The month that is ``months`` later; earlier if negative."""
        year, month = divmod(self._number + months, 12)
        return Month(year, month + 1, self.starts_on)

    def since(self, earlier: Month) -> int:
        """The number of months from ``earlier`` to this one."""
        return self._number - earlier._number

    @property
    def first_day(self) -> date:
        """The first day of the month."""
        if self.year < 1:  # before the first month, for comparisons of a trend
            return date.min
        if self.starts_on == 1:
            return date(self.year, self.month, 1)
        before = self.plus(-1)
        return date.min if before.year < 1 else before.last_day + ONE_DAY

    @property
    def last_day(self) -> date:
        """The last day of the month."""
        if self.year > 9999:  # the month after the last 26 December
            return date.max
        length = calendar.monthrange(self.year, self.month)[1]
        day = length if self.starts_on == 1 else min(self.starts_on, length) - 1
        return date(self.year, self.month, day)

    @property
    def days(self) -> Days:
        """The days of the month."""
        return Days(self.first_day, self.last_day)

    @property
    def name(self) -> str:
        """The month's name in Japanese: 2025年06月."""
        return f"{self.year:04d}年{self.month:02d}月"

    @property
    def in_words(self) -> str:
        """The name, with the days unless it is a calendar month: 2025年06月（5/26〜6/25）."""
        if self.starts_on == 1:
            return self.name
        first, last = self.first_day, self.last_day
        return f"{self.name}（{first.month}/{first.day}〜{last.month}/{last.day}）"

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

    @classmethod
    def around(cls, days: Days, starts_on: int = 1) -> MonthRange:
        """The months that contain these days."""
        return cls(Month.of(days.first, starts_on), Month.of(days.last, starts_on))

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
    def days(self) -> Days:
        """The days of all these months."""
        return Days(self.first.first_day, self.last.last_day)

    @property
    def in_words(self) -> str:
        """The range in Japanese: 2025年06月〜2025年07月, or a single month.

        Unless the months are calendar months, their days follow: （2025/5/26〜2025/7/25）.
        """
        if self.first == self.last:
            return self.first.in_words
        names = f"{self.first.name}〜{self.last.name}"
        if self.first.starts_on == 1:
            return names
        first, last = (
            f"{day.year}/{day.month}/{day.day}" for day in (self.days.first, self.days.last)
        )
        return f"{names}（{first}〜{last}）"


def runs_of(months: Iterable[Month], most_apart: int) -> list[MonthRange]:
    """Groups ordered months into runs with at most ``most_apart`` months from one to the next."""
    runs: list[MonthRange] = []
    for month in months:
        if runs and month.since(runs[-1].last) <= most_apart:
            runs[-1] = MonthRange(runs[-1].first, month)
        else:
            runs.append(MonthRange(month, month))
    return runs
