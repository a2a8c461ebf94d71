"""Dates of statement files: the period in a name, the days in cells, and repeated downloads."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from datetime import date
from functools import lru_cache

from mdvec.dates import year_of_era
from mdvec.household.core.cells import BadCell, parse_date

_ENDING = re.compile(r"\.[A-Za-z0-9]{1,5}\Z")
_COPY = re.compile(r"(?P<stem>.+?) ?\((?P<number>[0-9]{1,4})\)\Z", re.DOTALL)
_PERIOD = re.compile(
    r"(?:.*[^0-9])?(\d{4}-\d{2}-\d{2})_(\d{4}-\d{2}-\d{2})\Z", re.ASCII | re.DOTALL
)


@dataclass(frozen=True, slots=True)
class StatementName:
    """The parts of a file's name.

    ``stem`` is its path without number and extension; ``number`` is the n of "name (n).csv", or
    0. ``first`` and ``last`` are the days of the period in the name, as YYYY-MM-DD, or "". A name
    that continues after the period counts as having none: the file is an excerpt, or edited.
    """

    stem: str
    number: int
    first: str
    last: str

    @property
    def has_period(self) -> bool:
        """Whether the name contains the period that the file covers."""
        return bool(self.first)


@lru_cache(maxsize=4096)
def statement_name(path: str) -> StatementName:
    """Parses a file's path."""
    stem = _ENDING.sub("", unicodedata.normalize("NFKC", path)).strip()
    number = 0
    copy = _COPY.fullmatch(stem)
    if copy is not None:
        stem, number = copy["stem"], int(copy["number"])
    return StatementName(stem, number, *_period(stem))


def _period(stem: str) -> tuple[str, str]:
    match = _PERIOD.fullmatch(stem.rpartition("/")[2])
    if match is None:
        return "", ""
    try:
        first, last = (date.fromisoformat(day) for day in match.groups())
    except ValueError:
        return "", ""
    return ("", "") if first > last else (first.isoformat(), last.isoformat())


_COMPACT = re.compile(r"(\d{4})(\d{2})(\d{2})", re.ASCII)
_ERA = re.compile(
    r"(令和|平成|昭和|[RHS])\.?(元|[1-9]\d|0?[1-9])(?:年(\d{1,2})月(\d{1,2})日|([./-])(\d{1,2})\5(\d{1,2}))",
    re.ASCII | re.IGNORECASE,
)
_SHORT = re.compile(
    r"(\d{1,2})(?:([./-])(\d{1,2})\2(\d{1,2})|年(\d{1,2})月(\d{1,2})日)|(\d{2})(\d{2})(\d{2})",
    re.ASCII,
)
_TIME = re.compile(
    r"(?:T|\s+|(?<=日))\d{1,2}:\d{2}(?::\d{2})?\Z|\s*\([月火水木金土日]\)\Z", re.ASCII
)
_CENTURY = 2000
_SHORT_YEARS = ("yy/mm/dd", "令和", "平成", "昭和")
_DAY_OR_MONTH_FIRST = re.compile(r"(\d{1,2})([./-])(\d{1,2})\2(\d{4}|\d{2})", re.ASCII)
_DAY_MONTH_NAME = re.compile(r"(\d{1,2})[-,./]?([a-z]{3,9})[-,./]*(\d{4})", re.IGNORECASE)
_MONTH_NAME_DAY = re.compile(r"([a-z]{3,9})\.?(\d{1,2}),(\d{4})", re.IGNORECASE)
_MONTHS = (
    "january", "february", "march", "april", "may", "june", "july", "august", "september",
    "october", "november", "december",
)  # fmt: skip


@lru_cache(maxsize=4096)
def parse_statement_date(text: str, date_format: str = "auto") -> date:
    """Parses a date; ``date_format`` is one of ``DATE_FORMATS``.

    Raises:
        BadCell: it has another format, or is not a valid date.
    """
    plain = "".join(_TIME.sub("", unicodedata.normalize("NFKC", text).strip()).split())
    if match := _COMPACT.fullmatch(plain):
        return _date(*_numbers(match))
    if match := _ERA.fullmatch(plain):
        count = 1 if match[2] == "元" else int(match[2])
        return _date(year_of_era(match[1].lower(), count), *_numbers(match)[-2:])
    if (named := _named_or_ordered(plain, date_format)) is not None:
        return named
    if date_format in _SHORT_YEARS and (match := _SHORT.fullmatch(plain)):
        year, month, day = _numbers(match)
        if date_format == "yy/mm/dd":
            return _date(_CENTURY + year, month, day)
        return _date(year_of_era(date_format, year), month, day)
    try:
        return parse_date(text.strip().removesuffix("Z"))
    except BadCell as error:
        if "valid" in str(error):
            raise
        raise BadCell("日付 is not a date like 2025/07/01, 20250701 or 令和7年7月1日") from None


def _named_or_ordered(plain: str, date_format: str) -> date | None:
    """A date with a named month, or with the day or the month first; None for another one."""
    if match := _DAY_MONTH_NAME.fullmatch(plain):
        return _date(int(match[3]), _month_number(match[2]), int(match[1]))
    if match := _MONTH_NAME_DAY.fullmatch(plain):
        return _date(int(match[3]), _month_number(match[1]), int(match[2]))
    if not date_format.endswith("yyyy") or not (match := _DAY_OR_MONTH_FIRST.fullmatch(plain)):
        return None
    first, second, year = int(match[1]), int(match[3]), int(match[4])
    year += 0 if len(match[4]) == len("yyyy") else _CENTURY
    return _date(year, second, first) if date_format == "dd/mm/yyyy" else _date(year, first, second)


def _month_number(name: str) -> int:
    """The month that begins so; 0 for none."""
    numbers = [n for n, month in enumerate(_MONTHS, 1) if month.startswith(name.lower())]
    return numbers[0] if len(numbers) == 1 else 0


def _numbers(match: re.Match[str]) -> list[int]:
    return [int(part) for part in match.groups() if part and part.isdigit()]


def _date(year: int, month: int, day: int) -> date:
    try:
        return date(year, month, day)
    except ValueError:
        raise BadCell("日付 is not a valid date") from None
