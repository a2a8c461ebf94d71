"""Parses phrases for a day, a week, a month or a longer period into a span of days.

Understands ISO forms (2025-06-01, 2025-06, 2025), Japanese ones (「2025年6月1日」「先週」「昨日」
「3日前」, and all months and years of ``spoken``) and simple English ones (yesterday, last week,
3 days ago).
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import date, timedelta

from mdvec.dates.months import Month, MonthRange
from mdvec.dates.spoken import PeriodContext, Yearless, normalised, parse_unit, year_of_era

_MAX_LENGTH = 60
_DAYS_AGO = {
    "今日": 0, "本日": 0, "きょう": 0, "today": 0,
    "昨日": 1, "きのう": 1, "前日": 1, "yesterday": 1,
    "一昨日": 2, "おととい": 2, "昨々日": 2,
    "明日": -1, "あした": -1, "あす": -1, "tomorrow": -1,
}  # fmt: skip
_WEEKS_AGO = {
    "今週": 0, "本週": 0, "当週": 0, "thisweek": 0,
    "先週": 1, "前週": 1, "lastweek": 1,
    "先々週": 2, "前々週": 2, "先先週": 2,
    "来週": -1, "翌週": -1, "nextweek": -1,
}  # fmt: skip
_ENGLISH = {
    "thismonth": "今月", "lastmonth": "先月", "thisyear": "今年", "lastyear": "昨年",
}  # fmt: skip
_UNITS = {
    "日": "day", "day": "day", "週": "week", "週間": "week", "week": "week",
    "か月": "month", "month": "month", "年": "year", "year": "year",
}  # fmt: skip
_COUNT = r"(?P<count>[0-9]{1,4})(?P<unit>日|週間?|か月|年|days?|weeks?|months?|years?)"
_AGO = re.compile(rf"{_COUNT}(?:前|ago)")
_LATEST = re.compile(rf"(?:直近|最近|過去|ここ|last|past){_COUNT}間?")
_ERA = r"(?P<era>令和|平成|昭和|r|h|s)(?P<of_era>[0-9]{1,2})"
_DAY = re.compile(
    r"(?P<year>[0-9]{4})(?P<mark>[-/.])(?P<month>[0-9]{1,2})(?P=mark)(?P<day>[0-9]{1,2})"
    r"(?:\(.*)?"
    r"|(?P<packed>(?:19|20|21)[0-9]{2}[01][0-9][0-3][0-9])"
)
_DAY_IN_JAPANESE = re.compile(
    rf"(?:(?P<year>[0-9]{{4}})年|{_ERA}年)?(?P<month>[0-9]{{1,2}})月(?P<day>[0-9]{{1,2}})日"
)
_TIME = re.compile(r"(?<=[0-9])[T \u3000]+[0-9]{1,2}:.*$", re.IGNORECASE)
_EDGE = re.compile(r"^since|^from|^until|^till|(?:から|以降|以後|まで|以前|より)$")


@dataclass(frozen=True, slots=True)
class Days:
    """A span of days, from ``first`` to ``last``, both included."""

    first: date
    last: date


def parse_days(said: str, today: date) -> Days | None:
    """The days that a phrase names, relative to ``today``; None if it is not understood.

    A day or month without a year means the latest one that has begun. Weeks begin on Monday. The
    last days or weeks (「直近7日」) end today.
    """
    if len(said) > _MAX_LENGTH:
        return None
    written = "".join(_TIME.sub("", said).split()).casefold()
    if "一昨日" in written:  # "一" would be read as a digit
        written = written.replace("一昨日", "おととい")
    text = _EDGE.sub("", normalised(written))
    try:
        return _day(text, today) or _relative(text, today) or _months(text, today)
    except (ValueError, OverflowError):  # 31 June, a day before year 1
        return None


def _day(text: str, today: date) -> Days | None:
    if match := _DAY.fullmatch(text):
        if packed := match["packed"]:
            return _one(date(int(packed[:4]), int(packed[4:6]), int(packed[6:])))
        return _one(date(int(match["year"]), int(match["month"]), int(match["day"])))
    if match := _DAY_IN_JAPANESE.fullmatch(text):
        month, day = int(match["month"]), int(match["day"])
        if match["year"]:
            return _one(date(int(match["year"]), month, day))
        if match["era"]:
            return _one(date(year_of_era(match["era"], int(match["of_era"])), month, day))
        return _one(_latest(month, day, today))
    return None


def _latest(month: int, day: int, today: date) -> date:
    """The latest such date up to today; for 29 February it may be up to eight years ago."""
    for year in range(today.year, today.year - 9, -1):
        try:
            found = date(year, month, day)
        except ValueError:
            continue
        if found <= today:
            return found
    raise ValueError(f"there is no day {month}-{day}")


def _relative(text: str, today: date) -> Days | None:
    if text in _DAYS_AGO:
        return _one(today - timedelta(days=_DAYS_AGO[text]))
    if text in _WEEKS_AGO:
        return _week(today - timedelta(weeks=_WEEKS_AGO[text]))
    if match := _AGO.fullmatch(text):
        return _ago(int(match["count"]), _unit(match["unit"]), today)
    if match := _LATEST.fullmatch(text):
        count, unit = int(match["count"]), _unit(match["unit"])
        if unit in ("day", "week"):
            return Days(today - timedelta(days=count * (7 if unit == "week" else 1) - 1), today)
    return None


def _ago(count: int, unit: str, today: date) -> Days:
    """The day, week, month or year that is ``count`` units before today's."""
    match unit:
        case "day":
            return _one(today - timedelta(days=count))
        case "week":
            return _week(today - timedelta(weeks=count))
        case "month":
            month = Month.of(today).plus(-count)
            return _in_months(MonthRange(month, month))
        case _:
            year = today.year - count
            return _in_months(MonthRange(Month(year, 1), Month(year, 12)))


def _months(text: str, today: date) -> Days | None:
    now = Month.of(today)
    found = parse_unit(_ENGLISH.get(text, text), PeriodContext(now, MonthRange(Month(1, 1), now)))
    if isinstance(found, Yearless):
        found = found.latest(now)
    return None if found is None else _in_months(found)


def _in_months(months: MonthRange) -> Days:
    return Days(date(months.first.year, months.first.month, 1), months.last.last_day)


def _week(day: date) -> Days:
    monday = day - timedelta(days=day.weekday())
    return Days(monday, monday + timedelta(days=6))


def _one(day: date) -> Days:
    return Days(day, day)


def _unit(said: str) -> str:
    return _UNITS.get(said) or _UNITS[said.removesuffix("s")]
