"""The period of a household's answer, as days and months: stated as dates, or in words."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from datetime import date

from mdvec.dates import (
    Days,
    Month,
    MonthRange,
    PeriodContext,
    Spoken,
    parse_period,
)
from mdvec.errors import MdvecError
from mdvec.text import shortened

DEFAULT_MONTHS = 12
_UP_TO_LATEST_DATA = "（データのある最後の月まで）"
_DATES = 'since="YYYY-MM-DD"、until="YYYY-MM-DD"'
_HALF = re.compile(r"(?<!度)の?(?P<half>上半期|上期|下半期|下期)$")
_ISO = re.compile(r"([0-9]{4})-([0-9]{2})(?:-([0-9]{2}))?")


class InvalidPeriod(MdvecError):
    """A period cannot be read; the message has the two dates to fill in, and the data's months."""

    def __init__(self, phrase: str, available: MonthRange, dates: str = _DATES) -> None:
        super().__init__(
            f"期間「{shortened(phrase)}」は読めません。初日と最終日を {dates} に入れてください"
            f"（月なら YYYY-MM）。利用できる期間は {available.in_words} です。"
        )


class InvalidDates(InvalidPeriod):
    """``since`` or ``until`` is no ISO day or month, or they are in the wrong order."""

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
    """A parsed period, and a sentence that tells how it was understood; "" if none was given.

    ``months`` are all months that contain some of the ``days``. There may be no data for them.
    ``follows_data``: nobody asked for these days; they are the latest that have data.
    """

    days: Days
    months: MonthRange
    understood: str
    follows_data: bool = False

    @property
    def in_words(self) -> str:
        """The period in Japanese: as months where it is whole months, else as days."""
        return span_in_words(self.days, self.months)


def span_in_words(days: Days, months: MonthRange) -> str:
    """Days in Japanese, or as months if they are whole months."""
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
    default: Month | None = None,
) -> UnderstoodPeriod:
    """The period from ``since`` to ``until``, of a phrase, or from a first to a last month.

    ``since`` and ``until`` are ISO days or months, both included; one alone means up to today, or
    from the first month with data on. The first and last month are phrases: a first alone means
    up to today; a last alone means the twelve months up to it. If both have a year and are in the
    wrong order, they are swapped, and ``understood`` says so, as it does where a phrase can mean
    something else. Months start on the day that those of ``available`` do. Without any of them
    it is the month ``default``, not ``understood`` from anything, or else the latest twelve.

    Raises:
        InvalidDates: ``since`` or ``until`` is not one.
        InvalidPeriod: the text cannot be parsed.
        AmbiguousPeriod: the period was given in two ways.
    """
    context = PeriodContext(today, available)
    phrase, start, end = _stripped(period), _stripped(start_month), _stripped(end_month)
    first, last = _stripped(since), _stripped(until)
    if sum(map(bool, (phrase, start or end, first or last))) > 1:
        raise AmbiguousPeriod
    if first or last:
        return _of_dates(first, last, context)
    if phrase:
        return _of_phrase(phrase, context)
    if start or end:
        return _of_ends(start, end, context)
    if default is not None:
        return UnderstoodPeriod(default.days, MonthRange(default, default), "", follows_data=True)
    return _latest_months(available)


def resolve_year_month(
    today: date, available: MonthRange, year: int | None, month: int | None
) -> UnderstoodPeriod:
    """The period of a year, of a month in it, or, without a year, of the latest such month.

    Raises:
        InvalidPeriod: the year or month does not exist.
    """
    if year is not None and not 1000 <= year <= 9999:
        raise InvalidPeriod(f"{year}年", available)
    phrase = ("" if year is None else f"{year}年") + ("" if month is None else f"{month}月")
    return resolve_period(today, available, period=phrase)


def _latest_months(available: MonthRange) -> UnderstoodPeriod:
    first = max(available.first, available.last.plus(1 - DEFAULT_MONTHS))
    months = MonthRange(first, available.last)
    return UnderstoodPeriod(
        months.days,
        months,
        f"期間の指定がないため、データのある最新の{len(months)}か月（{months.in_words}）としました",
        follows_data=True,
    )


def _of_dates(since: str, until: str, context: PeriodContext) -> UnderstoodPeriod:
    begin = _stated("since", since, context.starts_on) if since else None
    end = _stated("until", until, context.starts_on) if until else None
    first = begin.first if begin else context.available.first.first_day
    last = end.last if end else context.today
    if begin and not end and last < first:  # planned rows
        last = begin.last
    if begin and end and last < first:
        raise InvalidDates(
            f"since {since} が until {until} より後です。早いほうを since にしてください。"
        )
    return _period(f"{since}〜{until}", Spoken(Days(min(first, last), last)), context)


def _stated(name: str, said: str, starts_on: int) -> Days:
    match = _ISO.fullmatch(said)
    try:
        if match and match[3]:
            return Days.one(date.fromisoformat(said))
        if match:
            return Month(int(match[1]), int(match[2]), starts_on).days
    except ValueError:  # 2025-02-30, 2025-13
        pass
    raise InvalidDates(
        f"{name}「{shortened(said)}」は読めません。YYYY-MM-DD か YYYY-MM で指定してください"
        "（ことばは period に）。"
    )


def _of_phrase(phrase: str, context: PeriodContext) -> UnderstoodPeriod:
    spoken = parse_period(phrase, context)
    if spoken is None:
        raise InvalidPeriod(phrase, context.available)
    ends_early = spoken.counted and context.available.last < context.now
    suffix = _UP_TO_LATEST_DATA if ends_early else ""
    understood = _period(phrase, spoken, context, suffix, _otherwise(phrase, spoken.days))
    return replace(understood, follows_data=ends_early)


def _of_ends(start: str, end: str, context: PeriodContext) -> UnderstoodPeriod:
    phrase = f"{start}〜{end}" if start and end else f"{start}から" if start else end
    spoken = parse_period(phrase, context)
    if spoken is None:
        raise InvalidPeriod(phrase if end else start, context.available)
    if start:
        return _period(phrase, spoken, context)
    last = MonthRange.around(spoken.days, context.starts_on).last
    months = MonthRange(last.plus(1 - DEFAULT_MONTHS), last)
    return _period(end, Spoken(months.days), context, "までの12か月")


def _period(
    phrase: str, spoken: Spoken, context: PeriodContext, suffix: str = "", otherwise: str = ""
) -> UnderstoodPeriod:
    remark = "（順序が逆だったため入れ替えました）" if spoken.swapped else otherwise
    months = MonthRange.around(spoken.days, context.starts_on)
    words = span_in_words(spoken.days, months)
    return UnderstoodPeriod(
        spoken.days, months, f"「{shortened(phrase)}」{suffix}を {words} と解釈しました{remark}"
    )


def _otherwise(phrase: str, days: Days) -> str:
    """What else a half of a year can mean, and how to say that; "" for any other phrase."""
    match = _HALF.search(phrase)
    return f"（年度の{match['half']}なら「{days.first.year}年度{match['half']}」）" if match else ""


def _stripped(text: str | None) -> str:
    return "" if text is None else text.strip()
