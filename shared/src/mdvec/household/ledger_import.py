"""Imports statement files into a household's ledger, each transaction once.

The rows of each file are stored unchanged. The ledger is then derived from the rows of all
statements, even of files that have been deleted. All changes are made in one database transaction.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, replace

from mdvec.files import Problem
from mdvec.household.core.statements import (
    RankedStatement,
    Statement,
    doubtful_replacers,
    families_of,
    of_same_days,
    rank_statements,
    removers,
)
from mdvec.household.interfaces import accounts, derivation, ledger_statements, ledger_sums, plans
from mdvec.household.interfaces.accounts import AccountSetApart
from mdvec.household.interfaces.derivation import LedgerChanges
from mdvec.household.interfaces.ledger import Ledger
from mdvec.household.interfaces.ledger_statements import DaysInDoubt, KnownFile
from mdvec.household.interfaces.linked_again import Joined, store_doubts
from mdvec.household.interfaces.marks import bring_back_decisions, update_marks
from mdvec.household.interfaces.plans import apply_rules
from mdvec.household.interfaces.sources import find_sources
from mdvec.household.interfaces.two_lists import listed_twice
from mdvec.household.options import NO_REMOVAL_OPTIONS, RemovalOptions
from mdvec.household.reading import LedgerFile, StatementFolder, StatementKey
from mdvec.household.report import LedgerMode, LedgerReport, with_files
from mdvec.text import counted, shown_name


def import_ledger(
    ledger: Ledger,
    files: Iterable[LedgerFile],
    mode: LedgerMode,
    *,
    complete: bool = True,
    may_exist: Callable[[str], bool] = lambda _: False,
    removal_options: RemovalOptions = NO_REMOVAL_OPTIONS,
) -> LedgerReport:
    """Update a tool's ledger from its files.

    Each transaction, identified by its ID or else by its content, is stored once with the values of
    the newest file that has it. If the newest file for its day lacks it, the transaction leaves the
    sums but stays in the ledger. ``update`` adds and updates rows; ``replace`` reads every file,
    and also deletes rows that no file mentions, unless a file could not be read or ``files`` is not
    ``complete``. Both keep the user's decisions about rows. Files that are missing from ``files``
    but ``may_exist``, by path (their disk may not be mounted), are treated as unchanged.

    Raises:
        apsw.Error: the database cannot be written; the ledger is as it was.
    """
    known = ledger_statements.known_files(ledger)
    before = ledger_statements.known_statements(ledger)
    folder = StatementFolder(
        sorted(files, key=lambda file: file.path),
        known,
        {each.key for each in before if each.days},
    )
    if mode == "update" and not removal_options and folder.is_unchanged:
        report = LedgerReport(without_file=ledger_statements.without_file(ledger))
    else:
        importing = _LedgerImport(ledger, folder, mode, may_exist, removal_options)
        report = importing.run(complete=complete)
    statements = ledger_statements.known_statements(ledger)
    asked = ledger_statements.ids_of_gone_rows(ledger, "asked")
    return with_files(
        replace(
            report,
            unread=tuple(folder.unread[path] for path in sorted(folder.unread)),
            overruled=(*_older_than_their_time(statements, folder), *report.overruled),
            files_gone=_files_gone(ledger, statements, folder) if report.without_file else (),
            asked=tuple(ledger_statements.gone_rows(ledger, asked)),
            account_doubts=tuple(accounts.doubts_of(ledger)),
            repeated=tuple(accounts.repeated_rows(ledger)),
            beside=tuple(accounts.rows_beside(ledger)),
            listed_again=tuple(accounts.listed_again(ledger)),
        ),
        folder.present.values(),
        folder.contents,
        frozenset().union(*(each.accounts for each in before)),
    )


def _files_gone(
    ledger: Ledger, statements: Sequence[Statement], folder: StatementFolder
) -> tuple[str, ...]:
    """The files, as they were, that rows of the ledger are from and that are not there now."""
    present = {each.id for each in statements if each.key in folder.present_statements}
    in_use = ledger_sums.statements_without_file(ledger, present)
    paths = {each.path for each in statements if each.id in in_use}
    return tuple(sorted(paths - folder.unread.keys()))


@dataclass(frozen=True, slots=True)
class _LedgerImport:
    """An import of a folder in which something has changed."""

    ledger: Ledger
    folder: StatementFolder
    mode: LedgerMode
    may_exist: Callable[[str], bool]
    removals: RemovalOptions

    def run(self, *, complete: bool) -> LedgerReport:
        """Change the ledger, and report what changed."""
        ledger, folder = self.ledger, self.folder
        folder.read(every_file=self.mode == "replace")
        may_delete = self.mode == "replace" and complete and not folder.unread
        with ledger.connection, derivation.temporary_tables(ledger.connection):
            ledger_statements.keep_rows(ledger, self.removals.keep)
            apart = self._store_statements()
            changes, report = self._derive(may_delete=may_delete)
            bring_back_decisions(ledger)
            update_marks(ledger)
            ledger_statements.set_without_file(ledger, changes.without_file)
            self._remember_files(may_delete=may_delete)
            apply_rules(ledger)
            self._keep_assets()
        returned = changes.returned.union(self.removals.keep)
        return replace(
            report,
            set_apart=apart,
            removed=tuple(ledger_statements.gone_rows(ledger, changes.removed)),
            returned=tuple(ledger_statements.gone_rows(ledger, returned)),
        )

    def _store_statements(self) -> tuple[AccountSetApart, ...]:
        """Store the rows that were read, and the new names and times of files.

        Returns the new accounts that balances set apart.

        Deleted files with a copy in the folder are forgotten. After ``replace``, only files that
        exist or could not be read can prove rows gone.
        """
        ledger, folder = self.ledger, self.folder
        former = {origin: path for path, origin in folder.moved.items()}
        ledger_statements.rename_statements(ledger, former)
        known = {each.key: each for each in ledger_statements.known_statements(ledger)}
        for read in folder.contents:
            if not read.file.passed_over:
                statement = _with_first_seen(read.statement, known, folder.known)
                statement_id = ledger_statements.remember_statement(ledger, statement)
                scope = known[statement.key].scope if statement.key in known else ""
                ledger_statements.put_rows(ledger, statement_id, read.parsed, scope)
        ledger_statements.lower_times(ledger, folder.present.values())
        present, unread = folder.present_statements, folder.unread
        ledger_statements.see_last(ledger, present)
        gone = [
            each
            for each in ledger_statements.known_statements(ledger)
            if each.key not in present and each.path not in unread
        ]
        if self.mode == "replace":
            ledger_statements.distrust(ledger.connection, [each.id for each in gone])
        contents = {content_hash for _, content_hash in present}
        copies = [
            each.id
            for each in gone
            if each.content_hash in contents and not self.may_exist(each.path)
        ]
        ledger_statements.delete_copies(ledger.connection, copies)
        return accounts.follow_accounts(ledger, present)

    def _derive(self, *, may_delete: bool) -> tuple[LedgerChanges, LedgerReport]:
        """Derive the ledger from the statements; the report lacks ``removed`` and ``returned``."""
        ledger, folder = self.ledger, self.folder
        known = ledger_statements.known_statements(ledger)
        present = folder.present_statements
        damaged = {state.path for state in folder.present.values() if state.bad_rows}
        staying = {
            each.id
            for each in known
            if not may_delete or each.key in present or each.path in damaged
        }
        whole = alone = rank_statements(known)
        former = [each for each in whole if each.statement.id not in staying]
        if former:  # those that stay rank by themselves: as in the next replace, without the former
            alone = rank_statements([each for each in known if each.id in staying])
        ranked = [*former, *alone]
        with_former = whole if former else ()
        shared, new_ids, two_lists = derivation.find_newest_rows(
            ledger, ranked, folder.present, folder.unread, staying,
            is_rebuild=self.mode == "replace", may_delete=may_delete,
        )  # fmt: skip
        families = families_of([each.statement for each in ranked], shared)
        store_doubts(ledger, new_ids.doubts)
        ledger_statements.set_families(ledger.connection, families.items())
        of_former = (each for each in removers(with_former, families) if each.older not in staying)
        derivation.mark_gone_rows(
            ledger.connection, [*of_former, *removers(alone, families), *new_ids.removers]
        )
        derivation.mark_removals(ledger, accepted=self.removals.accept)
        derivation.forget_rows_without_file(ledger.connection)
        find_sources(ledger.connection)
        doubtful = [
            *(pair for pair in doubtful_replacers(with_former) if pair[1] not in staying),
            *doubtful_replacers(alone),
        ]
        held = derivation.hold_back(ledger, () if self.removals.accept else doubtful)
        if held:
            find_sources(ledger.connection)
        changes = derivation.follow_statements(ledger)
        read_now = {(read.file.path, read.file.content_hash) for read in folder.contents}
        by_time = _newer_by_time(ranked, families, read_now, folder.present_statements)
        by_id = {each.statement.id: each.statement for each in ranked}
        return changes, LedgerReport(
            imported=changes.imported,
            updated=changes.updated,
            without_file=changes.without_file,
            deleted=changes.deleted,
            overruled=tuple(
                Problem(by_id[newer].path, _why_held(by_id[newer], by_id[older], rows))
                for newer, older, rows in held
            ),
            by_time=tuple(
                by_time if changes.imported or changes.updated or changes.removed else ()
            ),
            listed_twice=listed_twice(ledger, two_lists),
            linked_again=tuple(
                Problem(by_id[each.newer].path, _why_once(each, by_id[each.older].path))
                for each in new_ids.joined
                if not read_now.isdisjoint({by_id[each.older].key, by_id[each.newer].key})
            ),
        )

    def _remember_files(self, *, may_delete: bool) -> None:
        """Store the state of all files, including deleted ones that rows still come from.

        Rows and statements that no longer matter are deleted, except those of files that may
        reappear unchanged.
        """
        ledger, folder = self.ledger, self.folder
        paths = {file.path for file in folder.files}
        files = [*folder.present.values()]
        files += [state for state in folder.known.values() if state.path in folder.unread]
        gone = [state for state in folder.known.values() if state.path not in paths]
        in_use = ledger_sums.rows_by_file(ledger) if gone else {}
        for state in gone:
            if state.path in in_use:
                is_there = state.is_present and self.may_exist(state.path)
                files.append(replace(state, is_present=is_there))
        ledger_statements.remember_files(ledger, files)
        remaining = {(state.path, state.content_hash) for state in files if state.is_present}
        known = ledger_statements.known_statements(ledger)
        ids = [each.id for each in known if each.key in remaining]
        ledger_statements.forget_superseded_rows(ledger, ids, all_of_them=may_delete)
        ledger_statements.forget_statements(ledger, ids)
        ledger_statements.mark_index(ledger, current=False)

    def _keep_assets(self) -> None:
        """Store the months of asset histories; where files differ, the newest one counts.

        The mode ``replace`` deletes the months of other files, unless a file could not be read.
        """
        if self.mode == "replace" and not self.folder.unread:
            plans.forget_months(self.ledger)
        contents = self.folder.contents
        for read in sorted(contents, key=lambda read: (read.file.mtime_ns, read.file.path)):
            plans.put_months(self.ledger, read.file.path, read.assets)


def _newer_by_time(
    ranked: Sequence[RankedStatement],
    families: Mapping[int, int],
    read_now: Set[StatementKey],
    present: Set[StatementKey],
) -> Iterator[Problem]:
    """The present files, read now, that are newer than another by their time alone."""
    for at, newer in enumerate(ranked):
        for older in ranked[:at] if newer.statement.key in read_now & present else ():
            if (
                older.statement.key in present
                and older.effective_mtime_ns < newer.effective_mtime_ns
                and families[older.statement.id] == families[newer.statement.id]
                and of_same_days(older.statement, newer.statement)
            ):
                yield Problem(newer.statement.path, _why_newer(older.statement))


def _with_first_seen(
    statement: Statement, stored: Mapping[StatementKey, Statement], before: Mapping[str, KnownFile]
) -> Statement:
    """The statement with the earliest known time, and the import that first saw it.

    What is known of other contents at its path is ignored, as a change may have been undone.
    """
    state, known = before.get(statement.path), stored.get(statement.key)
    if known and (state is None or state.content_hash == statement.content_hash):
        oldest = min(statement.mtime_ns, known.mtime_ns)
        return replace(statement, mtime_ns=oldest, first_seen=known.first_seen)
    now = 1 + max((each.first_seen for each in stored.values()), default=0)
    return replace(statement, first_seen=now)


def _why_held(newer: Statement, older: Statement, rows: int) -> str:
    other = f"{older.path}, but is of a later time"
    if newer.path == older.path:
        other = "its former content"
    return (
        f"it may be an old copy: it ends before {other}, and would change {counted(rows, 'row')}, "
        "which stay as they are; if it is newer: --accept-removals"
    )


def _why_newer(older: Statement) -> str:
    return (
        f"it has the days of {older.path} and a later time, so rows of both have its values; if "
        "it is an old copy, move it out of the folder, and import with --mode replace"
    )


def _why_once(joined: Joined, older: str) -> str:
    return (
        f"rows of {shown_name(joined.account)} that {older} has under other IDs count once: "
        f"{joined.rows:,} ({joined.yen:,} yen); if the files are of two people, move one into a "
        "folder of its own, and import with --mode replace"
    )


def _older_than_their_time(
    statements: Sequence[Statement], folder: StatementFolder
) -> Iterator[Problem]:
    """Problems with files that take no precedence over another, although they look newer.

    Files are left out if a file of the same family that has all their days is newer still.
    """
    present = [each for each in statements if each.key in folder.present_statements and each.days]
    for each in rank_statements(statements):
        older, newer = each.statement, each.superseded_by
        if not (newer and older.family == newer.family and older in present):
            continue
        is_latest = not any(
            other.mtime_ns > older.mtime_ns and other.family == older.family
            and other.days[0] <= older.days[0] and older.days[-1] <= other.days[-1]
            for other in present
        )  # fmt: skip
        if is_latest:
            name, other = older.name, newer.name
            is_numbered = name.stem == other.stem and name.number != other.number
            why = "has the higher number" if is_numbered else "has rows of later days"
            said = (
                f"its time is later than that of {newer.path}, which {why}, so that file takes "
                "precedence"
            )
            if newer.path == older.path:
                said = (
                    "its former content had rows of later days, so that takes precedence until "
                    "you import with --mode replace"
                )
            yield Problem(older.path, said) if is_numbered else DaysInDoubt.of(older.path, said)
