"""Finds the row that names the columns, below title lines if there evidently are some."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from mdvec.datasets.core.columns import is_value

SAMPLE_ROWS = 40
"""How many rows the search for a header may need."""
_TITLE_SHARE = 0.5
_MIN_COLUMNS = 2


def header_at(rows: Sequence[Sequence[str]]) -> int:
    """The index of the header among the first rows of a table; 0 if none is evident.

    A title line has few cells where the rows of the table have many. If it is padded to their
    width, only values below the header, which has none, are evidence.
    """
    width = _width(rows)
    is_web_page = bool(rows) and rows[0][0].lstrip().startswith("<")
    if width < _MIN_COLUMNS or is_web_page:
        return 0
    wide = (at for at, row in enumerate(rows) if _filled(row) > max(1, _TITLE_SHARE * width))
    at = next(wide, 0)
    if at == 0 or all(is_value(cell) for cell in rows[at] if cell.strip()):
        return 0
    if all(len(row) < len(rows[at]) for row in rows[:at]):
        return at
    return at if _is_header(rows[at], rows[at + 1 :]) else 0


def title(row: Sequence[str]) -> str:
    """A title line as text."""
    return " ".join(filter(None, (cell.strip() for cell in row)))


def _width(rows: Sequence[Sequence[str]]) -> int:
    """The number of cells that most rows have; of several numbers the largest."""
    counted = Counter(len(row) for row in rows)
    return max(counted, key=lambda width: (counted[width], width), default=0)


def _filled(row: Sequence[str]) -> int:
    return sum(bool(cell.strip()) for cell in row)


def _is_header(row: Sequence[str], below: Sequence[Sequence[str]]) -> bool:
    names = [cell.strip() for cell in row]
    return (
        all(names)
        and len(set(names)) == len(names)
        and not any(map(is_value, names))
        and any(is_value(cell) for other in below for cell in other if cell.strip())
    )
