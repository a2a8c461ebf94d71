"""Parses the text of statements: its records, dates as banks write them, whole yen, flags."""

from __future__ import annotations

import csv
import io
import itertools
import re
import unicodedata
from array import array
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import date
from enum import Enum, IntFlag
from functools import lru_cache
from typing import NamedTuple

from mdvec.dates import ENGLISH_MONTHS, year_of_era
from mdvec.household.core.transaction import StatedRow

_NEAR = 200
"""``span_at`` cuts off a record that has more lines than this."""
_DELIMITERS = ",\t;|"
_MAX_HEAD = 40

CsvRecord = list[str] | str
"""A record's cells, or the reason why it cannot be read."""


@dataclass(frozen=True, slots=True)
class CsvText:
    """A CSV text, and the lines at which its records begin, from 1."""

    text: str
    begins: Sequence[int]

    @classmethod
    def of(cls, text: str) -> CsvText:
        """Parse a text for the lines at which its records begin."""
        return cls(text, array("I", (line for line, _ in records_of(text))))

    def spans(self) -> dict[int, tuple[int, int, int]]:
        """Start, end and last line of each record, by the line at which it begins.

        Start and end are character positions; the line break after a record is not part of it.
        """
        lines = _lines(self.text)
        starts = [0, *itertools.accumulate(map(len, lines))]
        spans = {}
        for line, following in itertools.pairwise([*self.begins, len(lines) + 1]):
            start = starts[line - 1]
            content = self.text[start : starts[following - 1]].rstrip("\r\n")
            last = line + len(_lines(content)) - 1
            spans[line] = (start, start + len(content), max(last, line))
        return spans


def span_at(text: str, line: int) -> tuple[int, int, int]:
    """Start, end and last line of the record that begins at a line, as in ``CsvText.spans``.

    Only the record's surroundings are parsed. The span of a line that the text does not have is
    empty.
    """
    lines = _lines(text)
    if not 1 <= line <= len(lines):
        return 0, 0, line
    first = line - 1
    # The first line is included because it shows the delimiter.
    near = CsvText.of("".join([lines[0], *lines[first : first + _NEAR]]) if first else text)
    start, end, last = near.spans()[2 if first else 1]
    moved = sum(map(len, lines[:first])) - (len(lines[0]) if first else 0)
    return start + moved, end + moved, last + (line - 2 if first else 0)


def records_of(text: str) -> Iterator[tuple[int, CsvRecord]]:
    """Each record with the line at which it begins.

    After a record with unmatched quotes, reading continues at the next line: an unclosed quote
    must not swallow the rows below it.
    """
    lines, has_nul = _lines(text), "\0" in text
    delimiter = _delimiter(lines)
    first = 0
    while first < len(lines):
        rest = map(lines.__getitem__, range(first, len(lines)))
        reader = csv.reader(rest, delimiter=delimiter, skipinitialspace=True, strict=True)
        begin = first
        try:
            for cells in reader:
                is_damaged = has_nul and "\0" in "".join(cells)
                yield begin + 1, "it contains NUL characters" if is_damaged else cells
                begin = first + reader.line_num
        except csv.Error as error:
            too_long = "field limit" in str(error)
            yield begin + 1, "a cell is too long" if too_long else "its quotes do not match"
            first = begin + 1
        else:
            return


def _lines(text: str) -> list[str]:
    return io.StringIO(text, newline="").readlines()


def _delimiter(lines: list[str]) -> str:
    """The delimiter of the first line that can be a header; a title above it may have a comma."""
    head = [line for line in lines[:_MAX_HEAD] if line.strip()]
    header = next((line for line in head if max(map(line.count, _DELIMITERS)) > 1), "")
    return max(_DELIMITERS, key=(header or "".join(head[:1])).count)


_HALF_WIDTH = {code: code - 0xFEE0 for code in range(0xFF01, 0xFF5F)} | {0x3000: " ", 0xFFE5: "¥"}
_DATE = re.compile(
    r"(\d{4})(?:([/.-])(\d{1,2})\2(\d{1,2})|年(\d{1,2})月(\d{1,2})日)"
    r"(?:\s*\([月火水木金土日]\))?"
    r"(?:(?:\s+|T)(?:[01]?\d|2[0-3]):[0-5]\d(?::[0-5]\d(?:\.\d+)?)?)?",
    re.ASCII,
)
_NO_DATE = "日付 is not a date like 2025/07/01, 20250701 or 令和7年7月1日"
_SIGN = r"([-+−‐–▲△])?\s*"
# Shift_JIS has the yen sign where ASCII has the backslash.
_AMOUNT = re.compile(
    rf"{_SIGN}[¥\\]?\s*{_SIGN}(\d+|\d{{1,3}}(?:,\d{{3}})+)(?:\.(\d+))?\s*円?", re.ASCII
)
_THOUSANDS_OR_DECIMALS = re.compile(r"\D*0*[1-9]\d*\.\d{3}\D*", re.ASCII)
_LIKE_AN_AMOUNT = re.compile(r"[-+−‐–▲△¥\\(\s]*\d[\d,.\s]*円?[-)]?", re.ASCII)
_MAX_DIGITS = 15
_FLAGS = {"0": False, "1": True, "０": False, "１": True} | {
    "0.0": False, "1.0": True, "FALSE": False, "TRUE": True, "false": False, "true": True,
}  # fmt: skip


class Unsaid(IntFlag):
    """What a file may not say of a row, so that another file of the transaction may say it."""

    CATEGORY = 1
    ACCOUNT = 2
    MEMO = 4
    IS_TARGET = 8
    IS_TRANSFER = 16


@dataclass(frozen=True, slots=True)
class TransactionRow(StatedRow):
    """A parsed row of a statement file, in which it begins at ``line``, counted from 1.

    ``balance`` is the account's balance after it, in yen, if the file has one. ``unsaid`` are the
    flags (``Unsaid``) of the fields whose value is a default, as the file has no column for them.
    """

    is_target: bool
    is_transfer: bool
    mf_id: str
    line: int
    balance: int | None = None
    unsaid: int = field(default=0, compare=False)


class BadRow(NamedTuple):
    """A row that cannot be read or contradicts the balance: the line where it begins, and why."""

    line: int
    reason: str


class NoRow(Enum):
    """Why a line of a file is read as no row; the value is what a report says of such lines."""

    LIKE_A_ROW = "above the header, but with a date and a number"
    ABOVE = "above the header"
    AROUND = "as titles, totals and footers"
    SKIPPED = "as their mapping says"
    FOREIGN = "further ones in another currency"


class BadCell(ValueError):
    """A cell cannot be parsed; the message names the column, never the cell's content."""


def parse_amount(text: str) -> int | None:
    """Parses whole yen; None if the cell is empty.

    Raises:
        BadCell: it is not a number, not whole, or has too many digits; or it has a point before
            three digits and no comma (1.000), which may be thousands; so has 2000.000, as a column
            that has it has 800.000, too.
    """
    digits = text.removeprefix("-")
    if digits.isdigit() and digits.isascii() and len(digits) <= _MAX_DIGITS:
        return int(text)
    if not text:
        return None
    match = _AMOUNT.fullmatch(text.translate(_HALF_WIDTH))
    if match is None or (match[1] and match[2]):
        raise BadCell("金額 is not a number of yen")
    if _THOUSANDS_OR_DECIMALS.fullmatch(match[0]):
        raise BadCell("金額 has a point before three digits, which may be thousands")
    if match[4] and match[4].strip("0"):
        raise BadCell("金額 is not a whole number of yen")
    digits = match[3].replace(",", "")
    if len(digits) > _MAX_DIGITS:
        raise BadCell(f"金額 has more than {_MAX_DIGITS} digits")
    return int(digits) if (match[1] or match[2] or "+") == "+" else -int(digits)


def is_like_amount(text: str) -> bool:
    """Whether a text is written like an amount, even if it cannot be read: 1,23,4 or 1.234."""
    plain = text.translate(_HALF_WIDTH)
    return _LIKE_AN_AMOUNT.fullmatch(plain) is not None and not is_date(plain)


def parse_flag(text: str, column: str, *, default: bool) -> bool:
    """Parses 0 or 1 in either width, or TRUE or FALSE; ``default`` if the cell is empty.

    Raises:
        BadCell: it is anything else.
    """
    flag = _FLAGS.get(text)
    if flag is not None:
        return flag
    if not text:
        return default
    raise BadCell(f"{column} is neither 0 nor 1")


_SPREADSHEET_ERROR = re.compile(r"#[A-Z/0]+[?!]?|[0-9.]+E\+[0-9]+", re.IGNORECASE)


def parse_id(text: str) -> str:
    """An ID as it is written.

    Raises:
        BadCell: a spreadsheet has turned it into an error or a rounded number, which other rows may
            share.
    """
    if _SPREADSHEET_ERROR.fullmatch(text):
        raise BadCell("a spreadsheet has damaged the ID; download the file again")
    return text


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


@lru_cache(maxsize=4096)
def parse_date(text: str, date_format: str = "auto") -> date:
    """Parses YYYY/MM/DD, YYYY-MM-DD, YYYY.MM.DD or YYYY年M月D日, optionally with a time.

    Also YYYYMMDD, years of an era (令和7年7月1日, R7.7.1), names of months, and what
    ``date_format``, one of ``DATE_FORMATS``, says.

    Raises:
        BadCell: it has another format, or is not a valid date.
    """
    if match := _DATE.fullmatch(text.strip().translate(_HALF_WIDTH)):
        return _date(int(match[1]), int(match[3] or match[5]), int(match[4] or match[6]))
    plain = "".join(_TIME.sub("", unicodedata.normalize("NFKC", text).strip()).split())
    if match := _COMPACT.fullmatch(plain):
        return _date(*_numbers(match))
    if match := _ERA.fullmatch(plain):
        count = 1 if match[2] == "元" else int(match[2])
        return _date(year_of_era(match[1].lower(), count), *_numbers(match)[-2:])
    if date_format in _SHORT_YEARS and (match := _SHORT.fullmatch(plain)):
        year, month, day = _numbers(match)
        if date_format == "yy/mm/dd":
            return _date(_CENTURY + year, month, day)
        return _date(year_of_era(date_format, year), month, day)
    day_of = _named_or_ordered(plain, date_format)
    if day_of is None:
        raise BadCell(_NO_DATE)
    return day_of


def is_date(text: str, date_format: str = "auto") -> bool:
    """Whether a text is a date, by default with its full year; its time may be in UTC."""
    try:
        return bool(parse_date(text.strip().removesuffix("Z"), date_format))
    except BadCell:
        return False


def number_in(text: str) -> int | None:
    """The whole yen that a text is; None if it is empty or something else."""
    try:
        return parse_amount(text)
    except BadCell:
        return None


def _named_or_ordered(plain: str, date_format: str) -> date | None:
    """Parse a date with a named month, or with the day or the month first; None for others."""
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
    """The number of the month whose English name begins with ``name``; 0 for none."""
    numbers = [n for n, month in enumerate(ENGLISH_MONTHS, 1) if month.startswith(name.lower())]
    return numbers[0] if len(numbers) == 1 else 0


def _numbers(match: re.Match[str]) -> list[int]:
    return [int(part) for part in match.groups() if part and part.isdigit()]


def _date(year: int, month: int, day: int) -> date:
    try:
        return date(year, month, day)
    except ValueError:
        raise BadCell("日付 is not a valid date") from None
