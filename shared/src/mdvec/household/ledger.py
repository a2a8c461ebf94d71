"""Imports statement files into a household's ledger, each transaction once.

The rows of each file are stored as it has them. The ledger is then derived from the rows of all
statements, even of files that are deleted by now. All changes are made in one database transaction.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace

import apsw

from mdvec.files import Problem
from mdvec.household.core.statements import (
    RankedStatement,
    Statement,
    doubtful_replacers,
    families_of,
    rank_statements,
    removers,
)
from mdvec.household.interfaces import (
    accounts,
    derivation,
    ledger_files,
    ledger_statements,
    plans,
    statement_rows,
    transactions,
)
from mdvec.household.interfaces.derivation import LedgerChanges, OrderedStatement
from mdvec.household.interfaces.ledger_files import KnownFile
from mdvec.household.interfaces.ledger_statements import KnownStatement
from mdvec.household.interfaces.marks import update_marks
from mdvec.household.interfaces.plans import apply_rules
from mdvec.household.options import NO_REMOVAL_OPTIONS, RemovalOptions
from mdvec.household.reading import LedgerFile, StatementFolder, StatementKey
from mdvec.household.report import LedgerMode, LedgerReport, report_of
from mdvec.text import counted


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
    but stays in the ledger. ``update`` adds and updates rows; ``replace`` reads every file, and
    also deletes rows that no file mentions, unless a file could not be read or ``files`` is not
    ``complete``. Both keep the user's decisions about rows. Files that are not among ``files``,
    but ``may_exist`` all the same (their disk is not mounted, say), count as they were.

    Raises:
        apsw.Error: the database cannot be written; the ledger is as it was.
    """
    known = ledger_files.known_files(connection, tool_id)
    stored = ledger_statements.known_statements(connection, tool_id)
    folder = StatementFolder(
        sorted(files, key=lambda file: file.path),
        known,
        {each.statement.key for each in stored if each.statement.days},
    )
    if mode == "update" and not removal_options and folder.is_unchanged:
        return report_of(
            list(folder.present.values()),
            without_file=ledger_files.without_file(connection, tool_id),
            asked=tuple(ledger_statements.gone_rows(connection, tool_id, "asked")),
            account_doubts=tuple(accounts.doubts_of(connection, tool_id)),
        )
    folder.read(every_file=mode == "replace")
    may_delete = mode == "replace" and complete and not folder.unread
    with connection, derivation.temporary_tables(connection):
        ledger_statements.keep_rows(connection, tool_id, removal_options.keep)
        _store_statements(connection, tool_id, folder, mode, may_exist)
        changes, overruled = _derive(
            connection,
            tool_id,
            folder,
            mode,
            may_delete=may_delete,
            accept_removals=removal_options.accept,
        )
        ledger_files.bring_back_decisions(connection, tool_id)
        update_marks(connection, tool_id)
        _remember(
            connection, tool_id, folder, changes.without_file, may_exist, may_delete=may_delete
        )
        apply_rules(connection, tool_id)
        _keep_assets(connection, tool_id, folder, mode)
    gone = ledger_statements.gone_rows(connection, tool_id, "removed")
    return report_of(
        list(folder.present.values()),
        list(folder.unread.values()),
        imported=changes.imported,
        updated=changes.updated,
        without_file=changes.without_file,
        deleted=changes.deleted,
        removed=tuple(row for row in gone if row.id in changes.removed),
        asked=tuple(ledger_statements.gone_rows(connection, tool_id, "asked")),
        returned=changes.returned + len(removal_options.keep),
        overruled=overruled,
        misfits=[(read.file.path, *misfit) for read in folder.contents for misfit in read.misfits],
        account_doubts=tuple(accounts.doubts_of(connection, tool_id)),
    )


def _store_statements(
    connection: apsw.Connection,
    tool_id: int,
    folder: StatementFolder,
    mode: LedgerMode,
    may_exist: Callable[[str], bool],
) -> None:
    """Store the rows that were read, and the new names and times of files.

    A deleted file of which there is a copy is forgotten. After ``replace``, only files that are
    there or could not be read show rows to be gone.
    """
    former = {origin: path for path, origin in folder.moved.items()}
    ledger_statements.rename_statements(connection, tool_id, former)
    known = ledger_statements.known_statements(connection, tool_id)
    scopes = {each.statement.key: each.statement.scope for each in known}
    for read in folder.contents:
        if not (read.unread or read.file.passed_over):
            statement = _with_first_seen(read.statement, known, folder.known)
            statement_id = ledger_statements.remember_statement(connection, tool_id, statement)
            scope = scopes.get(statement.key, "")
            statement_rows.put_rows(connection, tool_id, statement_id, read.blocks, scope)
    ledger_statements.lower_times(connection, tool_id, folder.present.values())
    present, unread = folder.present_statements, folder.unread
    gone = [
        each
        for each in ledger_statements.known_statements(connection, tool_id)
        if each.statement.key not in present and each.statement.path not in unread
    ]
    if mode == "replace":
        ledger_statements.distrust(connection, [each.id for each in gone])
    contents = {content_hash for _, content_hash in present}
    copies = [
        each.id
        for each in gone
        if each.statement.content_hash in contents and not may_exist(each.statement.path)
    ]
    ledger_statements.delete_copies(connection, copies)
    accounts.follow_accounts(connection, tool_id, present)


def _derive(
    connection: apsw.Connection,
    tool_id: int,
    folder: StatementFolder,
    mode: LedgerMode,
    *,
    may_delete: bool,
    accept_removals: bool,
) -> tuple[LedgerChanges, tuple[Problem, ...]]:
    """Bring the ledger to what the statements say; returns also the files that look newer."""
    known = {
        each.statement.key: each for each in ledger_statements.known_statements(connection, tool_id)
    }
    ranked = rank_statements([each.statement for each in known.values()])
    ids = [known[each.statement.key].id for each in ranked]
    present = folder.present_statements
    shared = derivation.find_newest_rows(
        connection,
        tool_id,
        [
            OrderedStatement(
                id=statement_id,
                path=each.statement.path,
                is_present=each.statement.key in present,
                is_unread=each.statement.path in folder.unread,
                has_lines=each.statement.key in present
                or each.statement.path not in folder.present,
                scope=each.statement.scope,
            )
            for statement_id, each in zip(ids, ranked, strict=True)
        ],
        is_rebuild=mode == "replace",
    )
    families_by_id = families_of(
        {each.id: each.family or each.id for each in known.values()}, shared
    )
    ledger_statements.set_families(connection, families_by_id.items())
    families = [families_by_id[statement_id] for statement_id in ids]
    scopes = [each.statement.scope for each in ranked]
    derivation.mark_gone_rows(
        connection,
        (
            remover._replace(older=ids[remover.older], newer=ids[remover.newer])
            for remover in removers(ranked, list(zip(families, scopes, strict=True)))
        ),
    )
    derivation.mark_removals(connection, tool_id, accepted=accept_removals)
    if may_delete:
        damaged = {state.path for state in folder.present.values() if state.bad_rows}
        derivation.forget_rows_without_file(connection, damaged)
    held = derivation.hold_back(
        connection,
        tool_id,
        ()
        if accept_removals
        else ((ids[newer], ids[older]) for newer, older in doubtful_replacers(ranked)),
    )
    changes = derivation.follow_statements(connection, tool_id)
    overruled = _overruled_files(
        [each for each in ranked if each.statement.key in present],
        {each.statement.key: family for each, family in zip(ranked, families, strict=True)},
    )
    paths = {known[each.statement.key].id: each.statement.path for each in ranked}
    return changes, (*overruled, *(_held_file(paths, *each) for each in held))


def _with_first_seen(
    statement: Statement, stored: Sequence[KnownStatement], before: Mapping[str, KnownFile]
) -> Statement:
    """The statement with the earliest known time, and the import that first saw it.

    What its path had before it had another content is ignored: a change may have been undone.
    """
    state = before.get(statement.path)
    if state is None or state.content_hash == statement.content_hash:
        for known in stored:
            if known.statement.key == statement.key:
                oldest = min(statement.mtime_ns, known.statement.mtime_ns)
                return replace(statement, mtime_ns=oldest, first_seen=known.statement.first_seen)
    now = 1 + max((known.statement.first_seen for known in stored), default=0)
    return replace(statement, first_seen=now)


def _remember(
    connection: apsw.Connection,
    tool_id: int,
    folder: StatementFolder,
    without_file: int,
    may_exist: Callable[[str], bool],
    *,
    may_delete: bool,
) -> None:
    """Store the state of all files, including deleted ones that rows still come from.

    Rows and statements that say nothing any more are forgotten, but not those of files that may
    be seen again as they are.
    """
    paths = {file.path for file in folder.files}
    files = [*folder.present.values()]
    files += [state for state in folder.known.values() if state.path in folder.unread]
    gone = [state for state in folder.known.values() if state.path not in paths]
    in_use = transactions.rows_by_file(connection, tool_id) if gone else {}
    for state in gone:
        if state.path in in_use:
            is_there = state.is_present and may_exist(state.path)
            files.append(replace(state, is_present=is_there))
    ledger_files.remember_files(connection, tool_id, files)
    ledger_files.set_without_file(connection, tool_id, without_file)
    remaining = {(state.path, state.content_hash) for state in files if state.is_present}
    ids = [
        each.id
        for each in ledger_statements.known_statements(connection, tool_id)
        if each.statement.key in remaining
    ]
    statement_rows.forget_superseded_rows(connection, tool_id, ids, all_of_them=may_delete)
    ledger_statements.forget_statements(connection, tool_id, ids)
    ledger_statements.mark_ledger_changed(connection, tool_id)


def _keep_assets(
    connection: apsw.Connection, tool_id: int, folder: StatementFolder, mode: LedgerMode
) -> None:
    """Store the months of asset histories; the newest file has the last word.

    ``replace`` forgets those of other files, unless one is unread. Call within a transaction.
    """
    if mode == "replace" and not folder.unread:
        plans.forget_months(connection, tool_id)
    for read in sorted(folder.contents, key=lambda read: (read.file.mtime_ns, read.file.path)):
        plans.put_months(connection, tool_id, read.file.path, read.assets)


def _overruled_files(
    present: Sequence[RankedStatement], families: Mapping[StatementKey, int]
) -> tuple[Problem, ...]:
    """Files whose modification time makes them look newer than their names and rows show."""
    return tuple(
        Problem(ranked.statement.path, _why_older(ranked.statement, ranked.superseded_by))
        for ranked in present
        if ranked.superseded_by is not None
        and families[ranked.statement.key] == families[ranked.superseded_by.key]
    )


def _held_file(paths: Mapping[int, str], newer: int, older: int, rows: int) -> Problem:
    other = "its former content" if paths[newer] == paths[older] else paths[older]
    return Problem(
        paths[newer],
        f"it may be an old copy: it ends before {other}, but is of a later time, and would change "
        f"{counted(rows, 'row')}, which stay as they are; if it is newer: --accept-removals",
    )


def _why_older(older: Statement, newer: Statement) -> str:
    name, other = older.name, newer.name
    why = (
        "has the higher number"
        if name.stem == other.stem and name.number != other.number
        else "has rows of later days"
    )
    return (
        f"its time is later than that of {newer.path}, which {why}, so that file takes precedence"
    )
