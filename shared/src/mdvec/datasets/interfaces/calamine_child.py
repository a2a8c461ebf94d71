"""The child process that reads .xls, .xlsb and .ods workbooks with calamine.

Run as ``python -m mdvec.datasets.interfaces.calamine_child``. A small file of these kinds can claim
to have billions of cells, so this process has limited memory, and can open nothing else.
"""

from __future__ import annotations

import json
import re
import struct
import sys
from collections.abc import Iterator
from datetime import date, datetime, time, timedelta
from typing import TYPE_CHECKING, Any, BinaryIO

from mdvec.platform import code_paths, limit_process, restrict_calls, restrict_files
from mdvec.sizes import MEGABYTE

if TYPE_CHECKING:
    from python_calamine import CalamineWorkbook

MEMORY_MB = 1_024
MAX_SPOOL_MB = 2_048
_MAX_EXACT = 2**53
_ODS, _ODS_WITHIN = b"mimetypeapplication/vnd.oasis.opendocument", 200
_DURATION = re.compile(r"(-?)PT(\d{1,6})H(\d{1,2})M(\d{1,2}(?:\.\d+)?)S", re.ASCII)
ANSWER_AT = struct.Struct("<Q")


def main() -> None:
    """Read a workbook from STDIN; write its cells, then a JSON object about its sheets, to STDOUT.

    STDOUT is a file. The last bytes are the position at which the object begins.
    """
    from python_calamine import CalamineError, CalamineWorkbook, PasswordError

    limit_process(memory=MEMORY_MB * MEGABYTE, written=MAX_SPOOL_MB * MEGABYTE)
    restrict_files([*code_paths(), sys.stdin.fileno()])
    restrict_calls()
    answer: dict[str, Any]
    rows = sys.stdout.buffer
    try:
        is_ods = _ODS in sys.stdin.buffer.read(_ODS_WITHIN)
        sys.stdin.buffer.seek(0)
        book = CalamineWorkbook.from_filelike(sys.stdin.buffer)
        answer = {"sheets": list(_sheets(book, rows, is_ods=is_ods))}
    except PasswordError:
        answer = {"error": "it is locked by a password; save it without one"}
    except (CalamineError, MemoryError, OSError):
        answer = {}
    start = rows.tell()
    rows.write(json.dumps(answer).encode() + ANSWER_AT.pack(start))


def _sheets(book: CalamineWorkbook, rows: BinaryIO, *, is_ods: bool) -> Iterator[dict[str, Any]]:
    """Describe each sheet; its rows go to ``rows``, from byte ``start`` to ``end``."""
    for at, about in enumerate(book.sheets_metadata):
        kind, visible = str(about.typ).rpartition(".")[2], str(about.visible).rpartition(".")[2]
        about_sheet: dict[str, Any] = {"name": about.name, "is_hidden": visible != "Visible"}
        about_sheet["is_sheet"] = kind == "WorkSheet"
        if about_sheet["is_sheet"] and not about_sheet["is_hidden"]:
            sheet = book.get_sheet_by_index(at)
            about_sheet["start"] = rows.tell()
            first_column = (sheet.start or (0, 0))[1]
            # The rows begin at the sheet's first, but their cells at the first column with one.
            for number, cells in enumerate(sheet.iter_rows(), 1):
                values = [None] * first_column + [
                    _duration(cell) if is_ods else _value(cell) for cell in cells
                ]
                while values and values[-1] is None:
                    values.pop()
                if values:
                    rows.write(f"{json.dumps([number, values])}\n".encode())
            about_sheet["end"] = rows.tell()
            # Only .xls files have them; rows and columns count from 0.
            about_sheet["merged"] = sheet.merged_cell_ranges or []
        yield about_sheet


def _duration(cell: object) -> object:
    """A cell of an .ods file; calamine gives durations of a day or more as texts."""
    match = _DURATION.fullmatch(cell) if isinstance(cell, str) else None
    if match is None:
        return _value(cell)
    seconds = int(match[2]) * 3600 + int(match[3]) * 60 + float(match[4])
    return {"seconds": -seconds if match[1] else seconds}


def _value(cell: object) -> object:
    match cell:
        case "":
            return None
        case str():
            return cell.replace("\r\n", "\n").replace("\r", "\n")
        case float() if cell.is_integer() and abs(cell) < _MAX_EXACT:
            return int(cell)
        case datetime() if cell.time() == time():
            return {"date": cell.date().isoformat()}
        case datetime():
            return {"datetime": cell.isoformat()}
        case date():
            return {"date": cell.isoformat()}
        case time():
            return {"time": cell.isoformat()}
        case timedelta():
            return {"seconds": cell.total_seconds()}
    return cell


if __name__ == "__main__":
    main()
