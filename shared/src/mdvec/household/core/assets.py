"""Reads Money Forward's history of assets: net worth by month, in all and by kind."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date

from mdvec.dates import Month
from mdvec.household.core.cells import BadCell, parse_amount, parse_date
from mdvec.household.core.csv_text import records_of

TOTAL = "合計"
KEPT = "net worth of "
"""How the note on a file begins whose months are kept."""
_DAY_COLUMNS = ("日付", "年月")
_UNIT = re.compile(r"\((?:円|¥)\)$")
_MONTH = re.compile(r"(\d{4})(?:[/.-](\d{1,2})|年(\d{1,2})月)")


@dataclass(frozen=True, slots=True)
class AssetMonth:
    """What the household had on the last day of a month that the file knows, in yen.

    ``amounts`` are by the file's columns, 合計 (net worth) among them; empty cells are missing.
    """

    month: Month
    amounts: Mapping[str, int]


def read_asset_months(text: str) -> tuple[list[AssetMonth], int]:
    """The months of an asset history, the earliest first, and how many lines are unreadable.

    Of several days of a month the last one counts. Without a column of days there is none.
    """
    records = iter(records_of(text))
    names = [_name(cell) for cell in next((cells for _, cells in records), [])]
    day_column = next((names.index(name) for name in _DAY_COLUMNS if name in names), None)
    if day_column is None or TOTAL not in names:
        return [], 0
    days: dict[Month, tuple[date, AssetMonth]] = {}
    bad = 0
    for _, cells in records:
        if not isinstance(cells, str) and not any(map(str.strip, cells)):
            continue
        try:
            day, asset_month = _row(names, day_column, cells)
        except BadCell:
            bad += 1
            continue
        known = days.get(asset_month.month)
        if known is None or known[0] <= day:
            days[asset_month.month] = day, asset_month
    return [days[month][1] for month in sorted(days)], bad


def kept_note(months: int, bad: int) -> str:
    """The note on an asset history whose months are kept."""
    unread = f", {bad} lines could not be read" if bad else ""
    return f"{KEPT}{months} months{unread}"


def _row(names: Sequence[str], day_column: int, cells: Sequence[str]) -> tuple[date, AssetMonth]:
    if isinstance(cells, str) or len(cells) < len(names):
        raise BadCell("too few cells")
    day = _day(cells[day_column].strip())
    amounts = {}
    for at, name in enumerate(names):
        if name and at != day_column:
            amount = parse_amount(cells[at].strip())
            if amount is not None:
                amounts[name] = amount
    if TOTAL not in amounts:
        raise BadCell("合計 is empty")
    return day, AssetMonth(Month.of(day), amounts)


def _day(text: str) -> date:
    match = _MONTH.fullmatch(unicodedata.normalize("NFKC", text))
    if match is None:
        return parse_date(text)
    try:
        return Month(int(match[1]), int(match[2] or match[3])).last_day
    except ValueError:
        raise BadCell("年月 is not a month") from None


def _name(cell: str) -> str:
    text = "".join(unicodedata.normalize("NFKC", cell).split()).strip("\ufeff\"'")
    return _UNIT.sub("", text)
