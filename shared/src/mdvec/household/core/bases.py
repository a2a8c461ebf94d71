"""The earlier period of a comparison, read from the later one."""

from __future__ import annotations

import re
from datetime import date, timedelta

from mdvec.dates import ONE_DAY, Days, Month, MonthRange, PeriodContext, normalised, parse_period
from mdvec.errors import MdvecError
from mdvec.household.core.periods import InvalidPeriod, UnderstoodPeriod, span_in_words
from mdvec.text import shortened

_PREVIOUS = frozenset({"", "previous", "直前", "前期間"})
_YEAR_BEFORE = frozenset({"previous_year", "前年", "前年同月", "前年同期", "去年同月", "昨年同月"})
_SAID_OF_TODAY_TOO = frozenset({"去年", "昨年"})
_YEARS_BEFORE = re.compile(r"([0-9]{1,2})年前(?:同月|同じ月)?|(?:前年|去年|昨年)同じ月")
_LONG_AGO = timedelta(days=1000)
_DATES = 'base="YYYY-MM-DD..YYYY-MM-DD"'


class AmbiguousBase(MdvecError):
    """A base is one period for somebody who speaks of today, another seen from the period."""

    def __init__(self, base: str, of_today: str, of_period: str) -> None:
        super().__init__(
            f"base「{shortened(base)}」は、今日から見れば {of_today}、period から見れば "
            f"{of_period} です。previous、previous_year か {_DATES} で指定してください。"
        )


def base_period(
    base: str | None,
    later: UnderstoodPeriod,
    shown: Days,
    context: PeriodContext,
    *,
    is_relative: bool,
) -> Days:
    """The days of the base of a comparison with ``later``, of which ``shown`` have data.

    Without a base, or with ``previous``, the period of equal length just before; with
    ``previous_year`` (前年, 去年の同じ月) the same days a year earlier; with 前月, 前年度 and the
    like, the one before the later period. Other phrases are read from today if the later period
    is (``is_relative``: 先月); beside a stated one they have to mean the same seen from it.

    Raises:
        InvalidPeriod: the base cannot be read.
        AmbiguousBase: it has two readings.
    """
    said = "" if base is None else base.strip()
    text = normalised(said)
    if text in _PREVIOUS:
        return _moved(later, shown, context.starts_on)
    match = _YEARS_BEFORE.fullmatch(text)
    if match or text in _YEAR_BEFORE:
        return _years_before(later, shown, context.starts_on, int((match and match[1]) or 1))
    there = PeriodContext(later.days.first, context.available)
    of_today, of_period = (parse_period(said, viewpoint) for viewpoint in (context, there))
    if of_today is None or of_period is None:
        raise InvalidPeriod(said, context.available, _DATES)
    today, seen = of_today.days, of_period.days
    if text in _SAID_OF_TODAY_TOO:
        seen = _years_before(later, shown, context.starts_on, 1)
        if is_relative or today.first <= seen.first <= today.last:
            return seen
    elif (said.startswith("前") or text.startswith("前")) and not text.startswith("前回"):
        return seen
    elif is_relative or today == seen:
        return today
    raise AmbiguousBase(said, *(_in_words(days, context.starts_on) for days in (today, seen)))


def long_before(today: date) -> date:
    """Another day to speak on: a phrase that names other days then is relative to today."""
    return max(today, date.min + _LONG_AGO) - _LONG_AGO


def _in_words(days: Days, starts_on: int) -> str:
    return span_in_words(days, MonthRange.around(days, starts_on))


def _moved(later: UnderstoodPeriod, shown: Days, starts_on: int) -> Days:
    """The days shown, earlier by the length of the whole period: 今年 up to now, a year before."""
    if later.months.days == later.days:
        return _months_before(shown, starts_on, len(later.months))
    length = later.days.last - later.days.first + ONE_DAY
    return Days(shown.first - length, shown.last - length)


def _years_before(later: UnderstoodPeriod, shown: Days, starts_on: int, years: int) -> Days:
    if later.months.days == later.days:
        return _months_before(shown, starts_on, 12 * years)
    return Days(_year_earlier(shown.first, years), _year_earlier(shown.last, years))


def _months_before(shown: Days, starts_on: int, count: int) -> Days:
    months = MonthRange.around(shown, starts_on)
    return MonthRange(months.first.plus(-count), months.last.plus(-count)).days


def _year_earlier(day: date, years: int) -> date:
    """The same day of the calendar some years earlier; 28 February for the 29th."""
    month = Month(day.year - years, day.month)
    return month.last_day.replace(day=min(day.day, month.last_day.day))
