"""A sheet of a workbook as a table, or several side by side: header, merged cells, totals, types.

The reader of the workbook provides the rows.
"""

from __future__ import annotations

import warnings
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import date, datetime, time, timedelta
from itertools import chain
from pathlib import Path
from typing import Protocol

from mdvec.datasets.core.cells import SeenColumn, duration
from mdvec.datasets.core.columns import NoHeader, column_names, numbered_names
from mdvec.datasets.core.first_row import NO_HEADER_NOTE
from mdvec.datasets.core.several_tables import HeadersBelow, NotesBelow, tables_side_by_side
from mdvec.datasets.core.sheet_cells import Amount, FilledRows, SheetMarks, is_word
from mdvec.datasets.core.sheet_header import (
    SheetHeader,
    first_rows,
    header_notes,
    sheet_header,
)
from mdvec.datasets.core.understood import AS_TEXT, NO_HEADER, ReadingOptions, Understood
from mdvec.datasets.core.value_types import VALUE_KINDS, trimmed
from mdvec.datasets.interfaces.database_file import OpenedFile, TableInFile
from mdvec.datasets.interfaces.typed_rows import OnRows, TypedRows
from mdvec.files import UnreadableFile
from mdvec.text import shown_name, some_of

HIDDEN = "it is a hidden sheet; show it in the workbook to import it"
DAMAGED = "it is not a complete workbook; save it again"
_MAX_PERCENTS = 3
"""How many columns with a percent format a note names."""

Row = list[object]


class SheetRows(Protocol):
    """The cells of a sheet; ``formulas`` are rows read so far with a formula without a value."""

    formulas: set[int]

    def rows(self, columns: slice) -> Iterator[tuple[int, Row]]:
        """The rows that have values in these columns, each with its number."""

    def notes(self) -> Iterable[str]:
        """Notes on the cells that were read last."""


@contextmanager
def readable() -> Iterator[None]:
    """Turn any error of zipfile and openpyxl into UnreadableFile, and suppress their warnings."""
    try:
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", module="openpyxl")
            yield
    except (UnreadableFile, OSError, MemoryError):  # a full disk is not the file's fault
        raise
    except Exception as error:  # a damaged part can make it raise anything
        raise UnreadableFile(DAMAGED) from error


@dataclass(eq=False, slots=True)
class SheetTable:
    """A table on a sheet; ``set_off`` are its runs of columns, if empty columns separate them."""

    name: str
    sheet: SheetRows
    marks: SheetMarks
    reading: ReadingOptions
    on_rows: OnRows
    columns: slice = field(default_factory=lambda: slice(None))
    set_off: list[range] = field(default_factory=list)

    def tables(self) -> list[SheetTable]:
        """The sheet as one table, or as several that are side by side."""
        with readable():
            columns, are_tables = tables_side_by_side(self.sheet.rows(self.columns))
        if are_tables:
            return [self._part(run) for run in columns]
        self.set_off = columns
        return [self]

    def _part(self, columns: range) -> SheetTable:
        """Some of its columns as a separate table; the first column's letters are in its name."""
        start, stop = columns.start, columns.stop
        merged = [
            replace(cells, column=cells.column - start, last_column=cells.last_column - start)
            for cells in self.marks.merged
            if start < cells.column <= stop
        ]
        marks = replace(self.marks, merged=merged)
        name = f"{self.name} {_letters(start)}"
        return replace(self, name=name, marks=marks, columns=slice(start, stop))

    def has_cells(self) -> bool:
        """Whether it has a cell with a value."""
        with readable():
            rows = self.sheet.rows(self.columns)
            return any(cell is not None for _, row in rows for cell in row)

    def copy(self, target: Path) -> Understood:
        """Write its table to a Parquet file.

        If a column has amounts in several currencies, a second pass writes them as texts.
        """
        understood, seen = self._write(target, ())
        mixed = [at for at, column in enumerate(seen) if len(column.units) > 1]
        if mixed:
            target.unlink(missing_ok=True)
            understood, _ = self._write(target, mixed)
        return understood

    def _write(
        self, target: Path, as_text: Collection[int]
    ) -> tuple[Understood, Sequence[SeenColumn]]:
        is_mixed = bool(as_text)
        rows = TypedRows(target, self.on_rows, self.reading, VALUE_KINDS, reads_mixed=True)
        with readable():
            numbered = self.sheet.rows(self.columns)
            header, (top, header_row, doubtful), below = self._below_header(numbered)
            rows.labels = header.labels
            empty = list[int]()
            below = _without_spaces(below, empty)
            filled = FilledRows(self.marks.tall, self.reading.leaves_out_totals)
            as_text = {*as_text, *self._chosen_as_text(header.names)}
            headers = HeadersBelow()
            notes = NotesBelow(
                self.reading.leaves_out_notes,
                merged=self.marks.tall,
                formulas=self.sheet.formulas,
            )
            rows_below = filled.rows(notes.rows(headers.rows(below)))
            cells = (_with_texts(row, as_text) for row in rows_below) if as_text else rows_below
            columns = rows.write(cells, lambda: _names(header.names, rows.seen))
            names = _names(header.names, rows.seen)
            hidden = self._hidden_of(names)
            units = ", ".join(
                f"{shown_name(name)} ({unit})"
                for at, (name, column) in enumerate(zip(names, rows.seen, strict=False))
                for unit in filter(is_word, column.units)
                if at not in as_text
            )
            percents = [
                f"{shown_name(name)} ({column.percents:,} with and {column.others:,} without)"
                if column.others
                else shown_name(name)
                for name, column in zip(names, rows.seen, strict=False)
                if name and column.percents
            ]
        understood = Understood(
            header_row=header_row, skipped=header.skipped, columns=columns
        ).with_notes(
            *self._notes(has_header=header_row > 0),
            *header_notes("row", top, header_row, doubtful),
            *self.sheet.notes(),
            f"the cells of columns show a unit: {units}" if units else "",
            *filled.notes(self.marks.hidden_rows),
            f"hidden columns are read as well: {', '.join(hidden)}" if hidden else "",
            *headers.notes(),
            notes.note(),
            f"empty rows are left out: {len(empty):,}" if empty else "",
            "cells of a column are formatted in several currencies, so it is text"
            if is_mixed
            else "",
            "numbers with a percent format are read as stored, 50% as 0.5: "
            + some_of(percents, _MAX_PERCENTS)
            if percents
            else "",
        )
        return understood, rows.seen

    def _hidden_of(self, names: Sequence[str]) -> list[str]:
        """The names of its hidden columns."""
        left = (self.columns.start or 0) + 1
        return [
            shown_name(name)
            for at, name in enumerate(names, left)
            if name and any(first <= at <= last for first, last in self.marks.hidden_columns)
        ]

    def _chosen_as_text(self, header: Sequence[str]) -> Iterator[int]:
        """The indexes of columns that the user chose as text; amounts there keep their currency."""
        names = column_names(header) if header else ()
        return (at for at, name in enumerate(names) if self.reading.columns.get(name) == AS_TEXT)

    def _below_header(
        self, rows: Iterator[tuple[int, Row]]
    ) -> tuple[SheetHeader, tuple[int, int, int], Iterator[tuple[int, Row]]]:
        """The header, the numbers of its first, last and doubtful row, and the rows below it."""
        try:
            first, named = first_rows(rows, self.reading, "row")
            names = [[_name(cell) for cell in row] for _, row in first]
            numbers = [number for number, _ in first]
            header = sheet_header(
                names, named, self.marks.ends(numbers), numbers, self.marks.group_ends(numbers)
            )
            if header.row != NO_HEADER:
                column_names(header.names)
        except NoHeader as error:
            raise UnreadableFile(str(error).replace("its first line", "its first row")) from error
        below = chain(first[header.row + 1 :], rows)
        if header.row == NO_HEADER:
            return header, (0, 0, 0), below
        doubtful = first[header.doubtful][0] if header.doubtful else 0
        return header, (first[header.top][0], first[header.row][0], doubtful), below

    def _notes(self, *, has_header: bool) -> Iterator[str]:
        if not (has_header or self.reading.header_row):
            yield NO_HEADER_NOTE.replace("line", "row").replace("--header-row 1", "--header-row")
        if self.set_off:
            runs = (f"{_letters(run.start)} to {_letters(run.stop - 1)}" for run in self.set_off)
            yield f"one table of columns that stand apart: {', '.join(runs)}"


def _letters(column: int) -> str:
    from openpyxl.utils import get_column_letter  # loads openpyxl

    return str(get_column_letter(column + 1))


FoundSheet = tuple[str, SheetRows | str, SheetMarks]
"""A sheet's name; its cells, or why it is left out; and the marks in its XML."""


def opened_file(
    sheets: Iterable[FoundSheet], reading: ReadingOptions, on_rows: OnRows
) -> OpenedFile:
    """The tables of a workbook, and what is left out of it."""
    tables: list[SheetTable] = []
    left_out: list[tuple[str, str]] = []
    for name, rows, marks in sheets:
        if isinstance(rows, str):
            left_out.append((name, rows))
        else:
            tables += SheetTable(name, rows, marks, reading, on_rows).tables()
    filled = [table for table in tables if table.has_cells()]
    empty = [(table.name, "it is an empty sheet") for table in tables if table not in filled]
    is_alone = len(filled) == 1
    for table in filled:
        table.reading = reading.of_table(table.name)
    tables_in_file = tuple(
        TableInFile("" if is_alone else table.name, table.copy, table.name) for table in filled
    )
    return OpenedFile(tables_in_file, (*left_out, *empty))


def _without_spaces(rows: Iterable[tuple[int, Row]], empty: list[int]) -> Iterator[tuple[int, Row]]:
    """The rows without those of spaces alone, whose numbers are added to ``empty``.

    Rows of NULL, such as those of errors, are rows.
    """
    for number, row in rows:
        filled = [cell for cell in row if cell is not None]
        if filled and all(isinstance(cell, str) and not trimmed(cell) for cell in filled):
            empty.append(number)
        else:
            yield number, row


def _with_texts(row: Row, as_text: Collection[int]) -> Row:
    """A row in which amounts in the columns ``as_text`` are texts."""
    return [
        str(cell) if at in as_text and isinstance(cell, Amount) else cell
        for at, cell in enumerate(row)
    ]


def _name(cell: object) -> str:
    """A cell as the name of a column."""
    match cell:
        case None:
            return ""
        case Amount():
            return _name(cell.number)
        case float() if cell.is_integer():
            return str(int(cell))
        case datetime():
            return cell.isoformat(" ")
        case date() | time():
            return cell.isoformat()
        case timedelta():
            return duration(cell)
    return str(cell)


def _names(header: Sequence[str], seen: Sequence[SeenColumn]) -> list[str]:
    """The names of all columns; "" for an empty column without a name."""
    named = [*header, *[""] * (len(seen) - len(header))]
    names = column_names(named) if header else numbered_names(named)
    return [
        name if written or (at < len(seen) and seen[at].counts) else ""
        for at, (name, written) in enumerate(zip(names, named, strict=True))
    ]
