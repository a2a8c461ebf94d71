"""Finds the columns of a statement without a header by what is in them."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

from mdvec.household.core.cells import BadCell, parse_amount
from mdvec.household.core.csv_text import CsvRecord
from mdvec.household.core.mapped_rows import MAX_LINES_ABOVE, title_of
from mdvec.household.core.mapping import Mapping
from mdvec.household.core.statement_dates import parse_statement_date

_MIN_ROWS = 2
_MIN_SHARE = 0.8
_SMALL = 100
"""Columns with smaller numbers only are numbers of payments rather than amounts."""

_DIGITS = re.compile("[0-9]+")


def headless_mapping(
    records: Sequence[tuple[int, CsvRecord]], name: str, files: str
) -> Mapping | None:
    """A mapping by column numbers, for files recognised by the line above the rows.

    If there is no such line, they are recognised by ``files``. None if no column holds dates, or
    none amounts.
    """
    lists = [cells for _, cells in records if not isinstance(cells, str)]
    date = _date_column(lists)
    if date is None:
        return None
    rows = [cells for cells in lists if date < len(cells) and _is_date(cells[date])]
    pair = _column_for_each_way(rows, date)
    amount = _amount_column(rows, date)
    description = _description_column(rows, {date, amount, *(pair or ())})
    if description is None or (amount is None and pair is None):
        return None
    title = _title(lists, rows[0])
    mapping = Mapping(
        name=name,
        title=title,
        files="" if title else files,
        date=(date + 1,),
        description=(description + 1,),
        amount=None if amount is None else amount + 1,
        account=name,
    )
    if pair is None:
        return mapping
    paid_out, paid_in = (column + 1 for column in pair)
    # What every row has beside such a pair is its balance.
    return replace(
        mapping, amount=None, paid_out=(paid_out,), paid_in=(paid_in,), balance=mapping.amount
    )


def _column_for_each_way(rows: Sequence[Sequence[str]], date: int) -> tuple[int, int] | None:
    """Two neighbouring columns of numbers of which each row fills one."""
    for column in range(date + 1, max(map(len, rows)) - 1):
        ways = {
            tuple(_number(cell) is not None for cell in row[column : column + 2]) for row in rows
        }
        texts = any(
            cell.strip() and _number(cell) is None
            for row in rows
            for cell in row[column : column + 2]
        )
        if ways == {(True, False), (False, True)} and not texts:
            return column, column + 1
    return None


def _date_column(rows: Sequence[Sequence[str]]) -> int | None:
    found = Counter(index for row in rows for index, cell in enumerate(row) if _is_date(cell))
    column, times = max(found.items(), key=lambda each: (each[1], -each[0]), default=(0, 0))
    return column if times >= _MIN_ROWS else None


def _amount_column(rows: Sequence[Sequence[str]], date: int) -> int | None:
    """The first column of whole yen, nearly all filled, with more than small numbers."""
    for column in range(max(map(len, rows))):
        numbers = [_number(row[column]) for row in rows if column < len(row)]
        known = [number for number in numbers if number is not None]
        if column == date or len(known) < _MIN_SHARE * len(rows):
            continue
        if max(map(abs, known)) >= _SMALL:
            return column
    return None


def _description_column(rows: Sequence[Sequence[str]], used: set[int | None]) -> int | None:
    """The column with most different texts that are no numbers."""
    texts: dict[int, set[str]] = {}
    for row in rows:
        for column, cell in enumerate(row):
            if column not in used and cell.strip() and _number(cell) is None:
                texts.setdefault(column, set()).add(cell)
    return max(texts, key=lambda column: (len(texts[column]), -column), default=None)


def _title(lists: Sequence[Sequence[str]], first_row: Sequence[str]) -> str:
    """A pattern for the line above the first row, with any number for each of its numbers."""
    above = lists[: lists.index(first_row)][-MAX_LINES_ABOVE:]
    lines = [title_of(cells) for cells in above if any(cell.strip() for cell in cells)]
    if not lines:
        return ""
    return _DIGITS.sub(r"\\d+", re.escape(lines[-1]))


def _is_date(text: str) -> bool:
    try:
        parse_statement_date(text)
    except BadCell:
        return False
    return True


def _number(text: str) -> int | None:
    try:
        return parse_amount(text.strip())
    except BadCell:
        return None
