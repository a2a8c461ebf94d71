"""Parses any phrase for a period, also ranges, into a span of days.

A phrase is one period (「2025年6月」「昨年の夏」「先週」「1月10日」), a length of time up to the
last month with data or to today (「直近3か月」「直近7日」) or up to a named period
(「先月までの3か月」), or a range of two periods joined by から, 〜 or -, of which one may be
missing. A start without a year is the latest that has begun; an end without a year follows its
start, over New Year if necessary. What has only a start (「6月から」「今年に入ってから」) ends
today. English forms (``last month``, ``Q3 2025``) mean the same as the Japanese ones.
"""

from __future__ import annotations

import calendar
import difflib
import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date, timedelta

from mdvec.dates.day_words import days_in, parse_day_words
from mdvec.dates.english import normalised
from mdvec.dates.month_words import PeriodContext, is_counted, months_in, parse_months
from mdvec.dates.months import ONE_DAY, Days, Month, MonthRange
from mdvec.dates.recurring import RecurringDays

MAX_LENGTH = 60
_TIME = re.compile(r"(?<=[0-9])[T \u3000]+[0-9]{1,2}:.*$", re.IGNORECASE)
_EDGE = re.compile(
    r"^(?:since|from|until|till)\b|(?:から|以降|以後|まで|以前|より)$", re.IGNORECASE
)
_BETWEEN = re.compile(r"から|より|to|\.{2,3}|[~〜‐–—―→⇒−ー-]")
_TO_DATE = {
    "年初来": "今年", "年初": "今年", "月初来": "今月", "月初": "今月", "年度初来": "今年度",
    "年度初め": "今年度", "年明け": "今年", "年頭": "今年", "今年頭": "今年",
    "期初来": "今年度", "週初来": "今週",
}  # fmt: skip
_SO_FAR = re.compile(
    r"(?P<period>.+?)(?:(?:が?始まって|に入って|になって|入って|初め|以来)から|に入って|初来|これまで|ここまで|今まで|現在まで"
    r"|(?:から|~|〜|-)(?:今|今日|本日|現在)(?:まで)?)"
)
_LENGTH = r"(?P<length>(?:[0-9]{1,4}(?:か月|日|週|年半?)|半年)間?)"
_ENDING = re.compile(rf"(?P<last>.+?)まで(?:直近|過去)?{_LENGTH}")
_STARTING = re.compile(rf"(?P<first>.+?)から(?![0-9]+日$){_LENGTH}")  # not 1月10日から20日
_WITHOUT = re.compile(
    r"[(、,]*(?P<out>今月|今週|今日|本日)(?:を?除(?:く|いた|いて|き)|以外|抜き|を?含まない)[)、,]*"
)
_PAYDAY = re.compile(
    r"(?P<month>先々月|先月|今月|前回|直近)?給料日(?P<since>(?:から|以降|以後|後|~|〜)$)?"
    r"(?:(?:から|~|〜|-)(?:次|次回|今回|今月|来月|翌月)?給料日(?:前日)?(?:まで)?)?"
)
_PAYDAYS_AGO = {"今月": 0, "先月": 1, "先々月": 2}


@dataclass(frozen=True, slots=True)
class Spoken:
    """The days that a phrase names.

    ``swapped``: the two ends of a range were in the wrong order. ``counted``: it was counted back
    from the last month with data.
    """

    days: Days
    swapped: bool = False
    counted: bool = False


def parse_period(said: str, context: PeriodContext) -> Spoken | None:
    """The days that a phrase names; None if it is not understood."""
    if len(said) > MAX_LENGTH:
        return None
    text = normalised(said)
    try:
        return _whole(text, context)
    except (ValueError, OverflowError):  # 31 June, a day before year 1
        return None


def parse_end(said: str, context: PeriodContext) -> Days | RecurringDays | None:
    """One end of a range: a period with or without its year; None if it is not understood."""
    if len(said) > MAX_LENGTH:
        return None
    try:
        return _unit(normalised(said), context)
    except (ValueError, OverflowError):
        return None


def parse_days(said: str, today: date) -> Days | None:
    """The days that a phrase names, for one end of a filter; None if it is not understood.

    Months are calendar months. A time of day and a から or まで are ignored.
    """
    text = _EDGE.sub("", _TIME.sub("", said).strip())
    period = parse_period(text, PeriodContext(today, MonthRange(Month(1, 1), Month.of(today))))
    return None if period is None else period.days


def joined_days(
    first: Days | RecurringDays, last: Days | RecurringDays, context: PeriodContext
) -> tuple[Days, bool]:
    """The days from one end to the other, and whether they had to be swapped.

    Only ends with a year are swapped. A first end without a year is the latest that has begun by
    today, or by the last end if that has a year; a last end without a year is the next one that
    does not end before the first end does.
    """
    if isinstance(first, RecurringDays):
        first = first.latest(last.first if isinstance(last, Days) else context.today)
    if isinstance(last, RecurringDays):
        last = last.next(first.last)
    if last.last < first.first:
        return Days(last.first, first.last), True
    return Days(first.first, last.last), False


def fixed(period: Days | RecurringDays, context: PeriodContext) -> Days:
    """A period with its year: by default the latest that has begun."""
    return period if isinstance(period, Days) else period.latest(context.today)


def until_today(days: Days, context: PeriodContext) -> Days:
    """From the first of these days to today; the same days if they have not begun."""
    return Days(days.first, context.today) if days.first <= context.today else days


def _unit(text: str, context: PeriodContext) -> Days | RecurringDays | None:
    period = parse_months(text, context) or parse_day_words(text, context)
    if period is None and text.endswith("日週"):  # 6月15日の週
        day = _unit(text.removesuffix("週"), context)
        return None if day is None else Days.week_of(fixed(day, context).first)
    return period


def _whole(text: str, context: PeriodContext) -> Spoken | None:
    if (without := _without_current(text, context)) is not None:
        return without
    if (period := _unit(text, context)) is not None:
        return Spoken(fixed(period, context), counted=is_counted(text))
    days = _payday(text, context) or _so_far(text, context) or _of_length(text, context)
    if days is not None:
        return Spoken(days)
    for left, right in _halves(re.sub(r"(まで|まで間|にかけて)$", "", text)):
        first, last = _unit(left, context), _unit(right, context)
        if first is not None and last is not None:
            return Spoken(*joined_days(first, last, context))
    days = _adjacent(text, context) or _open_ended(text, context)
    return None if days is None else Spoken(days)


def _adjacent(text: str, context: PeriodContext) -> Days | None:
    """「先月と今月」: two periods of which one follows the other at once."""
    left, mark, right = text.partition("と")
    first, last = (_unit(left, context), _unit(right, context)) if mark else (None, None)
    if first is None or last is None:
        return None
    days, _ = joined_days(first, last, context)
    parts = sorted((fixed(first, context), fixed(last, context)), key=lambda part: part.first)
    return days if parts[0].last + ONE_DAY == parts[1].first else None


def _without_current(text: str, context: PeriodContext) -> Spoken | None:
    """「今月を除く直近3か月」: a length of time up to the day before the current month or day."""
    match = _WITHOUT.search(text)
    if match is None:
        return None
    length = text[: match.start()] + text[match.end() :]
    left_out = fixed(_unit(match["out"], context) or Days.one(context.today), context)
    last = left_out.first - ONE_DAY
    if (count := months_in(length)) and match["out"] == "今月":
        end = min(context.available.last, context.now.plus(-1))
        months = MonthRange(end.plus(1 - count), end)
        return Spoken(months.days, counted=end < context.now.plus(-1))
    days = _ending(last, length, context)
    return None if days is None else Spoken(days)


def _payday(text: str, context: PeriodContext) -> Days | None:
    """From payday, the day on which months start, to today or to the day before the next one.

    The latest payday, unless one of a calendar month is named.
    """
    match = _PAYDAY.fullmatch(text)
    if match is None or context.starts_on == 1:
        return None
    month = context.now
    if (ago := _PAYDAYS_AGO.get(match["month"])) is not None:
        today = context.today  # the month that begins in June is July
        month = Month(today.year, today.month, context.starts_on).plus(1 - ago)
    if match["since"]:
        return until_today(month.days, context)
    return (
        Days.one(month.first_day) if text.endswith("給料日") and "から" not in text else month.days
    )


def _so_far(text: str, context: PeriodContext) -> Days | None:
    """「今年に入ってから」「年初来」「6月から今日まで」: from a period's first day to today."""
    bare = text.removesuffix("から") if text.endswith("から") else text
    if bare in _TO_DATE and (bare != text or bare.endswith("来")):
        text = f"{_TO_DATE[bare]}これまで"
    match = _SO_FAR.fullmatch(text)
    period = None if match is None else _unit(match["period"], context)
    return None if period is None else until_today(fixed(period, context), context)


def _of_length(text: str, context: PeriodContext) -> Days | None:
    """A length of time to or from a period: 「先月までの3か月」「1月10日から1週間」."""
    if match := _ENDING.fullmatch(text):
        period = _unit(match["last"], context)
        if period is not None:
            return _ending(fixed(period, context).last, match["length"], context)
    if match := _STARTING.fullmatch(text):
        period = _unit(match["first"], context)
        if period is not None:
            return _starting(fixed(period, context).first, match["length"], context)
    return None


def _ending(last: date, length: str, context: PeriodContext) -> Days | None:
    if count := months_in(length):
        month = Month.of(last, context.starts_on)
        if last == month.last_day:
            return MonthRange(month.plus(1 - count), month).days
        return Days(_months_later(last, -count) + ONE_DAY, last)
    count = _day_count(length)
    return Days(last - timedelta(days=count - 1), last) if count else None


def _starting(first: date, length: str, context: PeriodContext) -> Days | None:
    if count := months_in(length):
        month = Month.of(first, context.starts_on)
        if first == month.first_day:
            return MonthRange(month, month.plus(count - 1)).days
        return Days(first, _months_later(first, count) - ONE_DAY)
    count = _day_count(length)
    return Days(first, first + timedelta(days=count - 1)) if count else None


def _day_count(length: str) -> int | None:
    return days_in(length if length.endswith("間") else f"{length}間")


def _months_later(day: date, count: int) -> date:
    """The same day ``count`` months later, or the last of a month that is too short."""
    month = Month.of(day).plus(count)
    length = calendar.monthrange(month.year, month.month)[1]
    return date(month.year, month.month, min(day.day, length))


def _open_ended(text: str, context: PeriodContext) -> Days | None:
    if match := re.fullmatch(r"(.+?)(?:から|以降|以後|以来|[~〜])", text):
        period = _unit(match[1], context)
        return None if period is None else until_today(fixed(period, context), context)
    if match := re.fullmatch(r"[~〜]?(.+?)(?:まで|以前)?", text):
        period = _unit(match[1], context)
        if period is not None:
            days = fixed(period, context)
            return Days(min(days.first, context.available.first.first_day), days.last)
    return None


def _halves(text: str) -> Iterator[tuple[str, str]]:
    """Splits a range at every possible separator, adding a 月 or 日 that one side implies."""
    for mark in _BETWEEN.finditer(text):
        left, right = text[: mark.start()], text[mark.end() :]
        if re.fullmatch(r"[0-9]{1,2}", right):  # 2025/06-08, 1/10-20, 6月15-20
            names_day = re.search(r"日$|[0-9]月[0-9]+$|(?<![0-9/.])[0-9]{1,2}/[0-9]+$", left)
            right += "日" if names_day else "月"
        yield left, right
        if left[-1:].isdigit() and right.endswith(("月", "日")):  # 2025年6-8月, 6月15-20日
            yield left + right[-1], right


KNOWN = (
    "今月", "先月", "先々月", "今年", "去年", "一昨年", "今年度", "昨年度", "2025年度",
    "2025年度上半期", "2025年6月", "令和7年6月", "令和7年", "2025年", "2025年上半期",
    "2025年第3四半期", "今四半期", "前四半期", "昨年の夏", "昨冬", "今年の夏", "昨年同月",
    "昨年6月", "2年前の6月", "1年前", "半年前", "半年前から", "3か月前", "直近3か月", "直近半年",
    "直近1年", "先月までの3か月", "今月を除く直近3か月", "今年に入ってから", "年初来", "全期間",
    "2025年6月〜8月", "6月から8月", "6月から", "2025年6月まで", "今日", "昨日", "一昨日", "今週",
    "先週", "先々週", "今週末", "先週末", "先週の金曜日", "直近7日", "直近2週間", "1月10日",
    "2025年1月10日", "1月10日〜1月20日", "1月10日から1週間", "6月上旬", "先月末", "年末年始",
    "GW", "お盆", "給料日から給料日まで",
)  # fmt: skip
"""Phrases that the grammar knows, each as an example of its kind."""
KNOWN_IN_ENGLISH = (
    "last month", "this month", "last year", "this year", "this year so far", "last week",
    "yesterday", "past 3 months", "last quarter", "Q3 2025", "June 2025", "first half of 2025",
    "last winter", "summer 2025",
)  # fmt: skip
"""The same in English."""
_MIN_LIKENESS = 0.34


def nearest_known(said: str) -> str | None:
    """The known phrase that is spelled most like this one, in its language; None if none is."""
    if said.isascii():
        matches = difflib.get_close_matches(
            said.casefold(), KNOWN_IN_ENGLISH, n=1, cutoff=_MIN_LIKENESS
        )
        return matches[0] if matches else None
    spellings = {normalised(known): known for known in KNOWN}
    matches = difflib.get_close_matches(normalised(said), spellings, n=1, cutoff=_MIN_LIKENESS)
    return spellings[matches[0]] if matches else None
