"""Reads statement files: their rows and state, or why they cannot be read."""

from __future__ import annotations

import hashlib
import unicodedata
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath

from mdvec import __version__
from mdvec.files.scan import FoundFile, PassingProblem, Problem
from mdvec.household.core.cells import TransactionRow
from mdvec.household.core.csv_text import CsvText
from mdvec.household.core.moneyforward import NotTransactions, ParsedFile, decode, read_rows
from mdvec.household.core.statements import Statement
from mdvec.household.interfaces.files import KnownFile

_WORKBOOKS = frozenset({".xlsx", ".xls", ".xlsm", ".xlsb", ".ods", ".numbers"})


@dataclass(slots=True, eq=False)
class LedgerFile:
    """A file that may hold transactions; one import opens and parses it at most once.

    ``path`` is relative to the source folder, in NFC; ``read`` returns the file's bytes and may
    raise OSError.
    """

    path: str
    size: int
    mtime_ns: int
    read: Callable[[], bytes]
    _data: bytes | None = None
    _csv: CsvText | None = None
    _was_parsed: bool = False

    @classmethod
    def of(cls, source: Path, found: FoundFile) -> LedgerFile:
        """From a scan of ``source``."""
        path = unicodedata.normalize("NFC", found.path)
        return cls(path, found.size, found.mtime_ns, (source / found.path).read_bytes)

    def content_hash(self, known: KnownFile | None) -> str:
        """Taken from ``known`` if size and time agree; "" if the file cannot be read."""
        if known is not None and (known.size, known.mtime_ns) == (self.size, self.mtime_ns):
            return known.content_hash
        try:
            return hashlib.sha256(self._bytes()).hexdigest()
        except OSError:
            return ""

    def parse(self) -> tuple[str, ParsedFile]:
        """The file's hash and rows, which are not kept; its text and the places of its rows are.

        Raises:
            OSError, NotTransactions: it cannot be read.
        """
        self._was_parsed = True
        data = self._bytes()
        self._data = None
        parsed = read_rows(data)
        if not parsed.passed_over:
            self._csv = parsed.csv
        return hashlib.sha256(data).hexdigest(), parsed

    def csv(self) -> CsvText | None:
        """The text that was parsed, or is read now if none was; None if it is no statement."""
        if not self._was_parsed:
            with suppress(OSError, NotTransactions):
                self._csv = CsvText.of(decode(self._bytes()))
            self._data = None
        return self._csv

    def _bytes(self) -> bytes:
        if self._data is None:
            self._data = self.read()
        return self._data


def unsupported_files(others: Iterable[str]) -> list[Problem]:
    """Problems for files that may hold transactions but whose ending is not read."""
    found = []
    for path in others:
        ending = PurePosixPath(path).suffix.lower()
        if ending in _WORKBOOKS:
            found.append(
                Problem(path, "it is a workbook; save its sheet as CSV in the same folder")
            )
        elif ending == ".txt":
            found.append(
                Problem(path, "it is plain text; if it holds transactions, rename it to .csv")
            )
    return found


@dataclass(frozen=True, slots=True)
class StatementFile:
    """A statement file with its rows, grouped by header; ``unread`` says why it has none.

    ``may_pass`` is whether it may be readable later although it does not change.
    """

    file: KnownFile
    blocks: tuple[tuple[TransactionRow, ...], ...] = ()
    unread: str = ""
    may_pass: bool = False

    @property
    def problem(self) -> Problem:
        """Why it was not read."""
        return (PassingProblem if self.may_pass else Problem)(self.file.path, self.unread)

    @property
    def statement(self) -> Statement:
        """What the file covers, to compare it with other files."""
        rows = [row for block in self.blocks for row in block]
        return Statement(
            path=self.file.path,
            content_hash=self.file.content_hash,
            mtime_ns=self.file.mtime_ns,
            days=tuple(sorted({row.date.isoformat() for row in rows})),
            accounts=frozenset(row.account for row in rows),
            can_show_removals=not self.file.bad_rows,
        )


def read_statement_file(file: LedgerFile, known: KnownFile | None) -> StatementFile:
    """Read a file; ``known`` is its state at the last import."""
    state = KnownFile(
        path=file.path,
        size=file.size,
        mtime_ns=file.mtime_ns,
        content_hash="",
        is_present=True,
        rows=0,
        bad_rows=(),
        passed_over="",
        app_version=__version__,
    )
    try:
        content_hash, parsed = file.parse()
    except (OSError, NotTransactions) as error:
        return StatementFile(state, unread=_why(error), may_pass=isinstance(error, OSError))
    if parsed.passed_over and known is not None and known.rows:
        return StatementFile(
            state, unread=f"it held transactions before, but now {parsed.passed_over}"
        )
    state = replace(
        state,
        content_hash=content_hash,
        rows=len(parsed.rows) + len(parsed.bad),
        bad_rows=tuple((bad.line, bad.reason) for bad in parsed.bad),
        passed_over=parsed.passed_over,
    )
    return StatementFile(state, parsed.blocks)


def _why(error: Exception) -> str:
    if isinstance(error, FileNotFoundError):
        return "it vanished while the import ran"
    if isinstance(error, OSError):
        return f"it cannot be read ({(error.strerror or type(error).__name__).lower()})"
    return str(error)
