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


def is_data(rows: Sequence[Sequence[str]], at: int, numbers: Sequence[int]) -> bool:
    """Whether the first row of a table holds values: it has a date over nothing but dates.

    ``at`` is the row's index; the rows above it are titles. ``numbers`` are the rows' numbers in
    the file.

    Raises:
        NoHeader: it has other cells that look like values, but may be a header or a title.
    """
    first, below = rows[at], rows[at + 1 :]
    kinds = {column: kind for column, cell in enumerate(first) if (kind := kind_of(cell.strip()))}
    if kinds and _is_run(first, list(kinds), below):
        return False
    cells_below = {column: _filled_cells(_cells(below, column)) for column in kinds}
    dates = [cells_below[column] for column, kind in kinds.items() if kind == _DATE]
    if any(cells and all(map(_is_date, cells)) for cells in dates):
        return True
    dates_are_names = any(dates) and (_has_series(first) or _fills_gaps(rows, at))
    like_values = [
        column
        for column, kind in kinds.items()
        if not _is_name(kind, cells_below[column], dates_are_names=dates_are_names)
    ]
    if like_values and (
        _are_years(first, like_values, cells_below) or _is_run(first, like_values, below)
    ):
        like_values = []
    like_values += [
        column
        for column, cell in enumerate(first)
        if column not in kinds and _is_alike(cell.strip(), _cells(below, column))
    ]
    if like_values:
        raise no_header(rows, numbers)
    return False


def _cells(rows: Iterable[Sequence[str]], column: int) -> list[str]:
    """The cells of a column, without rows that are too short to have it."""
    return [row[column] for row in rows if column < len(row)]


def check_names_below(rows: Sequence[Sequence[str]], at: int, numbers: Sequence[int]) -> int:
    """Check whether a header that has a date, or leaves columns unnamed, may be a title.

    It may be one if a row below has a different name for every column. If the header names more
    than about half of the columns, that row must also be right above the first values of a column,
    or have dates.

    Returns:
        The index of such a row if the header, of evenly spaced dates, is no title; else 0.

    Raises:
        NoHeader: there is such a row, and the header may be a title.
    """
    width = max(map(len, rows))
    columns = [
        [row[column].strip() if column < len(row) else "" for row in rows]
        for column in range(width)
    ]
    used = [cells for cells in columns if any(cells[at:])]
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
        if is_value("".join(cells[below + 1 : below + 2]))
        and not any(map(is_value, cells[at + 1 : below]))
    ]
    if is_full and _has_series(rows[at]):
        return below if any(_is_date(cells[at]) for cells in over_values) else 0
    filled = [[bool(cells[row]) for cells in used] for row in range(at, below)]
    if may_be_title and below < len(rows) - 1 and filled[0] not in filled[1:]:
        raise no_header(rows, numbers)
    if over_values or any(_is_date(cells[below]) and any(cells[below + 1 :]) for cells in used):
        raise no_header(rows, numbers)
    return 0


def may_name_columns(rows: Sequence[Sequence[str]], at: int, *, may_count: bool = True) -> bool:
    """Whether all cells of a row may be names.

    A text must not occur again below, or be written like a text there; a date must not be over
    mostly dates. Numbers must be over texts, or be different years, or 0, 1, 2, or, with
    ``may_count``, other consecutive numbers.
    """
    row, below = rows[at], [other for other in rows[at + 1 :] if other != rows[at]]
    names = {column: name for column, cell in enumerate(row) if (name := cell.strip())}
    cells_below = {column: _filled_cells(_cells(below, column)) for column in names}
    numbers = [column for column, name in names.items() if kind_of(name) == _NUMBER]
    if numbers and (
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
    alike = [kind_of(cell) == kind_of(name) for cell in below]
    match kind_of(name):
        case "":
            return name in below or _is_alike(name, below)
        case kind if kind == _NUMBER:
            return any(alike) or not alike
    return sum(alike) * 2 > len(alike)


def _is_count(numbers: Sequence[str]) -> bool:
    """Whether there are three or more numbers, each one more than the last, such as days."""
    return len(numbers) >= _MIN_SERIES and all(
        former.isdecimal() and later == str(int(former) + 1) for former, later in pairwise(numbers)
    )


def _names_without_key(rows: Sequence[Sequence[str]], at: int) -> bool:
    """Whether a row names most columns, but not the first, which all rows below fill.

    None of its cells may be a value, or occur again below it as the texts of records may.
    """
    below = [row for row in rows[at + 1 :] if any(map(str.strip, row))]
    if not below:
        return False
    key = min(next(column for column, cell in enumerate(row) if cell.strip()) for row in below)
    if any(map(str.strip, rows[at][: key + 1])) or not all(row[key].strip() for row in below):
        return False
    names = {column: name for column, cell in enumerate(rows[at]) if (name := cell.strip())}
    if any(
        kind_of(name) or name in map(str.strip, _cells(below, column))
        for column, name in names.items()
    ):
        return False
    number = sum(name not in BLANKS for name in names.values())
    width = max(len(row) - key - 1 for row in rows[at:])
    return number >= _MIN_NAMES and number * 2 > width


def may_have_names_below(rows: Sequence[Sequence[str]], at: int) -> bool:
    """Whether the row below a header may name columns too, even columns of texts.

    The row has no key, and the header has dates, or gaps that the row fills. Below other headers, a
    row without a key is more likely a record.
    """
    has_dates = any(_is_date(cell.strip()) for cell in rows[at])
    return _fills_gaps(rows, at) or (has_dates and _names_without_key(rows, at + 1))


def _fills_gaps(rows: Sequence[Sequence[str]], at: int) -> bool:
    """Whether the row below row ``at`` has names in gaps of row ``at``, but no key."""
    pairs = zip_longest(rows[at], *rows[at + 1 : at + 2], fillvalue="")
    has_gaps = any(not top.strip() and "".join(lower).strip() for top, *lower in pairs)
    return has_gaps and _names_without_key(rows, at + 1)


def _has_series(row: Sequence[str]) -> bool:
    """Whether a row has three or more different dates, equally many days or months apart.

    Dates that are months apart must be the same day of the month.
    """
    cells = filter(_is_date, map(str.strip, row))
    named = [parse_dated(cell) for cell in dict.fromkeys(cells)]
    days = [each.first for each in named if each]
    if len(days) < max(_MIN_SERIES, len(named)):
        return False
    steps = {(later - day).days for day, later in pairwise(days)}
    months = {Month.of(later).since(Month.of(day)) for day, later in pairwise(days)}
    is_same_day = len({day.day for day in days}) == 1
    return 0 not in steps and (len(steps) == 1 or (is_same_day and len(months) == 1))


def no_header(rows: Sequence[Sequence[str]], numbers: Sequence[int]) -> NoHeader:
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
    if cell in BLANKS or not _STARTS_AS_VALUE.match(cell):
        return ""
    kind = next(possible_kinds(VALUE_KINDS, [cell]), None)
    if kind is None or kind.type == "BOOLEAN" or _IN_LIST.fullmatch(cell):
        return _OTHER if is_value(cell) else ""
    return _DATE if kind.is_date else _NUMBER


def _is_date(cell: str) -> bool:
    return kind_of(cell) == _DATE


def _is_alike(cell: str, below: Sequence[str]) -> bool:
    """Whether a text, which may be a name, is written like the cells below it.

    Examples are true over false, NA over numbers, and 6月1日 over 6月2日. An equal text does not
    count, as it may be a repeated header.
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
    return trimmed(cell).lower() in ("true", "false")


def _form(cell: str) -> str:
    """A text with each number as 0, and without a letter in brackets, such as a day of the week."""
    return _IN_BRACKETS.sub("()", _DIGITS.sub("0", unicodedata.normalize("NFKC", cell)))


def _filled_cells(cells: Iterable[str]) -> list[str]:
    return [cell for cell in (text.strip() for text in cells) if cell not in BLANKS]


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
    years = [first[column].strip() for column in columns]
    return (
        len(first) > 1
        and all(map(is_year, years))
        and len(set(years)) == len(years)
        and not any(below[column] and all(map(is_year, below[column])) for column in columns)
    )


def _is_run(first: Sequence[str], columns: Sequence[int], below: Sequence[Sequence[str]]) -> bool:
    """Whether the row's cells in ``columns`` count from 0 or 1, as programs number columns.

    There must be five or more, unless only the row's own first cell is empty, over the names of
    rows.
    """
    numbers = [first[column].strip() for column in columns]
    is_counted = any(
        numbers == [str(number) for number in range(start, start + len(numbers))]
        for start in (0, 1)
    )
    has_corner = not first[0].strip() and any(_filled_cells(_cells(below, 0)))
    return is_counted and (len(numbers) >= _MIN_RUN or has_corner)
