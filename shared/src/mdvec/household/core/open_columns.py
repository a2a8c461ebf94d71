"""The columns of a file whose meaning a mapping leaves open, with their cells."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from mdvec.household.core.cells import BadCell, CsvRecord, parse_amount
from mdvec.household.core.mapped_rows import MappedRows, header_test
from mdvec.household.core.mapping import MappedColumn, Mapping, key_of_column, one_spelling

Records = Sequence[tuple[int, CsvRecord]]
"""A file's records, each with its line."""

_Line = tuple[int, list[tuple[MappedColumn, str | None]]]
_MONTH = re.compile("[0-9]{1,2}(?=月)|[0-9]{4}")


@dataclass(frozen=True, slots=True)
class OpenColumn:
    """A column's cells, one for each row that was read."""

    key: MappedColumn
    cells: list[str]

    @property
    def name(self) -> str:
        """The column's name, or its number."""
        return str(self.key)

    @property
    def texts(self) -> list[str]:
        """The different texts in the column, without empty ones."""
        return list(dict.fromkeys(cell for cell in self.cells if cell))

    def others(self, left_out: set[int]) -> set[str]:
        """The different cells of the rows whose indexes are not in ``left_out``."""
        return {cell for at, cell in enumerate(self.cells) if at not in left_out}

    @property
    def numbers(self) -> list[int] | None:
        """The cells as amounts, 0 for an empty one; None if they are something else."""
        try:
            return [parse_amount(cell) or 0 for cell in self.cells]
        except BadCell:
            return None


def open_columns(mapping: Mapping, records: Records, read: MappedRows) -> list[OpenColumn]:
    """The columns that may raise questions: those that are neither read nor ignored.

    Descriptions, memos and the single amount are among them: their cells may tell what a row is.
    """
    lines = {row.line for row in read.rows}
    asked = {*mapping.description, *mapping.memo, mapping.amount}
    below = list(_lines_below(mapping, records))
    names = _names_by_number(below)
    settled = {_key(names, key) for key in mapping.valued_columns() if key not in asked}
    ignored = {_of_any_month(_key(names, key)) for key in mapping.ignored}
    own = {_key(names, key): key for key in mapping.columns()}

    rows = [cells for line, cells in below if line in lines]
    keys = {
        name: own.get(key_of_column(name), name)
        for name in dict.fromkeys(name for cells in rows for name, _ in cells)
        if key_of_column(name) not in settled and _of_any_month(name) not in ignored
    }
    columns: dict[MappedColumn, list[str]] = {}
    for at, cells in enumerate(rows):
        for name, cell in cells:
            if name in keys:
                columns.setdefault(keys[name], [""] * len(rows))[at] = (cell or "").strip()
    return [OpenColumn(key, cells) for key, cells in columns.items()]


class FileColumns:
    """The columns of a file; a column's number and its name in the header mean the same column.

    ``cells`` has the cells of all lines, also of lines that are no rows, by the column's key.
    """

    def __init__(self, mappings: Iterable[Mapping], records: Records) -> None:
        self.cells: dict[MappedColumn, list[str]] = {}
        self._names: dict[MappedColumn, MappedColumn] = {}
        for mapping in mappings:
            below = list(_lines_below(mapping, records))
            self._names = _names_by_number(below) | self._names
            for _, columns in below:
                for name, cell in columns:
                    listed = self.cells.setdefault(key_of_column(name), [])
                    listed += [] if cell is None else [cell]

    def key(self, column: MappedColumn) -> MappedColumn:
        """A column's name in one spelling, or its number if it has no name."""
        return _key(self._names, column)


def _names_by_number(below: Sequence[_Line]) -> dict[MappedColumn, MappedColumn]:
    """The names that the first header gives to the columns' numbers."""
    return {
        number: key_of_column(name)
        for _, columns in reversed(below)
        for number, (name, cell) in enumerate(columns, 1)
        if cell is None
    }


def _key(names: dict[MappedColumn, MappedColumn], column: MappedColumn) -> MappedColumn:
    key = key_of_column(column)
    return names.get(key, key)


def _lines_below(mapping: Mapping, records: Records) -> Iterator[_Line]:
    """Each line's columns (by name if it is unique, else by number), with their cells.

    If a line ends before its last columns, their cells are empty; the cells of a header are None.
    """
    keys: list[MappedColumn] = []
    is_header = header_test(mapping)
    for line, cells in records:
        if isinstance(cells, str):
            continue
        if mapping.header and is_header(cells):
            names = [cell.strip() for cell in cells]
            keys = [
                at if name in ("", *names[: at - 1]) else name for at, name in enumerate(names, 1)
            ]
            yield line, [(key, None) for key in keys]
        else:
            every = itertools.chain(keys, range(len(keys) + 1, len(cells) + 1))
            yield line, list(itertools.zip_longest(every, cells, fillvalue=""))


def _of_any_month(column: MappedColumn) -> MappedColumn:
    """A column's name without the number of its month or year (7月支払金額)."""
    return column if isinstance(column, int) else _MONTH.sub("0", one_spelling(column))
