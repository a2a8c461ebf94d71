"""Parses the cells of a Money Forward CSV: dates, whole yen, flags."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import date
from functools import lru_cache

_HALF_WIDTH = {code: code - 0xFEE0 for code in range(0xFF01, 0xFF5F)} | {0x3000: " ", 0xFFE5: "¥"}
_DATE = re.compile(
    r"(\d{4})(?:([/.-])(\d{1,2})\2(\d{1,2})|年(\d{1,2})月(\d{1,2})日)"
    r"(?:\s*\([月火水木金土日]\))?"
    r"(?:(?:\s+|T)(?:[01]?\d|2[0-3]):[0-5]\d(?::[0-5]\d(?:\.\d+)?)?)?",
    re.ASCII,
)
_SIGN = r"([-+−‐–▲△])?\s*"
# Shift_JIS has the yen sign where ASCII has the backslash.
_AMOUNT = re.compile(
    rf"{_SIGN}[¥\\]?\s*{_SIGN}(\d+|\d{{1,3}}(?:,\d{{3}})+)(?:\.(\d+))?\s*円?", re.ASCII
)
_MAX_DIGITS = 15
_FLAGS = {"0": False, "1": True, "０": False, "１": True} | {
    "0.0": False, "1.0": True, "FALSE": False, "TRUE": True, "false": False, "true": True,
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class TransactionRow:
    """A parsed row of a statement file; texts are stripped, but otherwise unchanged.

    ``amount`` is None if the cell is empty; ``line`` is the line at which the row begins, from 1.
    ``balance`` is what its account has after it, in yen, if the file says so.
    """

    date: date
    amount: int | None
    description: str
    category_major: str
    category_minor: str
    account: str
    memo: str
    is_target: bool
    is_transfer: bool
    mf_id: str
    line: int
    balance: int | None = None


class BadCell(ValueError):
    """A cell cannot be parsed; the message names the column, never the cell's content."""


@lru_cache(maxsize=4096)
def parse_date(text: str) -> date:
    """Parses YYYY/MM/DD, YYYY-MM-DD, YYYY.MM.DD or YYYY年M月D日, optionally with a time.

    Raises:
        BadCell: it has another format, or is not a valid date.
    """
    match = _DATE.fullmatch(text.translate(_HALF_WIDTH))
    if match is None:
        raise BadCell("日付 is not a date like 2025/07/01")
    try:
        return date(int(match[1]), int(match[3] or match[5]), int(match[4] or match[6]))
    except ValueError:
        raise BadCell("日付 is not a valid date") from None


def parse_amount(text: str) -> int | None:
    """Parses whole yen; None if the cell is empty.

    Raises:
        BadCell: it is not a number, not whole, or has too many digits.
    """
    digits = text.removeprefix("-")
    if digits.isdigit() and digits.isascii() and len(digits) <= _MAX_DIGITS:
        return int(text)
    if not text:
        return None
    match = _AMOUNT.fullmatch(text.translate(_HALF_WIDTH))
    if match is None or (match[1] and match[2]):
        raise BadCell("金額 is not a number of yen")
    if match[4] and match[4].strip("0"):
        raise BadCell("金額 is not a whole number of yen")
    digits = match[3].replace(",", "")
    if len(digits) > _MAX_DIGITS:
        raise BadCell(f"金額 has more than {_MAX_DIGITS} digits")
    return int(digits) if (match[1] or match[2] or "+") == "+" else -int(digits)


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
