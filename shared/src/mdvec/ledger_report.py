"""What goes into an import of a ledger and what comes out: its files, its report."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from mdvec.interfaces.filesystem.scan import FoundFile, Problem

LedgerMode = Literal["update", "replace"]


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
