"""Finds the header of a sheet: below title lines, perhaps of two rows with merged cells."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from mdvec.datasets.core.columns import NoHeader, is_value
from mdvec.datasets.core.header import header_at, is_doubtful, title

_MIN_GROUPS = 2


@dataclass(frozen=True, slots=True)
class SheetHeader:
    """The header of a sheet.

    Attributes:
        at: the index of the first row below it.
        row: the index of the row that names the columns; of two, the lower.
        names: the columns' names as written; "" where there is none.
        skipped: the title lines above it.
    """

    at: int
    row: int
    names: tuple[str, ...]
    skipped: tuple[str, ...]


def sheet_header(rows: Sequence[Sequence[str]], given: int | None = None) -> SheetHeader:
    """Find the header among the first rows, whose empty cells at the end are cut off.

    ``given`` is the index of the row that the user says it is in.

    Raises:
        NoHeader: there are title lines, but no evident header.
    """
    if given is None and is_doubtful(rows):
        raise NoHeader("its header cannot be told from its titles; name its row with --header-row")
    at = header_at(rows) if given is None else given
    if given is not None:
        return SheetHeader(at + 1, at, _trimmed(rows[at]), tuple(map(title, rows[:at])))
    below = rows[at + 1] if at + 1 < len(rows) else ()
    if at and _names_groups(rows[at - 1], rows[at], rows[at + 1 :]):
        top, lower = at - 1, at
    elif _names_groups(rows[at], below, rows[at + 2 :]):
        top, lower = at, at + 1
    else:
        return SheetHeader(at + 1, at, _trimmed(rows[at]), tuple(map(title, rows[:at])))
    names = _combined(rows[top], rows[lower])
    return SheetHeader(lower + 1, lower, names, tuple(map(title, rows[:top])))


def _names_groups(top: Sequence[str], lower: Sequence[str], below: Sequence[Sequence[str]]) -> bool:
    """Whether a row names groups of columns, and the row under it the columns in them.

    It has gaps, where merged cells go on, over names; only the rows below hold values. The names
    repeat from group to group, or the first column's cell goes over both rows.
    """
    groups = [cell for cell in top if cell.strip()]
    names = [cell for cell in lower if cell.strip()]
    padded = [*top, *[""] * (len(lower) - len(top))]
    over_gaps = any(
        name.strip() and not cell.strip() for name, cell in zip(lower, padded, strict=False)
    )
    return (
        len(groups) >= _MIN_GROUPS
        and over_gaps
        and not any(map(is_value, names))
        and any(is_value(cell) for row in below for cell in row if cell.strip())
        and (len(set(names)) < len(names) or (not lower[0].strip() and bool(top[0].strip())))
    )


def _combined(top: Sequence[str], lower: Sequence[str]) -> tuple[str, ...]:
    """The names of both rows; a group's name goes on to the right until the next."""
    width = max(len(top), len(lower))
    upper = [*top, *[""] * (width - len(top))]
    under = [*lower, *[""] * (width - len(lower))]
    names: list[str] = []
    group = ""
    for above, name in zip(upper, under, strict=True):
        group = above.strip() or group
        names.append(f"{group} {name.strip()}".strip() if name.strip() else above.strip())
        if above.strip() and not name.strip():
            group = ""  # one cell over both rows ends the group before it
    return tuple(names)


def _trimmed(row: Sequence[str]) -> tuple[str, ...]:
    return tuple(cell.strip() for cell in row)
