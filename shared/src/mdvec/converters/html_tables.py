"""Makes a page's tables regular, so that each cell is in the right column of the Markdown."""

from __future__ import annotations

from collections.abc import Callable
from copy import copy
from dataclasses import dataclass

from bs4 import Tag

from mdvec.converters.formats import NotConverted

_CELLS = ("td", "th")
_GROUPS = ("thead", "tbody", "tfoot")
_MOST_COLUMNS = 1_000
"""The browsers' limit of columns for one cell."""
_MAX_ADDED = 50_000
_MAX_CHARS = 300
_MAX_TAGS = 30
"""A cell with more tags is marked instead of repeated, so that a small page cannot become large."""
_MAX_DIGITS = 6
_AS_ABOVE = "〃"


def make_regular(part: Tag) -> None:
    """Move captions above tables and footers to the end, and repeat cells in each of their rows.

    Raises:
        NotConverted: there are more repeated cells than in any real table.
    """
    filler = _Filler()
    for table in part.find_all("table"):
        children = table.find_all(recursive=False)
        groups = [child for child in children if child.name in _GROUPS]
        for caption in (child for child in children if child.name == "caption"):
            caption.name = "p"
            table.insert_before(caption)
        filler.fill([child for child in children if child.name == "tr"])
        for group in groups:
            filler.fill(group.find_all("tr", recursive=False))
        for foot in (group for group in groups if group.name == "tfoot"):
            table.append(foot)
        for group in groups:
            group.unwrap()
        for column in table.find_all(("colgroup", "col"), recursive=False):
            column.unwrap()
    filler.add_cells()


@dataclass(frozen=True, slots=True)
class _Going:
    """A cell that extends down to the row ``last``.

    ``shown`` is its content in the rows below its own; None for a cell that is too large.
    """

    shown: Tag | None
    last: int
    width: int


class _Filler:
    """Fills the rows of one page's tables, unless too many cells would be added."""

    def __init__(self) -> None:
        self._added: list[tuple[Callable[[Tag], object], _Going | None]] = []

    def add_cells(self) -> None:
        """Add the cells that all rows need."""
        for put, going in self._added:
            put(_added_cell(going))

    def fill(self, rows: list[Tag]) -> None:
        """Repeat cells that cover several rows; rows without cells of their own are removed."""
        going: dict[int, _Going] = {}
        for number, row in enumerate(rows):
            going = {at: cell for at, cell in going.items() if cell.last >= number}
            if cells := row.find_all(_CELLS, recursive=False):
                going |= self._fill_row(row, cells, going, range(number, len(rows)))
            else:
                row.decompose()

    def _fill_row(
        self, row: Tag, cells: list[Tag], above: dict[int, _Going], numbers: range
    ) -> dict[int, _Going]:
        """Fill the first row of ``numbers``; returns its cells that cover rows below it."""
        below: dict[int, _Going] = {}
        last, column = max(above, default=-1), 0
        for cell in cells:
            while column in above:
                self._add(cell.insert_before, above[column])
                column += above[column].width
            width = min(_number(cell, "colspan", 1), _MOST_COLUMNS) or 1
            covered = numbers[: _number(cell, "rowspan", 1) or None]
            if len(covered) > 1:
                below[column] = _Going(_text_for_rows_below(cell), covered[-1], width)
            column += width
        while column <= last:
            going = above.get(column)
            self._add(row.append, going)
            column += 1 if going is None else going.width
        return below

    def _add(self, put: Callable[[Tag], object], going: _Going | None) -> None:
        self._added.append((put, going))
        if len(self._added) > _MAX_ADDED:
            raise NotConverted(
                f"its tables have more than {_MAX_ADDED:,} cells that go over several rows"
            )


def _added_cell(going: _Going | None) -> Tag:
    """A cell that repeats the one above, or an empty one."""
    again = Tag(name="td")
    if going is None:
        return again
    if going.shown is not None:
        again = copy(going.shown)
    else:
        again.string = _AS_ABOVE
    if going.width > 1:
        again["colspan"] = str(going.width)
    return again


def _text_for_rows_below(cell: Tag) -> Tag | None:
    """The cell's content for the rows below; numbers get a mark, so that none is summed twice."""
    text = cell.get_text()
    if len(text) > _MAX_CHARS or len(cell.find_all(limit=_MAX_TAGS)) == _MAX_TAGS:
        return None
    shown = copy(cell)
    if any(char.isdigit() for char in text):
        shown.insert(0, f"{_AS_ABOVE} ")
    return shown


def _number(cell: Tag, name: str, default: int) -> int:
    text = str(cell.get(name, "")).strip()
    return int(text[:_MAX_DIGITS]) if text.isascii() and text.isdigit() else default
