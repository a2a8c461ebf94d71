"""Decides whether the first row of a table names its columns, holds values, or is a title.

A row that is mistaken for a header is lost as data, so the user is asked if it may be either. A
date over nothing but dates is a value, so the table has no header. The user is asked about other
cells that look like the cells below them. These are names:

- a date, or a range such as 5-9, over numbers
- dates over texts, if three or more are evenly spaced, such as days or months, or if the row below
  fills gaps in their row and has no key
- different years over other numbers
- 0, 1, 2, as programs number columns

A row may be a title if it names about half of the columns or fewer. The user is asked if a row
below may name all columns, unless a row in between fills the same columns, as a record does. A row
with more names may be a title if it has gaps or a date, and the row below may name columns of
numbers or has dates itself. Evenly spaced dates over every column are no title.

A second row of names that begins with a text, as the rows below it do (曜日, 金, 土), looks like a
record: it is read as values, and a note says so only if it is below dates over numbers.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import pairwise, zip_longest

from mdvec.datasets.core.columns import NoHeader, is_value, is_year
from mdvec.datasets.core.value_types import BLANKS, VALUE_KINDS, possible_kinds, trimmed
from mdvec.dates import Month, parse_dated
from mdvec.text import on_one_line, quoted

NO_HEADER_NOTE = (
    "no header: its first line holds values, so the columns are column1, column2 … (if that line "
    "names them, choose --header-row 1)"
)
OR_NO_HEADER = ", or --read header=none if every row is data"
FOR_FILE = "--for FILE"
"""A placeholder in the message of ``NoHeader``; the import puts the file's name there."""
_NO_HEADER = (
    "its header cannot be told from its first rows; choose --header-row N if row N names the "
    f"columns (N-M if several rows do; rows above are left out){OR_NO_HEADER}, with -m update "
    f"{FOR_FILE}: "
)
_STARTS_AS_VALUE = re.compile(
    r"[-+(.¥￥\\$£€▲△−－ ]*[\d０-９]|明治|大正|昭和|平成|令和"
    "|jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec",
    re.IGNORECASE,
)
_DIGITS = re.compile(r"\d+")
_IN_BRACKETS = re.compile(r"\(\w\)")
_IN_LIST = re.compile(r"[(（]\d{1,2}[)）]")
_MIN_RUN = 5
_MIN_SERIES = 3
_MIN_NAMES = 2
_MAX_SHOWN_LETTERS = 60
_DATE, _NUMBER, _OTHER = "date", "number", "other"
Rows = Sequence[Sequence[str]]
"""The first rows of a file, whose cells have no spaces at their ends."""


def is_data(rows: Rows, at: int, numbers: Sequence[int]) -> bool:
    """Whether the first row of a table holds values: it has a date over nothing but dates.

    ``at`` is the row's index; the rows above it are titles. ``numbers`` are the rows' numbers in
    the file.

    Raises:
        NoHeader: it has other cells that look like values, but may be a header or a title.
    """
    first, below = rows[at], rows[at + 1 :]
    kinds = {column: kind for column, cell in enumerate(first) if (kind := kind_of(cell))}
    cells_below = {column: cells_of(below, column) for column in range(len(first))}
    dates = [cells_below[column] for column, kind in kinds.items() if kind == _DATE]
    if any(cells and all(map(_is_date, cells)) for cells in dates):
        return True
    dates_are_names = any(dates) and (_has_series(first) or _fills_gaps(rows, at))
    like_values = [
        column
        for column, kind in kinds.items()
        if not _is_name(kind, cells_below[column], dates_are_names=dates_are_names)
    ]
    if _are_years(first, like_values, cells_below) or _is_run(first, like_values, below):
        like_values = []
    alike = (_is_alike(cell, cells_below[at]) for at, cell in enumerate(first) if at not in kinds)
    if like_values or any(alike):
        raise no_header(rows, numbers)
    return False


def columns_of(rows: Rows) -> list[tuple[str, ...]]:
    """The columns; a row that is too short has empty cells."""
    return list(zip_longest(*rows, fillvalue=""))


def cells_of(rows: Rows, column: int) -> list[str]:
    """The cells of a column that have a value."""
    return [row[column] for row in rows if column < len(row) and row[column] not in BLANKS]


def check_names_below(rows: Rows, at: int, numbers: Sequence[int]) -> int:
    """Check whether a header that has a date, or leaves columns unnamed, may be a title.

    It may be one if a row below has a different name for every column. If the header names more
    than about half of the columns, that row must also be right above the first values of a column,
    or have dates.

    Returns:
        The index of such a row if the header, of evenly spaced dates, is no title; else 0.

    Raises:
        NoHeader: there is such a row, and the header may be a title.
    """
    used = [cells for cells in columns_of(rows) if any(cells[at:])]
    full = (row for row in range(at + 1, len(rows)) if all(cells[row] for cells in used))
    is_full = all(cells[at] for cells in used)
    names_most = sum(bool(cells[at]) for cells in used) * 2 > len(used) + 1
    # A row that names every column but the first, which may hold an index, can only be a header.
    may_be_title = not names_most and not all(cells[at] for cells in used[1:])
    has_dates = any(_is_date(cells[at]) for cells in used)
    if (is_full and not has_dates) or (below := next(full, None)) is None:
        return 0
    names = [cells[below].lower() for cells in used]
    if len(set(names)) < len(names) or not may_name_columns(rows, below, may_count=may_be_title):
        return 0
    over_values = [
        cells
        for cells in used
        if any(map(is_value, cells[below + 1 : below + 2]))
        and not any(map(is_value, cells[at + 1 : below]))
    ]
    if is_full and _has_series(rows[at]):
        return below if any(_is_date(cells[at]) for cells in over_values) else 0
    filled = [[bool(cells[row]) for cells in used] for row in range(at, below)]
    is_title = may_be_title and below < len(rows) - 1 and filled[0] not in filled[1:]
    names_dates = any(_is_date(cells[below]) and any(cells[below + 1 :]) for cells in used)
    if is_title or over_values or names_dates:
        raise no_header(rows, numbers)
    return 0


def may_name_columns(rows: Rows, at: int, *, may_count: bool = True) -> bool:
    """Whether all cells of a row may be names.

    A text must not occur again below, or be written like a text there; a date must not be over
    mostly dates. Numbers must be over texts, or be different years, or 0, 1, 2, or, with
    ``may_count``, other consecutive numbers.
    """
    row, below = rows[at], [other for other in rows[at + 1 :] if other != rows[at]]
    names = {column: name for column, name in enumerate(row) if name}
    cells_below = {column: cells_of(below, column) for column in names}
    numbers = [column for column, name in names.items() if kind_of(name) == _NUMBER]
    if (
        (len(numbers) > 1 and _are_years(row, numbers, cells_below))
        or _is_run(row, numbers, below)
        or (may_count and _is_count([names[column] for column in numbers]))
    ):
        names = {column: name for column, name in names.items() if column not in numbers}
    return not any(_is_value_of(name, cells_below[column]) for column, name in names.items())


def _is_value_of(name: str, below: Sequence[str]) -> bool:
    """Whether a cell looks like a value of its column, whose other cells are ``below`` it.

    A number does, unless there are cells below and none is a number. A date or another value does
    if most cells below are of its kind; a text does if it occurs among them or is written like one.
    """
    kind = kind_of(name)
    if not kind:
        return name in below or _is_alike(name, below)
    alike = sum(kind_of(cell) == kind for cell in below)
    return alike > 0 or not below if kind == _NUMBER else alike * 2 > len(below)


def _is_count(numbers: Sequence[str]) -> bool:
    """Whether there are three or more numbers, each one more than the last, such as days."""
    return len(numbers) >= _MIN_SERIES and all(
        former.isdecimal() and later == str(int(former) + 1) for former, later in pairwise(numbers)
    )


def _names_without_key(rows: Rows, at: int) -> bool:
    """Whether a row names most columns, but not the first, which all rows below fill.

    None of its cells may be a value, or occur again below it as the texts of records may.
    """
    below = [row for row in rows[at + 1 :] if any(row)]
    if not below:
        return False
    key = min(next(column for column, cell in enumerate(row) if cell) for row in below)
    if any(rows[at][: key + 1]) or not all(row[key] for row in below):
        return False
    names = {column: name for column, name in enumerate(rows[at]) if name}
    if any(kind_of(name) or name in cells_of(below, column) for column, name in names.items()):
        return False
    number = sum(name not in BLANKS for name in names.values())
    width = max(len(row) - key - 1 for row in rows[at:])
    return number >= _MIN_NAMES and number * 2 > width


def _may_have_names_below(rows: Rows, at: int) -> bool:
    """Whether the row below a header may name columns too, even columns of texts.

    The row has no key, and the header has dates, or gaps that the row fills. Below other headers, a
    row without a key is more likely a record.
    """
    has_dates = any(map(_is_date, rows[at]))
    return _fills_gaps(rows, at) or (has_dates and _names_without_key(rows, at + 1))


def holds_values(rows: Rows, column: int) -> bool:
    """Whether most filled cells of a column are numbers or dates; True if none is filled."""
    values = [is_value(cell) for cell in cells_of(rows, column)]
    return not values or sum(values) * 2 > len(values)


def last_row_of_labels(rows: Rows, lower: int) -> int:
    """The index of the last row right below a header that may hold names or units; 0 if none may.

    In such a row no cell is like the values below it, while two or more columns mostly hold values.
    It has no key: its first cell is empty, or above values. In the first such row, another cell is
    above values, unless ``_may_have_names_below``, which suffices for one row above texts.
    """
    below = rows[lower + 1 :]
    columns = columns_of(below)
    key = next((column for column, cells in enumerate(columns) if any(cells)), 0)
    of_values = {
        column
        for column, cells in enumerate(columns)
        if any(map(is_value, cells)) and holds_values(below, column)
    }
    last = lower + 1 if _may_have_names_below(rows, lower) else 0
    rows_below = zip(*columns, strict=True) if len(of_values) > 1 else ()
    for at, row in enumerate(rows_below, lower + 1):
        has_key = row[key] not in BLANKS and key not in of_values
        if has_key or any(_is_like(row[each], columns[each][at - lower :]) for each in of_values):
            break
        is_blank_over_values = all(row[each] in BLANKS for each in of_values - {key})
        if (last or not is_blank_over_values) and any(cell not in BLANKS for cell in row):
            last = at
    return last


def _is_like(cell: str, below: Sequence[str]) -> bool:
    """Whether a cell is a value of a kind that is also below it, or has no values below it."""
    kinds = {kind_of(other) for other in below if is_value(other)}
    return is_value(cell) and (not kinds or kind_of(cell) in kinds)


def years_over_values(rows: Rows, start: int) -> int:
    """The index of the first row with values from ``start`` on, if these are years as names.

    They are names if they are different years, two or more, with values below them, but no column
    of only years. Returns 0 otherwise.
    """
    at = next((at for at in range(start, len(rows)) if any(map(is_value, rows[at]))), 0)
    years = {column: cell for column, cell in enumerate(rows[at]) if is_value(cell)}
    are_years = len(years) >= _MIN_NAMES and all(map(is_year, years.values()))
    are_different = len(set(years.values())) == len(years)
    columns = (cells_of(rows[at + 1 :], column) for column in years)
    below = [{is_year(cell) for cell in cells if is_value(cell)} for cells in columns]
    over_others = any(below) and {True} not in below
    return at if are_years and are_different and over_others else 0


def labels_in(names: Sequence[str], rows: Rows, below: Rows) -> frozenset[str]:
    """The cells of ``rows``, which may continue the header ``names``; none if they mean "no value".

    They may mean it if there is a single row, which has the same word, such as 休, in all columns
    after its key, and does not name the column of keys.
    """
    words = {cell for row in rows for cell in row[1:] if not is_value(cell)} - BLANKS
    names_keys = not names[0] and any(row[0] for row in rows) and holds_values(below, 0)
    is_one_word = len(rows) == len(words) == 1 and not names_keys
    return frozenset(cell for row in rows for cell in row if not is_one_word)


def _fills_gaps(rows: Rows, at: int) -> bool:
    """Whether the row below row ``at`` has names in gaps of row ``at``, but no key."""
    has_gaps = any(not top and any(lower) for top, *lower in columns_of(rows[at : at + 2]))
    return has_gaps and _names_without_key(rows, at + 1)


def _has_series(row: Sequence[str]) -> bool:
    """Whether a row has three or more different dates, equally many days or months apart.

    Dates that are months apart must be the same day of the month.
    """
    named = [parse_dated(cell) for cell in dict.fromkeys(filter(_is_date, row))]
    days = [each.first for each in named if each]
    if len(days) < max(_MIN_SERIES, len(named)):
        return False
    steps = {(later - day).days for day, later in pairwise(days)}
    months = {Month.of(later).since(Month.of(day)) for day, later in pairwise(days)}
    is_same_day = len({day.day for day in days}) == 1
    return 0 not in steps and (len(steps) == 1 or (is_same_day and len(months) == 1))


def no_header(rows: Rows, numbers: Sequence[int]) -> NoHeader:
    """The error that any of these rows may be the header; its message shows some of them.

    These are the first three, and the rows around two others: the first with the usual number of
    cells, and the first with the most. The header is likely among them.
    """
    filled = [each for each in zip(numbers, rows, strict=False) if filled_count(each[1])]
    counts = [filled_count(row) for _, row in filled]
    middles = (1, counts.index(usual_width(counts)), counts.index(max(counts)))
    near = {
        at for middle in middles for at in range(middle - 1, middle + 2) if 0 <= at < len(filled)
    }
    shown: list[str] = []
    for at in sorted(near):
        number, row = filled[at]
        shown += [] if not at or at - 1 in near else ["…"]
        text = on_one_line(" | ".join(row))
        if len(text) > _MAX_SHOWN_LETTERS:
            text = f"{text[: _MAX_SHOWN_LETTERS - 1]}…"
        shown.append(f"{number} {quoted(text)}")
    return NoHeader(_NO_HEADER + ", ".join(shown))


def usual_width(widths: Iterable[int]) -> int:
    """The most frequent number of cells in a row; the largest if several are as frequent."""
    counted = Counter(widths)
    return max(counted, key=lambda width: (counted[width], width), default=0)


def filled_count(row: Sequence[str]) -> int:
    """How many cells of a row are not empty."""
    return sum(bool(cell.strip()) for cell in row)


def kind_of(cell: str) -> str:
    """Whether a cell is a date, a number or another value; "" for a text or an empty cell."""
    if not _STARTS_AS_VALUE.match(cell):
        return ""
    kind = next(possible_kinds(VALUE_KINDS, [cell]), None)
    if kind is None or _IN_LIST.fullmatch(cell):
        return _OTHER if is_value(cell) else ""
    return _DATE if kind.is_date else _NUMBER


def _is_date(cell: str) -> bool:
    return kind_of(cell) == _DATE


def _is_alike(cell: str, below: Sequence[str]) -> bool:
    """Whether a text, which may be a name, is written like the cells below it.

    Examples are true over false, NA over numbers, and 6月1日 over 6月2日. An equal text does not
    count, as it may be a repeated header.
    """
    if not cell or not below:
        return False
    if cell in BLANKS:
        return all(map(kind_of, below))
    if _is_truth(cell):
        return all(map(_is_truth, below))
    if not any(map(str.isdigit, cell)):
        return False
    form = _form(cell)
    return any(value != cell and _form(value) == form for value in below)


def _is_truth(cell: str) -> bool:
    return trimmed(cell).lower() in ("true", "false")


def _form(cell: str) -> str:
    """A text with each number as 0, and without a letter in brackets, such as a day of the week."""
    return _IN_BRACKETS.sub("()", _DIGITS.sub("0", unicodedata.normalize("NFKC", cell)))


def _is_name(kind: str, below: Collection[str], *, dates_are_names: bool) -> bool:
    """Whether a cell of this kind is a name: a date, or a range such as 5-9 over only numbers.

    A date must not be over dates. It must be over numbers unless ``dates_are_names``.
    """
    kinds = {kind_of(cell) for cell in below}
    if kind == _DATE:
        return _DATE not in kinds and (_NUMBER in kinds or dates_are_names)
    return kind == _OTHER and kinds == {_NUMBER}


def _are_years(
    first: Sequence[str], columns: Sequence[int], below: Mapping[int, Sequence[str]]
) -> bool:
    """Whether the row's cells in ``columns`` are different years, none over nothing but years.

    ``below`` has the cells below the row, by column.
    """
    years = [first[column] for column in columns]
    return (
        len(first) > 1
        and all(map(is_year, years))
        and len(set(years)) == len(years)
        and not any(below[column] and all(map(is_year, below[column])) for column in columns)
    )


def _is_run(first: Sequence[str], columns: Sequence[int], below: Rows) -> bool:
    """Whether the row's cells in ``columns`` count from 0 or 1, as programs number columns.

    There must be five or more, unless only the row's own first cell is empty, over the names of
    rows.
    """
    numbers = [first[column] for column in columns]
    counted = [[str(start + at) for at in range(len(numbers))] for start in (0, 1)]
    has_corner = not first[0] and bool(cells_of(below, 0))
    return numbers in counted and (len(numbers) >= _MIN_RUN or has_corner)
