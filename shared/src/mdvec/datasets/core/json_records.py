"""Rows of JSON objects: an object within an object becomes columns of its own, one level deep."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from mdvec.datasets.core.columns import numbered_names


class NoTable(ValueError):
    """A JSON value is no table; the message says why."""


class Records:
    """Collects the columns of objects, in the order in which they first appear."""

    def __init__(self) -> None:
        self._places: dict[tuple[str, ...], int] = {}

    def row(self, record: Mapping[str, Any]) -> list[object]:
        """The cells of an object, in the order of the columns known so far."""
        row: list[object] = [None] * len(self._places)
        for name, value in record.items():
            if isinstance(value, dict) and value:
                for inner, cell in value.items():
                    self._put(row, (name, inner), cell)
            else:
                self._put(row, (name,), value)
        return row

    def names(self) -> tuple[str, ...]:
        """The columns' names: ``address.city`` for a field of an inner object."""
        return numbered_names([".".join(path).strip() for path in self._places])

    def _put(self, row: list[object], path: tuple[str, ...], cell: object) -> None:
        at = self._places.setdefault(path, len(self._places))
        if at == len(row):
            row.append(cell)
        else:
            row[at] = cell


def records_of_object(whole: Mapping[str, Any]) -> tuple[Sequence[Mapping[str, Any]], str]:
    """The records in a file that is one object, and a note on where they were.

    They are the one list of objects in it, or its lists are the columns of a table.

    Raises:
        NoTable: the object holds neither.
    """
    tables = [name for name, value in whole.items() if _is_table(value)]
    if len(tables) == 1:
        (name,) = tables
        others = [other for other in whole if other != name]
        left = f"; left out: {', '.join(others)}" if others else ""
        return whole[name], f"the table is the list {name!r}{left}"
    if tables:
        raise NoTable(f"it holds several lists ({', '.join(tables)}); write each to its own file")
    lists = [value for value in whole.values() if isinstance(value, list)]
    if lists and len(lists) == len(whole):
        if len({len(value) for value in lists}) > 1:
            raise NoTable("it is one object whose lists differ in length")
        return [dict(zip(whole, cells, strict=True)) for cells in zip(*lists, strict=True)], (
            "each list is a column"
        )
    raise NoTable("it is one object, not a list of objects")


def _is_table(value: object) -> bool:
    return (
        isinstance(value, list)
        and bool(value)
        and all(isinstance(record, dict) for record in value)
    )
