"""Finds the days and months in a text, and gives each one term, however it is written."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import date

_MONTHS = [
    "january",
    "february",
    "march",
    "april",
    "may",
    "june",
    "july",
    "august",
    "september",
    "october",
    "november",
    "december",
]
_NAMES = "|".join(f"{month[:3]}(?:{month[3:]})?" for month in _MONTHS)
_MONTH = rf"(?P<name>sept|{_NAMES})\.?"
_ERAS = {"明治": 1867, "大正": 1911, "昭和": 1925, "平成": 1988, "令和": 2018}
_LETTERS = {"s": 1925, "h": 1988, "r": 2018}
_ERA = rf"(?P<era>{'|'.join(_ERAS)}|(?<![a-z\d_-])[{''.join(_LETTERS)}])"
_NUMBERS = (
    r"(?P<year>(?:19|20)\d\d)(?P<sign>[-/._])(?P<month>\d{1,2})(?:(?P=sign)(?P<day>\d{1,2}))?"
)
_FORMS = tuple(
    re.compile(form)
    for form in (
        rf"(?<!\d)(?<!\d[./-]){_NUMBERS}(?![\d])",
        r"(?<![\d.])(?P<year>(?:19|20)\d\d)(?P<month>0[1-9]|1[0-2])(?P<day>0[1-9]|[12]\d|3[01])(?![\d.])",
        rf"{_ERA}(?P<year>\d{{1,2}})(?P<sign>[-/.])(?P<month>\d{{1,2}})(?P=sign)(?P<day>\d{{1,2}})(?!\d)",
        r"(?<!\d)(?P<year>(?:19|20)\d\d)\s*年\s*(?P<month>\d{1,2})\s*月(?:\s*(?P<day>\d{1,2})\s*日)?",
        rf"{_ERA}\s*(?P<year>\d{{1,2}}|元)\s*年\s*(?P<month>\d{{1,2}})\s*月"
        r"(?:\s*(?P<day>\d{1,2})\s*日)?",
        rf"(?<![a-z]){_MONTH}\s+(?P<day>\d{{1,2}})(?:st|nd|rd|th)?,?\s+(?P<year>(?:19|20)\d\d)(?!\d)",
        rf"(?<!\d)(?P<day>\d{{1,2}})(?:st|nd|rd|th)?\s+{_MONTH},?\s+(?P<year>(?:19|20)\d\d)(?!\d)",
        rf"(?<![a-z]){_MONTH},?\s+(?P<year>(?:19|20)\d\d)(?!\d)",
    )
)
_ANY_YEAR = re.compile(r"(?:19|20)\d\d|年|[rhs]\d{1,2}[-/.]")


@dataclass(frozen=True, slots=True)
class NamedDate:
    """A day (digits 20241205) or a month (202412) in a text, from ``start`` to ``end``."""

    digits: str
    start: int
    end: int


def named_dates(folded_text: str) -> list[NamedDate]:
    """The days and months in a folded text; a day also yields its month."""
    if _ANY_YEAR.search(folded_text) is None:
        return []
    dates: list[NamedDate] = []
    for form in _FORMS:
        for match in form.finditer(folded_text):
            if not any(
                earlier.start < match.end() and match.start() < earlier.end for earlier in dates
            ):
                dates += _dates(match)
    return dates


def _dates(match: re.Match[str]) -> list[NamedDate]:
    parts = {"era": None, "name": None, "month": None, "day": None, **match.groupdict()}
    year = 1 if parts["year"] == "元" else int(str(parts["year"]))
    year += (_ERAS | _LETTERS).get(str(parts["era"]), 0)
    month = int(parts["month"] or _month_named(str(parts["name"])))
    try:
        day = date(year, month, int(parts["day"] or 1))
    except ValueError:
        return []
    month_only = NamedDate(f"{day:%Y%m}", match.start(), match.end())
    if parts["day"] is None:
        return [month_only]
    return [NamedDate(f"{day:%Y%m%d}", match.start(), match.end()), month_only]


def _month_named(name: str) -> int:
    return next(number for number, month in enumerate(_MONTHS, 1) if month[:3] == name[:3])
