"""Imports statement files into a household's ledger, each transaction once.

All files that a change can reach are read before anything is written, because an older file must
not overwrite the values of a newer one. All changes are made in a single database transaction. If
files are unchanged, or only renamed, none is opened.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace

import apsw

from mdvec.household.asset_files import keep_assets
from mdvec.household.changes import RowChange, differs
from mdvec.household.combined_statements import combine_statements, overruled_files
from mdvec.household.core import removals
from mdvec.household.core.statements import CurrentRow
from mdvec.household.garbage import paused_garbage_collection
from mdvec.household.interfaces import departed_pairs, statements
from mdvec.household.interfaces import files as ledger_files
from mdvec.household.interfaces import rows as transactions
from mdvec.household.interfaces.category_rules import apply_rules
from mdvec.household.interfaces.files import KnownFile
from mdvec.household.interfaces.marks import update_marks
from mdvec.household.interfaces.rows import RowToWrite
from mdvec.household.options import NO_REMOVAL_OPTIONS, RemovalOptions
from mdvec.household.reading import LedgerFile
from mdvec.household.renames import after_renames, follow_renames
from mdvec.household.report import LedgerMode, LedgerReport, report_of
from mdvec.household.untouched import ReadStatements, read_all, read_touched


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
                asked=tuple(statements.gone_rows(connection, tool_id, "asked")),
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
        statements.keep_rows(self.connection, self.tool_id, self.removal_options.keep)
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
        departed_pairs.bring_back_decisions(self.connection, self.tool_id)
        update_marks(self.connection, self.tool_id)
        self._remember(statement_ids, mode)

    def _remember_statements(self) -> list[int]:
        """Store new statements; returns the id of each ranked statement, in order."""
        statement_ids = []
        for ranked in self.combined.ranked:
            statement_id = self.combined.statement_ids.get(ranked.statement.key)
            if statement_id is None or ranked.statement.key in self.combined.present:
                statement_id = statements.remember_statement(
                    self.connection, self.tool_id, ranked.statement
                )
            statement_ids.append(statement_id)
        smallest: dict[int, int] = {}
        for statement_id, family in zip(statement_ids, self.combined.families, strict=True):
            smallest[family] = min(statement_id, smallest.get(family, statement_id))
        statements.set_families(
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
        departed = departed_pairs.former_ids(
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
            departed_pairs.keep_decisions(self.connection, self.tool_id, gone)
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
        kept = [
            statement_id
            for statement_id, ranked in zip(statement_ids, self.combined.ranked, strict=True)
            if ranked.statement.key in self.combined.present or ranked.statement.path in unread
        ]
        kept += self.untouched
        statements.forget_statements(
            self.connection, self.tool_id, kept, only_rows=mode == "replace"
        )
        statements.mark_ledger_changed(self.connection, self.tool_id)

    def report(self) -> LedgerReport:
        """The report of this import."""
        removed = {
            change.identity
            for change in self.changes
            if change.now.removal == "removed" and self._before(change.identity) != "removed"
        }
        found = statements.gone_rows(self.connection, self.tool_id, "removed")
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
            removed=tuple(row for row in found if row.id in now),
            asked=tuple(statements.gone_rows(self.connection, self.tool_id, "asked")),
            returned=returned + self.kept_again,
            overruled=overruled_files(self.combined),
            misfits=[(read.file.path, *misfit) for read in self.files for misfit in read.misfits],
        )
