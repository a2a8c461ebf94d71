"""What goes into an import of a ledger and what comes out: its files, its report."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Literal

from mdvec.files.scan import FoundFile, Problem
from mdvec.household.interfaces.files import KnownFile
from mdvec.household.interfaces.statements import GoneRow

LedgerMode = Literal["update", "replace"]
LEDGER_ENDINGS = (".csv", ".tsv")
"""The endings of files that are looked into for transactions."""
_WORKBOOKS = frozenset({".xlsx", ".xls", ".xlsm", ".xlsb", ".ods", ".numbers"})


@dataclass(frozen=True, slots=True)
class LedgerFile:
    """A file that may hold transactions.

    ``path`` counts from the source folder, in NFC; ``read`` returns its bytes and may raise
    OSError or UnreadableFile.
    """

    path: str
    size: int
    mtime_ns: int
    read: Callable[[], bytes]

    @classmethod
    def of(cls, source: Path, found: FoundFile) -> LedgerFile:
        """A file that a scan of ``source`` found."""
        path = unicodedata.normalize("NFC", found.path)
        return cls(path, found.size, found.mtime_ns, (source / found.path).read_bytes)


def not_looked_into(others: Iterable[str]) -> list[Problem]:
    """Files that may hold transactions, but are of an ending that is not read."""
    found = []
    for path in others:
        ending = PurePosixPath(path).suffix.lower()
        if ending in _WORKBOOKS:
            found.append(Problem(path, "it is a workbook; save its sheet as CSV, beside it"))
        elif ending == ".txt":
            found.append(
                Problem(path, "it is plain text; if it holds transactions, let it end in .csv")
            )
    return found


@dataclass(frozen=True, slots=True)
class RemovalWish:
    """What the user says of rows that are gone.

    ``accept``: all that were asked about may leave the sums; ``keep``: these, by id, count again.
    """

    accept: bool = False
    keep: tuple[int, ...] = ()

    def __bool__(self) -> bool:
        return self.accept or bool(self.keep)


NO_WISH = RemovalWish()


@dataclass(frozen=True, slots=True)
class FailedRow:
    """A row that could not be read: its file, the line at which it begins, and why."""

    path: str
    line: int
    reason: str


@dataclass(frozen=True, slots=True)
class LedgerReport:
    """What an import of a ledger did.

    ``rows_read`` is always the sum of imported, updated, unchanged and failed; a row that
    another export overrules is unchanged. ``files`` counts the files of transactions,
    ``passed_over`` names what is none, ``unread`` what should be but could not be read.
    ``without_file`` is how many rows of the ledger are in none of the files; ``deleted`` is how
    many of those ``replace`` took away. While a file is unread it takes none.
    """

    files: int
    passed_over: tuple[Problem, ...]
    unread: tuple[Problem, ...]
    rows_read: int
    imported: int
    updated: int
    unchanged: int
    failed: tuple[FailedRow, ...]
    without_file: int
    deleted: int
    removed: tuple[GoneRow, ...] = ()
    asked: tuple[GoneRow, ...] = ()
    returned: int = 0
    overruled: tuple[Problem, ...] = ()


def report_of(
    files: Sequence[KnownFile],
    unread: Sequence[Problem] = (),
    *,
    without_file: int,
    imported: int = 0,
    updated: int = 0,
    deleted: int = 0,
    removed: tuple[GoneRow, ...] = (),
    asked: tuple[GoneRow, ...] = (),
    returned: int = 0,
    overruled: tuple[Problem, ...] = (),
) -> LedgerReport:
    """The report of an import; ``files`` are those that could be read."""
    ordered = sorted(files, key=lambda file: file.path)
    failed = tuple(FailedRow(file.path, *bad) for file in ordered for bad in file.bad_rows)
    rows_read = sum(file.rows for file in ordered)
    return LedgerReport(
        files=sum(not file.passed_over for file in ordered),
        passed_over=tuple(Problem(f.path, f.passed_over) for f in ordered if f.passed_over),
        unread=tuple(sorted(unread, key=lambda problem: problem.file_path)),
        rows_read=rows_read,
        imported=imported,
        updated=updated,
        unchanged=rows_read - imported - updated - len(failed),
        failed=failed,
        without_file=without_file,
        deleted=deleted,
        removed=removed,
        asked=asked,
        returned=returned,
        overruled=overruled,
    )
