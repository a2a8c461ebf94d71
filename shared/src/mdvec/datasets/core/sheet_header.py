"""Finds the header of a table: below title lines, perhaps of several rows."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice, pairwise
from types import MappingProxyType
from typing import TypeVar

from mdvec.datasets.core.columns import NoHeader, column_names, is_no_year, is_value, is_year
from mdvec.datasets.core.first_row import (
    check_names_below,
    filled_count,
    is_data,
    kind_of,
    may_have_names_below,
    may_name_columns,
    no_header,
    usual_width,
)
from mdvec.datasets.core.header_rows import (
    MIN_GROUPS,
    combined_names,
    joined_rows,
    names_groups,
    with_groups,
)
from mdvec.datasets.core.understood import NO_HEADER, ReadingOptions
from mdvec.datasets.core.value_types import BLANKS

SAMPLE_ROWS = 40
"""How many rows the search for a header may need."""
_TITLE_SHARE = 0.5
_MIN_COLUMNS = 2
Cells = Sequence[object]
_Row = TypeVar("_Row", bound=Cells)
_MAX_LEVELS = 4


def first_rows(
    numbered: Iterator[tuple[int, _Row]], reading: ReadingOptions, unit: str
) -> tuple[list[tuple[int, _Row]], range | None]:
    """The first rows of a table, and the indices of the header's rows according to the user.

    The indices are None if the header must be found, and empty if there is none. ``unit`` is the
    word for a numbered row in messages: line or row.

    Raises:
        NoHeader: the row that the user named does not exist.
    """
    first = list(islice(numbered, SAMPLE_ROWS))
    top = reading.header_row
    if top <= 0 or not first:
        return first, range(0) if top == NO_HEADER else None
    end = max(top, reading.header_end)
    while first[-1][0] < end and (more := next(numbered, None)) is not None:
        first.append(more)
    if first[-1][0] < end:
        raise NoHeader(f"it has no {unit} {end}, which --header-row names")
    at = sum(number < top for number, _ in first)
    return first, range(at, max(at + 1, sum(number <= end for number, _ in first)))


def header_at(
    rows: Sequence[Sequence[str]],
    merged: Mapping[int, Sequence[int]] | None,
    numbers: Sequence[int],
) -> int:
    """The index of the header among the first rows of a table; 0 if the first row is no title.

    A title line has few cells, the rows of the table have many. The header below it is evident if
    it has no values, except years, but there are values below it; if every title is a single cell;
    or if merged cells span the rows of a header. Title lines that are padded to the table's width
    need more evidence: a line of several texts may name the first columns, unless an empty row
    follows, or the row below it names columns of numbers. In a file without merged cells
    (``merged`` is None) a short line is not padded. ``numbers`` are the rows' numbers in the file,
    which skip empty rows.

    Raises:
        NoHeader: a row may be a title or the header.
    """
    is_web_page = bool(rows) and rows[0][0].lstrip().startswith("<")
    rows = _without_empty_columns(rows)
    width = usual_width(map(len, rows))
    if width < _MIN_COLUMNS or is_web_page or not _is_narrow(rows[0], width):
        return 0
    at = next((at for at, row in enumerate(rows) if not _is_narrow(row, width)), 0)
    if at and (joined := joined_rows(rows, at, merged)):
        return joined[0]
    has_names = not any(map(is_no_year, rows[at]))
    if at and has_names and _is_below_titles(rows, at, merged, numbers):
        return at
    # With two columns, a first row of one name is no title if values follow, or if the name is in
    # the second column.
    is_title = bool(at and title(rows[0][:1])) and has_names
    # In a file without merged cells, several names, or one right above values, are the header,
    # unless the row below may name the columns.
    is_taken = merged is None and (filled_count(rows[0]) > 1 or (at == 1 and not has_names))
    is_taken &= not (at and at < len(rows) - 1 and may_name_columns(rows, at))
    is_clear = is_taken or joined_rows(rows, 0, merged) is not None
    if not is_clear and (width > _MIN_COLUMNS or is_title):
        raise no_header(rows, numbers)
    return 0


def _is_below_titles(
    rows: Sequence[Sequence[str]],
    at: int,
    merged: Mapping[int, Sequence[int]] | None,
    numbers: Sequence[int],
) -> bool:
    """Whether a row is evidently the header, and the rows above it are titles.

    Raises:
        NoHeader: the row above it may be a header that names only the first columns.
    """
    if _is_joined(rows, at - 1, merged):
        return True
    has_values = any(is_value(cell) for row in rows[at + 1 :] for cell in row)
    is_short = all(len(row) < len(rows[at]) for row in rows[:at])
    is_padded = not (is_short and merged is None)
    is_header = numbers[at] > numbers[at - 1] + 1 or _names_numbers(rows, at)
    if has_values and is_padded and not is_header and _may_name_first_columns(rows[at - 1]):
        raise no_header(rows, numbers)
    names = [cell.strip() for cell in rows[at]]
    is_complete = all(names) and len(set(names)) == len(names)
    if has_values:
        return is_short or is_complete
    are_single = all(filled_count(row) <= 1 for row in rows[:at])
    return are_single and is_complete and len(names) > _MIN_COLUMNS


def _may_name_first_columns(row: Sequence[str]) -> bool:
    """Whether a line that seems to be a title may be a header that names only the first columns."""
    number = filled_count(row)
    return number >= _MIN_COLUMNS and not any(
        not cell.strip() or is_value(cell) for cell in row[:number]
    )


def _names_numbers(rows: Sequence[Sequence[str]], at: int) -> bool:
    """Whether texts of a row are over columns of mostly numbers or dates, two values or more."""
    count = 0
    for column, name in enumerate(rows[at]):
        below = (title(row[column : column + 1]) for row in rows[at + 1 :])
        values = [is_value(cell) for cell in below if cell not in BLANKS]
        is_name = name.strip() and not is_value(name)
        count += sum(values) if is_name and sum(values) * 2 > len(values) else 0
    return count > 1


def _without_empty_columns(rows: Sequence[Sequence[str]]) -> list[list[str]]:
    """The rows without empty columns, such as a margin."""
    filled = {column for row in rows for column, cell in enumerate(row) if cell.strip()}
    return [[cell for column, cell in enumerate(row) if column in filled] for row in rows]


def title(row: Sequence[str]) -> str:
    """A title line as text."""
    return " ".join(filter(None, (cell.strip() for cell in row)))


def _is_narrow(row: Sequence[str], width: int) -> bool:
    return filled_count(row) <= max(1, _TITLE_SHARE * width)


@dataclass(frozen=True, slots=True)
class SheetHeader:
    """The header of a sheet.

    Attributes:
        row: the index of its last row, above the first row of values; ``NO_HEADER`` (-1) if no row
            names the columns.
        names: the columns' names as written; "" for a column without a name.
        skipped: the title lines above it.
        top: the index of its first row.
        doubtful: the index of the last row below it that may name columns too; 0 if none may.
        labels: the cells of such rows, unless they may mean "no value".
    """

    row: int
    names: tuple[str, ...]
    skipped: tuple[str, ...]
    top: int = 0
    doubtful: int = 0
    labels: frozenset[str] = frozenset()


def sheet_header(
    rows: Sequence[Sequence[str]],
    chosen: range | None = None,
    merged: Mapping[int, Sequence[int]] | None = MappingProxyType({}),
    numbers: Sequence[int] = (),
    group_ends: Sequence[Mapping[int, int]] = (),
) -> SheetHeader:
    """Find the header among the first rows; empty cells at its end are cut off.

    ``chosen`` are the indices of the header's rows according to the user, from ``first_rows``.
    ``merged`` maps a row in which merged cells begin to the last rows that they cover; it is None
    for a file that can have none. ``numbers`` are the rows' numbers in the file, if these are
    not 1, 2, 3. ``group_ends`` is described in ``combined_names``.

    Raises:
        NoHeader: there are title lines, but no evident header, or the header holds no names.
    """
    numbers = numbers or range(1, len(rows) + 1)
    merged = None if merged is None else with_groups(rows, merged, group_ends)
    at = header_at(rows, merged, numbers) if chosen is None else min(chosen, default=NO_HEADER)
    if chosen is None:
        column_names(rows[at])  # refuses a web page
    joined = joined_rows(rows, at, merged) if at != NO_HEADER else None
    if at == NO_HEADER or (chosen is None and not joined and is_data(rows, at, numbers)):
        return SheetHeader(NO_HEADER, (), ())
    if chosen is not None:
        top, lower = joined if joined and len(chosen) == 1 else _below_titles(rows, at, chosen[-1])
    else:
        top, lower = joined or _header_span(rows, at, merged)
    names = combined_names(rows[top : lower + 1], group_ends[top : lower + 1])
    doubtful, last = 0, _last_row_of_labels(rows, lower)
    if chosen is None:
        below = check_names_below(rows, at, numbers) if top == lower else 0
        is_doubtful = (merged is None or top == lower) and may_go_on(rows, lower)
        doubtful = lower + 1 if is_doubtful else _years_over_values(rows, lower + 1)
        doubtful = last = max(doubtful, last, below)
    titles = tuple(filter(None, map(title, rows[:top])))
    labels = _labels(names, rows[lower + 1 : last + 1], rows[last + 1 :])
    return SheetHeader(lower, names, titles, top, doubtful, labels)


def _below_titles(rows: Sequence[Sequence[str]], top: int, lower: int) -> tuple[int, int]:
    """The rows of a header without those above that have one text, right above the first name."""
    while top < lower and filled_count(rows[top]) == 1 and title(rows[top][:1]):
        if not any(title(row[:1]) for row in rows[top + 1 : lower + 1]):
            break
        top += 1
    return top, lower


def _header_span(
    rows: Sequence[Sequence[str]], at: int, merged: Mapping[int, Sequence[int]] | None
) -> tuple[int, int]:
    """The first and last row of the header that includes row ``at``.

    Rows above ``at`` belong to it if they name groups of columns. Rows below belong to it if they
    cannot be records.
    """
    top = at
    while top and _is_joined(rows, top - 1, merged):
        top -= 1
    if top < at:
        return top, max(at, _last_row_of_names(rows, top, merged))
    is_merged = merged is not None and at + 1 < len(rows)
    if is_merged and _is_joined(rows, at, merged):
        return at, at + 1
    return at, _last_row_of_names(rows, at, merged)


def _years_over_values(rows: Sequence[Sequence[str]], start: int) -> int:
    """The index of the first row with values from ``start`` on, if these are years as names.

    They are names if they are different years, two or more, with values below them, but no column
    of only years. Returns 0 otherwise.
    """
    at = next((at for at in range(start, len(rows)) if any(map(is_value, rows[at]))), 0)
    years = {column: cell.strip() for column, cell in enumerate(rows[at]) if is_value(cell)}
    are_years = len(years) >= MIN_GROUPS and all(map(is_year, years.values()))
    are_different = len(set(years.values())) == len(years)
    columns = ([title(row[column : column + 1]) for row in rows[at + 1 :]] for column in years)
    below = [{is_year(cell) for cell in cells if is_value(cell)} for cells in columns]
    over_others = any(below) and {True} not in below
    return at if are_years and are_different and over_others else 0


def may_go_on(rows: Sequence[Sequence[str]], at: int) -> bool:
    """Whether row ``at`` may name groups of columns, and the row below it the columns in them.

    A group's name may be repeated over each of its columns.
    """
    if at + 1 >= len(rows):
        return False
    top, lower, below = rows[at], rows[at + 1], rows[at + 2 :]
    gaps = ["" if column and cell == top[column - 1] else cell for column, cell in enumerate(top)]
    names = [
        name if name not in top[column : column + 1] else "" for column, name in enumerate(lower)
    ]
    return names_groups(top, lower, below) or names_groups(gaps, names, below)


def _last_row_of_names(
    rows: Sequence[Sequence[str]], at: int, merged: Mapping[int, Sequence[int]] | None
) -> int:
    """The last row of a header that begins at ``at``, judging by the values below; maybe ``at``.

    The header has all rows above the first value, four at most, or just the row ``at``. It has
    several only if ``_name_values``, ``_name_groups_above`` and ``_are_no_records`` hold.
    """
    block, below = _rows_above_values(rows, at)
    if not 1 < len(block) <= _MAX_LEVELS:
        return at
    are_names = _name_values(block, below) and _name_groups_above(block, below)
    is_header = are_names and _are_no_records(block, below, merged)
    return len(rows) - len(below) - 1 if is_header else at


def _rows_above_values(
    rows: Sequence[Sequence[str]], at: int
) -> tuple[list[Sequence[str]], Sequence[Sequence[str]]]:
    """The filled rows from ``at`` to above the first value, at least one; and the rows below."""
    end = next((end for end in range(at + 1, len(rows)) if any(map(is_value, rows[end]))), at + 1)
    return [row for row in rows[at:end] if filled_count(row)], rows[end:]


def _is_joined(
    rows: Sequence[Sequence[str]], top: int, merged: Mapping[int, Sequence[int]] | None
) -> bool:
    """Whether a row names groups of columns, and the next row, which is no record, the columns."""
    is_group = names_groups(rows[top], rows[top + 1], rows[top + 2 :])
    return is_group and _are_no_records(*_rows_above_values(rows, top), merged)


def _are_no_records(
    block: Sequence[Sequence[str]],
    below: Sequence[Sequence[str]],
    merged: Mapping[int, Sequence[int]] | None,
) -> bool:
    """Whether the rows of ``block`` below its first name columns, rather than being records.

    The columns must have different names; in a sheet, whose gaps are merged cells, it suffices if
    the first two rows give them such names. In a file without merged cells, rows with a key, as
    records have, must be above several rows of values: a single row of numbers may be a record
    below a record of words.
    """
    if merged is not None:
        return _have_different_names(block) or _have_different_names(block[:2])
    have_key = any(title(row[:1]) for row in block[1:])
    number = sum(any(map(is_value, row)) for row in below)
    are_over_values = number > 1 and _name_values(block, below)
    return _have_different_names(block) and (are_over_values or not have_key)


def _have_different_names(block: Sequence[Sequence[str]]) -> bool:
    names = list(filter(None, combined_names(block)))
    return len(set(names)) == len(names)


def _name_values(block: Sequence[Sequence[str]], below: Sequence[Sequence[str]]) -> bool:
    """Whether the columns that have different names in several rows hold values.

    Fewer than half of them may hold texts instead, if each shares its group's name with the column
    before it, as wind direction beside wind speed.
    """
    width = max(map(len, block))
    columns = [[title(row[column : column + 1]) for row in block] for column in range(width)]
    hold: list[bool] = []
    for column, named in enumerate(columns):
        if len({*named} - {""}) > 1:
            hold.append(_holds_values(below, column))
            level = max(level for level, cell in enumerate(named) if cell) - 1
            goes_on = bool(named[level]) and named[level] == columns[column - 1][level]
            if not (hold[-1] or goes_on):
                return False
    return all(hold) or sum(hold) * 2 > len(hold)


def _name_groups_above(block: Sequence[Sequence[str]], below: Sequence[Sequence[str]]) -> bool:
    """Whether the rows above the last one of a header name groups of columns.

    Each repeats its groups' names, and the first column has one name in all rows; or there are two
    rows, the first of which has gaps where its groups continue.
    """
    has_one_name = len({title(row[:1]) for row in block} - {""}) == 1
    if has_one_name and all(any(a and a == b for a, b in pairwise(row)) for row in block[:-1]):
        return True
    goes_on = any(a and not b for a, b in pairwise(block[0])) and len(block) == MIN_GROUPS
    return goes_on and names_groups(block[0], block[1], below)


def _holds_values(rows: Sequence[Sequence[str]], column: int) -> bool:
    """Whether most filled cells of a column are numbers or dates; True if none is filled."""
    cells = (title(row[column : column + 1]) for row in rows)
    values = [is_value(cell) for cell in cells if cell not in BLANKS]
    return not values or sum(values) * 2 > len(values)


def _last_row_of_labels(rows: Sequence[Sequence[str]], lower: int) -> int:
    """The index of the last row right below a header that may hold names or units; 0 if none may.

    In such a row no cell is like the values below it, while two or more columns mostly hold values.
    It has no key: its first cell is empty, or above values. In the first such row, another cell is
    above values, unless ``may_have_names_below``, which suffices for one row above texts.
    """
    below = rows[lower + 1 :]
    width = max(map(len, below), default=0)
    columns = [[title(row[column : column + 1]) for row in below] for column in range(width)]
    key = next((column for column, cells in enumerate(columns) if any(cells)), 0)
    of_values = {
        column
        for column, cells in enumerate(columns)
        if any(map(is_value, cells)) and _holds_values(below, column)
    }
    last = lower + 1 if may_have_names_below(rows, lower) else 0
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
    if not is_value(cell):
        return False
    kinds = {kind_of(other) for other in below if is_value(other)}
    return not kinds or kind_of(cell) in kinds


def _labels(
    names: Sequence[str], rows: Sequence[Sequence[str]], below: Sequence[Sequence[str]]
) -> frozenset[str]:
    """The cells of ``rows``, which may continue the header ``names``; none if they mean "no value".

    They may mean it if there is a single row, which has the same word, such as 休, in all columns
    after its key, and does not name the column of keys.
    """
    words = {cell.strip() for row in rows for cell in row[1:] if not is_value(cell)} - BLANKS
    names_keys = not names[0] and any(title(row[:1]) for row in rows) and _holds_values(below, 0)
    is_one_word = len(rows) == len(words) == 1 and not names_keys
    return frozenset(cell.strip() for row in rows for cell in row if not is_one_word)


def header_notes(unit: str, top: int, lower: int, doubtful: int) -> Iterator[str]:
    """Notes on a header of several rows, and on rows that may belong to it."""
    if 0 < top < lower:
        yield f"the columns' names are in {unit}s {top} to {lower}"
    if doubtful:
        rows = f"--header-row {top}-{doubtful}"
        if doubtful == lower + 1:
            yield f"{unit} {doubtful} is read as values; if it names the columns: {rows}"
        else:
            span = f"{unit}s {lower + 1} to {doubtful}"
            yield f"{span} are read as values; if they name the columns: {rows}"
