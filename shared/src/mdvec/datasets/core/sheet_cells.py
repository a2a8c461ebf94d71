"""What a sheet says about its cells beside values: formats, merged and hidden ones, totals."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import date, time
from functools import lru_cache

_CURRENCIES = {
    "¥": "¥",
    "￥": "¥",
    "円": "¥",
    "JPY": "¥",
    "$": "$",
    "USD": "$",
    "€": "€",
    "EUR": "€",
}
_LOCALE = re.compile(r"\[\$-[^\]]*\]")
_NAMED_CURRENCY = re.compile(r"\[\$([^\]-]+)[^\]]*\]")
_ZEROS = re.compile("0{2,}")
_ESCAPED = re.compile("_x([0-9A-Fa-f]{4})_")
_MERGED = re.compile(rb"<(?:\w+:)?mergeCell\s[^>]*?ref\s*=\s*[\"']([A-Z]+)(\d+):([A-Z]+)(\d+)")
_HIDDEN_ROW = re.compile(
    rb"<(?:\w+:)?row(?=[^>]*?\shidden\s*=\s*[\"'](?:1|true))[^>]*?\sr\s*=\s*[\"'](\d+)"
)
_SUMS = ("合計", "総計", "小計")
_TOTALS = (*_SUMS, "total", "subtotal", "grandtotal")
_MAX_SHOWN = 5


@dataclass(frozen=True, slots=True)
class Amount:
    """A number with the currency that its cell's format shows."""

    number: int | float
    unit: str

    def __str__(self) -> str:
        return f"{self.unit}{self.number}"


@lru_cache(maxsize=1_000)
def currency(number_format: str) -> str:
    """The currency of cells with a format; "" if it shows none, "" for one that has several."""
    named = _NAMED_CURRENCY.findall(number_format)
    plain = _NAMED_CURRENCY.sub("", _LOCALE.sub("", number_format))
    signs = {_CURRENCIES.get(name.strip(), name.strip()) for name in named}
    signs |= {_CURRENCIES[sign] for sign in plain if sign in _CURRENCIES}
    return signs.pop() if len(signs) == 1 else ""


def value_as_formatted(value: int | float, number_format: str) -> object:
    """A number as its format means it: an ``Amount``, or a code such as 00123 as text."""
    if _ZEROS.fullmatch(number_format) and value == int(value) >= 0:
        return str(int(value)).zfill(len(number_format))
    unit = currency(number_format)
    return Amount(value, unit) if unit else value


def unescaped(text: str) -> str:
    """A text with its line ends; workbooks write a carriage return as ``_x000D_``."""
    if "_x" in text:
        text = _ESCAPED.sub(lambda match: chr(int(match[1], 16)), text)
    return text.replace("\r\n", "\n").replace("\r", "\n")


def is_total(row: Sequence[object]) -> bool:
    """Whether a text of a row says that its numbers sum up those of other rows."""
    texts = [cell for cell in row if isinstance(cell, str) and cell.strip()]
    plain = [re.sub(r"\s", "", unicodedata.normalize("NFKC", text)).lower() for text in texts]
    return any(text in _TOTALS for text in plain) or any(text.endswith(_SUMS) for text in plain[:1])


@dataclass(frozen=True, slots=True)
class MergedCells:
    """A range of merged cells; rows and columns count from 1."""

    first_row: int
    last_row: int
    column: int


@dataclass(slots=True)
class SheetMarks:
    """What a sheet's own XML says.

    Attributes:
        merged: the merged cells of more than one row.
        hidden_rows: the numbers of its hidden rows.
    """

    merged: list[MergedCells] = field(default_factory=list)
    hidden_rows: list[int] = field(default_factory=list)

    def take(self, xml: bytes) -> None:
        """Read the marks of a part of the sheet's XML."""
        self.hidden_rows += map(int, _HIDDEN_ROW.findall(xml))
        for column, first, _, last in _MERGED.findall(xml):
            if first != last:
                self.merged.append(MergedCells(int(first), int(last), _column_number(column)))


def _column_number(letters: bytes) -> int:
    number = 0
    for letter in letters:
        number = number * 26 + letter - ord("A") + 1
    return number


@dataclass(slots=True)
class FilledRows:
    """The rows of a table, with texts and dates of merged cells in each row that they go over.

    A number goes over several rows only once: repeated it would be added up.

    Attributes:
        merged: the merged cells of the sheet.
        leaves_out_totals: whether rows that sum up others are left out.
        filled: how many merged cells were filled down.
        numbers: how many merged cells hold a number, which was not.
        totals: the numbers of rows that sum up others.
        first: the number of the first row.
        last: the number of the last row.
    """

    merged: Sequence[MergedCells]
    leaves_out_totals: bool = False
    filled: int = 0
    numbers: int = 0
    totals: list[int] = field(default_factory=list)
    first: int = 0
    last: int = 0

    def rows(self, numbered: Iterable[tuple[int, list[object]]]) -> Iterator[list[object]]:
        """The rows, each with its number, below the header."""
        starting: dict[int, list[MergedCells]] = {}
        for cells in self.merged:
            starting.setdefault(cells.first_row, []).append(cells)
        going_on: list[tuple[MergedCells, object]] = []
        for number, row in numbered:
            self.first, self.last = self.first or number, number
            going_on = [(cells, value) for cells, value in going_on if number <= cells.last_row]
            for cells, value in going_on:
                row += [None] * (cells.column - len(row))
                row[cells.column - 1] = value
            for cells in starting.get(number, ()):
                value = row[cells.column - 1] if cells.column <= len(row) else None
                if isinstance(value, (str, date, time)):
                    self.filled += 1
                    going_on.append((cells, value))
                elif value is not None:
                    self.numbers += 1
            if is_total(row):
                self.totals.append(number)
                if self.leaves_out_totals:
                    continue
            yield row

    def notes(self, hidden_rows: Sequence[int]) -> Iterator[str]:
        """What there is to report about the rows."""
        if self.filled:
            yield f"merged cells are filled down: {self.filled:,}"
        if self.numbers:
            yield f"merged cells with a number count in their first row only: {self.numbers:,}"
        if self.totals:
            what = "left out" if self.leaves_out_totals else "among the others"
            choice = "" if self.leaves_out_totals else "; leave them out with --read totals=out"
            yield f"rows of totals are {what}: {_shown(self.totals)}{choice}"
        hidden = [number for number in hidden_rows if self.first <= number <= self.last]
        if hidden:
            yield f"hidden rows are read as well: {_shown(hidden)}"


def _shown(numbers: Sequence[int]) -> str:
    more = len(numbers) - _MAX_SHOWN
    shown = ", ".join(map(str, numbers[:_MAX_SHOWN]))
    return f"{shown} and {more:,} more" if more > 0 else shown
