"""Parses Money Forward's CSV of transactions, which it recognises by the header.

The original has ten quoted columns in cp932; spreadsheets and scripts change its encoding, column
order and spelling. Asset histories and login pages that were saved as CSV are recognised and
reported.
"""

from __future__ import annotations

import re
from array import array
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from mdvec.errors import MdvecError
from mdvec.household.core.cells import (
    BadCell,
    TransactionRow,
    parse_amount,
    parse_date,
    parse_flag,
)
from mdvec.household.core.csv_text import CsvRecord, CsvText, records_of
from mdvec.household.core.mapping import plain_names
from mdvec.text import UnknownEncoding
from mdvec.text import encoding as encodings

_NAMES = {
    "date": ("日付",),
    "amount": ("金額(円)", "金額(¥)", "金額円", "金額"),
    "description": ("内容",),
    "category_major": ("大項目", "大分類"),
    "category_minor": ("中項目", "中分類"),
    "account": ("保有金融機関", "口座"),
    "memo": ("メモ",),
    "is_target": ("計算対象",),
    "is_transfer": ("振替",),
    "mf_id": ("ID",),
}
_NEEDED = {"date": "日付", "amount": "金額（円）", "description": "内容"}
ASSET_HISTORY = "it is an asset history, not transactions"
_SPREADSHEET_ERROR = re.compile(r"#[A-Z/0]+[?!]?|[0-9.]+E\+[0-9]+", re.IGNORECASE)
"""An ID that a spreadsheet has turned into an error or a number."""


class NotTransactions(MdvecError):
    """A file cannot be read as transactions; the message says why."""


@dataclass(frozen=True, slots=True)
class BadRow:
    """A row that cannot be parsed: the line at which it begins, and why."""

    line: int
    reason: str


@dataclass(frozen=True, slots=True)
class ParsedFile:
    """A file's rows, and its text.

    ``passed_over`` is "" for a file of transactions; for any other file it says what that is, and
    there are no rows. ``begins`` are the indexes in ``rows`` of those after a further header: such
    a file was joined from several. ``kind`` is the name of the mapping that read the file, "" for
    Money Forward's; ``is_certain`` is whether its header can be no other kind's; ``misfits`` are
    rows that its running balance contradicts; ``account_number`` is "" where nothing tells it.
    """

    rows: tuple[TransactionRow, ...]
    bad: tuple[BadRow, ...]
    csv: CsvText
    passed_over: str = ""
    begins: tuple[int, ...] = ()
    kind: str = ""
    is_certain: bool = True
    misfits: tuple[BadRow, ...] = ()
    account_number: str = ""

    @property
    def blocks(self) -> tuple[tuple[TransactionRow, ...], ...]:
        """The rows below each header."""
        ends = (*self.begins, len(self.rows))
        return tuple(
            self.rows[begin:end] for begin, end in zip((0, *self.begins), ends, strict=True)
        )


def read_rows(data: bytes) -> ParsedFile:
    """Parses a file's bytes; bad rows are collected, and parsing continues after them.

    Blank lines are skipped. A repeated header sets the columns of the rows below it.

    Raises:
        NotTransactions: it is a web page, or its encoding is unknown.
    """
    if _is_web_page(data):
        raise NotTransactions(
            "it is a web page, most likely the login page saved in place of the CSV; "
            "log in and download it again"
        )
    text = decode(data)
    lines = array("I")
    records = _non_blank(records_of(text), lines)
    header = next((cells for _, cells in records), [])
    columns = _Columns.of(_header_names(header))
    if isinstance(columns, str):
        return ParsedFile((), (), CsvText(text, lines), columns, is_certain=False)
    is_certain = columns.has_own_names
    rows: list[TransactionRow] = []
    begins: list[int] = []
    bad: list[BadRow] = []
    for line, cells in records:
        try:
            rows.append(columns.row(cells, line))
        except BadCell as error:
            below = _Columns.of(_header_names(cells))
            if isinstance(below, str):
                bad.append(BadRow(line, str(error)))
            else:
                columns = below
                begins.append(len(rows))
    return ParsedFile(
        tuple(rows),
        tuple(bad),
        CsvText(text, lines),
        begins=tuple(begins),
        is_certain=is_certain,
    )


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
    """The index of each field in a row; for a missing column, the index after the last."""

    width: int
    date: int
    amount: int
    description: int
    category_major: int
    category_minor: int
    account: int
    memo: int
    is_target: int
    is_transfer: int
    mf_id: int

    @classmethod
    def of(cls, names: Sequence[str]) -> _Columns | str:
        """The columns of a transactions header, or else a text saying what the file is."""
        at = {
            field: next((names.index(name) for name in known if name in names), len(names))
            for field, known in _NAMES.items()
        }
        missing = [name for field, name in _NEEDED.items() if at[field] == len(names)]
        if not missing:
            return cls(len(names), **at)
        if not any(names):
            return "it is empty"
        if "合計(円)" in names:
            return ASSET_HISTORY
        return f"it is not a CSV of transactions (no column {', '.join(missing)})"

    @property
    def has_own_names(self) -> bool:
        """Whether there is a column that only Money Forward's files have."""
        return min(self.is_target, self.category_major, self.account) < self.width

    def row(self, record: CsvRecord, line: int) -> TransactionRow:
        """Parses a record; raises BadCell."""
        if isinstance(record, str):
            raise BadCell(record)
        cells = list(map(str.strip, record))
        if len(cells) != self.width and (len(cells) < self.width or any(cells[self.width :])):
            raise BadCell(f"it has {len(cells)} cells, the header {self.width}")
        cells.insert(self.width, "")
        if _SPREADSHEET_ERROR.fullmatch(cells[self.mf_id]):
            raise BadCell("a spreadsheet has damaged the ID; download the file again")
        return TransactionRow(
            date=parse_date(cells[self.date]),
            amount=parse_amount(cells[self.amount]),
            description=cells[self.description],
            category_major=cells[self.category_major],
            category_minor=cells[self.category_minor],
            account=cells[self.account],
            memo=cells[self.memo],
            is_target=parse_flag(cells[self.is_target], "計算対象", default=True),
            is_transfer=parse_flag(cells[self.is_transfer], "振替", default=False),
            mf_id=cells[self.mf_id],
            line=line,
        )


def _header_names(cells: CsvRecord) -> list[str]:
    """The header's names, normalised: half-width brackets, no spacing."""
    if isinstance(cells, str):
        return [cells]
    if cells and cells[0].startswith("\ufeff"):  # where files were joined
        cells = [cells[0].removeprefix("\ufeff").strip().strip('"'), *cells[1:]]
    return ["ID" if name.upper() == "ID" else name for name in plain_names(cells)]


def _is_web_page(data: bytes) -> bool:
    head = data[:2048].removeprefix(b"\xef\xbb\xbf").lstrip().lower()
    return head.startswith(b"<") and (b"<html" in head or b"<!doctype html" in head)


def decode(data: bytes) -> str:
    """Decodes a file's bytes.

    Raises:
        NotTransactions: the encoding is unknown, or the file is damaged.
    """
    if marked := encodings.marked_encoding(data):
        try:
            return data.decode(marked)
        except UnicodeDecodeError as error:
            raise NotTransactions(
                f"it begins as {marked.removesuffix('-sig').upper()}, but line "
                f"{_line_of(data, error)} is damaged; download it again"
            ) from error
    damaged = _damaged_utf8(data)
    if damaged is not None:
        raise _unknown("neither UTF-8 nor cp932 (Shift_JIS)", damaged)
    try:
        return encodings.decoded(data)
    except UnknownEncoding as error:
        raise _unknown(str(error), error.line) from error


def _unknown(what: str, line: int) -> NotTransactions:
    return NotTransactions(f"line {line} is {what}; download it again")


def _damaged_utf8(data: bytes) -> int | None:
    """The first invalid line of a file whose header is non-ASCII UTF-8; None if all is valid.

    Decoded as cp932, such a file would be garbled, or taken for another kind of file.
    """
    head = data.split(b"\n", 1)[0]
    try:
        if head.isascii() or not head.decode("utf-8"):
            return None
    except UnicodeDecodeError:
        return None
    try:
        data.decode("utf-8")
    except UnicodeDecodeError as error:
        return _line_of(data, error)
    return None


def _line_of(data: bytes, error: UnicodeDecodeError) -> int:
    return data.count(b"\n", 0, error.start) + 1
