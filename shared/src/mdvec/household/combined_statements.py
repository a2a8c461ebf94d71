"""Combines a ledger's statement files, even deleted ones, into one state per transaction."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace

import apsw

from mdvec.files import Problem
from mdvec.household.core.identity import (
    SameRowsWithId,
    find_same_rows_with_id,
    identities_by_id,
    match_rows_without_id,
    rows_by_identity,
)
from mdvec.household.core.source_row import SourceRow, values_of
from mdvec.household.core.statements import (
    CurrentRow,
    RankedStatement,
    Statement,
    current_rows,
    families_of,
    rank_statements,
)
from mdvec.household.interfaces import ledger_statements
from mdvec.household.interfaces.ledger_statements import KnownStatement
from mdvec.household.interfaces.transactions import StoredRow
from mdvec.household.reading import StatementFile
from mdvec.household.report import LedgerMode

_UNKNOWN_STATEMENT = Statement("", "", 0, (), frozenset(), can_show_removals=False)
"""The statement of rows whose own is not among the stored ones any more."""


@dataclass(frozen=True, slots=True)
class CombinedStatements:
    """The statements, oldest first, and the current row of each transaction.

    ``families`` has the family of each statement; ``statement_ids`` the ids of stored statements
    by key; ``present`` the keys of the files in the folder, and ``mentioned`` the identities in
    them. ``renames`` maps old identities in the ledger to new ones.
    """

    ranked: list[RankedStatement]
    families: list[int]
    current: dict[str, CurrentRow]
    statement_ids: Mapping[tuple[str, str], int]
    present: frozenset[tuple[str, str]]
    mentioned: frozenset[str]
    renames: Mapping[str, str]


def combine_statements(
    connection: apsw.Connection,
    tool_id: int,
    files: Sequence[StatementFile],
    stored: Mapping[str, StoredRow],
    before: Mapping[str, str],
    mode: LedgerMode,
    untouched: Collection[int] = (),
) -> CombinedStatements:
    """Collects the rows of all files, and from the ledger those of deleted files.

    Files whose statements are ``untouched``, and their stored rows, are left out.
    ``before`` has the content hash of each path at the last import. In mode ``replace``, deleted
    files only contribute rows that no other file has.
    """
    every_known = ledger_statements.known_statements(connection, tool_id)
    known = [old for old in every_known if old.id not in untouched]
    left_out = {old.statement.path for old in every_known if old.id in untouched}
    usable = [
        read
        for read in files
        if not (read.unread or read.file.passed_over or read.file.path in left_out)
    ]
    same_rows_with_id = _same_rows_with_id(usable, stored if mode == "update" else {})
    read_statements = {
        (read.file.path, read.file.content_hash): (
            read.statement,
            rows_by_identity(read.file.path, read.blocks, same_rows_with_id),
        )
        for read in usable
    }
    mentioned = frozenset(identity for _, rows in read_statements.values() for identity in rows)
    renames, repeats = match_rows_without_id(stored, mentioned, same_rows_with_id)
    unread = {read.file.path for read in files if read.unread}
    ids = {old.statement.key: old.id for old in known}
    rows_from_files = {ids[key]: rows for key, (_, rows) in read_statements.items() if key in ids}
    not_in_files = _rows_not_in_files(
        stored, renames, rows_from_files, mentioned if mode == "replace" else frozenset()
    )
    pairs: list[tuple[Statement, Mapping[str, SourceRow]]] = [
        (
            _with_first_seen(each, every_known, before),
            {**not_in_files.pop(ids.get(each.key, 0), {}), **rows},
        )
        for each, rows in read_statements.values()
    ]
    present = frozenset(read_statements)
    deleted = [old for old in known if old.statement.key not in present]
    showing_removals = {
        old.id for old in deleted if mode == "update" or old.statement.path in unread
    }
    pairs += _statements_without_file(
        deleted, not_in_files, showing_removals, {path for path, _ in present}
    )
    ranked = rank_statements(pairs)
    families = _families(ranked, known, stored, renames)
    current = current_rows(ranked, families)
    current.update(_repeated_rows_as_gone(repeats, current, stored))
    if mode == "replace":
        current = _gone_only_by_files(current, ranked, present, unread)
    return CombinedStatements(
        ranked=ranked,
        families=families,
        current=current,
        statement_ids=ids,
        present=present,
        mentioned=mentioned,
        renames=renames,
    )


def _gone_only_by_files(
    current: Mapping[str, CurrentRow],
    ranked: Sequence[RankedStatement],
    present: Collection[tuple[str, str]],
    unread: Collection[str],
) -> dict[str, CurrentRow]:
    """The current rows, if only the files of the folder can show rows to be gone."""
    trusted = {
        number
        for number, ranked_statement in enumerate(ranked)
        if ranked_statement.statement.key in present or ranked_statement.statement.path in unread
    }
    return {
        identity: each if each.missing_from in trusted else each._replace(missing_from=None)
        for identity, each in current.items()
    }


def _statements_without_file(
    deleted: Sequence[KnownStatement],
    not_in_files: Mapping[int, Mapping[str, SourceRow]],
    showing_removals: Collection[int],
    present_paths: Collection[str],
) -> list[tuple[Statement, Mapping[str, SourceRow]]]:
    """Statements without a file, with the stored rows that come from them.

    Only those in ``showing_removals`` can still show rows to be gone. A row has no line if its
    path now holds another content. Rows without a known statement come last.
    """
    left = dict(not_in_files)
    pairs: list[tuple[Statement, Mapping[str, SourceRow]]] = []
    for old in deleted:
        known = old.statement
        rows = left.pop(old.id, {})
        if known.path in present_paths:
            rows = {identity: row._replace(row_number=0) for identity, row in rows.items()}
        pairs.append(
            (known if old.id in showing_removals else replace(known, can_show_removals=False), rows)
        )
    lost = {identity: row for rows in left.values() for identity, row in rows.items()}
    return [*pairs, (_UNKNOWN_STATEMENT, lost)] if lost else pairs


def _families(
    ranked: Sequence[RankedStatement],
    known: Sequence[KnownStatement],
    stored: Mapping[str, StoredRow],
    renames: Mapping[str, str],
) -> list[int]:
    """The family of each statement, continuing the families in the ledger."""
    families = {old.statement.key: old.family for old in known}
    by_id = {old.id: old.family for old in known}
    fresh = 1 + max([0, *by_id, *by_id.values()])
    return families_of(
        ranked,
        [
            families.get(ranked_statement.statement.key, fresh + n)
            for n, ranked_statement in enumerate(ranked)
        ],
        {
            renames.get(name, name): by_id[row.statement]
            for name, row in stored.items()
            if row.statement in by_id
        },
    )


def _rows_not_in_files(
    stored: Mapping[str, StoredRow],
    renames: Mapping[str, str],
    rows_from_files: Mapping[int, Mapping[str, SourceRow]],
    without: frozenset[str],
) -> dict[int, dict[str, SourceRow]]:
    """Stored rows by their statement, except those that the statement's own file mentions."""
    rows: dict[int, dict[str, SourceRow]] = {}
    for name, row in stored.items():
        identity = renames.get(name, name)
        number = row.statement or -1
        if identity not in without and identity not in rows_from_files.get(number, ()):
            source_row = SourceRow(row.source_file, row.row_number, row.values)
            rows.setdefault(number, {})[identity] = source_row
    return rows


def _with_first_seen(
    statement: Statement, known: Sequence[KnownStatement], before: Mapping[str, str]
) -> Statement:
    """The statement with the oldest known time of its content, and the import that first saw it.

    If its path had another content at the last import, the path's earlier versions are ignored:
    a change may have been undone.
    """
    path_had_other_content = (
        before.get(statement.path, statement.content_hash) != statement.content_hash
    )
    same = [
        old.statement
        for old in known
        if old.statement.content_hash == statement.content_hash
        and not (path_had_other_content and old.statement.path == statement.path)
    ]
    first_seen = [old.first_seen for old in same if old.path == statement.path]
    now = 1 + max((old.statement.first_seen for old in known), default=0)
    oldest = min([statement.mtime_ns, *(old.mtime_ns for old in same)])
    return replace(statement, mtime_ns=oldest, first_seen=min(first_seen, default=now))


def _same_rows_with_id(
    files: Sequence[StatementFile], stored: Mapping[str, StoredRow]
) -> SameRowsWithId:
    """Rows with an ID that look like rows without one, in the files or the ledger."""
    blocks = [(read.file.path, block) for read in files for block in read.blocks]
    without_id = {
        (row.date.isoformat(), row.amount) for _, block in blocks for row in block if not row.mf_id
    }
    without_id |= {
        (row.values.date, row.values.amount)
        for name, row in stored.items()
        if name.startswith("row:")
    }
    if not without_id:
        return {}
    source_rows = [
        (identity, SourceRow(path, row.line, values_of(row)))
        for path, block in blocks
        for row, identity in zip(block, identities_by_id(block), strict=True)
        if identity is not None and (row.date.isoformat(), row.amount) in without_id
    ]
    source_rows += [
        (name, SourceRow(row.source_file, row.row_number, row.values))
        for name, row in stored.items()
    ]
    return find_same_rows_with_id(source_rows, without_id)


def _repeated_rows_as_gone(
    repeats: Mapping[str, str],
    current: Mapping[str, CurrentRow],
    stored: Mapping[str, StoredRow],
) -> dict[str, CurrentRow]:
    """Rows without ID that left the sums stay gone while the ledger has them again with an ID.

    Rows that came to look alike later are separate purchases.
    """
    return {
        repeat: current[repeat]._replace(missing_from=current[original].stated_in)
        for repeat, original in repeats.items()
        if repeat in current and original in current and stored[repeat].removal is not None
    }


def overruled_files(combined: CombinedStatements) -> tuple[Problem, ...]:
    """Files whose modification time makes them look newer than their names and rows show."""
    families = {
        ranked_statement.statement.key: n
        for ranked_statement, n in zip(combined.ranked, combined.families, strict=True)
    }
    return tuple(
        Problem(
            ranked_statement.statement.path,
            _why_older(ranked_statement, ranked_statement.superseded_by),
        )
        for ranked_statement in combined.ranked
        if ranked_statement.superseded_by is not None
        and ranked_statement.statement.key in combined.present
        and families[ranked_statement.statement.key] == families[ranked_statement.superseded_by.key]
    )


def _why_older(older: RankedStatement, newer: Statement) -> str:
    name, other = older.statement.name, newer.name
    why = (
        "has the higher number"
        if name.stem == other.stem and name.number != other.number
        else "has rows of later days"
    )
    return (
        f"its time is later than that of {newer.path}, which {why}, so that file takes precedence"
    )
