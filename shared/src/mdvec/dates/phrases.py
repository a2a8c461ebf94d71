"""Normalises and parses phrases that name a period, in Japanese and English."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from datetime import date, timedelta
from typing import Literal

from mdvec.dates.months import ENGLISH_MONTH, Days, Month, MonthRange, month_named, year_of_era
from mdvec.errors import MdvecError

_MONTH = rf"\b(?P<month>{ENGLISH_MONTH})\b\.?"
_DAY = r"(?P<day>\d{1,2})(?:st|nd|rd|th)?\b"
_YYYY = r"(?P<year>\d{4})\b"
_DATES = tuple(
    re.compile(form)
    for form in (
        rf"{_MONTH} {_DAY},? {_YYYY}", rf"\b{_DAY} {_MONTH},? {_YYYY}", rf"{_MONTH}[ ,-]+{_YYYY}",
        rf"{_MONTH} {_DAY}", rf"\b{_DAY} {_MONTH}", _MONTH,
    )
)  # fmt: skip
_NUMBERS = ("one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
_UNITS = {
    "day": "日", "week": "週間", "month": "か月", "year": "年", "weekend": "週末", "quarter": "q",
}  # fmt: skip
_NAMES = {"spring": "春", "summer": "夏", "autumn": "秋", "fall": "秋", "golden week": "gw"}
_ENGLISH_WEEKDAYS = {
    "monday": "月", "tuesday": "火", "wednesday": "水", "thursday": "木", "friday": "金",
    "saturday": "土", "sunday": "日",
}  # fmt: skip
_WHEN = {"last": "先", "previous": "前", "this": "今", "next": "来"}
_YEARS = {"last": "昨年", "previous": "前年", "this": "今年", "next": "来年"}
_WORDS = (
    (r"\b(?:the|in|of|for|during) ", ""),
    (r"same month 昨年", "前年同月"), (r"year to date|ytd|this year so far", "年初来"),
    (r"day before yesterday", "おととい"), (r"yesterday", "昨日"), (r"\btoday", "今日"),
    (r"all time", "全期間"), (r"\bfiscal year (?=\d{4})", "fy"),
    (r"\bh1|\bfirst half", "上半期"), (r"\bh2|\bsecond half", "下半期"),
    (r"(q[1-4]|[上下]半期|[春夏秋]|gw) (fy\d{4}|\d{4})$", r"\2\1"),
    (r"^(\d{4})[ -](?=q[1-4]$)", r"\1年"), (r"^(\d{4})(?=[上下春夏秋q]|gw)", r"\1年"),
    (r"^from (.+) to (.+)$", r"\1から\2"), (r"^(.+) (?:to|through) (.+)$", r"\1から\2"),
    (r"^since (.+)$", r"\1から"), (r"^until (.+)$", r"\1まで"),
)  # fmt: skip
_SPELLINGS = (
    ("一昨年", "おととし"), ("一昨日", "おととい"), ("元年", "1年"), ("前々", "先々"),
    ("四半期", "q"), ("ゴールデンウィーク", "gw"), ("お正月", "正月"), ("この", "ここ"),
)  # fmt: skip
_KANJI = {kanji: str(digit) for digit, kanji in enumerate("〇一二三四五六七八九")}
_OUR_DAYS = re.compile(r"\([0-9/]+[〜~][0-9/]+\)$")
"""The days in parentheses that answers add to months that do not start on the 1st."""
_ENDING = re.compile(r"(?:(?<=[年月])分|(?<=[年月週])中|[。?])$")
_MAX_LENGTH = 60
_TIME = re.compile(r"(?<=[0-9])[T \u3000]+[0-9]{1,2}:.*$", re.IGNORECASE)
_EDGE = re.compile(r"^(?:since|from|until|till)\b|(?:から|以降|まで)$", re.IGNORECASE)
_DAYS_AGO = {"今日": 0, "本日": 0, "昨日": 1, "前日": 1, "おととい": 2, "明日": -1}
_WEEKS_AGO = {"今週": 0, "先週": 1, "前週": 1, "先々週": 2, "来週": -1}
_MONTHS_AGO = {"今月": 0, "当月": 0, "先月": 1, "前月": 1, "先々月": 2, "来月": -1}
_QUARTERS_AGO = {"今q": 0, "当q": 0, "先q": 1, "前q": 1}
_YEARS_AGO = {
    "今年": 0, "本年": 0, "当年": 0, "去年": 1, "昨年": 1, "前年": 1, "おととし": 2,
    "来年": -1,
}  # fmt: skip
_SEASONS = {"春": 3, "夏": 6, "秋": 9, "冬": 12}
_HALVES = {"上半期": 0, "上期": 0, "下半期": 6, "下期": 6}
_YEARS_AROUND = 9
"""Years searched in either direction: the next 29 February may be eight years away around 2100."""
Grain = Literal["day", "week", "month", "part", "year", "fiscal year", "length"]
OfYear = Callable[[int], Days]
_DATES_JOINED = re.compile(
    r"^([0-9]{4}-w?[0-9]{1,2}(?:-[0-9]{1,2})?)[-/]([0-9]{4}-[0-9w-]+)$"
    r"|^([0-9]{1,4}/[0-9/]+)-([0-9]{1,4}/[0-9/]+)$"
)
_ERA_DATE = re.compile(r"(令和|平成|昭和|r|h|s)(0?[1-9]|[1-9][0-9])(?=[-/.])")
_BARE_YEARS = range(1300, 2200)
"""Numbers that are years even without 年: 1015 may be a day in October, 250601 a day in 2025."""
_ISO_WEEK = re.compile(r"([0-9]{4})-?w([0-9]{2})(?:-?([1-7]))?")
_YEAR = re.compile(
    rf"(?:(?P<year>[0-9]{{4}})(?:年|$)|fy(?P<fy>[0-9]{{4}})|(?P<word>{'|'.join(_YEARS_AGO)})"
    r"|(?P<era>令和|平成|昭和|r|h|s)(?P<count>0?[1-9]|[1-9][0-9])年|(?P<ago>[0-9]{1,2})年前(?=.))"
    r"(?P<fiscal>度)?"
)


def normalised(phrase: str) -> str:
    """A phrase in the spelling that the grammar expects; English becomes Japanese."""
    text = " ".join(unicodedata.normalize("NFKC", phrase).casefold().split())
    if re.search(r"[a-z]{2}|q[1-4]|h[12] ", text):
        text = _english(text)
    for spelling, plain in _SPELLINGS:
        text = text.replace(spelling, plain)
    text = re.sub(r"[〇一二三四五六七八九十]+", _digits, "".join(text.split()))
    text = re.sub(r"(?<=[0-9])[かヵケけ箇個ヶカ]月", "か月", text)
    text = _OUR_DAYS.sub("", text.strip("「」"))
    return _ENDING.sub("", text.replace("の", ""))


def _digits(match: re.Match[str]) -> str:
    kanji = match[0]
    if split := re.fullmatch(r"([^十]?)十([^十]?)", kanji):
        tens, ones = split.groups()
        return _KANJI.get(tens, "1") + _KANJI.get(ones, "0")
    return "".join(_KANJI.get(sign, sign) for sign in kanji)


def _english(text: str) -> str:
    for written in _DATES:
        text = written.sub(_date, text)
    for name, japanese in _NAMES.items():
        text = re.sub(rf"\b{name}\b", japanese, text)
    for number, word in enumerate(_NUMBERS, 1):
        text = re.sub(rf"\b{word}(?= (?:day|week|month|year)s?\b)", str(number), text)
    unit = r"(day|week|month|year)s?\b"
    text = re.sub(rf"\b(\d+) {unit} ago", lambda m: f"{m[1]}{_UNITS[m[2]]}前", text)
    text = re.sub(rf"\b(?:last|past) (\d+) {unit}", lambda m: f"直近{m[1]}{_UNITS[m[2]]}", text)
    text = re.sub(rf"\bpast {unit}", lambda m: f"直近1{_UNITS[m[1]]}", text)
    text = re.sub(
        rf"\blast ({'|'.join(_ENGLISH_WEEKDAYS)})\b",
        lambda m: f"前回{_ENGLISH_WEEKDAYS[m[1]]}曜日",
        text,
    )
    when = rf"\b({'|'.join(_WHEN)}) "
    text = re.sub(
        rf"{when}(week(?:end)?|month|quarter)\b",
        lambda m: _WHEN[m[1]] + _UNITS[m[2]].replace("か月", "月").removesuffix("間"), text,
    )  # fmt: skip
    text = re.sub(
        rf"{when}(fiscal )?year\b(?! so)",
        lambda m: _YEARS[m[1]] + ("度" if m[2] else ""),
        text,
    )
    for form, japanese in _WORDS:
        text = re.sub(form, japanese, text)
    return text


def _date(match: re.Match[str]) -> str:
    parts = {"day": None, "year": None} | match.groupdict()
    year = f"{parts['year']}年" if parts["year"] else ""
    return f"{year}{month_named(match['month'])}月" + (f"{parts['day']}日" if parts["day"] else "")


_WEEKDAYS = "月火水木金土日"


@dataclass(frozen=True, slots=True)
class PeriodContext:
    """What relative phrases refer to: today, and the months with data."""

    today: date
    available: MonthRange

    @property
    def starts_on(self) -> int:
        """The day on which months start."""
        return self.available.first.starts_on

    @property
    def now(self) -> Month:
        """The month of today."""
        return Month.of(self.today, self.starts_on)


@dataclass(frozen=True, slots=True)
class Spoken:
    """The days that a phrase names.

    ``counted``: the days were counted back from the last month with data. ``is_all``: the phrase
    means all days.
    """

    days: Days
    counted: bool = False
    is_all: bool = False


class UnclearRange(MdvecError):
    """A range may mean several spans of days, which are in ``readings``."""

    def __init__(self, *readings: Days) -> None:
        super().__init__(f"{readings}")
        self.readings = readings


@dataclass(frozen=True, slots=True)
class Named:
    """What a phrase that is no range names: fixed ``days``, or days that recur in ``each`` year."""

    grain: Grain
    days: Days | None = None
    each: OfYear | None = None
    counted: bool = False

    def latest(self, not_after: date) -> Days:
        """The fixed days, or the latest recurring days that have begun by ``not_after``."""
        years = range(not_after.year + 1, not_after.year - _YEARS_AROUND, -1)
        return self.days or next(days for days in self._days_in(years) if days.first <= not_after)

    def next(self, not_before: date) -> Days:
        """The fixed days, or the first recurring days that end on ``not_before`` or later."""
        years = range(not_before.year - 1, not_before.year + _YEARS_AROUND)
        return self.days or next(days for days in self._days_in(years) if days.last >= not_before)

    def _days_in(self, years: range) -> Iterator[Days]:
        if self.each is None:
            return
        for year in years:
            with suppress(ValueError):  # no 29 February in that year, or no such year
                yield self.each(year)


def parse_period(phrase: str, context: PeriodContext) -> Spoken | None:
    """The days that a phrase names; None if the grammar does not cover it.

    Raises:
        UnclearRange: the phrase is a range with several likely readings.
    """
    if len(phrase) > _MAX_LENGTH:
        return None
    try:
        return _parse_whole(normalised(phrase), context)
    except (ValueError, OverflowError, StopIteration):  # 31 June, a day before year 1
        return None


def parse_dated(phrase: str, starts_on: int = 1) -> Days | None:
    """The days that a phrase names whatever today is; None if it depends on today."""
    readings = set()
    for now in (Month(1950, 2, starts_on), Month(2151, 3, starts_on)):
        try:
            spoken = parse_period(phrase, PeriodContext(now.first_day, MonthRange(now, now)))
        except UnclearRange:
            return None
        readings.add(None if spoken is None else spoken.days)
    return readings.pop() if len(readings) == 1 else None


def parse_days(phrase: str, today: date) -> Days | None:
    """The days that a phrase names, for one end of a filter; None if it is not understood.

    Months are calendar months. A time of day and a から or まで are ignored.
    """
    text = _EDGE.sub("", _TIME.sub("", phrase).strip())
    try:
        period = parse_period(text, PeriodContext(today, MonthRange(Month(1, 1), Month.of(today))))
    except UnclearRange:
        return None
    return None if period is None else period.days


def _parse_whole(text: str, context: PeriodContext) -> Spoken | None:
    if (period := _parse_named(text, context)) is not None:
        return Spoken(period.latest(context.today), counted=period.counted)
    if text in ("全期間", "すべて", "全て"):
        return Spoken(context.available.days, is_all=True)
    text = "今年から" if text == "年初来" else text
    if match := re.fullmatch(r"(.+?)(?:に入って)?(?:から(?:(?:今日|現在)まで)?|以降|[~〜])", text):
        start = _parse_end(match[1], context)
        if start is None:
            return None
        return Spoken(Days(start.first, context.today) if start.first <= context.today else start)
    if (found_range := _range(text.removesuffix("まで"), context)) is not None:
        return found_range
    if match := re.fullmatch(r"[~〜](.+)|(.+)まで", text):
        end = _parse_end(match[1] or match[2], context)
        first = context.available.first.first_day
        return None if end is None else Spoken(Days(min(end.first, first), end.last))
    return None


def _parse_end(text: str, context: PeriodContext) -> Days | None:
    """The days of one end of a range; None for a length such as 3か月."""
    named = _parse_named(text, context)
    return None if named is None or named.grain == "length" else named.latest(context.today)


def _range(text: str, context: PeriodContext) -> Spoken | None:
    """Two ends with から, 〜 or .. between them; a hyphen or slash only joins numbers: 6-8月."""
    text = re.sub(r"(?<![0-9-])([0-9]{1,2})-([0-9]{1,2})(?=[月日]$)", r"\1〜\2", text)
    text = _DATES_JOINED.sub(lambda both: "〜".join(filter(None, both.groups())), text)
    ends = re.split(r"から|[~〜\u2013]|\.{2,3}", text)
    if len(ends) != 2:
        return None
    left, right = ends
    if re.search(r"(?:^|[年月])[0-9]{1,2}$", left):
        left += right[-1:]
    if day := re.fullmatch(r"([0-9]{1,2})日", right):  # 6月15日から20日
        month = re.fullmatch(r"(.+月)([0-9]{1,2})日", left)
        if month is None or int(month[2]) > int(day[1]):
            return None
        right = month[1] + right
    first, last = _parse_named(left, context), _parse_named(right, context)
    return None if first is None or last is None else _from_to(first, last, context)


def _from_to(first: Named, last: Named, context: PeriodContext) -> Spoken | None:
    """The days from one end to the other; None if they cannot be the ends of one range.

    The last end must be a day, a month, or of the first end's grain: 2025年 does not end a range of
    months. A first end without a year is the latest that has begun by today, or by the last end if
    that has a year. A last end without a year is the next that does not end before the first end
    does; if it has not begun yet, the next that does not end before the first end begins
    (今年から10月). Ends in the wrong order are unclear. So is a range over New Year if neither end
    has a year and the last end has not begun: the range a year before may be meant.
    """
    if "length" in (first.grain, last.grain) or last.grain not in ("day", "month", first.grain):
        return None
    begin = first.latest(last.days.first if last.days else context.today)
    end = last.next(begin.last)
    if context.today < end.first:  # not begun yet, so it is within the first end's days
        end = last.next(begin.first)
    if end.last < begin.first:
        raise UnclearRange(Days(end.first, begin.last))
    is_stated = first.days or last.days
    if not is_stated and context.today < end.first and begin.last.year < end.last.year:
        before = first.latest(begin.first - timedelta(days=1))
        raise UnclearRange(
            Days(before.first, last.next(before.first).last), Days(begin.first, end.last)
        )
    return Spoken(Days(begin.first, end.last))


def _parse_named(text: str, context: PeriodContext) -> Named | None:
    weekday = _WEEKDAY.search(text)
    text = text[: weekday.start()] if weekday else text
    named = (
        _iso(text, context) or _relative(text, context) or _of_a_year(text, context)
        or _in_a_month(text, context) or _yearly(text, context.starts_on)
    )  # fmt: skip
    if weekday is None:
        return named
    days = named and named.days
    fits = days and days.first == days.last and _WEEKDAYS[days.first.weekday()] == weekday[1]
    return named if fits else None


_WEEKDAY = re.compile(rf"\(([{_WEEKDAYS}])(?:曜日?)?\)$")
"""A weekday after a day, which has to be the weekday of that day: 2025年6月1日(日)."""


def _iso(text: str, context: PeriodContext) -> Named | None:
    """2025-06-01, 2025/6/1, 20250601, 2025-06, 2025/6, 202506, R7.6, 2025-W23."""
    if week := _ISO_WEEK.fullmatch(text):
        at = date.fromisocalendar(int(week[1]), int(week[2]), int(week[3] or 1))
        return Named("day", Days.one(at)) if week[3] else Named("week", Days.week_of(at))
    text = _ERA_DATE.sub(lambda era: str(year_of_era(era[1], int(era[2]))), text, count=1)
    form = r"([0-9]{4})(?:([-/.])([0-9]{1,2})(?:\2([0-9]{1,2}))?|([0-9]{2})([0-9]{2})?)"
    match = re.fullmatch(form, text)
    if match is None or (match[5] and int(match[1]) not in _BARE_YEARS):
        return None
    year, month, day = int(match[1]), int(match[3] or match[5]), match[4] or match[6]
    if day:
        return Named("day", Days.one(date(year, month, int(day))))
    return Named("month", Month(year, month, context.starts_on).days)


def _relative(text: str, context: PeriodContext) -> Named | None:
    """今日, 先月, 前年同月, 前四半期, 最新, and 3か月前, 先週末, 直近3か月."""
    now = context.now
    if text in _MONTHS_AGO:
        return Named("month", now.plus(-_MONTHS_AGO[text]).days)
    if text in _DAYS_AGO:
        return Named("day", Days.one(context.today - timedelta(days=_DAYS_AGO[text])))
    if text in _QUARTERS_AGO:
        first = now.plus(-((now.month - 1) % 3) - 3 * _QUARTERS_AGO[text])
        return Named("part", _months(first, 3))
    if text == "最新":
        return Named("month", context.available.last.days, counted=True)
    if re.fullmatch(r"(?:前年|昨年|去年)(?:同月|同じ月)", text):
        return Named("month", now.plus(-12).days)
    return _parse_ago(text, context) or _of_a_week(text, context.today) or _recent(text, context)


def _parse_ago(text: str, context: PeriodContext) -> Named | None:
    match = re.fullmatch(r"([0-9]{1,4})(日|週間?|か月)前", text)
    if match is None:
        return None
    count = int(match[1])
    if match[2] == "か月":
        return Named("month", context.now.plus(-count).days)
    if match[2] == "日":
        return Named("day", Days.one(context.today - timedelta(days=count)))
    return Named("week", Days.week_of(context.today - timedelta(weeks=count)))


def _of_a_week(text: str, today: date) -> Named | None:
    """先週 (from Monday on), 先週末, 先週の金曜日; 前回金曜日 is the last Friday before today."""
    if match := re.fullmatch(r"前回([月火水木金土日])曜日", text):
        back = (today.weekday() - _WEEKDAYS.index(match[1]) - 1) % 7 + 1
        return Named("day", Days.one(today - timedelta(days=back)))
    match = re.fullmatch(r"(先々週|[今先前来]週)(?:(末)|([月火水木金土日])曜日?)?", text)
    if match is None:
        return None
    monday = Days.week_of(today).first - timedelta(weeks=_WEEKS_AGO[match[1]])
    if match[3]:
        return Named("day", Days.one(monday + timedelta(days=_WEEKDAYS.index(match[3]))))
    first = monday + timedelta(days=5 if match[2] else 0)
    return Named("week", Days(first, monday + timedelta(days=6)))


def _recent(text: str, context: PeriodContext) -> Named | None:
    """直近3か月 up to the last month with data, 直近7日 up to today."""
    form = r"(?:直近|過去|最近|ここ)(?:([1-9][0-9]{0,3})(日|週|か月|年)|半年)間?"
    match = re.fullmatch(form, text)
    if match is None:
        return None
    if match[2] in ("日", "週"):
        days = int(match[1]) * (7 if match[2] == "週" else 1)
        return Named("length", Days(context.today - timedelta(days=days - 1), context.today))
    last = context.available.last
    months = 6 if match[1] is None else int(match[1]) * (12 if match[2] == "年" else 1)
    return Named("length", _months(last.plus(1 - months), months), counted=True)


def _of_a_year(text: str, context: PeriodContext) -> Named | None:
    """2025年, 令和7年, 去年, 2025年度, FY2025, and months and parts of them."""
    match = _YEAR.match(text)
    if match is None:
        return None
    fiscal = bool(match["fiscal"] or match["fy"])
    year, rest = _year(match, context.now.plus(-3 if fiscal else 0).year), text[match.end() :]
    first = Month(year, 4 if fiscal else 1, context.starts_on)
    if match[0].isdigit() and year not in _BARE_YEARS:
        return None
    if not rest:
        return Named("fiscal year" if fiscal else "year", _months(first, 12))
    if part := re.fullmatch(rf"第?([1-4])q|q([1-4])|({'|'.join(_HALVES)})", rest):
        begin = first.plus(_HALVES[part[3]] if part[3] else int(part[1] or part[2]) * 3 - 3)
        return Named("part", _months(begin, 6 if part[3] else 3))
    yearly = _yearly(rest, context.starts_on)
    if yearly is None or yearly.each is None or (fiscal and yearly.grain != "month"):
        return None
    days = yearly.each(year)
    if fiscal and Month.of(days.last, context.starts_on) < first:
        days = yearly.each(year + 1)
    elif (match["word"] or match["ago"]) and days.last.year > year:
        return None  # 去年の冬 may have begun or ended in that year
    return Named(yearly.grain, days)


def _year(match: re.Match[str], this_year: int) -> int:
    if match["word"] or match["ago"]:
        return this_year - (_YEARS_AGO[match["word"]] if match["word"] else int(match["ago"]))
    if match["era"]:
        return year_of_era(match["era"], int(match["count"]))
    return int(match["year"] or match["fy"])


def _in_a_month(text: str, context: PeriodContext) -> Named | None:
    """先月25日: a day of a calendar month."""
    match = re.fullmatch(r"(先々月|[今当先前来]月)([0-9]{1,2})日", text)
    if match is None:
        return None
    month = Month.of(context.today).plus(-_MONTHS_AGO[match[1]]).first_day
    return Named("day", Days.one(month.replace(day=int(match[2]))))


def _yearly(text: str, starts_on: int) -> Named | None:
    """6月, 6月15日, 6/15, 夏, GW, お盆, 年末年始, 正月: in any year."""
    if match := re.fullmatch(r"([0-9]{1,2})月", text):
        month = int(match[1])
        return Named("month", each=lambda year: Month(year, month, starts_on).days)
    if text in _SEASONS:
        at = _SEASONS[text]
        return Named("part", each=lambda year: _months(Month(year, at, starts_on), 3))
    if match := re.fullmatch(r"([0-9]{1,2})(?:月([0-9]{1,2})日|/([0-9]{1,2}))", text):
        at, day = int(match[1]), int(match[2] or match[3])
        return Named("day", each=lambda year: Days.one(date(year, at, day)))
    return Named("day", each=_NAMED[text]) if text in _NAMED else None


def _months(first: Month, count: int) -> Days:
    return MonthRange(first, first.plus(count - 1)).days


def _golden_week(year: int) -> Days:
    """From 4/29 to 5/5, or to 5/6 if one of its last three holidays is on a Sunday."""
    on_sunday = any(date(year, 5, day).isoweekday() == 7 for day in (3, 4, 5))
    return Days(date(year, 4, 29), date(year, 5, 6 if on_sunday else 5))


_NAMED: dict[str, OfYear] = {
    "gw": _golden_week,
    "お盆": lambda year: Days(date(year, 8, 13), date(year, 8, 16)),
    "年末年始": lambda year: Days(date(year, 12, 29), date(year + 1, 1, 3)),
    "正月": lambda year: Days(date(year, 1, 1), date(year, 1, 3)),
}
