"""Reads statement files: their rows and state, or why they cannot be read."""

from __future__ import annotations

import hashlib
import logging
import shlex
import unicodedata
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath

from mdvec.files import FoundFile, PassingProblem, Problem
from mdvec.household.core.assets import AssetMonth, kept_note, read_asset_months
from mdvec.household.core.cells import TransactionRow
from mdvec.household.core.csv_text import CsvText
from mdvec.household.core.moneyforward import ASSET_HISTORY, NotTransactions, ParsedFile
from mdvec.household.core.statement_kinds import UNMAPPED, Mappings, read_statement
from mdvec.household.core.statements import Statement
from mdvec.household.interfaces.ledger_files import KnownFile
from mdvec.household.interfaces.mappings import OwnMappings, only_ready_made
from mdvec.text import quoted

logger = logging.getLogger("mdvec")

_NO_OWN_MAPPINGS = OwnMappings()
_BEFORE = "it held transactions before, but now "
_WORKBOOKS = frozenset({".xlsx", ".xls", ".xlsm", ".xlsb", ".ods", ".numbers"})


@dataclass(slots=True, eq=False)
class LedgerFile:
    """A file that may hold transactions; one import opens and parses it at most once.

    ``path`` is relative to the source folder, in NFC; ``read`` returns the file's bytes and may
    raise OSError; ``mappings`` and ``reader`` are what it is read with.
    """

    path: str
    size: int
    mtime_ns: int
    read: Callable[[], bytes]
    mappings: Callable[[], Mappings] = only_ready_made
    reader: str = _NO_OWN_MAPPINGS.reader
    _data: bytes | None = None
    _csv: CsvText | None = None
    _was_parsed: bool = False

    @classmethod
    def of(cls, source: Path, file: FoundFile, own: OwnMappings = _NO_OWN_MAPPINGS) -> LedgerFile:
        """From a scan of ``source``, whose mappings are ``own``."""
        path = unicodedata.normalize("NFC", file.path)
        read = (source / file.path).read_bytes
        return cls(path, file.size, file.mtime_ns, read, own.all, own.reader)

    def is_as_in(self, state: KnownFile) -> bool:
        """Whether size, time and reader are those of a stored state of the file."""
        return (state.size, state.mtime_ns) == (self.size, self.mtime_ns) and (
            state.app_version == self.reader
        )

    def content_hash(self) -> str:
        """The hash of its bytes, which are kept to be parsed; "" if the file cannot be read."""
        try:
            return hashlib.sha256(self._bytes()).hexdigest()
        except OSError:
            return ""

    def forget_bytes(self) -> None:
        """Keep what was read no longer."""
        self._data = None

    def parse(self) -> tuple[str, ParsedFile]:
        """The file's hash and rows, which are not kept; its text and the places of its rows are.

        Raises:
            OSError, NotTransactions: it cannot be read.
        """
        self._was_parsed = True
        data = self._bytes()
        self._data = None
        parsed = read_statement(data, self.path, self.mappings())
        if not parsed.passed_over:
            self._csv = parsed.csv
        return hashlib.sha256(data).hexdigest(), parsed

    def csv(self) -> CsvText | None:
        """The text that was parsed, or is read now if none was; None if it is no statement."""
        if not self._was_parsed:
            self._was_parsed = True
            with suppress(OSError, NotTransactions):
                self._csv = read_statement(self._bytes(), self.path, self.mappings()).csv
            self._data = None
        return self._csv

    def _bytes(self) -> bytes:
        if self._data is None:
            self._data = self.read()
        return self._data


def statement_kind(data: bytes, path: str) -> str:
    """The kind of statement that bytes, possibly only a file's beginning, are; "" for none."""
    try:
        parsed = read_statement(data, path, only_ready_made())
    except NotTransactions:
        return ""
    return parsed.kind or ("" if parsed.passed_over else "Money Forward")


def with_advice(problem: Problem, tool_name: str) -> Problem:
    """What was said of a passed-over file, with the command that makes a mapping for it."""
    if not problem.reason.removeprefix(_BEFORE).startswith(UNMAPPED):
        return problem
    command = f"mdvec household map {shlex.quote(problem.file_path)} -n {tool_name}"
    return Problem(problem.file_path, f"{problem.reason}; to import it: {command}")


def unsupported_files(others: Iterable[str]) -> list[Problem]:
    """Problems for files that may hold transactions but whose ending is not read."""
    problems = []
    for path in others:
        ending = PurePosixPath(path).suffix.lower()
        if ending in _WORKBOOKS:
            problems.append(
                Problem(path, "it is a workbook; save its sheet as CSV in the same folder")
            )
        elif ending == ".txt":
            problems.append(
                Problem(path, "it is plain text; if it holds transactions, rename it to .csv")
            )
    return problems


@dataclass(frozen=True, slots=True)
class StatementFile:
    """A statement file with its rows, grouped by header; ``unread`` says why it has none.

    ``may_pass`` is whether it may be readable later although it does not change. ``misfits``
    are lines that its running balance contradicts, with why. ``assets`` are the months of an asset
    history, which has no rows. ``account_number`` is "" where nothing tells it.
    """

    file: KnownFile
    blocks: tuple[tuple[TransactionRow, ...], ...] = ()
    unread: str = ""
    may_pass: bool = False
    misfits: tuple[tuple[int, str], ...] = ()
    assets: tuple[AssetMonth, ...] = ()
    account_number: str = ""

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
            account_number=self.account_number,
        )


def read_statement_file(file: LedgerFile, known: KnownFile | None) -> StatementFile:
    """Read a file; ``known`` is its state at the last import."""
    logger.debug("[reindex] processing: %s", quoted(file.path))
    state = KnownFile(
        path=file.path,
        size=file.size,
        mtime_ns=file.mtime_ns,
        content_hash="",
        is_present=True,
        rows=0,
        bad_rows=(),
        passed_over="",
        app_version=file.reader,
    )
    try:
        content_hash, parsed = file.parse()
    except (OSError, NotTransactions) as error:
        return StatementFile(
            state, unread=why_unreadable(error), may_pass=isinstance(error, OSError)
        )
    if parsed.passed_over and known is not None and known.rows:
        return StatementFile(state, unread=f"{_BEFORE}{parsed.passed_over}")
    assets, bad = _assets(parsed)
    state = replace(
        state,
        content_hash=content_hash,
        rows=len(parsed.rows) + len(parsed.bad),
        bad_rows=tuple((bad.line, bad.reason) for bad in parsed.bad),
        passed_over=kept_note(len(assets), bad) if assets else _passed_over(parsed, known),
    )
    return StatementFile(
        state,
        parsed.blocks,
        account_number=parsed.account_number,
        assets=tuple(assets),
        misfits=tuple((row.line, row.reason) for row in parsed.misfits),
    )


def _passed_over(parsed: ParsedFile, known: KnownFile | None) -> str:
    is_new = known is None or not known.rows
    if is_new and not (parsed.passed_over or parsed.rows or parsed.bad):
        return "it has a header, but no rows"
    return parsed.passed_over


def _assets(parsed: ParsedFile) -> tuple[list[AssetMonth], int]:
    if parsed.passed_over != ASSET_HISTORY:
        return [], 0
    return read_asset_months(parsed.csv.text)


def why_unreadable(error: Exception) -> str:
    """Why a file cannot be read, for people."""
    if isinstance(error, FileNotFoundError):
        return "it vanished while the import ran"
    if isinstance(error, OSError):
        return f"it cannot be read ({(error.strerror or type(error).__name__).lower()})"
    return str(error)
