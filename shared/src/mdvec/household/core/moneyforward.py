"""Parses Money Forward's CSVs, which it recognises by the header: transactions, or net worth.

The original has ten quoted columns in cp932; spreadsheets and scripts change its encoding, column
order and spelling. Of an asset history, the months are stored; a login page that was saved as CSV
is recognised and reported.
"""

from __future__ import annotations

import itertools
import re
import unicodedata
from array import array
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date

from mdvec.dates import Month
from mdvec.errors import MdvecError
from mdvec.household.core.cells import (
    BadCell,
    BadRow,
    CsvRecord,
    CsvText,
    NoRow,
    TransactionRow,
    Unsaid,
    parse_amount,
    parse_date,
    parse_flag,
    parse_id,
    records_of,
)
from mdvec.household.core.mapping import one_spelling, plain_names
from mdvec.household.core.passed_over import FileKind, PassedOver
from mdvec.text import UnknownEncoding, encoding

AMOUNTS = ("金額(円)", "金額(¥)", "金額円", "金額")
_NAMES = {  # in the order of a ``TransactionRow``
    "date": ("日付",),
    "amount": AMOUNTS,
    "description": ("内容",),
    "category_major": ("大項目", "大分類"),
    "category_minor": ("中項目", "中分類"),
    "account": ("保有金融機関", "口座"),
    "memo": ("メモ",),
    "is_target": ("計算対象",),
    "is_transfer": ("振替",),
    "mf_id": ("ID",),
}
_MAY_LACK = {
    "category_major": Unsaid.CATEGORY, "account": Unsaid.ACCOUNT, "memo": Unsaid.MEMO,
    "is_target": Unsaid.IS_TARGET, "is_transfer": Unsaid.IS_TRANSFER,
}  # fmt: skip
_NEEDED = {"date": "日付", "amount": "金額（円）", "description": "内容"}
TOTAL = "合計"
_DAY_COLUMNS = ("日付", "年月")
_UNIT = re.compile(r"\((?:円|¥)\)$")
_MONTH = re.compile(r"(\d{4})(?:[/.-](\d{1,2})|年(\d{1,2})月)")


class NotTransactions(MdvecError):
    """A file cannot be read as transactions; the message says why."""


@dataclass(frozen=True, slots=True)
class ParsedFile:
    """A file's text, and the ``blocks`` of rows below each header: a file may have several headers.

    ``passed_over`` is None for a file of transactions; for any other file it says what that is, and
    there are no rows. ``kind`` is the name of the mapping that read the file, "" for Money
    Forward's; ``is_certain``: no other kind of file can have this header; ``misfits`` are rows that
    the running balance contradicts; ``account_number`` is "" if unknown; ``repeated`` rows are left
    out, as a later section has them with the same balances. ``named`` is the account as its
    ready-made mapping calls it, "" if the file or the user names it. ``left_out`` are its lines
    that are no rows, but for blank ones and headers; a line of Money Forward's is a row or ``bad``.
    """

    blocks: tuple[tuple[TransactionRow, ...], ...]
    bad: tuple[BadRow, ...]
    csv: CsvText
    passed_over: PassedOver | None = None
    kind: str = ""
    is_certain: bool = True
    misfits: tuple[BadRow, ...] = ()
    account_number: str = ""
    repeated: tuple[TransactionRow, ...] = ()
    named: str = ""
    left_out: tuple[tuple[int, NoRow], ...] = ()

    @property
    def rows(self) -> tuple[TransactionRow, ...]:
        """The rows of all blocks."""
        return tuple(itertools.chain.from_iterable(self.blocks))


def read_rows(data: bytes) -> ParsedFile:
    """Parses a file's bytes; bad rows are collected, and parsing continues after them.

    Blank lines are skipped. A repeated header sets the columns of the rows below it.

    Raises:
        NotTransactions: it is a web page, or its encoding is unknown.
    """
    head = data[:2048].removeprefix(b"\xef\xbb\xbf").lstrip().lower()
    if head.startswith(b"<") and (b"<html" in head or b"<!doctype html" in head):
        raise NotTransactions(
            "it is a web page, most likely the login page saved in place of the CSV; "
            "log in and download it again"
        )
    text = decode(data)
    lines = array("I")
    records = _non_blank(records_of(text), lines)
    header = next((cells for _, cells in records), [])
    columns = _Columns.of(_header_names(header))
    if isinstance(columns, PassedOver):
        return ParsedFile((), (), CsvText(text, lines), columns, is_certain=False)
    is_certain = columns.are_certain
    blocks: list[list[TransactionRow]] = [[]]
    bad: list[BadRow] = []
    for line, cells in records:
        try:
            blocks[-1].append(columns.row(cells, line))
        except BadCell as error:
            below = _Columns.of(_header_names(cells))
            if isinstance(below, PassedOver):
                bad.append(BadRow(line, str(error)))
            else:
                columns = below
                blocks.append([])
    csv = CsvText(text, lines)
    return ParsedFile(tuple(map(tuple, blocks)), tuple(bad), csv, is_certain=is_certain)


def _non_blank(
    records: Iterable[tuple[int, CsvRecord]], lines: array[int]
) -> Iterator[tuple[int, CsvRecord]]:
    """The records that are not blank; ``lines`` gets the line of every record."""
    for line, cells in records:
        lines.append(line)
        if isinstance(cells, str) or any(map(str.strip, cells)):
            yield line, cells


@dataclass(frozen=True, slots=True)
class _Columns:
    """The index of each field of ``_NAMES`` in a row of ``width`` cells.

    A missing column has the index after the last cell; ``unsaid`` is what such columns would say.
    """

    width: int
    at: dict[str, int]
    unsaid: int

    @classmethod
    def of(cls, names: Sequence[str]) -> _Columns | PassedOver:
        """The columns of a transactions header, or else what the file is."""
        at = {
            field: next((names.index(name) for name in known if name in names), len(names))
            for field, known in _NAMES.items()
        }
        missing = [name for field, name in _NEEDED.items() if at[field] == len(names)]
        if not missing:
            lacks = (flag for field, flag in _MAY_LACK.items() if at[field] == len(names))
            return cls(len(names), at, sum(lacks))
        if not any(names):
            return PassedOver(FileKind.EMPTY)
        if "合計(円)" in names:
            return PassedOver(FileKind.ASSET_HISTORY)
        return PassedOver(FileKind.UNMAPPED, f" (no column {', '.join(missing)})")

    @property
    def are_certain(self) -> bool:
        """Whether only Money Forward's files have these columns, unlike 大項目 and 口座."""
        there = {field for field, index in self.at.items() if index < self.width}
        return "is_target" in there or {"is_transfer", "mf_id"} <= there

    def row(self, record: CsvRecord, line: int) -> TransactionRow:
        """Parses a record; raises BadCell."""
        if isinstance(record, str):
            raise BadCell(record)
        cells = list(map(str.strip, record))
        if len(cells) != self.width and (len(cells) < self.width or any(cells[self.width :])):
            raise BadCell(f"it has {len(cells)} cells, the header {self.width}")
        cells.insert(self.width, "")
        day, yen, description, major, minor, account, memo, is_target, is_transfer, mf_id = map(
            cells.__getitem__, self.at.values()
        )
        return TransactionRow(
            parse_date(day), parse_amount(yen), description, major, minor, account, memo,
            parse_flag(is_target, "計算対象", default=True),
            parse_flag(is_transfer, "振替", default=False),
            parse_id(mf_id), line, unsaid=self.unsaid,
        )  # fmt: skip


def _header_names(cells: CsvRecord) -> list[str]:
    """The header's names, normalised: half-width brackets, no spacing."""
    if isinstance(cells, str):
        return [cells]
    if cells and cells[0].startswith("\ufeff"):  # inside a file, where files were joined
        cells = [cells[0].removeprefix("\ufeff").strip().strip('"'), *cells[1:]]
    return ["ID" if name.upper() == "ID" else name for name in plain_names(cells)]


def decode(data: bytes) -> str:
    """Decodes a file's bytes.

    Raises:
        NotTransactions: the encoding is unknown, or the file is damaged.
    """
    marked = encoding.marked_encoding(data)
    try:
        if marked:
            return data.decode(marked)
        if _begins_as_utf8(data):
            data.decode("utf-8")
        return encoding.decoded(data)
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        why = f"line {line} is neither UTF-8 nor cp932 (Shift_JIS)"
        if marked:
            begin = marked.removesuffix("-sig").upper()
            why = f"it begins as {begin}, but line {line} is damaged"
        raise NotTransactions(f"{why}; download it again") from error
    except UnknownEncoding as error:
        raise NotTransactions(f"line {error.line} is {error}; download it again") from error


def _begins_as_utf8(data: bytes) -> bool:
    """Whether the first line is UTF-8 with characters other than ASCII.

    Decoded as cp932, such a file would be garbled, or taken for another kind of file.
    """
    head = data.split(b"\n", 1)[0]
    try:
        return not head.isascii() and bool(head.decode("utf-8"))
    except UnicodeDecodeError:
        return False


@dataclass(frozen=True, slots=True)
class AssetMonth:
    """The household's assets in yen on the last day of a month in the file.

    ``amounts`` are by column, including 合計 (net worth), without empty cells.
    """

    month: Month
    amounts: Mapping[str, int]


def read_asset_months(text: str) -> tuple[list[AssetMonth], int]:
    """The months of an asset history, the earliest first, and how many lines are unreadable.

    Of several days of a month the last one counts. There are no months without a day column.
    """
    records = iter(records_of(text))
    header = next((cells for _, cells in records), [])
    names = [_UNIT.sub("", one_spelling(cell)) for cell in header]
    day_column = next((names.index(name) for name in _DAY_COLUMNS if name in names), None)
    if day_column is None or TOTAL not in names:
        return [], 0
    days: dict[Month, tuple[date, AssetMonth]] = {}
    bad = 0
    for _, cells in records:
        if not isinstance(cells, str) and not any(map(str.strip, cells)):
            continue
        try:
            day, asset_month = _asset_month(names, day_column, cells)
        except BadCell:
            bad += 1
            continue
        known = days.get(asset_month.month)
        if known is None or known[0] <= day:
            days[asset_month.month] = day, asset_month
    return [days[month][1] for month in sorted(days)], bad


def _asset_month(
    names: Sequence[str], day_column: int, cells: Sequence[str]
) -> tuple[date, AssetMonth]:
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
