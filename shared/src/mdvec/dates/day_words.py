"""The words for days and weeks; dates and months in them are those of the calendar."""

from __future__ import annotations

import re
from datetime import date, timedelta

from mdvec.dates.month_words import PeriodContext, year_of_era
from mdvec.dates.months import Days, Month
from mdvec.dates.recurring import RecurringDays, monthly, weekly
from mdvec.dates.yearly_words import part_of_month, yearly_days

_DAYS_AGO = {
    "今日": 0, "本日": 0, "きょう": 0, "昨日": 1, "前日": 1, "おととい": 2, "さきおととい": 3,
    "明日": -1, "あした": -1, "あす": -1, "明後日": -2, "あさって": -2,
}  # fmt: skip
_WEEKS_AGO = {
    "今週": 0, "本週": 0, "当週": 0, "先週": 1, "前週": 1, "先々週": 2, "来週": -1, "翌週": -1,
}  # fmt: skip
_MONTHS_AGO = {"今月": 0, "当月": 0, "先月": 1, "前月": 1, "先々月": 2, "来月": -1}
_WEEKDAYS = "月火水木金土日"
_WEEK = rf"(?P<week>{'|'.join(_WEEKS_AGO)})"
_WEEKDAY = re.compile(rf"{_WEEK}?(?P<day>[{_WEEKDAYS}])曜日?")
_WEEKDAY_OF_WEEK = re.compile(rf"{_WEEK}(?P<day>[{_WEEKDAYS}])")
_WEEKEND = re.compile(r"(?P<week>先々|[今本当先前来翌])?(?:週末|週?土日)")
_AGO = re.compile(r"(?P<count>[0-9]{1,4})(?P<unit>日|週間?)前")
_COUNTED = re.compile(
    r"(?P<recent>直近|最近|過去|ここ)?(?P<count>[0-9]{1,4})(?P<unit>日|週)(?P<span>間)?"
)
_OF_A_MONTH = re.compile(
    rf"(?P<month>{'|'.join(_MONTHS_AGO)}|(?P<ago>[0-9]{{1,3}})か月前)"
    r"(?:(?P<day>[0-9]{1,2})日|(?P<part>上旬|中旬|下旬|前半|後半|末日?|初日|月末))"
)
_YEARS_AGO = re.compile(
    r"(?:(?P<word>昨年|去年|前年|おととし)|(?P<count>[0-9]{1,2})年前)(?:今日|本日|同日)"
)
_DAY_OF_MONTH = re.compile(r"([0-9]{1,2})日")
_ERA = r"(?P<era>令和|平成|昭和|r|h|s)(?P<of_era>[1-9][0-9]|0?[1-9])"
_DATE = re.compile(
    rf"(?:(?P<year>[0-9]{{4}})|'(?P<short>[0-9]{{2}})|{_ERA})(?P<mark>[-/.])(?P<month>[0-9]{{1,2}})"
    r"(?P=mark)(?P<day>[0-9]{1,2})"
)
_PACKED = re.compile(r"((?:19|20|21)[0-9]{2})([01][0-9])([0-3][0-9])")


def parse_day_words(text: str, context: PeriodContext) -> Days | RecurringDays | None:
    """Parses days or a week, normalised; None if the text is not one.

    Weeks begin on Monday. The last days or weeks (「直近7日」) end today.

    Raises:
        ValueError: there is no such day.
    """
    return _date(text) or _relative(text, context.today) or yearly_days(text) or _of_month(text)


def days_in(text: str) -> int | None:
    """The number of days of a length such as 「直近7日」「2週間」; None if the text is not one."""
    match = _COUNTED.fullmatch(text)
    if match is None or not (match["recent"] or match["span"]):
        return None
    return int(match["count"]) * (7 if match["unit"] == "週" else 1)


def _date(text: str) -> Days | None:
    if match := _PACKED.fullmatch(text):
        return Days.one(date(*map(int, match.groups())))
    match = _DATE.fullmatch(text)
    if match is None:
        return None
    if match["era"]:
        year = year_of_era(match["era"], int(match["of_era"]))
    else:
        year = int(match["year"]) if match["year"] else 2000 + int(match["short"])
    return Days.one(date(year, int(match["month"]), int(match["day"])))


def _relative(text: str, today: date) -> Days | RecurringDays | None:
    if text in _DAYS_AGO:
        return Days.one(today - timedelta(days=_DAYS_AGO[text]))
    if text in _WEEKS_AGO:
        return _week(text, today)
    if match := _AGO.fullmatch(text):
        count = int(match["count"])
        if match["unit"] == "日":
            return Days.one(today - timedelta(days=count))
        return Days.week_of(today - timedelta(weeks=count))
    if length := days_in(text):
        return Days(today - timedelta(days=length - 1), today)
    if match := _YEARS_AGO.fullmatch(text):
        years = int(match["count"] or (2 if match["word"] == "おととし" else 1))
        return Days.one(today.replace(year=today.year - years))
    if match := _OF_A_MONTH.fullmatch(text):
        return _in_month(match, today)
    return _weekday(text, today)


def _week(word: str, today: date) -> Days:
    return Days.week_of(today - timedelta(weeks=_WEEKS_AGO[word]))


def _weekday(text: str, today: date) -> Days | RecurringDays | None:
    if match := _WEEKEND.fullmatch(text):
        if match["week"] is None:
            return weekly(_WEEKDAYS.index("土"), 2)
        week = _week(f"{match['week']}週", today)
        return Days(week.last - timedelta(days=1), week.last)
    match = _WEEKDAY.fullmatch(text) or _WEEKDAY_OF_WEEK.fullmatch(text)
    if match is None:
        return None
    number = _WEEKDAYS.index(match["day"])
    if match["week"] is None:
        return weekly(number)
    return Days.one(_week(match["week"], today).first + timedelta(days=number))


def _in_month(match: re.Match[str], today: date) -> Days:
    ago = int(match["ago"]) if match["ago"] else _MONTHS_AGO[match["month"]]
    month = Month.of(today).plus(-ago)
    if match["day"]:
        return Days.one(date(month.year, month.month, int(match["day"])))
    return part_of_month(month.year, month.month, match["part"])


def _of_month(text: str) -> RecurringDays | None:
    if match := _DAY_OF_MONTH.fullmatch(text):
        day = int(match[1])
        return monthly(lambda month: Days.one(date(month.year, month.month, day)))
    return None
