"""Reads the statement files of a folder: their rows and state, or why they cannot be read.

A file is read only if it, its mappings or the version of mdvec changed; a renamed file is not read
again.
"""

from __future__ import annotations

import hashlib
import logging
import unicodedata
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path, PurePosixPath

from mdvec.files import FoundFile, PassingProblem, Problem
from mdvec.household.core.cells import CsvText
from mdvec.household.core.moneyforward import (
    AssetMonth,
    NotTransactions,
    ParsedFile,
    read_asset_months,
)
from mdvec.household.core.passed_over import FileKind, PassedOver
from mdvec.household.core.statement_kinds import Mappings, read_statement
from mdvec.household.core.statements import Statement
from mdvec.household.interfaces.ledger_statements import KnownFile
from mdvec.household.interfaces.mappings import OwnMappings, only_ready_made
from mdvec.platform import shell_line
from mdvec.text import quoted

logger = logging.getLogger("mdvec")

StatementKey = tuple[str, str]
"""The identity of a statement: the path of its file, and the hash of its content."""

_NO_OWN_MAPPINGS = OwnMappings()
_BEFORE = "it held transactions before, but now "
_WORKBOOKS = (".xlsx", ".xls", ".xlsm", ".xlsb", ".ods", ".numbers")


@dataclass(slots=True, eq=False)
class LedgerFile:
    """A file that may hold transactions; an import opens and parses it at most once.

    ``path`` is relative to the source folder, in NFC; ``read`` returns the file's bytes and may
    raise OSError; ``reader`` identifies the ``mappings`` and the version of mdvec.
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
        """The file that a scan of ``source`` found; ``own`` are that folder's mappings."""
        path = unicodedata.normalize("NFC", file.path)
        read = (source / file.path).read_bytes
        return cls(path, file.size, file.mtime_ns, read, own.all, own.reader)

    def content_hash(self) -> str:
        """The SHA-256 of its bytes, which are cached for parsing; "" if it cannot be read."""
        try:
            return hashlib.sha256(self._bytes()).hexdigest()
        except OSError:
            return ""

    def forget_bytes(self) -> None:
        """Release the cached bytes."""
        self._data = None

    def parse(self) -> tuple[str, ParsedFile]:
        """The file's hash and rows; only its text and the lines of its records are cached.

        Raises:
            OSError, NotTransactions: the file cannot be read.
        """
        self._was_parsed = True
        data = self._bytes()
        self._data = None
        parsed = read_statement(data, self.path, self.mappings())
        if not parsed.passed_over:
            self._csv = parsed.csv
        return hashlib.sha256(data).hexdigest(), parsed

    def csv(self) -> CsvText | None:
        """The parsed text, which is read now if necessary; None if it is no statement."""
        if not self._was_parsed:
            with suppress(OSError, NotTransactions):
                self.parse()
        return self._csv

    def _bytes(self) -> bytes:
        if self._data is None:
            self._data = self.read()
        return self._data


def statement_kind(data: bytes, path: str) -> str:
    """The kind of statement that a file's bytes, or its first bytes, are; "" for none."""
    try:
        parsed = read_statement(data, path, only_ready_made())
    except NotTransactions:
        return ""
    return parsed.kind or ("" if parsed.passed_over else "Money Forward")


class MayHaveRows(Problem):
    """A file that may have transactions, which are in no sum until it can be read."""


def skipped(path: str, passed_over: PassedOver, before: str = "") -> Problem:
    """The note on a file that was passed over."""
    problem = MayHaveRows if passed_over.may_have_rows else Problem
    return problem(path, f"{before}{passed_over.text}")


def with_advice(problem: Problem, tool_name: str) -> Problem:
    """The problem, with the command that makes a mapping if the file may have rows."""
    if not isinstance(problem, MayHaveRows):
        return problem
    command = f"mdvec household map {shell_line(problem.file_path)} -n {tool_name}"
    return MayHaveRows(problem.file_path, f"{problem.reason}; to import it: {command}")


def unsupported_files(others: Iterable[str]) -> Iterator[Problem]:
    """Problems for files that may hold transactions but are of an unsupported kind."""
    for path in others:
        ending = PurePosixPath(path).suffix.lower()
        if ending in _WORKBOOKS:
            yield MayHaveRows(path, "it is a workbook; save its sheet as CSV in the same folder")
        elif ending == ".txt":
            yield Problem(path, "it is plain text; if it holds transactions, rename it to .csv")


@dataclass(frozen=True, slots=True)
class StatementFile:
    """A file that was read: its state, its rows, and the months of an asset history.

    An asset history has no rows, nor has any other file that was passed over.
    """

    file: KnownFile
    parsed: ParsedFile
    assets: Sequence[AssetMonth] = ()

    @property
    def statement(self) -> Statement:
        """The file as a statement, to compare it with others."""
        rows = self.parsed.rows
        return Statement(
            path=self.file.path,
            content_hash=self.file.content_hash,
            mtime_ns=self.file.mtime_ns,
            days=tuple(sorted({row.date.isoformat() for row in rows})),
            accounts=frozenset(row.account for row in rows),
            can_show_removals=not self.file.bad_rows,
            account_number=self.parsed.account_number,
            kind=self.parsed.kind,
        )


def read_statement_file(file: LedgerFile, known: KnownFile | None) -> StatementFile | Problem:
    """Read a file, or say why it cannot be read; ``known`` is its state at the last import."""
    logger.debug("[reindex] processing: %s", quoted(file.path))
    try:
        content_hash, parsed = file.parse()
    except (OSError, NotTransactions) as error:
        problem = PassingProblem if isinstance(error, OSError) else Problem
        return problem(file.path, why_unreadable(error))
    passed_over, assets = parsed.passed_over, list[AssetMonth]()
    had_rows = known is not None and known.rows > 0
    if passed_over and had_rows:
        return skipped(file.path, passed_over, _BEFORE)
    rows = len(parsed.rows) + len(parsed.bad)
    if passed_over and passed_over.kind is FileKind.ASSET_HISTORY:
        assets, bad = read_asset_months(parsed.csv.text)
        unread = f", {bad} lines could not be read" if bad else ""
        if assets:
            passed_over = PassedOver(FileKind.NET_WORTH, f" {len(assets)} months{unread}")
    elif not (passed_over or rows or had_rows):
        passed_over = PassedOver(FileKind.NO_ROWS)
    if passed_over:
        parsed = replace(parsed, csv=CsvText("", ()))  # the text is not needed, and may be large
    state = KnownFile(
        file.path, file.size, file.mtime_ns, content_hash, rows=rows, bad_rows=parsed.bad,
        passed_over=passed_over, app_version=file.reader,
    )  # fmt: skip
    return StatementFile(state, parsed, assets)


def why_unreadable(error: Exception) -> str:
    """The reason why a file cannot be read, for a message."""
    if isinstance(error, FileNotFoundError):
        return "it vanished while the import ran"
    if isinstance(error, OSError):
        return f"it cannot be read ({(error.strerror or type(error).__name__).lower()})"
    return str(error)


@dataclass
class StatementFolder:
    """The files of a folder, and which of them were read.

    ``known`` has the files of the last import, ``statements`` the stored statements with rows.
    ``present`` has the state of each file whose rows are known, ``contents`` the files read now,
    ``unread`` why other files could not be read, and ``moved`` the former path, by the new path, of
    each file that was renamed.
    """

    files: Sequence[LedgerFile]
    known: Mapping[str, KnownFile]
    statements: Collection[StatementKey]
    present: dict[str, KnownFile] = field(default_factory=dict)
    contents: list[StatementFile] = field(default_factory=list)
    unread: dict[str, Problem] = field(default_factory=dict)
    moved: dict[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for file in self.files:
            state = self.known.get(file.path)
            if state is not None and state.is_present:
                read = state.size, state.mtime_ns, state.app_version
                if read == (file.size, file.mtime_ns, file.reader):
                    self.present[file.path] = state

    @property
    def is_unchanged(self) -> bool:
        """Whether the files are the same as at the last import."""
        before = {path for path, state in self.known.items() if state.is_present}
        return before == self.present.keys() and len(self.files) == len(self.present)

    @property
    def present_statements(self) -> set[StatementKey]:
        """The keys of the statements in the present files."""
        return {(state.path, state.content_hash) for state in self.present.values()}

    def read(self, *, every_file: bool) -> None:
        """Read the files whose rows are not stored; files without rows are always read."""
        paths = {file.path for file in self.files}
        gone: defaultdict[str, list[str]] = defaultdict(list)
        last = {(path, each.content_hash) for path, each in self.known.items() if each.is_present}
        for path, content_hash in sorted(self.statements, key=lambda key: (key not in last, key)):
            if path not in paths:
                gone[content_hash].append(path)
        for file in self.files:
            before = self.present.pop(file.path, None)
            content_hash = file.content_hash() if before is None else before.content_hash
            origin = self._origin(file.path, content_hash, gone)
            state = None if every_file else self._stored_state(origin, content_hash, file)
            if state is None:
                read = read_statement_file(file, self.known.get(file.path))
                if isinstance(read, Problem):
                    self.unread[file.path] = read
                    continue
                self.contents.append(read)
                state = read.file
            elif origin == file.path:
                file.forget_bytes()
            if origin != file.path:
                self.moved[file.path] = origin  # so that its text is stored again
            self.present[file.path] = replace(
                state, path=file.path, mtime_ns=file.mtime_ns, is_present=True
            )

    def _origin(self, path: str, content_hash: str, gone: Mapping[str, list[str]]) -> str:
        """The path under which a file's statement is stored: its own, or that of a deleted file."""
        former = gone.get(content_hash)
        return path if not former or (path, content_hash) in self.statements else former.pop(0)

    def _stored_state(self, path: str, content_hash: str, file: LedgerFile) -> KnownFile | None:
        """The stored state at ``path`` if it has the file's rows, read as now; else None."""
        state = self.known.get(path)
        is_stored = (
            state is not None
            and state.is_present
            and state.rows > 0
            and not state.passed_over
            and (state.content_hash, state.app_version) == (content_hash, file.reader)
            and (path, content_hash) in self.statements
        )
        return state if is_stored else None
