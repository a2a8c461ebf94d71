"""Imports statement files into a household's ledger, each transaction once.

All files that a change can reach are read before anything is written, because an older file must
not overwrite the values of a newer one. All changes are made in a single database transaction. If
files are unchanged, or only renamed, none is opened.
"""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import NamedTuple

import apsw

from mdvec.household.combined_statements import combine_statements, overruled_files
from mdvec.household.core import removals
from mdvec.household.core.file_names import StatementName, statement_name
from mdvec.household.core.source_row import SourceRow
from mdvec.household.core.statements import CurrentRow
from mdvec.household.interfaces import ledger_files, ledger_statements, plans, transactions
from mdvec.household.interfaces.ledger_files import KnownFile
from mdvec.household.interfaces.marks import update_marks
from mdvec.household.interfaces.plans import apply_rules
from mdvec.household.interfaces.transactions import RowToWrite, StoredRow
from mdvec.household.options import NO_REMOVAL_OPTIONS, RemovalOptions
from mdvec.household.reading import LedgerFile, StatementFile
from mdvec.household.report import LedgerMode, LedgerReport, report_of
from mdvec.household.untouched import ReadStatements, read_all, read_touched


def after_renames(
    files: Sequence[LedgerFile], known: Mapping[str, KnownFile]
) -> dict[str, KnownFile] | None:
    """The new state of each file, by its old path, if files differ in name and time only.

    None if the files have to be read: their content changed, or a new name or time changes which
    of them is the newer one.
    """
    before = [file for file in known.values() if file.is_present]
    if len(before) != len(files):
        return None
    if sorted(file.size for file in files) != sorted(file.size for file in before):
        return None
    ordered = sorted(files, key=lambda file: (file.mtime_ns, file.path))
    before.sort(key=lambda file: (file.mtime_ns, file.path))
    after = {}
    for now, then in zip(ordered, before, strict=True):
        if now.path in known and not known[now.path].is_present:
            return None
        if now.reader != then.app_version:
            return None
        if not _ranks_the_same(now, then, before):
            return None
        if now.content_hash(known.get(now.path)) != then.content_hash:
            return None
        after[then.path] = replace(then, path=now.path, mtime_ns=now.mtime_ns)
    return after


def _ranks_the_same(now: LedgerFile, then: KnownFile, others: Sequence[KnownFile]) -> bool:
    """Whether the new name and time rank the file as the old ones did."""
    if now.path == then.path:
        return now.mtime_ns >= then.mtime_ns
    new, old = statement_name(now.path), statement_name(then.path)
    stems = {new.stem, old.stem}
    return (
        now.mtime_ns >= then.mtime_ns
        and (new.first, new.last) == (old.first, old.last)
        and not new.number
        and not old.number
        and not any(_is_numbered(statement_name(each.path), stems) for each in others)
    )


def _is_numbered(name: StatementName, stems: set[str]) -> bool:
    return bool(name.number) and name.stem in stems


def follow_renames(
    connection: apsw.Connection,
    tool_id: int,
    known: Mapping[str, KnownFile],
    after: Mapping[str, KnownFile],
) -> None:
    """Store the new names of files and of their rows; writes nothing if no file changed."""
    present = list(after.values())
    if all(known.get(file.path) == file for file in present):
        return
    renames = {old: file.path for old, file in after.items() if old != file.path}
    gone = [file for file in known.values() if not file.is_present]
    with connection:
        if renames:
            transactions.rename_files(connection, tool_id, renames)
            ledger_statements.rename_statements(connection, tool_id, renames)
            ledger_statements.mark_ledger_changed(connection, tool_id)
        ledger_files.remember_files(connection, tool_id, [*gone, *present])


class RowChange(NamedTuple):
    """The new state of a transaction beside its stored one."""

    identity: str
    stored: StoredRow | None
    now: RowToWrite

    @property
    def has_new_values(self) -> bool:
        """Whether a stored row gets other values."""
        return self.stored is not None and self.stored.values != self.now.row.values

    @property
    def returns(self) -> bool:
        """Whether a row that was gone is in a file again."""
        return (
            self.stored is not None
            and self.stored.removal in ("asked", "removed")
            and self.now.removal is None
        )


def differs(stored: StoredRow, row: SourceRow, statement_id: int, removal: str | None) -> bool:
    """Whether a stored row's values, place or state differ from what they should be."""
    return (
        stored.values != row.values
        or (stored.source_file, stored.row_number) != (row.source_file, row.row_number)
        or (stored.statement, stored.removal) != (statement_id, removal)
    )


def keep_assets(
    connection: apsw.Connection, tool_id: int, files: Sequence[StatementFile], mode: LedgerMode
) -> None:
    """Store the months of asset histories; the newest file has the last word.

    ``replace`` forgets those of other files, unless one is unread. Call within a transaction.
    """
    if mode == "replace" and not any(file.unread for file in files):
        plans.forget_months(connection, tool_id)
    for file in sorted(files, key=lambda statement: (statement.file.mtime_ns, statement.file.path)):
        plans.put_months(connection, tool_id, file.file.path, file.assets)


@contextmanager
def paused_garbage_collection() -> Iterator[None]:
    """Pause the garbage collector, which would visit a million small objects again and again."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


def import_ledger(
    connection: apsw.Connection,
    tool_id: int,
    files: Iterable[LedgerFile],
    mode: LedgerMode,
    *,
    complete: bool = True,
    may_exist: Callable[[str], bool] = lambda _: False,
    removal_options: RemovalOptions = NO_REMOVAL_OPTIONS,
) -> LedgerReport:
    """Update a tool's ledger from its files.

    Each transaction, identified by its ID or else by its content, is stored once with the values
    of the newest file that has it. If the newest file for its day lacks it, it leaves the sums
    but stays in the ledger. ``update`` adds and updates rows; ``replace`` also deletes rows that
    no file mentions, unless a file could not be read or ``files`` is not ``complete``. Both keep
    the user's decisions about rows. Files that are not among ``files``, but ``may_exist`` all the
    same (their disk is not mounted, say), count as they were.

    Raises:
        apsw.Error: the database cannot be written; the ledger is as it was.
    """
    files = list(files)
    known = ledger_files.known_files(connection, tool_id)
    if mode == "update" and not removal_options:
        after = after_renames(files, known)
        if after is not None:
            follow_renames(connection, tool_id, known, after)
            return report_of(
                list(after.values()),
                without_file=ledger_files.without_file(connection, tool_id),
                asked=tuple(ledger_statements.gone_rows(connection, tool_id, "asked")),
            )
    with paused_garbage_collection():
        if mode == "update" and not removal_options:
            reading = read_touched(connection, tool_id, files, known)
        else:
            reading = read_all(files, known)
        run = _LedgerRun(connection, tool_id, reading, known, may_exist, removal_options)
        may_delete = complete and not any(read.unread for read in reading.files)
        with connection:
            run.write(mode, may_delete=may_delete)
            apply_rules(connection, tool_id)
            keep_assets(connection, tool_id, reading.files, mode)
        return run.report()


class _LedgerRun:
    """A single import: compares the files with the ledger and writes the difference."""

    def __init__(
        self,
        connection: apsw.Connection,
        tool_id: int,
        reading: ReadStatements,
        known: Mapping[str, KnownFile],
        may_exist: Callable[[str], bool],
        removal_options: RemovalOptions,
    ) -> None:
        self.connection = connection
        self.tool_id = tool_id
        self.files = reading.files
        self.untouched = reading.untouched
        self.known = known
        self.may_exist = may_exist
        self.removal_options = removal_options
        self.kept_again = len(removal_options.keep)
        self.changes: list[RowChange] = []
        self.not_mentioned: list[tuple[int, str]] = []
        self.without_file = 0
        self.deleted = 0

    def write(self, mode: LedgerMode, *, may_delete: bool) -> None:
        """Write all changes, and delete rows if allowed; call within a transaction."""
        ledger_statements.keep_rows(self.connection, self.tool_id, self.removal_options.keep)
        self.stored = transactions.stored_rows(self.connection, self.tool_id, self.untouched)
        before = {path: file.content_hash for path, file in self.known.items()}
        self.combined = combine_statements(
            self.connection, self.tool_id, self.files, self.stored, before, mode, self.untouched
        )
        transactions.rename_identities(self.connection, self.tool_id, self.combined.renames)
        for old, new in self.combined.renames.items():
            self.stored[new] = self.stored.pop(old)
        statement_ids = self._remember_statements()
        self._compare(statement_ids)
        self._write_changes()
        self._delete(mode, may_delete=may_delete)
        ledger_files.bring_back_decisions(self.connection, self.tool_id)
        update_marks(self.connection, self.tool_id)
        self._remember(statement_ids, mode)

    def _remember_statements(self) -> list[int]:
        """Store new statements; returns the id of each ranked statement, in order."""
        statement_ids = []
        for ranked in self.combined.ranked:
            statement_id = self.combined.statement_ids.get(ranked.statement.key)
            if statement_id is None or ranked.statement.key in self.combined.present:
                statement_id = ledger_statements.remember_statement(
                    self.connection, self.tool_id, ranked.statement
                )
            statement_ids.append(statement_id)
        smallest: dict[int, int] = {}
        for statement_id, family in zip(statement_ids, self.combined.families, strict=True):
            smallest[family] = min(statement_id, smallest.get(family, statement_id))
        ledger_statements.set_families(
            self.connection,
            [
                (statement_id, smallest[family])
                for statement_id, family in zip(statement_ids, self.combined.families, strict=True)
            ],
        )
        return statement_ids

    def _compare(self, statement_ids: Sequence[int]) -> None:
        """Collect the transactions whose stored state differs from the files."""
        current = self.combined.current
        decided = self._removals(current)
        for identity, known in current.items():
            stored = self.stored.get(identity)
            removal = decided.get(identity)
            gone = known.missing_from
            removed_by = None if gone is None or removal is None else statement_ids[gone]
            statement_id, row = statement_ids[known.stated_in], known.row
            if gone is None and stored is not None and stored.removal == "kept":
                removal = "kept" if stored.statement == statement_id else None
            if stored is None or differs(stored, row, statement_id, removal):
                self.changes.append(
                    RowChange(identity, stored, RowToWrite(row, statement_id, removal, removed_by))
                )
            if removal is None and stored is not None and identity not in self.combined.mentioned:
                self.not_mentioned.append((stored.id, row.source_file))

    def _removals(self, current: Mapping[str, CurrentRow]) -> dict[str, str]:
        gone = {
            identity: (known.row.day, self._before(identity))
            for identity, known in current.items()
            if known.missing_from is not None
        }
        if not gone:
            return {}
        days = [
            known.row.day
            for identity, known in current.items()
            if self._before(identity) != "removed"
        ]
        return removals.decide(gone, days, accepted=self.removal_options.accept)

    def _before(self, identity: str) -> str | None:
        stored = self.stored.get(identity)
        return None if stored is None else stored.removal

    def _write_changes(self) -> None:
        new = [change for change in self.changes if change.stored is None]
        departed = ledger_files.former_ids(
            self.connection, self.tool_id, {change.identity for change in new}
        )
        transactions.insert_rows(
            self.connection,
            self.tool_id,
            [(change.identity, change.now) for change in new],
            departed,
        )
        transactions.update_rows(
            self.connection,
            [(c.stored.id, c.now) for c in self.changes if c.stored and c.has_new_values],
        )
        transactions.move_rows(
            self.connection,
            self.tool_id,
            [(c.stored.id, c.now) for c in self.changes if c.stored and not c.has_new_values],
        )

    def _delete(self, mode: LedgerMode, *, may_delete: bool) -> None:
        """Count the rows that are in no file, and delete them in mode ``replace``.

        Rows that an earlier mapping made of a file that is the same today are deleted anyway.
        """
        unread = {read.file.path for read in self.files if read.unread}
        bad = {read.file.path for read in self.files if read.file.bad_rows}
        left = [(row_id, path) for row_id, path in self.not_mentioned if path not in unread]
        if mode == "replace" and may_delete:
            gone = [row_id for row_id, path in left if path not in bad]
        else:
            read_anew = self._read_anew()
            gone = [row_id for row_id, path in left if path in read_anew]
        if gone:
            ledger_files.keep_decisions(self.connection, self.tool_id, gone)
            transactions.delete_rows(self.connection, gone)
            self.deleted = len(gone)
        self.without_file = len(left) - self.deleted

    def _read_anew(self) -> set[str]:
        """The files that have the same content as before, but may be read by another mapping."""
        return {
            read.file.path
            for read in self.files
            if read.by_mapping
            and not read.unread
            and (known := self.known.get(read.file.path)) is not None
            and known.content_hash == read.file.content_hash
            and known.app_version != read.file.app_version
        }

    def _remember(self, statement_ids: Sequence[int], mode: LedgerMode) -> None:
        """Store the state of all files, including deleted ones that rows still come from."""
        seen = {read.file.path for read in self.files}
        files = [read.file for read in self.files if not read.unread]
        if deleted := [file for file in self.known.values() if file.path not in seen]:
            in_use = transactions.rows_by_file(self.connection, self.tool_id)
            files.extend(
                file if self.may_exist(file.path) else replace(file, is_present=False)
                for file in deleted
                if file.path in in_use
            )
        unread = {read.file.path for read in self.files if read.unread}
        files.extend(file for file in self.known.values() if file.path in unread)
        ledger_files.remember_files(self.connection, self.tool_id, files)
        ledger_files.set_without_file(self.connection, self.tool_id, self.without_file)
        remaining = [
            statement_id
            for statement_id, ranked in zip(statement_ids, self.combined.ranked, strict=True)
            if ranked.statement.key in self.combined.present or ranked.statement.path in unread
        ]
        remaining += self.untouched
        ledger_statements.forget_statements(
            self.connection, self.tool_id, remaining, only_rows=mode == "replace"
        )
        ledger_statements.mark_ledger_changed(self.connection, self.tool_id)

    def report(self) -> LedgerReport:
        """The report of this import."""
        removed = {
            change.identity
            for change in self.changes
            if change.now.removal == "removed" and self._before(change.identity) != "removed"
        }
        gone = ledger_statements.gone_rows(self.connection, self.tool_id, "removed")
        now = transactions.ids_of(self.connection, self.tool_id, removed)
        mentioned = self.combined.mentioned
        returned = sum(change.returns for change in self.changes)
        return report_of(
            [read.file for read in self.files if not read.unread],
            [read.problem for read in self.files if read.unread],
            imported=sum(change.stored is None for change in self.changes),
            updated=sum(
                change.has_new_values or (change.returns and change.identity in mentioned)
                for change in self.changes
            ),
            without_file=self.without_file,
            deleted=self.deleted,
            removed=tuple(row for row in gone if row.id in now),
            asked=tuple(ledger_statements.gone_rows(self.connection, self.tool_id, "asked")),
            returned=returned + self.kept_again,
            overruled=overruled_files(self.combined),
            misfits=[(read.file.path, *misfit) for read in self.files for misfit in read.misfits],
        )
