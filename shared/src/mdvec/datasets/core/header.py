"""Finds the row that names the columns, below title lines if there evidently are some."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from mdvec.datasets.core.columns import is_value, is_year

SAMPLE_ROWS = 40
"""How many rows the search for a header may need."""
_TITLE_SHARE = 0.5
_MIN_COLUMNS = 2


def header_at(rows: Sequence[Sequence[str]]) -> int:
    """The index of the header among the first rows of a table; 0 if none is evident.

    A title line has few cells where the rows of the table have many. Evidence for the header below
    it are values further below, where the header itself has none but years; or that all titles are
    a single cell. Title lines that are padded to the table's width need more of it.
    """
    width = _width(rows)
    is_web_page = bool(rows) and rows[0][0].lstrip().startswith("<")
    if width < _MIN_COLUMNS or is_web_page:
        return 0
    wide = (at for at, row in enumerate(rows) if not _is_narrow(row, width))
    at = next(wide, 0)
    if at == 0 or any(is_value(cell) and not is_year(cell) for cell in rows[at]):
        return 0
    has_values = any(is_value(cell) for row in rows[at + 1 :] for cell in row)
    if all(len(row) < len(rows[at]) for row in rows[:at]):
        are_single = all(_filled(row) == 1 for row in rows[:at])
        return at if has_values or (are_single and _filled(rows[at]) > _MIN_COLUMNS) else 0
    names = [cell.strip() for cell in rows[at]]
    return at if has_values and all(names) and len(set(names)) == len(names) else 0


def is_doubtful(rows: Sequence[Sequence[str]]) -> bool:
    """Whether the first row looks like a title line, though no header below it is evident."""
    width = _width(rows)
    return width > _MIN_COLUMNS and _is_narrow(rows[0], width) and header_at(rows) == 0


def title(row: Sequence[str]) -> str:
    """A title line as text."""
    return " ".join(filter(None, (cell.strip() for cell in row)))


def _width(rows: Sequence[Sequence[str]]) -> int:
    """The number of cells that most rows have; of several numbers the largest."""
    counted = Counter(len(row) for row in rows)
    return max(counted, key=lambda width: (counted[width], width), default=0)


def _filled(row: Sequence[str]) -> int:
    return sum(bool(cell.strip()) for cell in row)


def _is_narrow(row: Sequence[str], width: int) -> bool:
    return _filled(row) <= max(1, _TITLE_SHARE * width)
