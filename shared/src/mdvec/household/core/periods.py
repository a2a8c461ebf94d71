"""The period that a call states, and the earlier period that a comparison derives from it."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from datetime import date, timedelta

from mdvec.dates import (
    ONE_DAY,
    Days,
    Month,
    MonthRange,
    PeriodContext,
    Spoken,
    UnclearRange,
    normalised,
    parse_dated,
    parse_period,
)
from mdvec.errors import MdvecError
from mdvec.text import shortened

DEFAULT_MONTHS = 12
_UP_TO_LATEST_DATA = "（データのある最後の月まで）"
_DATES = 'since="YYYY-MM-DD"、until="YYYY-MM-DD"'
_ISO = re.compile(r"\d{4}(?:-\d\d){0,2}(?:(?:〜|/|\.\.)\d{4}(?:-\d\d){0,2})?", re.ASCII)
_HALF = re.compile(r"(?<!度)の?(上半期|上期|下半期|下期)$")


class InvalidPeriod(MdvecError):
    """A period cannot be read; the message asks for two dates, and names the months with data."""

    def __init__(self, phrase: str, available: MonthRange, dates: str = _DATES) -> None:
        super().__init__(
            f"期間「{shortened(phrase)}」は読めません。初日と最終日を {dates} に入れてください"
            f"（月なら YYYY-MM）。利用できる期間は {available.in_words} です。"
        )


class InvalidDates(InvalidPeriod):
    """``since`` or ``until`` is no day or month, they are in the wrong order, or do not fit."""

    def __init__(self, message: str) -> None:
        MdvecError.__init__(self, message)


class AmbiguousPeriod(MdvecError):
    """The period was given in two ways at once, such as a phrase and a first month."""

    def __init__(self) -> None:
        super().__init__(
            "期間の指定が重なっています。since と until、period、start_month と end_month、"
            "year と month のどれか一通りで指定してください。"
        )


@dataclass(frozen=True, slots=True)
class UnderstoodPeriod:
    """A parsed period, and a sentence that tells how it was understood.

    ``understood`` is "" if no period was given, or if its ISO dates left nothing to understand.

    ``months`` are all months that contain some of the ``days``. There may be no data for them.
    ``follows_data``: nobody asked for these days; they are the latest that have data. ``is_all``:
    all days were asked for.
    """

    days: Days
    months: MonthRange
    understood: str
    follows_data: bool = False
    is_all: bool = False

    @property
    def in_words(self) -> str:
        """The period in Japanese: as months where it is whole months, else as days."""
        return span_in_words(self.days, self.months.last.starts_on)


def span_in_words(days: Days, starts_on: int = 1) -> str:
    """Days in Japanese, or as months, which start on ``starts_on``, if they are whole months."""
    months = MonthRange.around(days, starts_on)
    return months.in_words if months.days == days else days.in_words


def resolve_period(
    today: date,
    available: MonthRange,
    *,
    since: str | None = None,
    until: str | None = None,
    period: str | None = None,
    start_month: str | None = None,
    end_month: str | None = None,
    year: int | None = None,
    month: int | None = None,
    default: Month | None = None,
    earliest: Month | None = None,
) -> UnderstoodPeriod:
    """The period from ``since`` to ``until``, or of a phrase, or from a first to a last month.

    ``since`` and ``until`` are days, months or years, both included. ``since`` alone means up to
    today; ``until`` alone means from the first ``available`` month, or from ``earliest`` if it is
    before that, as rows of those months may be stray. The first and last month are phrases: a first
    alone means up to today; a last alone means the twelve months up to it. A ``month`` without a
    ``year`` is the latest month of that number. ``understood`` mentions what else a phrase can
    mean; ends in the wrong order, or that may be of two years, are refused. Months start on the day
    that those of ``available`` do. Without any of these, the period is the month ``default``, with
    an empty ``understood``, or else the latest twelve months.

    Raises:
        InvalidDates: ``since`` or ``until`` is no day or month, or the ends leave open what is
            meant.
        InvalidPeriod: the text cannot be parsed.
        AmbiguousPeriod: the period was given in two ways.
    """
    context = PeriodContext(today, available)
    phrase, start, end = _strip(period), _strip(start_month), _strip(end_month)
    first, last = _strip(since), _strip(until)
    is_of_year_month = (year, month) != (None, None)
    if sum(map(bool, (phrase, start or end, first or last, is_of_year_month))) > 1:
        raise AmbiguousPeriod
    if first or last:
        return _of_dates(first, last, context, earliest or available.first)
    if is_of_year_month:
        return _of_year_month(year, month, context)
    if phrase:
        return _of_phrase(phrase, context)
    if start or end:
        return _of_ends(start, end, context)
    if default is not None:
        return UnderstoodPeriod(default.days, MonthRange(default, default), "", follows_data=True)
    months = MonthRange(
        max(available.first, available.last.plus(1 - DEFAULT_MONTHS)), available.last
    )
    note = (
        f"期間の指定がないため、データのある最新の{len(months)}か月（{months.in_words}）としました"
    )
    return UnderstoodPeriod(months.days, months, note, follows_data=True)


def _of_year_month(year: int | None, month: int | None, context: PeriodContext) -> UnderstoodPeriod:
    """The period of a year, of a month in it, or, without a year, of the latest such month."""
    if year is not None and not 1000 <= year <= 9999:
        raise InvalidPeriod(f"{year}年", context.available)
    phrase = ("" if year is None else f"{year}年") + ("" if month is None else f"{month}月")
    return _of_phrase(phrase, context)


def _of_dates(since: str, until: str, context: PeriodContext, earliest: Month) -> UnderstoodPeriod:
    begin = _parse_stated("since", since, context.starts_on) if since else None
    end = _parse_stated("until", until, context.starts_on) if until else None
    last = end.last if end else context.today
    first = begin.first if begin else context.available.first.first_day
    if not begin and last < first:
        first = earliest.first_day
    if begin and not end and last < first:  # planned rows
        last = begin.last
    if begin and end and last < first:
        raise InvalidDates(
            f"since {since} が until {until} より後です。早いほうを since にしてください。"
        )
    return understood_as(f"{since}〜{until}", Days(min(first, last), last), context.starts_on)


def _parse_stated(name: str, phrase: str, starts_on: int) -> Days:
    if (days := parse_dated(phrase, starts_on)) is not None:
        return days
    raise InvalidDates(
        f"{name}「{shortened(phrase)}」は読めません。YYYY-MM-DD か YYYY-MM で指定してください"
        "（時刻は付けず、今日から数える言葉は period に）。"
    )


def _parse_phrase(phrase: str, context: PeriodContext) -> Spoken | None:
    """The days of a phrase; None if it is not understood. Unclear ranges are refused."""
    try:
        return parse_period(phrase, context)
    except UnclearRange as unclear:
        readings = (span_in_words(days, context.starts_on) for days in unclear.readings)
        raise InvalidDates(
            f"期間「{shortened(phrase)}」がいつのことか決まりません。"
            f"次の期間なら、そのまま指定してください: {'、'.join(readings)}"
        ) from unclear


def _of_phrase(phrase: str, context: PeriodContext) -> UnderstoodPeriod:
    spoken = _parse_phrase(phrase, context)
    if spoken is None:
        raise InvalidPeriod(phrase, context.available)
    ends_early = spoken.counted and context.available.last < context.now
    suffix = _UP_TO_LATEST_DATA if ends_early else ""
    half = _HALF.search(phrase)  # it may also mean half of the fiscal year
    remark = f"（年度の{half[1]}なら「{spoken.days.first.year}年度{half[1]}」）" if half else ""
    understood = understood_as(phrase, spoken.days, context.starts_on, suffix, remark)
    return replace(understood, follows_data=ends_early, is_all=spoken.is_all)


def _of_ends(start: str, end: str, context: PeriodContext) -> UnderstoodPeriod:
    phrase = f"{start}〜{end}" if start and end else f"{start}から" if start else end
    spoken = _parse_phrase(phrase, context)
    if spoken is None:
        raise InvalidPeriod(phrase if end else start, context.available)
    if start:
        return understood_as(phrase, spoken.days, context.starts_on)
    last = MonthRange.around(spoken.days, context.starts_on).last
    months = MonthRange(last.plus(1 - DEFAULT_MONTHS), last)
    return understood_as(end, months.days, context.starts_on, "までの12か月")


def understood_as(
    phrase: str, days: Days, starts_on: int, suffix: str = "", remark: str = ""
) -> UnderstoodPeriod:
    """The period that a phrase stands for; ``understood`` is "" for none, and for ISO dates."""
    months = MonthRange.around(days, starts_on)
    if not phrase or (_ISO.fullmatch(phrase) and parse_dated(phrase) == days):
        return UnderstoodPeriod(days, months, "")
    words = span_in_words(days, starts_on)
    note = f"「{shortened(phrase)}」{suffix}を {words} と解釈しました{remark}"
    return UnderstoodPeriod(days, months, note)


def _strip(text: str | None) -> str:
    return "" if text is None else text.strip()


_PREVIOUS = frozenset({"", "previous", "直前", "前期間"})
_YEAR_BEFORE = frozenset({"previous_year", "前年", "前年同月", "前年同期", "去年同月", "昨年同月"})
_FROM_EITHER_VIEWPOINT = frozenset({"去年", "昨年"})
_YEARS_BEFORE = re.compile(r"([0-9]{1,2})年前(?:同月|同じ月)?|(?:前年|去年|昨年)同じ月")
_LONG_AGO = timedelta(days=1000)
_BASE_DATES = 'base="YYYY-MM-DD..YYYY-MM-DD"'


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
    like, the month or year before the later period. Other phrases are read as of today if the later
    period was (``is_relative``: 先月); if the later period was stated, they have to mean the same
    days as of that period.

    Raises:
        InvalidPeriod: the base cannot be read.
        InvalidDates: the base has two readings.
    """
    phrase = "" if base is None else base.strip()
    text = normalised(phrase)
    if text in _PREVIOUS:
        return _shifted(later, shown, context.starts_on)
    match = _YEARS_BEFORE.fullmatch(text)
    if match or text in _YEAR_BEFORE:
        return _years_before(later, shown, context.starts_on, int((match and match[1]) or 1))
    at_period = PeriodContext(later.days.first, context.available)
    of_today, of_period = (_parse_phrase(phrase, viewpoint) for viewpoint in (context, at_period))
    if of_today is None or of_period is None:
        raise InvalidPeriod(phrase, context.available, _BASE_DATES)
    today, seen = of_today.days, of_period.days
    if text in _FROM_EITHER_VIEWPOINT:
        seen = _years_before(later, shown, context.starts_on, 1)
        if is_relative or today.first <= seen.first <= today.last:
            return seen
    elif (phrase.startswith("前") or text.startswith("前")) and not text.startswith("前回"):
        return seen
    elif is_relative or today == seen:
        return today
    of_today_words, of_period_words = (
        span_in_words(days, context.starts_on) for days in (today, seen)
    )
    raise InvalidDates(
        f"base「{shortened(phrase)}」は、今日から見れば {of_today_words}、period から見れば "
        f"{of_period_words} です。previous、previous_year か {_BASE_DATES} で指定してください。"
    )


def long_before(today: date) -> date:
    """A day long before today: a phrase that means other days as of then is relative to today."""
    return max(today, date.min + _LONG_AGO) - _LONG_AGO


def _shifted(later: UnderstoodPeriod, shown: Days, starts_on: int) -> Days:
    """The shown days, moved back by the length of the whole period: a year for 今年 up to now."""
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
