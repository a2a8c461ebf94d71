"""Combines a ledger's statement files, even deleted ones, into one state per transaction."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace

import apsw

from mdvec.files.scan import Problem
from mdvec.household.core.identity import (
    Twins,
    identities_by_id,
    mentions,
    reunited,
    twins_of,
)
from mdvec.household.core.placed import Placed, values_of
from mdvec.household.core.statements import (
    Standing,
    Statement,
    Witness,
    in_order,
    kin_of,
    settle,
)
from mdvec.household.interfaces import statements as ledger_statements
from mdvec.household.interfaces.rows import StoredRow
from mdvec.household.interfaces.statements import KnownStatement
from mdvec.household.reading import StatementFile
from mdvec.household.report import LedgerMode

_NOWHERE = Statement("", "", 0, (), frozenset(), is_whole=False)
"""Stands in for the unknown statement of rows from old versions."""


@dataclass(frozen=True, slots=True)
class Evidence:
    """The witnesses, oldest first, and the resulting standing of each transaction.

    ``kin`` is each witness's family; ``numbers`` are the ids of stored statements by key;
    ``present`` the keys of the files in the folder, and ``mentioned`` the identities in them.
    ``renames`` maps old identities in the ledger to new ones.
    """

    witnesses: list[Witness]
    kin: list[int]
    standing: dict[str, Standing]
    numbers: Mapping[tuple[str, str], int]
    present: frozenset[tuple[str, str]]
    mentioned: frozenset[str]
    renames: Mapping[str, str]


def gather_evidence(
    connection: apsw.Connection,
    tool_id: int,
    files: Sequence[StatementFile],
    stored: Mapping[str, StoredRow],
    before: Mapping[str, str],
    mode: LedgerMode,
) -> Evidence:
    """Collects the rows of all files, and from the ledger those of deleted files.

    ``before`` has the content hash of each path at the last import. In mode ``replace``, deleted
    files only contribute rows that no other file has.
    """
    usable = [read for read in files if not (read.unread or read.file.passed_over)]
    twins = _twins(usable, stored if mode == "update" else {})
    said = {
        (read.file.path, read.file.content_hash): (
            read.statement,
            mentions(read.file.path, read.blocks, twins),
        )
        for read in usable
    }
    mentioned = frozenset(identity for _, rows in said.values() for identity in rows)
    renames, doubles = reunited(stored, mentioned, twins)
    known = ledger_statements.known_statements(connection, tool_id)
    unread = {read.file.path for read in files if read.unread}
    ids = {old.statement.key: old.id for old in known}
    heard = {ids[key]: rows for key, (_, rows) in said.items() if key in ids}
    rest = _rest(stored, renames, heard, mentioned if mode == "replace" else frozenset())
    pairs: list[tuple[Statement, Mapping[str, Placed]]] = [
        (_as_known(each, known, before), {**rest.pop(ids.get(each.key, 0), {}), **rows})
        for each, rows in said.values()
    ]
    present = frozenset(said)
    deleted = [old for old in known if old.statement.key not in present]
    whole = {old.id for old in deleted if mode == "update" or old.statement.path in unread}
    pairs += _from_ledger(deleted, rest, whole, {path for path, _ in present})
    witnesses = in_order(pairs)
    kin = _kin(witnesses, known, stored, renames)
    standing = settle(witnesses, kin)
    is_old = ledger_statements.asks_first(connection, tool_id)
    standing.update(_second_times(doubles, standing, stored, are_new=is_old))
    if mode == "replace":
        standing = _gone_by_files(standing, witnesses, present, unread)
    return Evidence(
        witnesses=witnesses,
        kin=kin,
        standing=standing,
        numbers=ids,
        present=present,
        mentioned=mentioned,
        renames=renames,
    )


def _gone_by_files(
    standing: Mapping[str, Standing],
    witnesses: Sequence[Witness],
    present: Collection[tuple[str, str]],
    unread: Collection[str],
) -> dict[str, Standing]:
    """The standings where only the files of the folder can show rows to be gone."""
    trusted = {
        place
        for place, witness in enumerate(witnesses)
        if witness.statement.key in present or witness.statement.path in unread
    }
    return {
        identity: each if each.gone in trusted else each._replace(gone=None)
        for identity, each in standing.items()
    }


def _from_ledger(
    deleted: Sequence[KnownStatement],
    rest: Mapping[int, Mapping[str, Placed]],
    whole: Collection[int],
    present_paths: Collection[str],
) -> list[tuple[Statement, Mapping[str, Placed]]]:
    """Statements without a file, with the stored rows that come from them.

    Only those in ``whole`` can still show rows to be gone. A row has no line if its path now
    holds another content. Rows without a known statement come last.
    """
    left = dict(rest)
    pairs: list[tuple[Statement, Mapping[str, Placed]]] = []
    for old in deleted:
        known = old.statement
        rows = left.pop(old.id, {})
        if known.path in present_paths:
            rows = {identity: row._replace(row_number=0) for identity, row in rows.items()}
        pairs.append((known if old.id in whole else replace(known, is_whole=False), rows))
    lost = {identity: row for rows in left.values() for identity, row in rows.items()}
    return [*pairs, (_NOWHERE, lost)] if lost else pairs


def _kin(
    witnesses: Sequence[Witness],
    known: Sequence[KnownStatement],
    stored: Mapping[str, StoredRow],
    renames: Mapping[str, str],
) -> list[int]:
    """The family of each witness, continuing the families in the ledger."""
    families = {old.statement.key: old.kin for old in known}
    by_id = {old.id: old.kin for old in known}
    fresh = 1 + max([0, *by_id, *by_id.values()])
    return kin_of(
        witnesses,
        [families.get(w.statement.key, fresh + n) for n, w in enumerate(witnesses)],
        {
            renames.get(name, name): by_id[row.statement]
            for name, row in stored.items()
            if row.statement in by_id
        },
    )


def _rest(
    stored: Mapping[str, StoredRow],
    renames: Mapping[str, str],
    heard: Mapping[int, Mapping[str, Placed]],
    without: frozenset[str],
) -> dict[int, dict[str, Placed]]:
    """Stored rows by their statement, except those that the statement's own file mentions."""
    rows: dict[int, dict[str, Placed]] = {}
    for name, row in stored.items():
        identity = renames.get(name, name)
        number = row.statement or -1
        if identity not in without and identity not in heard.get(number, ()):
            placed = Placed(row.source_file, row.row_number, row.values)
            rows.setdefault(number, {})[identity] = placed
    return rows


def _as_known(
    statement: Statement, known: Sequence[KnownStatement], before: Mapping[str, str]
) -> Statement:
    """The statement with the oldest known time of its content, and the import that first saw it.

    If its path had another content at the last import, the path's earlier versions are ignored:
    a change may have been undone.
    """
    is_back = before.get(statement.path, statement.content_hash) != statement.content_hash
    same = [
        old.statement
        for old in known
        if old.statement.content_hash == statement.content_hash
        and not (is_back and old.statement.path == statement.path)
    ]
    seen = [old.seen for old in same if old.path == statement.path]
    now = 1 + max((old.statement.seen for old in known), default=0)
    oldest = min([statement.mtime_ns, *(old.mtime_ns for old in same)])
    return replace(statement, mtime_ns=oldest, seen=min(seen, default=now))


def _twins(files: Sequence[StatementFile], stored: Mapping[str, StoredRow]) -> Twins:
    """Rows with an ID that look like rows without one, in the files or the ledger."""
    blocks = [(read.file.path, block) for read in files for block in read.blocks]
    loose = {
        (row.date.isoformat(), row.amount) for _, block in blocks for row in block if not row.mf_id
    }
    loose |= {
        (row.values.date, row.values.amount)
        for name, row in stored.items()
        if name.startswith("row:")
    }
    if not loose:
        return {}
    found = [
        (identity, Placed(path, row.line, values_of(row)))
        for path, block in blocks
        for row, identity in zip(block, identities_by_id(block), strict=True)
        if identity is not None and (row.date.isoformat(), row.amount) in loose
    ]
    found += [
        (name, Placed(row.source_file, row.row_number, row.values)) for name, row in stored.items()
    ]
    return twins_of(found, loose)


def _second_times(
    doubles: Mapping[str, str],
    standing: Mapping[str, Standing],
    stored: Mapping[str, StoredRow],
    *,
    are_new: bool,
) -> dict[str, Standing]:
    """Marks as gone rows without ID that are in the ledger again with an ID, from another file.

    Only ledgers of older versions contain such repeats (``are_new``). Rows that came to look
    alike later are separate purchases.
    """
    return {
        double: standing[double]._replace(gone=standing[original].by)
        for double, original in doubles.items()
        if double in standing
        and original in standing
        and (
            stored[double].removal is not None
            or (are_new and stored[double].source_file != _source(stored.get(original)))
        )
    }


def _source(row: StoredRow | None) -> str:
    return "" if row is None else row.source_file


def overruled_files(evidence: Evidence) -> tuple[Problem, ...]:
    """Files whose modification time makes them look newer than their names and rows show."""
    kin = {
        witness.statement.key: n
        for witness, n in zip(evidence.witnesses, evidence.kin, strict=True)
    }
    return tuple(
        Problem(witness.statement.path, _why_older(witness, witness.outdone_by))
        for witness in evidence.witnesses
        if witness.outdone_by is not None
        and witness.statement.key in evidence.present
        and kin[witness.statement.key] == kin[witness.outdone_by.key]
    )


def _why_older(witness: Witness, newer: Statement) -> str:
    name, other = witness.statement.name, newer.name
    why = (
        "has the higher number"
        if name.stem == other.stem and name.number != other.number
        else "has rows of later days"
    )
    return f"its time is later than that of {newer.path}, which {why} and has the last word"
