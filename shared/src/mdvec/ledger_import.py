"""Exports of a household into its ledger: every file's rows, each transaction once.

All files are read before anything is written, because an older export must not overwrite what
a newer one says; then everything goes in within one transaction, or nothing does. Where files
are as they were, or only have other names, they are not even opened.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

import apsw

from mdvec import __version__
from mdvec.core.household.identity import identities
from mdvec.core.household.moneyforward import NotTransactions, read_rows
from mdvec.interfaces.database import ledger_files, transactions
from mdvec.interfaces.database.duplicate_checks import settle_marks
from mdvec.interfaces.database.ledger_files import KnownFile
from mdvec.interfaces.database.transactions import Placed, StoredRow
from mdvec.interfaces.filesystem.scan import Problem, UnreadableFile
from mdvec.ledger_report import FailedRow, LedgerFile, LedgerMode, LedgerReport


def import_ledger(
    connection: apsw.Connection,
    tool_id: int,
    files: Iterable[LedgerFile],
    mode: LedgerMode,
    *,
    complete: bool = True,
) -> LedgerReport:
    """Bring a tool's ledger in line with its files.

    The transaction of an ID, or of a row's content where there is none, is stored once, as the
    latest file says it (by time of change, then path). ``update`` adds and updates; ``replace``
    also deletes what is in none of the files, unless one could not be read or ``files`` is not
    ``complete``. What the user decided about a row outlives both, as long as the row does.

    Raises:
        apsw.Error: the database cannot be written; the ledger is as it was.
    """
    ordered = sorted(files, key=lambda file: (file.mtime_ns, file.path))
    known = ledger_files.known_files(connection, tool_id)
    if mode == "update":
        after = _after_renames(ordered, known)
        if after is not None:
            return _follow_renames(connection, tool_id, known, after)
    exports = _in_order([_read_export(file, known.get(file.path)) for file in ordered], known)
    with connection:
        run = _LedgerRun(connection, tool_id, exports, known)
        run.write(mode, may_delete=complete and not any(export.unread for export in exports))
    return run.report()


@dataclass(frozen=True, slots=True)
class _Export:
    """A file as it was read, the last row of each identity; ``unread`` says why it was not.

    ``age`` is the time by which it is older or newer than others.
    """

    file: KnownFile
    rows: Mapping[str, Placed] = field(default_factory=dict)
    unread: str = ""
    age: int = 0


def _read_export(file: LedgerFile, known: KnownFile | None) -> _Export:
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
        data = file.read()
        parsed = read_rows(data)
    except (OSError, UnreadableFile, NotTransactions) as error:
        return _Export(state, unread=_why(error))
    if parsed.passed_over and known is not None and known.rows:
        return _Export(state, unread=f"it held transactions before, and now {parsed.passed_over}")
    state = replace(
        state,
        content_hash=hashlib.sha256(data).hexdigest(),
        rows=len(parsed.rows) + len(parsed.bad),
        bad_rows=tuple((bad.line, bad.reason) for bad in parsed.bad),
        passed_over=parsed.passed_over,
    )
    placed = (Placed(file.path, row.line, transactions.values_of(row)) for row in parsed.rows)
    return _Export(state, dict(zip(identities(parsed.rows), placed, strict=True)))


def _in_order(exports: Sequence[_Export], known: Mapping[str, KnownFile]) -> list[_Export]:
    """Exports by age: a copy is as old as the oldest file with its content."""
    ages: dict[str, int] = {}
    for file in [*known.values(), *(export.file for export in exports)]:
        if file.content_hash:
            oldest = ages.get(file.content_hash, file.mtime_ns)
            ages[file.content_hash] = min(oldest, file.mtime_ns)
    aged = [
        replace(export, age=ages.get(export.file.content_hash, export.file.mtime_ns))
        for export in exports
    ]
    return sorted(aged, key=lambda export: (export.age, export.file.path))


def _why(error: Exception) -> str:
    if isinstance(error, FileNotFoundError):
        return "it vanished while the import ran"
    if isinstance(error, OSError):
        return f"it cannot be read ({(error.strerror or type(error).__name__).lower()})"
    return str(error)


def _after_renames(
    ordered: Sequence[LedgerFile], known: dict[str, KnownFile]
) -> dict[str, KnownFile] | None:
    """What is known of each file, by its old path, if none differs in more than name and time.

    None when there is anything to read: other content, or an order that gives another file the
    last word.
    """
    before = [file for file in known.values() if file.is_present]
    if len(before) != len(ordered) or any(file.app_version != __version__ for file in before):
        return None
    before.sort(key=lambda file: (file.mtime_ns, file.path))
    if sorted(file.size for file in ordered) != sorted(file.size for file in before):
        return None
    after = {}
    for now, then in zip(ordered, before, strict=True):
        if _content_hash(now, known.get(now.path)) != then.content_hash:
            return None
        after[then.path] = replace(then, path=now.path, mtime_ns=now.mtime_ns)
    return after


def _content_hash(file: LedgerFile, known: KnownFile | None) -> str:
    """The file's hash, remembered where size and time are; "" if it cannot be read."""
    if known is not None and (known.size, known.mtime_ns) == (file.size, file.mtime_ns):
        return known.content_hash
    try:
        return hashlib.sha256(file.read()).hexdigest()
    except (OSError, UnreadableFile):
        return ""


def _follow_renames(
    connection: apsw.Connection,
    tool_id: int,
    known: dict[str, KnownFile],
    after: dict[str, KnownFile],
) -> LedgerReport:
    """Give rows the new names of their files; nothing at all when the files are untouched."""
    present = list(after.values())
    if any(known.get(file.path) != file for file in present):
        renames = {old: file.path for old, file in after.items() if old != file.path}
        gone = [file for file in known.values() if not file.is_present]
        with connection:
            transactions.rename_files(connection, tool_id, renames)
            ledger_files.remember_files(connection, tool_id, [*gone, *present])
    without_file = ledger_files.without_file(connection, tool_id)
    return _report(present, (), without_file=without_file)


class _LedgerRun:
    """One import while it writes: what the files say against what the ledger has."""

    def __init__(
        self,
        connection: apsw.Connection,
        tool_id: int,
        exports: Sequence[_Export],
        known: dict[str, KnownFile],
    ) -> None:
        self.connection = connection
        self.tool_id = tool_id
        self.exports = exports
        self.known = known
        self.stored = transactions.stored_rows(connection, tool_id)
        self.latest = _latest(exports)
        self.new: list[tuple[str, Placed]] = []
        self.changed: list[tuple[int, Placed]] = []
        self.moved: list[tuple[int, Placed]] = []
        self.without_file = 0
        self.deleted = 0

    def write(self, mode: LedgerMode, *, may_delete: bool) -> None:
        """Add, update and, where it may, delete; remember the files."""
        self._compare(keep_newer=mode == "update")
        transactions.insert_rows(self.connection, self.tool_id, self.new)
        transactions.update_rows(self.connection, self.changed)
        transactions.move_rows(self.connection, self.tool_id, self.moved)
        left = self._left_over()
        if mode == "replace" and may_delete:
            unsure = {export.file.path for export in self.exports if export.file.bad_rows}
            gone = [row.id for row in left if row.source_file not in unsure]
            transactions.delete_rows(self.connection, gone)
            self.deleted = len(gone)
        settle_marks(self.connection, self.tool_id)
        self.without_file = len(left) - self.deleted
        self._remember()

    def report(self) -> LedgerReport:
        """What was done."""
        return _report(
            [export.file for export in self.exports if not export.unread],
            [Problem(export.file.path, export.unread) for export in self.exports if export.unread],
            imported=len(self.new),
            updated=len(self.changed),
            without_file=self.without_file,
            deleted=self.deleted,
        )

    def _compare(self, *, keep_newer: bool) -> None:
        """Sort what the files say into new, changed and moved.

        ``keep_newer``: a row that came from a file changed later than the one at hand stays,
        be that file gone by now.
        """
        times = {path: file.mtime_ns for path, file in self.known.items()}
        times |= {export.file.path: export.age for export in self.exports}
        for identity, row in self.latest.items():
            stored = self.stored.get(identity)
            if stored is None:
                self.new.append((identity, row))
            elif stored.values == row.values:
                if (stored.source_file, stored.row_number) != (row.source_file, row.row_number):
                    self.moved.append((stored.id, row))
            elif not (keep_newer and times.get(stored.source_file, 0) > times[row.source_file]):
                self.changed.append((stored.id, row))

    def _left_over(self) -> list[StoredRow]:
        """Rows of the ledger that are in none of the files; an unread file keeps its own."""
        unread = {export.file.path for export in self.exports if export.unread}
        return [
            row
            for identity, row in self.stored.items()
            if identity not in self.latest and row.source_file not in unread
        ]

    def _remember(self) -> None:
        """Remember what was read; of files that are gone, those that rows still come from."""
        seen = {export.file.path for export in self.exports}
        in_use = transactions.rows_by_file(self.connection, self.tool_id)
        files = [export.file for export in self.exports if not export.unread]
        files.extend(
            replace(file, is_present=False)
            for file in self.known.values()
            if file.path not in seen and file.path in in_use
        )
        unread = {export.file.path for export in self.exports if export.unread}
        files.extend(file for file in self.known.values() if file.path in unread)
        ledger_files.remember_files(self.connection, self.tool_id, files)
        ledger_files.set_without_file(self.connection, self.tool_id, self.without_file)


def _latest(exports: Iterable[_Export]) -> dict[str, Placed]:
    """What the last file says of each identity."""
    latest: dict[str, Placed] = {}
    for export in exports:
        latest.update(export.rows)
    return latest


def _report(
    files: Sequence[KnownFile],
    unread: Sequence[Problem],
    *,
    without_file: int,
    imported: int = 0,
    updated: int = 0,
    deleted: int = 0,
) -> LedgerReport:
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
    )
