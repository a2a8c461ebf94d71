"""The words for days that come each year: 「6月15日」「6月上旬」「年末年始」「GW」「お盆」."""

from __future__ import annotations

import calendar
import re
from collections.abc import Callable
from datetime import date

from mdvec.dates.months import Days
from mdvec.dates.recurring import Yearly, yearly

_MONTH_AND_DAY = re.compile(r"(?P<m>[0-9]{1,2})(?:月(?P<d>[0-9]{1,2})日|/(?P<slash>[0-9]{1,2}))")
_PART_OF_MONTH = re.compile(
    r"(?P<month>[0-9]{1,2})月(?P<part>上旬|中旬|下旬|前半|後半|末日?|初日|月末)"
)


def _between(first: tuple[int, int], last: tuple[int, int]) -> Yearly:
    """Each year's days from one to the other, each as month and day; maybe over New Year."""
    return yearly(
        first[0], lambda year: Days(date(year, *first), date(year + (last < first), *last))
    )


def _golden_week(year: int) -> Days:
    """From 4/29 to 5/5, or to 5/6 if one of its last three holidays is on a Sunday."""
    on_sunday = any(date(year, 5, day).weekday() == calendar.SUNDAY for day in (3, 4, 5))
    return Days(date(year, 4, 29), date(year, 5, 6 if on_sunday else 5))


_NAMED = {
    "gw": yearly(4, _golden_week),
    **dict.fromkeys(("お盆", "盆", "盆休み", "お盆休み"), _between((8, 13), (8, 16))),
    "年末年始": _between((12, 29), (1, 3)),
    "年末": _between((12, 29), (12, 31)),
    **dict.fromkeys(("年始", "正月", "お正月", "さんがにち"), _between((1, 1), (1, 3))),
    **dict.fromkeys(("大晦日", "大みそか", "おおみそか"), _between((12, 31), (12, 31))),
    **dict.fromkeys(("元日", "元旦"), _between((1, 1), (1, 1))),
    "クリスマス": _between((12, 24), (12, 25)),
}


def yearly_days(text: str) -> Yearly | None:
    """Parses days of a year, without the year; None if the text names none."""
    if text in _NAMED:
        return _NAMED[text]
    if match := _MONTH_AND_DAY.fullmatch(text):
        month, day = int(match["m"]), int(match["d"] or match["slash"])
        return _checked(month, lambda year: Days.one(date(year, month, day)))
    if match := _PART_OF_MONTH.fullmatch(text):
        month, part = int(match["month"]), match["part"]
        return _checked(month, lambda year: part_of_month(year, month, part))
    return None


def part_of_month(year: int, month: int, part: str) -> Days:
    """The first, middle or last ten days of a calendar month, a half of it, or its last day."""
    end = calendar.monthrange(year, month)[1]
    first, last = {
        "上旬": (1, 10), "中旬": (11, 20), "下旬": (21, end), "前半": (1, 15), "後半": (16, end),
        "初日": (1, 1),
    }.get(part, (end, end))  # fmt: skip
    return Days(date(year, month, first), date(year, month, last))


def _checked(month: int, of: Callable[[int], Days]) -> Yearly | None:
    return yearly(month, of) if 1 <= month <= 12 else None
