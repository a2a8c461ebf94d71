"""Periods in file names, and which files of a group may repeat the rows of others."""

from __future__ import annotations

import re
from bisect import bisect_left, insort
from collections.abc import Iterable
from datetime import date

from mdvec.dates import Days, Month, year_of_era
from mdvec.files import split_ending

_YEAR = r"(?:(?:19|20)\d{2}|(?:明治|大正|昭和|平成|令和)(?:\d{1,2}|元))"
_DATE = rf"{_YEAR}(?:[-_.年]?(?:[01]?\d月?(?:[-_.]?[0-3]?\d日?)?|[qQ][1-4])|年度?)?"
_TIME = r"[-_T ][0-2]\d[-:]?[0-5]\d(?:[-:]?[0-5]\d)?"
DATES = re.compile(rf"(?<!\d)({_DATE})(?:[-_~〜 ]{{1,3}}({_DATE})|{_TIME})?(?!\d)")
"""A date in a name, perhaps with a second one as the end of a period."""
_PARTS = re.compile(
    rf"(?P<year>{_YEAR})(?:[-_.年]?"
    r"(?:(?P<month>[01]?\d)(?P<between>月?[-_.]?)(?:(?P<day>[0-3]?\d)日?)?"
    r"|[qQ](?P<quarter>[1-4]))|年(?P<fiscal>度)?)?"
)
_FISCAL_MONTH = 4


def overlapping(paths: Iterable[str]) -> dict[str, list[str]]:
    """By path, the other files with days of the file at that path, judging by the dates in names.

    They may hold the same rows, which a sum over all files would count twice. Several files of one
    and the same day do not overlap, nor do periods that share only an end and a start.
    """
    dated = [(path, days) for path in sorted(paths) if (days := _days_of(path))]
    dated.sort(key=lambda each: each[1].last - each[1].first)
    disjoint: list[tuple[date, date, str]] = []  # their last days are in order, too
    overlaps: dict[str, list[str]] = {}
    for path, days in dated:
        first, last = days.first, days.last
        others: list[str] = []
        at = bisect_left(disjoint, first, key=lambda each: each[1])
        for start, end, other in disjoint[at:]:
            if start > last:
                break
            is_within = first <= start and end <= last and first != last
            if is_within or min(end, last) > max(start, first):
                others.append(other)
        if others:
            overlaps[path] = others
        else:
            insort(disjoint, (first, last, path))
    return overlaps


def _days_of(path: str) -> Days | None:
    """The days of the last date, or dates, in a file's name."""
    dates = DATES.findall(split_ending(path.rpartition("/")[2])[0])
    if not dates:
        return None
    start, end = dates[-1]
    try:
        return Days(_days(start).first, _days(end or start).last)
    except ValueError:  # such as month 13, or an end before the start
        return None


def _days(text: str) -> Days:
    """The days of a year, quarter, month or day.

    Raises:
        ValueError: the text names no valid period.
    """
    match = _PARTS.fullmatch(text)
    if match is None:
        raise ValueError(text)
    written = match["year"]
    if written.isdecimal():
        year = int(written)
    else:
        year = year_of_era(written[:2], int(written[2:].replace("元", "1")))
    if match["day"]:
        if not match["between"] and len(match["month"] + match["day"]) < len("0131"):
            raise ValueError(text)  # 2024-31 is a week or a number
        return Days.one(date(year, int(match["month"]), int(match["day"])))
    if match["month"]:
        return Month(year, int(match["month"])).days
    month, number = (_FISCAL_MONTH if match["fiscal"] else 1), 12
    if match["quarter"]:
        month, number = int(match["quarter"]) * 3 - 2, 3
    first = Month(year, month)
    return Days(first.first_day, first.plus(number - 1).last_day)
