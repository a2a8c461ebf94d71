"""The days that a question names: as a period, or as days."""

from __future__ import annotations

from datetime import date

from mdvec.dates.days import Days, parse_days
from mdvec.dates.months import MonthRange
from mdvec.household.core.periods import DayInPeriod, resolve_period
from mdvec.text.one_line import shortened


def asked_days(today: date, available: MonthRange, period: str) -> tuple[Days, str]:
    """The days of a period in words, and a sentence that tells how it was understood.

    Raises:
        InvalidPeriod: the text cannot be parsed.
    """
    try:
        found = resolve_period(today, available, period=period)
    except DayInPeriod:
        days = parse_days(period, today)
        if days is None:
            raise
        return days, f"「{shortened(period)}」を {in_words(days)} と解釈しました"
    first = date(found.months.first.year, found.months.first.month, 1)
    return Days(first, found.months.last.last_day), found.understood


def in_words(days: Days) -> str:
    """Days in Japanese: 2025年01月10日〜2025年01月20日."""
    first, last = (
        f"{day.year:04d}年{day.month:02d}月{day.day:02d}日" for day in (days.first, days.last)
    )
    return first if first == last else f"{first}〜{last}"
