"""Reads the rows of a statement with a mapping.

Banks and cards put titles above their rows, and totals and footers below them: a line with neither
a date nor an amount is one of these, and so is a line that names a total. A line with an amount and
no date is a bad row: a discount without a date must not be lost silently. Each line that is no row
is kept with the reason, so that an import can account for every line of a file.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Container, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import date
from decimal import Decimal, InvalidOperation
from functools import partial

from mdvec.household.core.balances import BalanceCheck, check_balances
from mdvec.household.core.categories import INCOME, UNCATEGORISED
from mdvec.household.core.cells import (
    BadCell,
    BadRow,
    CsvRecord,
    NoRow,
    TransactionRow,
    Unsaid,
    is_date,
    is_like_amount,
    parse_amount,
    parse_date,
    parse_id,
)
from mdvec.household.core.mapping import (
    Conditions,
    MappedColumn,
    Mapping,
    fits_pattern,
    one_spelling,
    plain_names,
)
from mdvec.text import shown_name

MAX_LINES_ABOVE = 40
"""How many records may precede the header or the first row."""

_NOTHING = frozenset({"", "-", "－", "‐", "–", "—", "―", "ー", "*"})
TOTAL = re.compile("合計|小計|総計|総額|累計|^計$|^..?.?繰越|請求額|請求金額|^残高|件数")
"""Words that mark lines with sums of other lines or with amounts owed."""


_MINUS = str.maketrans("▲△−", "---")
_DECIMAL_COMMA = re.compile(r",[0-9]{1,2}[^0-9]*$")
_NO_DECIMAL = re.compile(r"[^0-9.\-]")
_LIKE_A_DATE = re.compile(r"\D?\d{1,4}\D\d{1,2}\D\d{1,2}\D?|\d{8}")


@dataclass(frozen=True, slots=True)
class MappedRows:
    """The rows of a file; ``blocks`` are the rows below each header, with None for a bad row.

    ``above`` is the text above each block, up to the row before it, without sums and the file's
    footers. ``left_out`` are the lines that are in neither ``rows`` nor ``bad``, but for blank ones
    and headers.
    """

    rows: tuple[TransactionRow, ...]
    bad: tuple[BadRow, ...]
    blocks: tuple[tuple[TransactionRow | None, ...], ...]
    above: tuple[str, ...]
    left_out: tuple[tuple[int, NoRow], ...]

    @property
    def checks(self) -> list[BalanceCheck]:
        """How the running balance of each block fits its amounts."""
        return [check_balances(block) for block in self.blocks]

    @property
    def misfits(self) -> list[int]:
        """The lines whose balance does not follow from the adjacent row."""
        return [line for check in self.checks for line in check.misfits]

    @property
    def are_proven(self) -> bool:
        """Whether every row has a balance that follows from the previous one."""
        rows = [row for block in self.blocks for row in block]
        if any(row is None or row.balance is None or row.amount is None for row in rows):
            return False
        return any(check.compared for check in self.checks) and not self.misfits

    @property
    def unproven(self) -> set[int]:
        """The indexes of the rows whose balance follows from no other row: the oldest ones."""
        followed = frozenset().union(*(check.followed for check in self.checks))
        return {at for at, row in enumerate(self.rows) if row.line not in followed}


def header_line(mapping: Mapping, records: Iterable[tuple[int, CsvRecord]]) -> int | None:
    """The line, counted from 1, of the header that identifies a file of the mapping's kind.

    For a mapping without header, the line of its title or of its first row. None if there is no
    such line near the file's beginning.
    """
    shows = header_test(mapping) if mapping.header or mapping.title else partial(_is_row, mapping)
    for line, cells in itertools.islice(records, MAX_LINES_ABOVE):
        if not isinstance(cells, str) and shows(cells):
            return line
    return None


def is_yen(text: str) -> bool:
    """Whether the cell of a currency column says yen, or is empty."""
    return one_spelling(text).upper() in ("", "-", "JPY", "円", "日本円", "¥", "YEN")


def _decimal(text: str) -> Decimal:
    """An amount in another currency than yen; 0 if the cell is empty.

    Raises:
        BadCell: it is no number.
    """
    plain = one_spelling(text).translate(_MINUS)
    if _DECIMAL_COMMA.search(plain):
        plain = plain.replace(".", "").replace(",", ".")
    try:
        return Decimal(_NO_DECIMAL.sub("", plain) if plain else 0)
    except InvalidOperation:
        raise BadCell("金額 is not a number of its currency") from None


def _is_row(mapping: Mapping, cells: Sequence[str]) -> bool:
    return isinstance(_RowReader.of(mapping, ()).read(list(cells), 1), TransactionRow)


def header_test(mapping: Mapping) -> Callable[[Sequence[str]], bool]:
    """A test of whether a record is the header or title above rows of the mapping's kind."""
    if mapping.header:
        needed = {one_spelling(name) for name in mapping.telling_columns()}
        return lambda cells: needed.issubset(plain_names(cells))
    title = mapping.title
    return lambda cells: bool(title) and re.search(title, title_of(cells)) is not None


def title_of(cells: Sequence[str]) -> str:
    """A line in the form against which the pattern of a title is matched."""
    return ",".join(map(one_spelling, cells))


def read_mapped(mapping: Mapping, records: Iterable[tuple[int, CsvRecord]]) -> MappedRows:
    """The rows of a file that has the mapping's header or title."""
    blocks: list[list[TransactionRow | None]] = [[]]
    bad: list[BadRow] = []
    left_out: list[tuple[int, NoRow]] = []
    foreign: dict[str, list[tuple[int, Decimal]]] = {}
    reader = None if mapping.header or mapping.title else _RowReader.of(mapping, ())
    texts, above = list[str](), dict[int, list[str]]()
    is_header = header_test(mapping)
    for line, cells in records:
        read = _above_the_header(cells) if reader is None else reader.read(cells, line)
        if isinstance(read, TransactionRow | _ForeignRow):
            above.setdefault(len(blocks), texts)
            texts = []
        else:
            texts += _text_of(cells)
        if isinstance(read, TransactionRow):
            blocks[-1].append(read)
        elif isinstance(read, _ForeignRow):
            foreign.setdefault(read.code, []).append((line, read.amount))
            blocks[-1].append(None)
        elif not isinstance(cells, str) and is_header(cells):
            if reader is not None:
                blocks.append([])
            reader = _RowReader.of(mapping, cells)
        elif isinstance(read, NoRow):
            left_out.append((line, read))
        elif read is not None:
            bad.append(BadRow(line, read))
            blocks[-1].append(None)
    left_out += [(line, NoRow.FOREIGN) for rows in foreign.values() for line, _ in rows[1:]]
    footers = texts if len(blocks) in above else ()  # a last section without rows has its own
    return MappedRows(
        tuple(row for block in blocks for row in block if row is not None),
        tuple(sorted([*bad, *_left_out(foreign)])),
        tuple(map(tuple, blocks)),
        tuple(
            "\n".join(text for text in above.get(number, ()) if text not in footers)
            for number in range(1, len(blocks) + 1)
        ),
        tuple(left_out),
    )


def _above_the_header(cells: CsvRecord) -> NoRow | None:
    """A line above the first header: a title, or a row of another table that was joined to it."""
    if isinstance(cells, str):
        return NoRow.ABOVE
    if not any(map(str.strip, cells)):
        return None
    is_like_a_row = any(map(is_date, cells)) and any(map(is_like_amount, cells))
    return NoRow.LIKE_A_ROW if is_like_a_row else NoRow.ABOVE


def _text_of(cells: CsvRecord) -> list[str]:
    """A line that is no row, as text; nothing if it is blank or a sum of the rows above."""
    text = title_of([cells] if isinstance(cells, str) else cells).strip(",")
    return [] if not text or TOTAL.search(text.partition(",")[0]) else [text]


def _left_out(foreign: dict[str, list[tuple[int, Decimal]]]) -> Iterator[BadRow]:
    """A report for each other currency; ``foreign`` has the line and amount of each of its rows."""
    for code, rows in foreign.items():
        count = f"{len(rows)}, {sum(amount for _, amount in rows):,} in sum"
        reason = f"rows in {shown_name(code)} ({count}) are left out: only yen can be added up"
        yield BadRow(rows[0][0], reason)


@dataclass(frozen=True, slots=True)
class _ForeignRow:
    """A row in another currency than yen."""

    code: str
    amount: Decimal


def _unsaid(mapping: Mapping, at: Container[MappedColumn | None], *, is_income: bool) -> int:
    """The flags of what a file with these columns says of no row."""
    says_category = mapping.category in at or mapping.states_category(is_income=is_income)
    said = (
        (Unsaid.CATEGORY, says_category),
        (Unsaid.ACCOUNT, mapping.account or any(each in at for each in mapping.account_column)),
        (Unsaid.MEMO, any(each in at for each in mapping.memo)),
        (Unsaid.IS_TARGET | Unsaid.IS_TRANSFER, False),
    )
    return sum(int(flag) for flag, is_said in said if not is_said)


@dataclass(frozen=True, slots=True)
class _RowReader:
    """Reads rows below one header; ``at`` has the index of each column.

    ``unsaid`` are the flags of what neither a column nor the mapping says of all rows: of those of
    spending, and of income. A cell that fits ``on_transfers`` says whether its row is a transfer,
    one that fits ``on_counting`` whether it counts; of other cells, the mapping says nothing.
    """

    mapping: Mapping
    at: dict[MappedColumn, int]
    width: int | None
    unsaid: tuple[int, int]
    on_transfers: Conditions
    on_counting: Conditions

    @classmethod
    def of(cls, mapping: Mapping, header: Sequence[str]) -> _RowReader:
        names = plain_names(header) if mapping.header else []
        at: dict[MappedColumn, int] = {}
        for column in mapping.columns():
            if isinstance(column, int):
                at[column] = column - 1
            elif one_spelling(column) in names:
                at[column] = names.index(one_spelling(column))
        return cls(
            mapping, at, len(names) or None,
            (_unsaid(mapping, at, is_income=False), _unsaid(mapping, at, is_income=True)),
            *map(mapping.decisions_beside, (mapping.transfers, mapping.not_counted)),
        )  # fmt: skip

    def read(
        self, record: CsvRecord, line: int
    ) -> TransactionRow | _ForeignRow | NoRow | str | None:
        """The transaction of a record, why it is none, or why it cannot be read.

        None for a blank line.
        """
        if isinstance(record, str):
            return record
        cells = [cell.strip() for cell in record]
        if not any(cells):
            return None
        try:
            if self._fits(cells, self.mapping.skipped):
                return NoRow.SKIPPED
            day = self._day(cells)
            return NoRow.AROUND if day is None else self._row(day, cells, line)
        except BadCell as error:
            return str(error)

    def _day(self, cells: Sequence[str]) -> date | None:
        """The row's day; None for a line that is no transaction."""
        text = self._date(cells)
        try:
            return parse_date(text.removesuffix("Z"), self.mapping.date_format)
        except BadCell:
            if self._surrounds(text, cells):
                return None
            if not text:
                raise BadCell("it has an amount, but no date") from None
            raise

    def _row(self, day: date, cells: list[str], line: int) -> TransactionRow | _ForeignRow:
        mapping = self.mapping
        self._check_width(cells)
        if mapping.currency is not None:
            code = self._cell(cells, mapping.currency)
            if not is_yen(code):
                return _ForeignRow(code, self._foreign_amount(cells))
        amount = self._amount(cells)
        is_income = (amount or 0) > 0 and not self._gives_back(cells)
        major, minor = self._category(cells, is_income=is_income)
        return TransactionRow(
            date=day,
            amount=amount,
            description=" ".join(self._texts(cells, mapping.description)),
            category_major=major,
            category_minor=minor,
            account=next(iter(self._texts(cells, mapping.account_column)), mapping.account),
            memo=" ".join(self._texts(cells, mapping.memo)),
            is_target=not self._fits(cells, mapping.not_counted),
            is_transfer=self._fits(cells, mapping.transfers),
            mf_id=parse_id(self._text(cells, mapping.id)),
            line=line,
            balance=self._number(cells, mapping.balance),
            unsaid=self._unsaid(cells, is_income=is_income),
        )

    def _unsaid(self, cells: Sequence[str], *, is_income: bool) -> int:
        unsaid = self.unsaid[is_income]
        if self.on_transfers and self._fits(cells, self.on_transfers):
            unsaid &= ~Unsaid.IS_TRANSFER
        if self.on_counting and self._fits(cells, self.on_counting):
            unsaid &= ~Unsaid.IS_TARGET
        return unsaid

    def _gives_back(self, cells: Sequence[str]) -> bool:
        """Whether incoming money is a refund: the row's words say so, or paid_out is negative."""
        if self._fits(cells, self.mapping.refunds) or self._fits(cells, self.mapping.reversals):
            return True
        return (self._sum(cells, self.mapping.paid_out) or 0) < 0 and not (
            self._sum(cells, self.mapping.paid_in)
        )

    def _foreign_amount(self, cells: Sequence[str]) -> Decimal:
        """The amount in another currency, for a message: money in minus money out."""
        columns = self.mapping.paid_in if self.mapping.amount is None else (self.mapping.amount,)
        both = [
            sum((_decimal(self._text(cells, column)) for column in each), Decimal())
            for each in (columns, self.mapping.paid_out)
        ]
        return both[0] - both[1]

    def _category(self, cells: Sequence[str], *, is_income: bool) -> tuple[str, str]:
        """The 大項目 and 中項目; for income, the file's category becomes the 中項目."""
        mapping = self.mapping
        category = self._text(cells, mapping.category)
        subcategory = self._text(cells, mapping.subcategory)
        if is_income and mapping.category_of_income == INCOME:
            return INCOME, category or subcategory
        usual = mapping.category_of_income if is_income else mapping.spending_category
        major = category or usual
        return major, subcategory or (UNCATEGORISED if major == UNCATEGORISED else "")

    def _surrounds(self, written: str, cells: Sequence[str]) -> bool:
        """Whether a line without a valid date is a title, a total or a footer.

        An amount that cannot be read is an amount.
        """
        if _LIKE_A_DATE.fullmatch(written):
            return False  # a mistyped date, whose row must be reported
        if not self._has_amount(cells) or TOTAL.search(one_spelling(written)):
            return True
        if any(map(str.isdigit, written)):
            return False
        described = self._texts(cells, self.mapping.description)
        return not (written or described) or any(TOTAL.search(one_spelling(cell)) for cell in cells)

    def _has_amount(self, cells: Sequence[str]) -> bool:
        try:
            return self._amount(cells) is not None
        except BadCell:
            return any(
                is_like_amount(self._text(cells, each)) for each in self.mapping.amount_columns()
            )

    def _check_width(self, cells: list[str]) -> None:
        """Refuses a row that lacks a needed column, or has more cells than the header."""
        if self.width is not None and any(cells[self.width :]):
            raise BadCell(f"it has {len(cells)} cells, the header {self.width}")
        needed = [
            column
            for columns in (self.mapping.date, self.mapping.description[:1])
            for column in columns
        ]
        if any(self.at[column] >= len(cells) for column in needed if column in self.at):
            raise BadCell(f"it has only {len(cells)} cells")

    def _date(self, cells: Sequence[str]) -> str:
        parts = [self._cell(cells, column) for column in self.mapping.date]
        return "/".join(parts) if all(parts) else ""

    def _amount(self, cells: Sequence[str]) -> int | None:
        """The amount, negative for money that goes out; None if there is none."""
        amount = self._stated_amount(cells)
        if amount is None:
            return None
        fees, points = (
            sum(abs(self._number(cells, column) or 0) for column in columns)
            for columns in (self.mapping.fees, self.mapping.points)
        )
        amount = amount - fees + points
        return -amount if self._fits(cells, self.mapping.reversals) else amount

    def _stated_amount(self, cells: Sequence[str]) -> int | None:
        mapping = self.mapping
        if mapping.amount is not None:
            amount = self._number(cells, mapping.amount)
            if amount is not None and mapping.outgoing:
                return -amount if self._fits(cells, mapping.outgoing) else amount
            return -amount if amount is not None and mapping.positive == "spending" else amount
        paid_out = self._sum(cells, mapping.paid_out)
        paid_in = self._sum(cells, mapping.paid_in)
        if paid_out is None and paid_in is None:
            return None
        return (paid_in or 0) - (paid_out or 0)

    def _sum(self, cells: Sequence[str], columns: Sequence[MappedColumn]) -> int | None:
        numbers = [self._number(cells, column) for column in columns]
        known = [number for number in numbers if number is not None]
        return sum(known) if known else None

    def _number(self, cells: Sequence[str], column: MappedColumn | None) -> int | None:
        number = parse_amount(self._text(cells, column))
        return None if number is None else number * (self.mapping.unit or 1)

    def _text(self, cells: Sequence[str], column: MappedColumn | None) -> str:
        """A cell's text; "" for a dash and other marks that stand for an empty cell."""
        text = "" if column is None else self._cell(cells, column)
        return "" if text in _NOTHING else text

    def _cell(self, cells: Sequence[str], column: MappedColumn) -> str:
        index = self.at.get(column)
        return "" if index is None or index >= len(cells) else cells[index]

    def _texts(self, cells: Sequence[str], columns: Sequence[MappedColumn]) -> list[str]:
        return [text for text in (self._text(cells, each) for each in columns) if text]

    def _fits(self, cells: Sequence[str], conditions: Conditions) -> bool:
        return any(
            fits_pattern(self._cell(cells, column), pattern)
            for column, patterns in conditions.items()
            for pattern in patterns
        )
