"""Finds the header of a table: below title lines, perhaps of several rows.

Upper rows of a header name groups of columns; merged cells may hold its rows together.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice, pairwise
from types import MappingProxyType
from typing import TypeVar

from mdvec.datasets.core.columns import NoHeader, column_names, is_no_year, is_value
from mdvec.datasets.core.first_row import (
    Rows,
    cells_of,
    check_names_below,
    columns_of,
    filled_count,
    holds_values,
    is_data,
    labels_in,
    last_row_of_labels,
    may_name_columns,
    no_header,
    usual_width,
    years_over_values,
)
from mdvec.datasets.core.understood import NO_HEADER, ReadingOptions

SAMPLE_ROWS = 40
"""How many rows the search for a header may need."""
_TITLE_SHARE = 0.5
_MIN_COLUMNS = 2
_MIN_GROUPS = 2
_MAX_LEVELS = 4
Cells = Sequence[object]
_Row = TypeVar("_Row", bound=Cells)
_Merged = Mapping[int, Sequence[int]] | None
"""By row in which merged cells begin, the last rows that they cover; None if a file has none."""
_GroupEnds = Sequence[Mapping[int, int]]
"""For each row, the column after its merged cells, by the column in which they begin."""


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
    rows: Rows,
    chosen: range | None = None,
    merged: _Merged = MappingProxyType({}),
    numbers: Sequence[int] = (),
    group_ends: _GroupEnds = (),
) -> SheetHeader:
    """Find the header among the first rows; empty cells at its end are cut off.

    ``chosen`` are the indices of the header's rows according to the user, from ``first_rows``.
    ``numbers`` are the rows' numbers in the file, if these are not 1, 2, 3.

    Raises:
        NoHeader: there are title lines, but no evident header, or the header holds no names.
    """
    rows = [[cell.strip() for cell in row] for row in rows]
    numbers = numbers or range(1, len(rows) + 1)
    merged = None if merged is None else _with_groups(rows, merged, group_ends)
    at = _header_at(rows, merged, numbers) if chosen is None else min(chosen, default=NO_HEADER)
    if chosen is None:
        column_names(rows[at])  # refuses a web page
    joined = _joined_rows(rows, at, merged) if at != NO_HEADER else None
    if at == NO_HEADER or (chosen is None and not joined and is_data(rows, at, numbers)):
        return SheetHeader(NO_HEADER, (), ())
    if chosen is not None:
        top, lower = joined if joined and len(chosen) == 1 else _below_titles(rows, at, chosen[-1])
    else:
        top, lower = joined or _header_span(rows, at, merged)
    names = _combined_names(rows[top : lower + 1], group_ends[top : lower + 1])
    doubtful, last = 0, last_row_of_labels(rows, lower)
    if chosen is None:
        below = check_names_below(rows, at, numbers) if top == lower else 0
        is_doubtful = (merged is None or top == lower) and _may_go_on(rows, lower)
        doubtful = lower + 1 if is_doubtful else years_over_values(rows, lower + 1)
        doubtful = last = max(doubtful, last, below)
    titles = tuple(filter(None, map(_title, rows[:top])))
    labels = labels_in(names, rows[lower + 1 : last + 1], rows[last + 1 :])
    return SheetHeader(lower, names, titles, top, doubtful, labels)


def _header_at(rows: Rows, merged: _Merged, numbers: Sequence[int]) -> int:
    """The index of the header among the first rows of a table; 0 if the first row is no title.

    A title line has few cells, the rows of the table have many. The header below it is evident if
    it has no values, except years, but there are values below it; if every title is a single cell;
    or if merged cells span the rows of a header. Title lines that are padded to the table's width
    need more evidence: a line of several texts may name the first columns, unless an empty row
    follows, or the row below it names columns of numbers. In a file without merged cells a short
    line is not padded. ``numbers`` are the rows' numbers in the file, which skip empty rows.

    Raises:
        NoHeader: a row may be a title or the header.
    """
    is_web_page = rows[0][0].startswith("<")
    filled = [column for column, cells in enumerate(columns_of(rows)) if any(cells)]
    rows = [[row[column] for column in filled if column < len(row)] for row in rows]
    width = usual_width(map(len, rows))
    if width < _MIN_COLUMNS or is_web_page or not _is_narrow(rows[0], width):
        return 0
    at = next((at for at, row in enumerate(rows) if not _is_narrow(row, width)), 0)
    if at and (joined := _joined_rows(rows, at, merged)):
        return joined[0]
    has_names = not any(map(is_no_year, rows[at]))
    if at and has_names and _is_below_titles(rows, at, merged, numbers):
        return at
    # With two columns, a first row of one name is no title if values follow, or if the name is in
    # the second column.
    is_title = bool(at and any(rows[0][:1])) and has_names
    # In a file without merged cells, several names, or one right above values, are the header,
    # unless the row below may name the columns.
    is_taken = merged is None and (filled_count(rows[0]) > 1 or (at == 1 and not has_names))
    is_taken &= not (at and at < len(rows) - 1 and may_name_columns(rows, at))
    is_clear = is_taken or _joined_rows(rows, 0, merged) is not None
    if not is_clear and (width > _MIN_COLUMNS or is_title):
        raise no_header(rows, numbers)
    return 0


def _is_narrow(row: Sequence[str], width: int) -> bool:
    return filled_count(row) <= max(1, _TITLE_SHARE * width)


def _is_below_titles(rows: Rows, at: int, merged: _Merged, numbers: Sequence[int]) -> bool:
    """Whether a row is evidently the header, and the rows above it are titles.

    Raises:
        NoHeader: the row above it may be a header that names only the first columns.
    """
    if _is_joined(rows, at - 1, merged):
        return True
    has_values = _have_values(rows[at + 1 :])
    is_short = all(len(row) < len(rows[at]) for row in rows[:at])
    is_padded = not (is_short and merged is None)
    is_header = numbers[at] > numbers[at - 1] + 1 or _names_numbers(rows, at)
    if has_values and is_padded and not is_header and _may_name_first_columns(rows[at - 1]):
        raise no_header(rows, numbers)
    names = rows[at]
    is_complete = all(names) and len(set(names)) == len(names)
    if has_values:
        return is_short or is_complete
    are_single = all(filled_count(row) <= 1 for row in rows[:at])
    return are_single and is_complete and len(names) > _MIN_COLUMNS


def _have_values(rows: Rows) -> bool:
    return any(is_value(cell) for row in rows for cell in row)


def _may_name_first_columns(row: Sequence[str]) -> bool:
    """Whether a line that seems to be a title may be a header that names only the first columns."""
    first = row[: filled_count(row)]
    return len(first) >= _MIN_COLUMNS and all(cell and not is_value(cell) for cell in first)


def _names_numbers(rows: Rows, at: int) -> bool:
    """Whether texts of a row are over columns of mostly numbers or dates, two values or more."""
    count = 0
    for column, name in enumerate(rows[at]):
        values = [is_value(cell) for cell in cells_of(rows[at + 1 :], column)]
        is_name = name and not is_value(name)
        count += sum(values) if is_name and sum(values) * 2 > len(values) else 0
    return count > 1


def _title(row: Sequence[str]) -> str:
    """A title line as text."""
    return " ".join(filter(None, row))


def _below_titles(rows: Rows, top: int, lower: int) -> tuple[int, int]:
    """The rows of a header without those above that have one text, right above the first name."""
    while top < lower and filled_count(rows[top]) == 1 and rows[top][0]:
        if not any(row[0] for row in rows[top + 1 : lower + 1]):
            break
        top += 1
    return top, lower


def _header_span(rows: Rows, at: int, merged: _Merged) -> tuple[int, int]:
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


def _combined_names(rows: Rows, group_ends: _GroupEnds = ()) -> tuple[str, ...]:
    """The names of columns, joined from all rows of a header.

    The name of a group stands for each of its columns. Without merged cells a group ends before the
    next name in its row or a row above. The last group ends after as many columns as the one before
    it if it repeats all of that group's names.
    """
    filled = [at for at, row in enumerate(rows) if any(row)] or [0]
    group_ends = [group_ends[at] if group_ends else {} for at in filled]
    columns = columns_of([rows[at] for at in filled])
    guessed_end = _end_of_last_group(columns)
    names: list[str] = []
    groups = [""] * (len(filled) - 1)
    until = [0] * len(groups)  # 0 for a group without merged cells
    for column, (*above, name) in enumerate(columns):
        own = [level for level, cell in enumerate(above) if cell]
        if column in until:
            ended = until.index(column)
            groups[ended:] = [""] * (len(groups) - ended)
        if own:
            groups[own[0] :] = above[own[0] :]
            until[own[0] :] = [ends.get(column, 0) for ends in group_ends[own[0] : -1]]
        elif column == guessed_end and not until[-1]:
            groups[-1] = ""
        names.append(_title(list(dict.fromkeys([*groups, name]))) if name or own else "")
        if own and not name and until[own[0]] <= column + 1:
            groups[own[0] :] = [""] * (len(groups) - own[0])  # a merged cell covers all rows below
    return tuple(names)


def _end_of_last_group(columns: Rows) -> int:
    """The column after the last group, if its names repeat the previous group's; else their number.

    Groups are named in the last row of a header but one.
    """
    starts = [at for at, cells in enumerate(columns) if "".join(cells[-2:-1])]
    if len(starts) >= _MIN_GROUPS:
        start, last = starts[-2:]
        names, end = [cells[-1] for cells in columns[start:last]], last + (last - start)
        if len(names) > 1 and all(names) and [cells[-1] for cells in columns[last:end]] == names:
            return end
    return len(columns)


def _joined_rows(rows: Rows, at: int, merged: _Merged) -> tuple[int, int] | None:
    """The first and last row of a header that merged cells hold together; None if they hold none.

    The header includes the row ``at``, or ends right above it. Its cells are names, each lower row
    has some under gaps of a row above it, and its first column has at most one name.
    """
    for top in sorted(merged or {}):
        end = _end_of_merged(rows, top, merged or {})
        block = rows[top : end + 1]
        is_there = top <= at <= end or (at == end + 1 and any(map(is_value, rows[at])))
        if (
            top < end < len(rows) - 1
            and is_there
            and filled_count(block[0]) >= _MIN_GROUPS
            and sum(any(row[:1]) for row in block) <= 1
            and all(
                any(_has_name_under_gap(above, row) for above in block[:level])
                for level, row in enumerate(block[1:], 1)
            )
            and _have_values(rows[end + 1 :])
        ):
            return top, end
    return None


def _end_of_merged(rows: Rows, top: int, merged: Mapping[int, Sequence[int]]) -> int:
    """The last row that merged cells from row ``top`` on hold together, above the first value."""
    below = (at for at in range(top, len(rows)) if any(map(is_no_year, rows[at])))
    first_value = next(below, len(rows))
    at = end = top
    while at <= end:
        end = max([end, *(last for last in merged.get(at, ()) if last < first_value)])
        at += 1
    return end


def _with_groups(
    rows: Rows, merged: Mapping[int, Sequence[int]], group_ends: _GroupEnds
) -> Mapping[int, Sequence[int]]:
    """``merged``, where merged cells that name groups of columns also hold the row below them.

    With the rows of such groups below them, they must give the columns different names.
    """
    ends = {at: [*lasts] for at, lasts in merged.items()}
    top = last = 0
    for at in range(len(group_ends)):
        if at < len(rows) - 1 and _cover_names(rows, at, group_ends[at]):
            top, last = (top if last == at else at), at + 1
        elif at == last > top and _have_different_names(
            rows[top : at + 1], group_ends[top : at + 1]
        ):
            for row in range(top, at):
                ends.setdefault(row, []).append(row + 1)
    return ends


def _cover_names(rows: Rows, at: int, ends: Mapping[int, int]) -> bool:
    """Whether merged cells of a row stand over all names of the row below, which repeat.

    Columns before the first group may have a name below only.
    """
    top, lower = rows[at], rows[at + 1]
    names = {column: name for column, name in enumerate(lower) if name}
    groups = {column for column, name in enumerate(top) if name}
    covered = groups.union(*(range(*group) for group in ends.items()))
    return (
        len(groups) < len(covered)
        and len(set(names.values())) < len(names)
        and all(column in covered or column < min(groups) for column in names)
        and _names_groups(top, lower, rows[at + 2 :])
    )


def _names_groups(top: Sequence[str], lower: Sequence[str], below: Rows) -> bool:
    """Whether a row names groups of columns, and the row under it the columns in them.

    The upper row has gaps over names, where merged cells continue. Only the rows below both hold
    values. The names repeat from group to group, or only the upper row names the first column.
    """
    names = list(filter(None, lower))
    return (
        filled_count(top) >= _MIN_GROUPS
        and _has_name_under_gap(top, lower)
        and not any(map(is_value, names))
        and _have_values(below)
        and (len(set(names)) < len(names) or (not lower[0] and bool(top[0])))
    )


def _has_name_under_gap(top: Sequence[str], lower: Sequence[str]) -> bool:
    return any(name and not any(top[column : column + 1]) for column, name in enumerate(lower))


def _is_joined(rows: Rows, top: int, merged: _Merged) -> bool:
    """Whether a row names groups of columns, and the next row, which is no record, the columns."""
    is_group = _names_groups(rows[top], rows[top + 1], rows[top + 2 :])
    return is_group and _are_no_records(*_rows_above_values(rows, top), merged)


def _may_go_on(rows: Rows, at: int) -> bool:
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
    return _names_groups(top, lower, below) or _names_groups(gaps, names, below)


def _last_row_of_names(rows: Rows, at: int, merged: _Merged) -> int:
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


def _rows_above_values(rows: Rows, at: int) -> tuple[Rows, Rows]:
    """The filled rows from ``at`` to above the first value, at least one; and the rows below."""
    end = next((end for end in range(at + 1, len(rows)) if any(map(is_value, rows[end]))), at + 1)
    return [row for row in rows[at:end] if any(row)], rows[end:]


def _are_no_records(block: Rows, below: Rows, merged: _Merged) -> bool:
    """Whether the rows of ``block`` below its first name columns, rather than being records.

    The columns must have different names; in a sheet, whose gaps are merged cells, it suffices if
    the first two rows give them such names. In a file without merged cells, rows with a key, as
    records have, must be above several rows of values: a single row of numbers may be a record
    below a record of words.
    """
    if merged is not None:
        return _have_different_names(block) or _have_different_names(block[:2])
    have_key = any(row[0] for row in block[1:])
    number = sum(any(map(is_value, row)) for row in below)
    are_over_values = number > 1 and _name_values(block, below)
    return _have_different_names(block) and (are_over_values or not have_key)


def _have_different_names(block: Rows, group_ends: _GroupEnds = ()) -> bool:
    names = list(filter(None, _combined_names(block, group_ends)))
    return len(set(names)) == len(names)


def _name_values(block: Rows, below: Rows) -> bool:
    """Whether the columns that have different names in several rows hold values.

    Fewer than half of them may hold texts instead, if each shares its group's name with the column
    before it, as wind direction beside wind speed.
    """
    columns = columns_of(block)
    hold: list[bool] = []
    for column, named in enumerate(columns):
        if len({*named} - {""}) > 1:
            hold.append(holds_values(below, column))
            level = max(level for level, cell in enumerate(named) if cell) - 1
            goes_on = bool(named[level]) and named[level] == columns[column - 1][level]
            if not (hold[-1] or goes_on):
                return False
    return all(hold) or sum(hold) * 2 > len(hold)


def _name_groups_above(block: Rows, below: Rows) -> bool:
    """Whether the rows above the last one of a header name groups of columns.

    Each repeats its groups' names, and the first column has one name in all rows; or there are two
    rows, the first of which has gaps where its groups continue.
    """
    has_one_name = len({row[0] for row in block} - {""}) == 1
    if has_one_name and all(any(a and a == b for a, b in pairwise(row)) for row in block[:-1]):
        return True
    goes_on = any(a and not b for a, b in pairwise(block[0])) and len(block) == _MIN_GROUPS
    return goes_on and _names_groups(block[0], block[1], below)


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
