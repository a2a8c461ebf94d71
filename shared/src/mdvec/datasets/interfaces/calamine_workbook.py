"""Copies the sheets of an .xls, .xlsb or .ods workbook to Parquet: a child process reads them.

The formats of cells are not seen there, and the import says so.
"""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import date, datetime, time, timedelta
from pathlib import Path
from typing import IO, Any

from mdvec.datasets.core.sheet_cells import MergedCells, SheetMarks
from mdvec.datasets.core.understood import ReadingOptions
from mdvec.datasets.interfaces.calamine_child import ANSWER_AT
from mdvec.datasets.interfaces.database_file import OpenedFile
from mdvec.datasets.interfaces.reading_child import run_child
from mdvec.datasets.interfaces.sheet_table import HIDDEN, Row, SheetTable, opened_file
from mdvec.datasets.interfaces.typed_rows import OnRows
from mdvec.files import UnreadableFile, opened_within

_MODULE = "mdvec.datasets.interfaces.calamine_child"
_BYTES_A_SECOND = 1_000_000
_BROKEN = "it is damaged, too large, or no workbook at all; save it again as .xlsx"
_NOT_SEEN = (
    "in a file of this kind currencies, units and leading zeros that only a cell's format shows "
    "are not seen, and cells with an error are NULL; for these save it as .xlsx"
)


@contextmanager
def opened(
    source: Path, root: Path, reading: ReadingOptions, on_rows: OnRows
) -> Iterator[OpenedFile]:
    """Open a workbook of a source for reading.

    Raises:
        UnreadableFile: it is damaged, locked by a password, or has too many cells.
    """
    with opened_within(source, root) as descriptor, tempfile.TemporaryFile() as spool:
        sheets: list[SheetTable] = []
        left_out: list[tuple[str, str]] = []
        for about in _sheets(descriptor, spool):
            if about["is_hidden"]:
                left_out.append((about["name"], HIDDEN))
            elif not about["is_sheet"]:
                left_out.append((about["name"], "it is no sheet of cells"))
            else:
                rows = _SpooledRows(spool, about["start"], about["end"])
                sheets.append(SheetTable(about["name"], rows, _marks(about), reading, on_rows))
        yield opened_file(sheets, left_out)


def _sheets(descriptor: int, spool: IO[bytes]) -> list[dict[str, Any]]:
    """What the sheets of a workbook are; ``spool`` gets their rows."""
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


def _marks(about: dict[str, Any]) -> SheetMarks:
    return SheetMarks(
        [
            MergedCells(first_row + 1, last_row + 1, column + 1)
            for (first_row, column), (last_row, _) in about["merged"]
            if first_row != last_row
        ]
    )


class _SpooledRows:
    """The rows of a sheet, between two positions of a file of JSON lines."""

    def __init__(self, spool: IO[bytes], start: int, end: int) -> None:
        self._spool = spool
        self._start = start
        self._end = end

    def rows(self, columns: slice) -> Iterator[tuple[int, Row]]:
        """The rows that have values in these columns, each with its number."""
        at = self._start
        while at < self._end:
            self._spool.seek(at)  # each time: another reading of the same file may be under way
            line = self._spool.readline()
            at += len(line)
            number, cells = json.loads(line, object_hook=_moment)
            if any(cell is not None for cell in cells[columns]):
                yield number, cells[columns]

    def notes(self) -> Iterator[str]:
        """What this kind of file does not tell."""
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
