"""Rows at the end of a table that hold one text each, such as ※ 税込, and so may be notes."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from operator import attrgetter
from typing import TypeVar

from mdvec.datasets.core.columns import is_value
from mdvec.datasets.core.sheet_cells import MergedCells
from mdvec.datasets.core.value_types import BLANKS
from mdvec.text import shown_name

MIN_WIDTH = 3
"""In narrower tables, rows with a single cell are common without being notes."""
_MAX_SHOWN = 3
_MAX_CHARS = 40
_last_row = attrgetter("last_row")
_Row = TypeVar("_Row", bound=Sequence[object])


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
