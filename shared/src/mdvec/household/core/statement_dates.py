"""Parses the dates of banks and cards: with eras, without separators, with short years."""

from __future__ import annotations

import re
import unicodedata
from datetime import date
from functools import lru_cache

from mdvec.dates.month_words import year_of_era
from mdvec.household.core.cells import BadCell, parse_date

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
    if date_format != "auto" and (match := _SHORT.fullmatch(plain)):
        year, month, day = _numbers(match)
        if date_format == "yy/mm/dd":
            return _date(_CENTURY + year, month, day)
        return _date(year_of_era(date_format, year), month, day)
    try:
        return parse_date(text.strip())
    except BadCell as error:
        if "valid" in str(error):
            raise
        raise BadCell("日付 is not a date like 2025/07/01, 20250701 or 令和7年7月1日") from None


def _numbers(match: re.Match[str]) -> list[int]:
    return [int(part) for part in match.groups() if part and part.isdigit()]


def _date(year: int, month: int, day: int) -> date:
    try:
        return date(year, month, day)
    except ValueError:
        raise BadCell("日付 is not a valid date") from None
