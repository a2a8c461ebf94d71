"""Decides whether the first row of a table names its columns, holds values, or is a title.

A row that is taken for a header is lost as data, so the user is asked if both are possible. Names
that look like values are common: a table of sales or shifts has a date or a year over each of its
columns, and programs without column names write 0, 1, 2. So a date over others is a value, one over
numbers or beside others is a name, and one alone over texts may be both.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection, Iterable, Sequence

from mdvec.datasets.core.columns import NoHeader, is_value, is_year
from mdvec.datasets.core.value_types import BLANKS, VALUE_KINDS, possible_kinds

NO_HEADER_NOTE = (
    "no header: its first line holds values, so the columns are column1, column2 … (if that line "
    "names them, choose --header-row 1)"
)
_NO_HEADER = "its header cannot be told from its titles; name its row with --header-row"
_STARTS_AS_VALUE = re.compile(
    r"[-+(.¥￥\\$£€▲△−－ ]*[\d０-９]|明治|大正|昭和|平成|令和"
    "|jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec",
    re.IGNORECASE,
)
_DIGITS = re.compile(r"\d+")
_IN_BRACKETS = re.compile(r"\(\w\)")
_IN_LIST = re.compile(r"[(（]\d{1,2}[)）]")
_MIN_RUN = 5
_MAX_SHOWN = 3
_DATE, _NUMBER, _OTHER = "date", "number", "other"


def is_data(rows: Sequence[Sequence[str]], at: int) -> bool:
    """Whether the first row of a table holds values, such as a date over nothing but dates.

    ``at`` is its index; the rows above it are titles.

    Raises:
        NoHeader: it holds values, but may also be a header, or a title.
    """
    first, below = rows[at], rows[at + 1 :]
    shapes = {at: shape for at, cell in enumerate(first) if (shape := kind_of(cell.strip()))}
    if shapes and _is_run(first, list(shapes)):
        return False
    columns = {at: _filled_cells(row[at] for row in below if at < len(row)) for at in shapes}
    if any(
        shape == _DATE and columns[at] and all(kind_of(cell) == _DATE for cell in columns[at])
        for at, shape in shapes.items()
    ):
        return True
    several = len({first[at].strip() for at, shape in shapes.items() if shape == _DATE}) > 1
    named = [at for at in shapes if not _differs(shapes[at], columns[at], beside_others=several)]
    if not named or _are_years(first, named, columns) or _is_run(first, named):
        named = []
    named += [
        at
        for at, cell in enumerate(first)
        if at not in shapes and _is_alike(cell.strip(), [row[at] for row in below if at < len(row)])
    ]
    if not named:
        return False
    if _DATE in shapes.values():
        check_names_below(rows, at)
    shown = ", ".join(first[at].strip() for at in sorted(named)[:_MAX_SHOWN])
    raise NoHeader(
        f"its first line holds values, not names ({shown}); put a line with the columns' names "
        "before it, or choose --read header=none if it has none, --header-row 1 if these are names"
    )


def check_names_below(rows: Sequence[Sequence[str]], at: int) -> None:
    """Check a header that leaves columns without a name, or has a date for one: it may be a title.

    Raises:
        NoHeader: a row below names every column, and has values right under it, while the rows
            between have none.
    """
    width = max(map(len, rows))
    columns = [
        [row[column].strip() if column < len(row) else "" for row in rows]
        for column in range(width)
    ]
    used = [cells for cells in columns if any(cells[at:])]
    full = (here for here in range(at + 1, len(rows)) if all(cells[here] for cells in used))
    is_named = all(cells[at] and kind_of(cells[at]) != _DATE for cells in used)
    if is_named or (below := next(full, None)) is None:
        return
    names = [cells[below].lower() for cells in used]
    if len(set(names)) < len(names) or any(map(is_value, names)):
        return
    if any(
        is_value("".join(cells[below + 1 : below + 2]))
        and not any(map(is_value, cells[at + 1 : below]))
        for cells in used
    ):
        raise no_header([cells[below] for cells in used])


def no_header(names: Sequence[str] = ()) -> NoHeader:
    """The refusal of rows of which each may be the header, with the names that it may have."""
    shown = f" (it may be the one with {', '.join(names[:_MAX_SHOWN])})" if names else ""
    return NoHeader(f"{_NO_HEADER}{shown}")


def kind_of(cell: str) -> str:
    """Whether a cell is a date, a number or another value; "" for a text or an empty cell."""
    if cell in BLANKS or not _STARTS_AS_VALUE.match(cell):
        return ""
    kind = next(possible_kinds(VALUE_KINDS, [cell]), None)
    if kind is None or kind.type == "BOOLEAN" or _IN_LIST.fullmatch(cell):
        return _OTHER if is_value(cell) else ""
    return _DATE if kind.is_date else _NUMBER


def _is_alike(cell: str, below: Sequence[str]) -> bool:
    """Whether a cell that may be a name is written like the values under it.

    These are true and false, numbers under NA, or texts that differ only in digits (6月1日). An
    equal text does not count, as it may be a repeated header.
    """
    values = _filled_cells(below)
    if not cell or not values:
        return False
    if cell in BLANKS:
        return all(map(kind_of, values))
    if _is_truth(cell):
        return all(map(_is_truth, values))
    if not any(map(str.isdigit, cell)):
        return False
    form = _form(cell)
    return any(value != cell and _form(value) == form for value in values)


def _is_truth(cell: str) -> bool:
    return cell.strip(" ").lower() in ("true", "false")


def _form(cell: str) -> str:
    """A text without its digits, and without a letter in brackets, such as a day of the week."""
    return _IN_BRACKETS.sub("()", _DIGITS.sub("0", unicodedata.normalize("NFKC", cell)))


def _filled_cells(cells: Iterable[str]) -> list[str]:
    return [cell for cell in (text.strip() for text in cells) if cell not in BLANKS]


def _differs(shape: str, cells: Collection[str], *, beside_others: bool) -> bool:
    """Whether a date is over no date, or a range such as 5-9 over nothing but numbers."""
    kinds = {kind_of(cell) for cell in cells}
    if shape == _DATE and _DATE not in kinds:
        return _NUMBER in kinds or (beside_others and bool(kinds))
    return shape == _OTHER and kinds == {_NUMBER}


def _are_years(first: Sequence[str], named: Sequence[int], columns: dict[int, list[str]]) -> bool:
    """Whether the cells are different years, and the cells under each are other numbers."""
    years = [first[at].strip() for at in named]
    return (
        len(first) > 1
        and all(map(is_year, years))
        and len(set(years)) == len(years)
        and not any(columns[at] and all(map(is_year, columns[at])) for at in named)
    )


def _is_run(first: Sequence[str], named: Sequence[int]) -> bool:
    """Whether the cells number the columns from 0 or 1, as programs without names do."""
    numbers = [first[at].strip() for at in named]
    is_counted = any(
        numbers == [str(number) for number in range(start, start + len(numbers))]
        for start in (0, 1)
    )
    return is_counted and (len(numbers) >= _MIN_RUN or (named[0] > 0 and not first[0].strip()))
