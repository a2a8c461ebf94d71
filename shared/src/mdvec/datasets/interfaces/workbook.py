"""Copies the sheets of an Excel workbook to Parquet: values as stored, dates by their cells' type.

Formulas are not computed: their stored values are read. Macros are ignored.
"""

from __future__ import annotations

import warnings
import zipfile
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import replace
from datetime import date, datetime, time, timedelta
from itertools import chain, islice, zip_longest
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

from mdvec.datasets.core.cells import SeenColumn, duration
from mdvec.datasets.core.columns import NoHeader, column_names, numbered_names
from mdvec.datasets.core.first_row import NO_HEADER_NOTE
from mdvec.datasets.core.sheet_cells import (
    Amount,
    FilledRows,
    SheetMarks,
    unescaped,
    value_as_formatted,
)
from mdvec.datasets.core.sheet_header import (
    SAMPLE_ROWS,
    SheetHeader,
    sheet_header,
    tables_side_by_side,
)
from mdvec.datasets.core.understood import AS_TEXT, NO_HEADER, ReadingOptions, Understood
from mdvec.datasets.core.value_types import VALUE_KINDS
from mdvec.datasets.interfaces.database_file import OpenedFile, TableInFile
from mdvec.datasets.interfaces.typed_rows import OnRows, TypedRows
from mdvec.datasets.interfaces.unpacking import MAX_TIMES, is_bomb
from mdvec.files import UnreadableFile, opened_within, path_of

if TYPE_CHECKING:
    from openpyxl.workbook import Workbook

_OLE_MARK = b"\xd0\xcf\x11\xe0"
_MAX_ROWS = 2**20
_MAX_STRING_BYTES = 2**29
_STRINGS = "xl/sharedStrings.xml"
_SHEETS = "xl/worksheets/"
_BLOCK = 2**20
_PROTECTED = 1
_DAMAGED = "it is not a complete workbook; save it again"

Row = list[object]


@contextmanager
def opened(
    source: Path, root: Path, reading: ReadingOptions, on_rows: OnRows
) -> Iterator[OpenedFile]:
    """Open a workbook of a source for reading.

    Raises:
        UnreadableFile: it is damaged, locked by a password, or unpacks to suspiciously much.
    """
    with opened_within(source, root) as descriptor, path_of(descriptor).open("rb") as stream:
        marks, has_formulas = _check(stream)
        with closing(_loaded(stream, values=True)) as book:
            formulas = _loaded(stream, values=False) if has_formulas else None
            try:
                yield _found(book, formulas, marks, reading, on_rows)
            finally:
                if formulas is not None:
                    formulas.close()


def _check(stream: BinaryIO) -> tuple[dict[str, SheetMarks], bool]:
    """Check the archive before anything is unpacked.

    Returns what the XML of each sheet says, by its place, and whether there are formulas.
    """
    stream.seek(0)
    start = stream.read(len(_OLE_MARK))
    if start == _OLE_MARK:
        raise UnreadableFile(
            "it is locked by a password, or of an older kind; save it as .xlsx without a password"
        )
    stream.seek(0)
    try:
        with _readable(), zipfile.ZipFile(stream) as archive:
            parts = archive.infolist()
            if any(part.flag_bits & _PROTECTED for part in parts):
                raise UnreadableFile("it is locked by a password; save it without one")
            packed = sum(part.compress_size for part in parts)
            if is_bomb(sum(part.file_size for part in parts), packed):
                raise UnreadableFile(
                    f"it unpacks to more than {MAX_TIMES} times its size; save it as .csv if you "
                    "trust it"
                )
            if any(p.filename == _STRINGS and p.file_size > _MAX_STRING_BYTES for p in parts):
                raise UnreadableFile("its texts are too large for a workbook; save it as .csv")
            sheets = [part for part in parts if part.filename.startswith(_SHEETS)]
            marked = {part.filename: _marks(archive, part) for part in sheets}
            has_formulas = any(has_formula for _, has_formula in marked.values())
            return {name: marks for name, (marks, _) in marked.items()}, has_formulas
    except OSError as error:  # zipfile was sent to a place outside the file
        raise UnreadableFile(_DAMAGED) from error


def _marks(archive: zipfile.ZipFile, part: zipfile.ZipInfo) -> tuple[SheetMarks, bool]:
    """What a sheet's XML says, and whether it has formulas."""
    marks, has_formula, before = SheetMarks(), False, b""
    with archive.open(part) as sheet:
        while block := sheet.read(_BLOCK):
            tags, end, rest = (before + block).rpartition(b">")
            marks.take(tags + end)
            has_formula = has_formula or b"<f" in tags
            before = rest
    return marks, has_formula


def _loaded(stream: BinaryIO, *, values: bool) -> Workbook:
    from openpyxl import load_workbook

    stream.seek(0)
    with _readable():
        return load_workbook(stream, read_only=True, data_only=values, keep_links=False)


@contextmanager
def _readable() -> Iterator[None]:
    """Report whatever zipfile and openpyxl raise over a damaged file, but not their warnings."""
    try:
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", module="openpyxl")
            yield
    except (UnreadableFile, OSError, MemoryError):  # a full disk is not the file's fault
        raise
    except Exception as error:  # a damaged part can make it raise anything
        raise UnreadableFile(_DAMAGED) from error


def _found(
    book: Workbook,
    formulas: Workbook | None,
    marks: Mapping[str, SheetMarks],
    reading: ReadingOptions,
    on_rows: OnRows,
) -> OpenedFile:
    sheets: list[_Sheet] = []
    left_out: list[tuple[str, str]] = []
    for name in book.sheetnames:
        sheet = book[name]
        if not hasattr(sheet, "iter_rows"):
            left_out.append((name, "it is a chart"))
        elif sheet.sheet_state != "visible":
            left_out.append((name, "it is a hidden sheet; show it in the workbook to import it"))
        else:
            stored = None if formulas is None else formulas[name]
            # openpyxl reads the values alone, and names nowhere else where a sheet's XML is.
            part = marks.get(sheet._worksheet_path, SheetMarks())  # noqa: SLF001
            sheets += _tables(_Sheet(name, sheet, stored, part, reading, on_rows))
    filled = [sheet for sheet in sheets if sheet.has_cells()]
    left_out += [(sheet.name, "it is an empty sheet") for sheet in sheets if sheet not in filled]
    is_alone = len(filled) == 1
    tables = tuple(TableInFile("" if is_alone else sheet.name, sheet.copy) for sheet in filled)
    return OpenedFile(tables, tuple(left_out))


def _tables(sheet: _Sheet) -> list[_Sheet]:
    """A sheet, or each of the tables that stand side by side on it."""
    columns = sheet.tables_side_by_side()
    return [sheet.part(run) for run in columns] if columns else [sheet]


class _Sheet:
    """A sheet of a workbook.

    ``formulas`` is the same sheet of the workbook that gives formulas in place of values.
    """

    def __init__(
        self,
        name: str,
        sheet: Any,  # noqa: ANN401 - openpyxl's sheets have no types
        formulas: Any,  # noqa: ANN401
        marks: SheetMarks,
        reading: ReadingOptions,
        on_rows: OnRows,
    ) -> None:
        self.name = name
        self._sheet = sheet
        self._formulas = formulas
        self._marks = marks
        self._reading = reading
        self._on_rows = on_rows
        self._errors: Counter[str] = Counter()
        self._unstored = 0
        self._columns = slice(None)

    def tables_side_by_side(self) -> list[range]:
        """The columns of each table on it; none if it has only one."""
        with _readable():
            return tables_side_by_side(self._rows())

    def part(self, columns: range) -> _Sheet:
        """Some of its columns as a sheet, named by the first."""
        from openpyxl.utils import get_column_letter

        start, stop = columns.start, columns.stop
        merged = [
            replace(cells, column=cells.column - start)
            for cells in self._marks.merged
            if start < cells.column <= stop
        ]
        part = _Sheet(
            f"{self.name} {get_column_letter(start + 1)}",
            self._sheet,
            self._formulas,
            SheetMarks(merged, self._marks.hidden_rows),
            self._reading,
            self._on_rows,
        )
        part._columns = slice(start, stop)
        return part

    def has_cells(self) -> bool:
        """Whether it has a cell with a value."""
        with _readable():
            return any(cell is not None for _, row in self._rows() for cell in row)

    def copy(self, target: Path) -> Understood:
        """Write its table to a Parquet file.

        Amounts of several currencies in a column become texts, which needs a second reading.
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
        self._errors.clear()
        self._unstored = 0
        rows = TypedRows(
            target,
            self._on_rows,
            text_kinds=VALUE_KINDS,
            reads_mixed=True,
            chosen=self._reading.columns,
            nulls=self._reading.nulls,
        )
        with _readable():
            numbered = self._rows()
            header, header_row, below = self._below_header(numbered)
            filled = FilledRows(self._marks.merged, self._reading.leaves_out_totals)
            as_text = {*as_text, *self._chosen_as_text(header.names)}
            cells = (_with_texts(row, as_text) for row in filled.rows(below))
            columns = rows.write(cells, lambda: _names(header.names, rows.seen))
        understood = Understood(
            header_row=header_row, skipped=header.skipped, columns=columns
        ).with_notes(
            *self._notes(has_header=header_row > 0),
            *filled.notes(self._marks.hidden_rows),
            "cells of a column are formatted in several currencies, so it is text"
            if is_mixed
            else "",
        )
        return understood, rows.seen

    def _chosen_as_text(self, header: Sequence[str]) -> Iterator[int]:
        """The columns that are text by choice, in which an amount keeps its currency."""
        names = column_names(header) if header else ()
        return (at for at, name in enumerate(names) if self._reading.columns.get(name) == AS_TEXT)

    def _below_header(
        self, rows: Iterator[tuple[int, Row]]
    ) -> tuple[SheetHeader, int, Iterator[tuple[int, Row]]]:
        wanted = self._reading.header_row
        first = list(islice(rows, SAMPLE_ROWS))
        given = NO_HEADER if wanted == NO_HEADER else None
        if wanted > 0:
            while first and first[-1][0] < wanted and (more := next(rows, None)) is not None:
                first.append(more)
            given = next((at for at, (number, _) in enumerate(first) if number >= wanted), None)
            if given is None:
                raise UnreadableFile(f"it has no row {wanted}, which --header-row names")
        try:
            header = sheet_header([[_name(cell) for cell in row] for _, row in first], given)
            if header.row != NO_HEADER:
                column_names(header.names)
        except NoHeader as error:
            raise UnreadableFile(str(error).replace("its first line", "its first row")) from error
        below = chain(first[header.at :], rows)
        return header, 0 if header.row == NO_HEADER else first[header.row][0], below

    def _rows(self) -> Iterator[tuple[int, Row]]:
        """The rows that have values, with their numbers; empty cells at their ends are cut off.

        A row of nothing but errors and formulas without a stored value is one of NULL.
        """
        self._sheet.reset_dimensions()
        rows = self._sheet.iter_rows()
        formulas = iter(())
        if self._formulas is not None:
            self._formulas.reset_dimensions()
            formulas = self._formulas.iter_rows(values_only=True)
        for number, (row, stored) in enumerate(zip_longest(rows, formulas, fillvalue=()), 1):
            if number > _MAX_ROWS:
                raise UnreadableFile(f"it has more than {_MAX_ROWS:,} rows; save it again")
            lost = self._errors.total() + self._unstored
            cells = [self._value(cell) for cell in row[self._columns]]
            self._count_unstored(row[self._columns], stored[self._columns])
            while cells and (cells[-1] is None or cells[-1] == ""):
                cells.pop()
            if cells or self._errors.total() + self._unstored > lost:
                yield number, cells or [None]

    def _value(self, cell: Any) -> object:  # noqa: ANN401 - openpyxl's cells have no types
        value = cell.value
        if cell.data_type == "e":
            self._errors[str(value)] += 1
            return None
        if isinstance(value, datetime) and value.time() == time():
            return value.date()
        if isinstance(value, str):
            return unescaped(value)
        if isinstance(value, (int, float)) and not isinstance(value, bool):
            return value_as_formatted(value, cell.number_format or "")
        return value

    def _count_unstored(self, cells: Sequence[Any], stored: Sequence[object]) -> None:
        """Count the formulas without a stored value; an empty text, of the type "str", is one."""
        for cell, formula in zip(cells, stored, strict=False):
            if cell.value is None and cell.data_type != "str":
                is_text = isinstance(formula, str) and not formula.startswith("=")
                is_formula = formula is not None and not isinstance(formula, (int, float))
                self._unstored += is_formula and not is_text

    def _notes(self, *, has_header: bool) -> Iterator[str]:
        if not (has_header or self._reading.header_row):
            yield NO_HEADER_NOTE.replace("line", "row").replace("--header-row 1", "--header-row")
        if self._errors:
            said = ", ".join(f"{number:,} {error}" for error, number in self._errors.items())
            yield f"cells with an error are NULL: {said}"
        if self._unstored:
            yield (
                f"formulas without a stored value are NULL: {self._unstored:,}; open and save the "
                "workbook in the program that made it"
            )


def _with_texts(row: Row, as_text: Collection[int]) -> Row:
    """A row with the amounts of some columns as texts."""
    return (
        [
            str(cell) if at in as_text and isinstance(cell, Amount) else cell
            for at, cell in enumerate(row)
        ]
        if as_text
        else row
    )


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
    """The columns' names; "" for those without a name in which there is nothing."""
    named = [*header, *[""] * (len(seen) - len(header))]
    names = column_names(named) if header else numbered_names(named)
    return [
        name if written or (at < len(seen) and seen[at].counts) else ""
        for at, (name, written) in enumerate(zip(names, named, strict=True))
    ]
