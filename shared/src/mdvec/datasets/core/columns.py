"""The columns of a table, and the names that a file's header gives them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

_VALUE = re.compile(r"[-+¥￥\\]?\d[\d,.:/ T-]*")


@dataclass(frozen=True, slots=True)
class Column:
    """A column's name, and its type as DuckDB writes it."""

    name: str
    type: str

    @property
    def is_dated(self) -> bool:
        """Whether it holds dates, or dates with times."""
        return self.type == "DATE" or self.type.startswith("TIMESTAMP")


class NoHeader(ValueError):
    """A first line that names no columns; the text says why."""


def column_names(header: Sequence[str]) -> tuple[str, ...]:
    """A name for each cell of a header: trimmed, none twice (whatever the case), none empty.

    Raises:
        NoHeader: it is a line of values, or of a web page.
    """
    cells = [cell.strip() for cell in header]
    named = [cell for cell in cells if cell]
    if not named:
        raise NoHeader("its first line is empty; put the names of the columns there")
    if cells[0].lower().startswith(("<!doctype", "<html", "<?xml")):
        raise NoHeader("it is a web page, no table; download the file again")
    if all(_VALUE.fullmatch(cell) for cell in named):
        raise NoHeader(
            "its first line holds values, not names; put a line with the columns' names before it"
        )
    taken: dict[str, int] = {}
    all_named = {cell.lower() for cell in cells}
    return tuple(
        _free(cell or f"column{number}", taken, all_named) for number, cell in enumerate(cells, 1)
    )


def _free(wanted: str, taken: dict[str, int], named: set[str]) -> str:
    """``wanted``, or with a number behind it that neither an earlier nor a later column has.

    ``taken`` has the names of earlier columns, each with the last number behind it.
    """
    name, number = wanted, taken.get(wanted.lower(), 1)
    while name.lower() in taken or (number > 1 and name.lower() in named):
        number += 1
        name = f"{wanted}_{number}"
    taken[wanted.lower()] = number
    taken.setdefault(name.lower(), 1)
    return name
