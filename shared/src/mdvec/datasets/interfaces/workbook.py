"""Reads the sheets of a workbook: values as stored, dates by their cells' type.

Formulas are not computed: their stored values are read. Macros are ignored. A child process reads
.xls, .xlsb and .ods; the formats of their cells are unknown, and the import says so.
"""

from __future__ import annotations

import json
import os
import tempfile
import zipfile
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, closing, contextmanager
from datetime import date, datetime, time, timedelta
from itertools import zip_longest
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, BinaryIO

from mdvec.datasets.core.sheet_cells import (
    MergedCells,
    SheetMarks,
    shows_thousands,
    unescaped,
    value_as_formatted,
)
from mdvec.datasets.core.understood import ReadingOptions
from mdvec.datasets.interfaces.calamine_child import ANSWER_AT
from mdvec.datasets.interfaces.database_file import OpenedFile
from mdvec.datasets.interfaces.limits import MAX_TIMES, is_bomb, run_child
from mdvec.datasets.interfaces.sheet_table import (
    DAMAGED,
    HIDDEN,
    FoundSheet,
    Row,
    opened_file,
    readable,
)
from mdvec.datasets.interfaces.typed_rows import OnRows
from mdvec.files import UnreadableFile, data_ending, opened_within
from mdvec.platform import path_of

if TYPE_CHECKING:
    from openpyxl.workbook import Workbook

_READ_HERE = (".xlsx", ".xlsm")
_OLE_MARK = b"\xd0\xcf\x11\xe0"
_MAX_ROWS = 2**20
_MAX_STRING_BYTES = 2**29
_STRINGS = "sharedStrings.xml"
_SHEETS = "worksheets/"
_BLOCK = 2**20
_PROTECTED = 1
_LONG_TEXTS = "its texts are too large for a workbook; save it as .csv"
_MODULE = "mdvec.datasets.interfaces.calamine_child"
_BYTES_A_SECOND = 1_000_000
_BROKEN = "it is damaged, too large, or no workbook at all; save it again as .xlsx"
_NOT_SEEN = (
    "in a file of this kind currencies, units and leading zeros that only a cell's format shows "
    "are not seen, nor what is hidden, and cells with an error are NULL; for these save it as .xlsx"
)


@contextmanager
def open_workbook(
    source: Path, root: Path, reading: ReadingOptions, on_rows: OnRows
) -> Iterator[OpenedFile]:
    """Open a workbook of a source for reading.

    Raises:
        UnreadableFile: it is damaged, locked by a password, or has too many bytes or cells.
    """
    with opened_within(source, root) as descriptor, ExitStack() as stack:
        if data_ending(source.name) not in _READ_HERE:
            spool = stack.enter_context(tempfile.TemporaryFile())
            yield opened_file(_found_by_child(descriptor, spool), reading, on_rows)
            return
        stream = stack.enter_context(path_of(descriptor).open("rb"))
        marks = _check(stream)
        book = stack.enter_context(closing(_load(stream, values=True)))
        formulas = None
        if any(sheet.has_formulas for sheet in marks.values()):
            formulas = stack.enter_context(closing(_load(stream, values=False)))
        yield opened_file(_find_sheets(book, formulas, marks), reading, on_rows)


def _check(stream: BinaryIO) -> dict[str, SheetMarks]:
    """Check the archive before anything is unpacked; returns the marks of each sheet."""
    stream.seek(0)
    start = stream.read(len(_OLE_MARK))
    if start == _OLE_MARK:
        raise UnreadableFile(
            "it is locked by a password, or of an older kind; save it without one, or name it .xls"
        )
    stream.seek(0)
    try:
        with readable(), zipfile.ZipFile(stream) as archive:
            parts = archive.infolist()
            if any(part.flag_bits & _PROTECTED for part in parts):
                raise UnreadableFile("it is locked by a password; save it without one")
            packed = sum(part.compress_size for part in parts)
            if is_bomb(sum(part.file_size for part in parts), packed):
                raise UnreadableFile(
                    f"it unpacks to more than {MAX_TIMES} times its size; save it as .csv if you "
                    "trust it"
                )
            # Most programs put them into a folder xl, some put them beside the list of parts.
            strings = (p for p in parts if Path(p.filename).name == _STRINGS)
            if any(part.file_size > _MAX_STRING_BYTES for part in strings):
                raise UnreadableFile(_LONG_TEXTS)
            sheets = [part for part in parts if _SHEETS in part.filename]
            return {part.filename: _marks(archive, part) for part in sheets}
    except OSError as error:  # an offset in the archive is outside the file
        raise UnreadableFile(DAMAGED) from error


def _marks(archive: zipfile.ZipFile, part: zipfile.ZipInfo) -> SheetMarks:
    """The marks in a sheet's XML."""
    marks, before = SheetMarks(), b""
    with archive.open(part) as sheet:
        while block := sheet.read(_BLOCK):
            tags, end, before = (before + block).rpartition(b">")
            if len(before) > _BLOCK:  # Excel's longest text has 32,767 characters
                raise UnreadableFile(_LONG_TEXTS)
            marks.take(tags + end)
    return marks


def _load(stream: BinaryIO, *, values: bool) -> Workbook:
    from openpyxl import load_workbook

    stream.seek(0)
    with readable():
        return load_workbook(stream, read_only=True, data_only=values, keep_links=False)


def _find_sheets(
    book: Workbook, formulas: Workbook | None, marks: Mapping[str, SheetMarks]
) -> Iterator[FoundSheet]:
    for name in book.sheetnames:
        sheet = book[name]
        if not hasattr(sheet, "iter_rows"):
            yield name, "it is a chart", SheetMarks()
        elif sheet.sheet_state != "visible":
            yield name, HIDDEN, SheetMarks()
        else:
            rows = _ExcelRows(sheet, None if formulas is None else formulas[name])
            # openpyxl only reads values; a private field has the path of a sheet's XML.
            yield name, rows, marks.get(sheet._worksheet_path, SheetMarks())  # noqa: SLF001


class _ExcelRows:
    """The cells of a sheet.

    ``formulas`` is the same sheet, opened to give formulas in place of values.
    """

    def __init__(self, sheet: Any, formulas: Any) -> None:  # noqa: ANN401 - they have no types
        self._sheet = sheet
        self._formulas = formulas
        self._errors: Counter[str] = Counter()
        self._thousands = 0
        self._unstored = 0
        self.formulas: set[int] = set()

    def rows(self, columns: slice) -> Iterator[tuple[int, Row]]:
        """The rows that have values, each with its number and without empty cells at its end.

        A row that has only errors, or formulas without a stored value, becomes a row of NULL.
        """
        self._errors.clear()
        self._thousands = 0
        self._unstored = 0
        self._sheet.reset_dimensions()
        rows = self._sheet.iter_rows()
        formulas = iter(())
        if self._formulas is not None:
            self._formulas.reset_dimensions()
            formulas = self._formulas.iter_rows(values_only=True)
        for number, (row, stored) in enumerate(zip_longest(rows, formulas, fillvalue=()), 1):
            if number > _MAX_ROWS:
                raise UnreadableFile(f"it has more than {_MAX_ROWS:,} rows; save it again")
            lost, unstored = self._errors.total() + self._unstored, self._unstored
            cells = [self._value(cell) for cell in row[columns]]
            self._count_unstored(row[columns], stored[columns])
            while cells and (cells[-1] is None or cells[-1] == ""):
                cells.pop()
            if self._unstored > unstored and len(cells) <= 1 + cells.count(None):
                self.formulas.add(number)
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
            shown = cell.number_format or ""
            self._thousands += shows_thousands(shown)
            return value_as_formatted(value, shown)
        return value

    def _count_unstored(self, cells: Sequence[Any], stored: Sequence[object]) -> None:
        """Count the formulas without a stored value; an empty text (type "str") is a value."""
        for cell, formula in zip(cells, stored, strict=False):
            if cell.value is None and cell.data_type != "str":
                is_text = isinstance(formula, str) and not formula.startswith("=")
                is_formula = formula is not None and not isinstance(formula, (int, float))
                self._unstored += is_formula and not is_text

    def notes(self) -> Iterator[str]:
        """Notes on cells that are not empty, but become NULL, or are shown in thousands."""
        if self._thousands:
            yield f"numbers that cells show in thousands are read as stored: {self._thousands:,}"
        if self._errors:
            errors = ", ".join(f"{number:,} {error}" for error, number in self._errors.items())
            yield f"cells with an error are NULL: {errors}"
        if self._unstored:
            yield (
                f"formulas without a stored value are NULL: {self._unstored:,}; open and save the "
                "workbook in the program that made it"
            )


def _found_by_child(descriptor: int, spool: IO[bytes]) -> Iterator[FoundSheet]:
    """The sheets of an .xls, .xlsb or .ods workbook; ``spool`` holds their cells."""
    for about in _sheets(descriptor, spool):
        if about["is_hidden"]:
            yield about["name"], HIDDEN, SheetMarks()
        elif not about["is_sheet"]:
            yield about["name"], "it is no sheet of cells", SheetMarks()
        else:
            rows = _SpooledRows(spool, about["start"], about["end"])
            merged = [
                MergedCells(first_row + 1, last_row + 1, column + 1, last_column + 1)
                for (first_row, column), (last_row, last_column) in about["merged"]
            ]
            yield about["name"], rows, SheetMarks(merged)


def _sheets(descriptor: int, spool: IO[bytes]) -> list[dict[str, Any]]:
    """The child's descriptions of a workbook's sheets; it writes their rows to ``spool``."""
    done = run_child(_MODULE, source=descriptor, stdout=spool, bytes_a_second=_BYTES_A_SECOND)
    spool.seek(-ANSWER_AT.size if done.returncode == 0 else 0, os.SEEK_END)
    answer: dict[str, Any] = {}
    if at := spool.read():
        spool.seek(*ANSWER_AT.unpack(at))
        answer = json.loads(spool.read()[: -ANSWER_AT.size])
    if "sheets" not in answer:
        raise UnreadableFile(answer.get("error", _BROKEN))
    sheets: list[dict[str, Any]] = answer["sheets"]
    return sheets


class _SpooledRows:
    """The rows of a sheet, between two positions of a file of JSON lines."""

    def __init__(self, spool: IO[bytes], start: int, end: int) -> None:
        self._spool = spool
        self._start = start
        self._end = end
        self.formulas: set[int] = set()

    def rows(self, columns: slice) -> Iterator[tuple[int, Row]]:
        """The rows that have values in these columns, each with its number."""
        at = self._start
        while at < self._end:
            self._spool.seek(at)  # each time, as the same file may be read by several at once
            line = self._spool.readline()
            at += len(line)
            number, cells = json.loads(line, object_hook=_moment)
            if any(cell is not None for cell in cells[columns]):
                yield number, cells[columns]

    def notes(self) -> Iterator[str]:
        """A note on what cannot be read from such files."""
        yield _NOT_SEEN


def _moment(cell: dict[str, Any]) -> object:
    match cell:
        case {"date": text}:
            return date.fromisoformat(text)
        case {"datetime": text}:
            return datetime.fromisoformat(text)
        case {"time": text}:
            return time.fromisoformat(text)
    return timedelta(seconds=cell["seconds"])
