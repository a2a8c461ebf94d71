"""Finds what is on a sheet beside a table: tables at its side or below it, and notes at its end."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice
from operator import attrgetter
from typing import TypeVar

from mdvec.datasets.core.columns import is_value
from mdvec.datasets.core.sheet_cells import MergedCells, numbers_shown
from mdvec.datasets.core.sheet_header import SAMPLE_ROWS, Cells
from mdvec.datasets.core.value_types import BLANKS
from mdvec.text import shown_name

_MIN_COLUMNS = 2
_Row = TypeVar("_Row", bound=Cells)
_MIN_ROWS_APART = 2
"""Columns of remarks that are set off from their table may be empty in its last row."""
MIN_WIDTH = 3
"""In narrower tables, rows with a single cell are common without being notes."""
_MAX_SHOWN = 3
_MAX_CHARS = 40
_last_row = attrgetter("last_row")


def _filled_at(row: Cells) -> set[int]:
    """The indexes of the filled cells."""
    return {at for at, cell in enumerate(row) if cell is not None and cell != ""}


def _runs(columns: Iterable[int]) -> list[range]:
    """The runs of adjacent columns."""
    runs: list[range] = []
    for at in sorted(columns):
        if runs and runs[-1].stop == at:
            runs[-1] = range(runs[-1].start, at + 1)
        else:
            runs.append(range(at, at + 1))
    return runs


def tables_side_by_side(rows: Iterable[tuple[int, Cells]]) -> tuple[list[range], bool]:
    """The columns of each table of a sheet, and whether they really are several tables.

    The columns are empty unless empty columns separate parts with a header each. Such a gap may
    also be within one table: the parts are several tables if their headers are the same, or if they
    begin or end at different rows. Only sheets whose first rows have an empty column are read to
    the end.
    """
    rows = iter(rows)
    sample = list(islice(rows, SAMPLE_ROWS))
    last: dict[int, int] = {}  # the last filled row of each column
    for number, row in sample:
        last.update(dict.fromkeys(_filled_at(row), number))
    if not _may_be_tables(_runs(last)):
        return [], False
    for number, row in rows:
        last.update(dict.fromkeys(_filled_at(row), number))
    runs = _runs(last)
    headers = [_header(sample, run) for run in runs]
    if not _may_be_tables(runs) or not all(headers):
        return [], False
    names = {header[1] for header in filter(None, headers)}
    begins = {header[0] for header in filter(None, headers)}
    ends = [max(last[at] for at in run) for run in runs]
    return runs, len(names) == 1 or len(begins) > 1 or max(ends) - min(ends) >= _MIN_ROWS_APART


def _may_be_tables(runs: Sequence[range]) -> bool:
    return len(runs) > 1 and all(len(run) >= _MIN_COLUMNS for run in runs)


def _header(sample: Iterable[tuple[int, Cells]], run: range) -> tuple[int, tuple[str, ...]] | None:
    """The first row that names all columns of a run, with its number; None if none does."""
    for number, row in sample:
        cells = [row[at] if at < len(row) else None for at in run]
        names = [cell.strip() for cell in cells if isinstance(cell, str) and cell.strip()]
        if len(names) == len(run) and not any(map(is_value, names)):
            return number, tuple(names)
    return None


@dataclass(slots=True)
class HeadersBelow:
    """Finds rows of a table that may be the header of another table below it.

    Such a row has only names, and values right under it. It follows an empty row, perhaps after a
    title line, and names a column that had a value above the empty row.

    Attributes:
        numbers: the numbers of such rows.
    """

    numbers: list[int] = field(default_factory=list)

    def rows(self, numbered: Iterable[tuple[int, _Row]]) -> Iterator[tuple[int, _Row]]:
        """Pass numbered rows through, and record the headers among them."""
        last = header = 0
        is_below_gap = False
        above, named = set[int](), set[int]()
        for number, row in numbered:
            names, values = _names_and_values(row)
            if header and named & values:
                self.numbers.append(header)
            header = 0
            is_below_gap |= 0 < last < number - 1
            if not is_below_gap:
                above = values
            elif len(names) + len(values) >= _MIN_COLUMNS:
                named = names & above
                header = number if named and not values else 0
                is_below_gap, above = False, values
            last = number
            yield number, row

    def notes(self, unit: str = "row", container: str = "sheet") -> Iterator[str]:
        """A note on the recorded headers, if there are any.

        ``unit`` is the word for a numbered row, ``container`` the word for what holds one table.
        """
        if self.numbers:
            rows = f"{unit} {numbers_shown(self.numbers)}"
            yield f"another table's header may be in {rows}; give each table its own {container}"


def _names_and_values(row: Cells) -> tuple[set[int], set[int]]:
    """The indexes of the filled cells that may be names, and of the others."""
    filled = _filled_at(row)
    names = {at for at in filled if isinstance(cell := row[at], str) and not is_value(cell)}
    return names, filled - names


def filled_cells(row: Sequence[object]) -> list[object]:
    """The cells of a row that are not empty."""
    return [cell for cell in row if cell is not None and cell != ""]


def text_alone(row: Sequence[object]) -> str:
    """The only filled cell of a row, if it is a text and no number or date; "" otherwise."""
    filled = filled_cells(row)
    if len(filled) != 1 or not isinstance(filled[0], str) or is_value(filled[0]):
        return ""
    text = filled[0].strip()
    return "" if text in BLANKS else text


@dataclass(slots=True)
class NotesBelow:
    """Notes: the last rows of a table if each holds one text, and no merged cell from above.

    Attributes:
        are_left_out: whether notes are left out of ``rows``.
        texts: the texts of the notes, complete once all rows have been read.
        merged: the merged cells of the sheet.
        formulas: the numbers of rows with a formula without a stored value, which are no notes.
        are_usual: whether rows with one text are usual in this table, so that ``note`` is silent.
    """

    are_left_out: bool = False
    texts: list[str] = field(default_factory=list)
    merged: Sequence[MergedCells] = ()
    are_usual: bool = False
    formulas: Collection[int] = ()

    def rows(self, numbered: Iterable[tuple[int, _Row]]) -> Iterator[tuple[int, _Row]]:
        """Pass numbered rows through, without the notes if they are left out."""
        waiting: list[tuple[int, _Row]] = []
        widest, merged_to = 1, 0
        ends = {cells.first_row: cells.last_row for cells in sorted(self.merged, key=_last_row)}
        for number, row in numbered:
            is_within, merged_to = number <= merged_to, max(merged_to, ends.get(number, 0))
            if widest > 1 and not (is_within or number in self.formulas) and text_alone(row):
                waiting.append((number, row))
                continue
            widest = max(widest, len(filled_cells(row)))
            self.are_usual |= bool(waiting)
            yield from waiting
            waiting.clear()
            yield number, row
        self.texts = [text_alone(row) for _, row in waiting]
        self.are_usual |= widest < MIN_WIDTH
        if not self.are_left_out:
            yield from waiting

    def note(self) -> str:
        """A note on these rows; "" if there is nothing to report."""
        if not self.texts or (self.are_usual and not self.are_left_out):
            return ""
        shown = ", ".join(shown_name(text[:_MAX_CHARS]) for text in self.texts[:_MAX_SHOWN])
        more = len(self.texts) - _MAX_SHOWN
        shown += f" and {more:,} more" if more > 0 else ""
        if self.are_left_out:
            return f"notes below the table are left out: {shown}"
        return f"the last rows hold one text each: {shown}; leave out notes with --read notes=out"
