"""Properties of a sheet's cells other than values: formats, merged and hidden cells, totals."""

from __future__ import annotations

import operator
import re
import unicodedata
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, time
from functools import lru_cache
from itertools import dropwhile, islice

from mdvec.datasets.core.value_types import trimmed

_CURRENCIES = {
    "¥": "¥", "￥": "¥", "円": "¥", "JPY": "¥", "$": "$", "USD": "$", "€": "€", "EUR": "€",
}  # fmt: skip
_TOKEN = re.compile(r'\\.|[_*].|"[^"]*"|\[[^\]]*\]|[0#?][0#?,.]*|.', re.DOTALL)
_NAMED_CURRENCY = re.compile(r"\[\$([^\]-]+)[^\]]*\]")
_CURRENCY_CODE = re.compile("[A-Z]{3}")
_PLACES = re.compile("[0#?][0#?,.]*")
_ZEROS = re.compile("0+")
_CONDITION = re.compile(r"\[(<=|>=|<>|<|>|=)(-?\d+)\]")
_COMPARED: Mapping[str, Callable[[int, int], bool]] = {
    "<=": operator.le, ">=": operator.ge, "<>": operator.ne,
    "<": operator.lt, ">": operator.gt, "=": operator.eq,
}  # fmt: skip
_BETWEEN = ("-", "(", ")", ":", "+", " ", "'", "~")
_TEXT_MARK = "'"
_MIN_PLACES = 2
_ESCAPED = re.compile("_x([0-9A-Fa-f]{4})_")
_MERGED = re.compile(rb"<(?:\w+:)?mergeCell\s[^>]*?ref\s*=\s*[\"']([A-Z]+)(\d+):([A-Z]+)(\d+)")
_HIDDEN_ROW = re.compile(
    rb"<(?:\w+:)?row(?=[^>]*?\shidden\s*=\s*[\"'](?:1|true))[^>]*?\sr\s*=\s*[\"'](\d+)"
)
_HIDDEN_COLUMNS = re.compile(
    rb"<(?:\w+:)?col(?=[^>]*?\shidden\s*=\s*[\"'](?:1|true))"
    rb"(?=[^>]*?\smin\s*=\s*[\"'](\d+))[^>]*?\smax\s*=\s*[\"'](\d+)"
)
_SUMS = ("合計", "総計", "小計")
_TOTALS = (*_SUMS, "計", "total", "subtotal", "grandtotal")
_BRACKETS = re.compile(r"\([^()]*\)|\[[^\[\]]*\]")
_SUM_AFTER_NAME = re.compile(r"\S{2,}\s+計$")
TOTAL_AMONG = 3
_MAX_SHOWN = 5


@dataclass(frozen=True, slots=True)
class Amount:
    """A number with the currency, or another unit, that its cell's format shows."""

    number: int | float
    unit: str
    is_unit_last: bool = False

    def __str__(self) -> str:
        return f"{self.number}{self.unit}" if self.is_unit_last else f"{self.unit}{self.number}"


class Percent(Amount):
    """A number, as stored, that its cell's format shows as percent."""

    __slots__ = ()


def value_as_formatted(value: int | float, number_format: str) -> object:
    """A number as its format shows it: an ``Amount``, or a code such as 00123 as text.

    A code follows the format's first section whose condition the number meets. Other numbers are
    returned as they are.
    """
    unit, is_last = _unit(number_format)
    if unit:
        return Amount(value, unit, is_last)
    if "%" in _sections(number_format)[0]:
        return Percent(value, "")
    codes = _codes(number_format)
    if not codes or value < 0 or value % 1:
        return value
    number = int(value)
    for condition, limit, shown in codes:
        if not condition or _COMPARED[condition](number, limit):
            return _filled(shown, str(number))
    return number


@lru_cache(maxsize=1_000)
def _unit(number_format: str) -> tuple[str, bool]:
    """The unit in a format, "" if it has none; and whether it follows the number.

    A text before the number is a unit only if it names a currency. After the number any word is
    one, unless the number is shown in thousands.
    """
    units: dict[str, bool] = {}
    places = literal = ""
    for token in (*_sections(number_format)[0], ""):
        if (more := _literal(token)) is not None:
            literal += more
            continue
        text, literal = literal.strip(), ""
        signs = [sign for sign in (text, token) if sign in _CURRENCIES]
        if not signs and places.endswith(","):
            signs = [sign for sign in text if sign in _CURRENCIES]
        units |= dict.fromkeys((_CURRENCIES[sign] for sign in signs), False)
        if not signs and not places.endswith(",") and _is_unit(text, is_first=not places):
            units[text] = bool(places)
        places = token if _PLACES.fullmatch(token) else places
    return " ".join(units), bool(units) and all(units.values())


@lru_cache(maxsize=1_000)
def shows_thousands(number_format: str) -> bool:
    """Whether a format divides numbers by thousands."""
    places = filter(_PLACES.fullmatch, _sections(number_format)[0])
    return any(token.endswith(",") for token in places)


def is_word(unit: str) -> bool:
    """Whether a unit is a word such as 千円, and no currency."""
    return any(map(str.isalpha, unit)) and not _CURRENCY_CODE.fullmatch(unit)


def _is_unit(text: str, *, is_first: bool) -> bool:
    is_currency = any(unicodedata.category(char) == "Sc" for char in text)
    is_word = any(map(str.isalpha, text))
    return is_currency or (_CURRENCY_CODE.fullmatch(text) is not None if is_first else is_word)


@lru_cache(maxsize=1_000)
def _sections(number_format: str) -> tuple[tuple[str, ...], ...]:
    """The tokens of a number format's sections: for positive numbers, negative numbers, zero."""
    sections: list[list[str]] = [[]]
    for part in _TOKEN.findall(number_format):
        if part == ";":
            sections.append([])
        else:
            sections[-1].append(part)
    return tuple(map(tuple, sections))


def _literal(token: str) -> str | None:
    """The text that a token stands for, "" if it shows nothing; None for any other token."""
    if named := _NAMED_CURRENCY.fullmatch(token):
        return named[1]
    if token[:1] in ("_", "*") or (token[:1] == "[" and not _CONDITION.fullmatch(token)):
        return ""
    if token[:1] == '"':
        return token.strip('"')
    return token[1:] if token[:1] == "\\" else None


@lru_cache(maxsize=1_000)
def _codes(number_format: str) -> tuple[tuple[str, int, tuple[str, ...]], ...]:
    """The sections of a format with fixed digits, such as 000-0000; empty for other formats.

    Each has the operator of its condition on numbers ("" for all), the number compared with, and
    its content: zeros for digits, and literal texts after a mark.
    """
    codes: list[tuple[str, int, tuple[str, ...]]] = []
    for tokens in _sections(number_format):
        condition, limit, shown = "", 0, []
        for token in tokens:
            if condition_match := _CONDITION.fullmatch(token):
                condition, limit = condition_match[1], int(condition_match[2])
            elif _ZEROS.fullmatch(token):
                shown.append(token)
            elif (text := _literal(token)) is not None or (token in _BETWEEN and (text := token)):
                shown.append(f"{_TEXT_MARK}{text}")
            else:
                return ()
        if sum(len(part) for part in shown if part[0] == "0") < _MIN_PLACES:
            return ()
        codes.append((condition, limit, tuple(shown)))
        if not condition:
            break
    return tuple(codes)


def _filled(shown: Iterable[str], digits: str) -> str:
    """The content of a section (see ``_codes``) as text, with ``digits`` in place of its zeros.

    If there are more digits than zeros, the first part takes the surplus.
    """
    parts = tuple(shown)
    places = sum(len(part) for part in parts if part[0] == "0")
    surplus, digits, text = max(len(digits) - places, 0), digits.zfill(places), ""
    for part in parts:
        if part[0] == "0":
            taken = len(part) + surplus
            text, digits, surplus = text + digits[:taken], digits[taken:], 0
        else:
            text += part[1:]
    return text.strip()


def unescaped(text: str) -> str:
    """A text without escapes such as ``_x000D_`` for a carriage return, and with LF line ends."""
    if "_x" in text:
        text = _ESCAPED.sub(lambda match: chr(int(match[1], 16)), text)
    return text.replace("\r\n", "\n").replace("\r", "\n")


def is_total(text: str) -> bool:
    """Whether a text, such as 合計, marks its row as the total of other rows."""
    text = _BRACKETS.sub("", unicodedata.normalize("NFKC", text)).strip().rstrip(":.-").rstrip()
    plain = re.sub(r"[\W_]", "", text).lower()
    return plain in _TOTALS or plain.endswith(_SUMS) or _SUM_AFTER_NAME.search(text) is not None


def total_in(cells: Iterable[object]) -> str:
    """The text among a row's first filled cells that names a total, such as 計; "" if none does."""
    filled = dropwhile(lambda cell: cell is None, cells)
    texts = (cell for cell in islice(filled, TOTAL_AMONG) if isinstance(cell, str))
    return trimmed(next(filter(is_total, texts), ""))


@dataclass(frozen=True, slots=True)
class MergedCells:
    """A range of merged cells; rows and columns count from 1."""

    first_row: int
    last_row: int
    column: int
    last_column: int


@dataclass(slots=True)
class SheetMarks:
    """Properties of a sheet, from its XML.

    Attributes:
        merged: the merged cells.
        hidden_rows: the numbers of its hidden rows.
        hidden_columns: the first and last number of each run of hidden columns.
        has_formulas: whether a cell has one.
    """

    merged: list[MergedCells] = field(default_factory=list)
    hidden_rows: list[int] = field(default_factory=list)
    hidden_columns: list[tuple[int, int]] = field(default_factory=list)
    has_formulas: bool = False

    def take(self, xml: bytes) -> None:
        """Add the marks of a part of the sheet's XML."""
        self.has_formulas |= b"<f" in xml
        self.hidden_rows += map(int, _HIDDEN_ROW.findall(xml))
        self.hidden_columns += [(int(a), int(b)) for a, b in _HIDDEN_COLUMNS.findall(xml)]
        for left, first, right, last in _MERGED.findall(xml):
            columns = _column_number(left), _column_number(right)
            self.merged.append(MergedCells(int(first), int(last), *columns))

    @property
    def tall(self) -> list[MergedCells]:
        """The merged cells of more than one row."""
        return [cells for cells in self.merged if cells.first_row != cells.last_row]

    def ends(self, numbers: Sequence[int]) -> dict[int, list[int]]:
        """For each row where merged cells begin, the last rows that they cover, as indexes.

        ``numbers`` are the numbers of the rows.
        """
        places, ends = {number: at for at, number in enumerate(numbers)}, dict[int, list[int]]()
        for cells in self.tall:
            if (at := places.get(cells.first_row)) is not None:
                ends.setdefault(at, []).append(bisect_right(numbers, cells.last_row) - 1)
        return ends

    def group_ends(self, numbers: Sequence[int]) -> list[dict[int, int]]:
        """For each row, the column after its merged cells by their first one, counted from 0."""
        ends: dict[int, dict[int, int]] = {number: {} for number in numbers}
        for cells in self.merged:
            ends.get(cells.first_row, {})[cells.column - 1] = cells.last_column
        return list(ends.values())


def _column_number(letters: bytes) -> int:
    number = 0
    for letter in letters:
        number = number * 26 + letter - ord("A") + 1
    return number


@dataclass(slots=True)
class FilledRows:
    """Repeats texts and dates of merged cells in each row that they cover.

    A number is not repeated: sums would count it several times.

    Attributes:
        merged: the merged cells of more than one row.
        leaves_out_totals: whether rows of totals are left out.
        filled: how many merged cells were filled down.
        numbers: how many merged cells hold a number, which was not filled down.
        totals: the numbers of the rows of totals.
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
        """The ``numbered`` rows below the header, filled and without their numbers."""
        starting: dict[int, list[MergedCells]] = {}
        for cells in self.merged:
            starting.setdefault(cells.first_row, []).append(cells)
        going_on: list[tuple[MergedCells, object]] = []
        for number, row in numbered:
            self.first, self.last = self.first or number, number
            sums_up = bool(total_in(row))
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
            if sums_up:
                self.totals.append(number)
                if self.leaves_out_totals:
                    continue
            yield row

    def notes(self, hidden_rows: Sequence[int]) -> Iterator[str]:
        """Notes on filled cells, rows of totals, and which of ``hidden_rows`` were read."""
        if self.filled:
            yield f"merged cells are filled down: {self.filled:,}"
        if self.numbers:
            yield f"merged cells with a number count in their first row only: {self.numbers:,}"
        if self.totals:
            yield totals_note(numbers_shown(self.totals), is_left_out=self.leaves_out_totals)
        hidden = [number for number in hidden_rows if self.first <= number <= self.last]
        if hidden:
            yield f"hidden rows are read as well: {numbers_shown(hidden)}"


def totals_note(rows: str, *, is_left_out: bool) -> str:
    """A note on rows of totals; ``rows`` names them."""
    if is_left_out:
        return f"rows of totals are left out: {rows}"
    return f"rows of totals are among the others: {rows}; leave them out with --read totals=out"


def numbers_shown(numbers: Sequence[int]) -> str:
    """The first of the numbers, and how many more there are."""
    more = len(numbers) - _MAX_SHOWN
    shown = ", ".join(map(str, numbers[:_MAX_SHOWN]))
    return f"{shown} and {more:,} more" if more > 0 else shown
