"""The child process that reads .xls, .xlsb and .ods workbooks with calamine.

Run as ``python -m mdvec.datasets.interfaces.calamine_child``. A small file of these kinds can say
that it has billions of cells, so this process has limited memory, and can open nothing else.
"""

from __future__ import annotations

import json
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
ANSWER_AT = struct.Struct("<Q")


def main() -> None:
    """Write the cells of the workbook that is STDIN to STDOUT, a file, and then its sheets.

    Its last bytes say where the answer, JSON, begins.
    """
    from python_calamine import CalamineError, CalamineWorkbook, PasswordError

    limit_process(memory=MEMORY_MB * MEGABYTE, written=MAX_SPOOL_MB * MEGABYTE)
    restrict_files([*code_paths(), sys.stdin.fileno()])
    restrict_calls()
    answer: dict[str, Any]
    rows = sys.stdout.buffer
    try:
        answer = {"sheets": list(_sheets(CalamineWorkbook.from_filelike(sys.stdin.buffer), rows))}
    except PasswordError:
        answer = {"error": "it is locked by a password; save it without one"}
    except (CalamineError, MemoryError, OSError):
        answer = {}
    start = rows.tell()
    rows.write(json.dumps(answer).encode() + ANSWER_AT.pack(start))


def _sheets(book: CalamineWorkbook, rows: BinaryIO) -> Iterator[dict[str, Any]]:
    """What each sheet is; its rows go to ``rows``, those of a sheet between ``start`` and ``end``.

    Positions count bytes.
    """
    for at, about in enumerate(book.sheets_metadata):
        kind, visible = str(about.typ).rpartition(".")[2], str(about.visible).rpartition(".")[2]
        said: dict[str, Any] = {"name": about.name, "is_hidden": visible != "Visible"}
        said["is_sheet"] = kind == "WorkSheet"
        if said["is_sheet"] and not said["is_hidden"]:
            sheet = book.get_sheet_by_index(at)
            said["start"] = rows.tell()
            first_row, first_column = sheet.start or (0, 0)
            for number, cells in enumerate(sheet.iter_rows(), first_row + 1):
                values = [None] * first_column + [_value(cell) for cell in cells]
                while values and values[-1] is None:
                    values.pop()
                if values:
                    rows.write(f"{json.dumps([number, values])}\n".encode())
            said["end"] = rows.tell()
            # Known in .xls alone; rows and columns count from 0.
            said["merged"] = sheet.merged_cell_ranges or []
        yield said


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
