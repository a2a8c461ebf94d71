"""Which statement files an import need not read, because no change can reach their rows.

A file is untouched if it is unchanged, every row of it is in the ledger with its own values, and
nothing connects it to a changed one: no transaction, no month of rows or of a name's period, no
name of a repeated download, no equal content. In any doubt every file is read.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import apsw

from mdvec.dates import Month, MonthRange
from mdvec.household.core.statements import Statement
from mdvec.household.interfaces import ledger_statements
from mdvec.household.interfaces.ledger_files import KnownFile
from mdvec.household.interfaces.ledger_statements import KnownStatement
from mdvec.household.reading import LedgerFile, StatementFile, read_statement_file

_NONE: frozenset[int] = frozenset()


@dataclass(frozen=True, slots=True)
class ReadStatements:
    """The files as read, in order, and the ids of the statements of those that were not."""

    files: list[StatementFile]
    untouched: frozenset[int] = _NONE


def read_all(files: Sequence[LedgerFile], known: Mapping[str, KnownFile]) -> ReadStatements:
    """Read every file."""
    return ReadStatements([read_statement_file(file, known.get(file.path)) for file in files])


def read_touched(
    connection: apsw.Connection,
    tool_id: int,
    files: Sequence[LedgerFile],
    known: Mapping[str, KnownFile],
) -> ReadStatements:
    """Read the files that a change can reach; for the others, give their known state."""
    unchanged = {
        file.path
        for file in files
        if file.path in known
        and (known[file.path].size, known[file.path].mtime_ns) == (file.size, file.mtime_ns)
    }
    if not unchanged or not _is_plain(connection, tool_id, files, known):
        return read_all(files, known)
    read = {
        file.path: read_statement_file(file, known.get(file.path))
        for file in files
        if file.path not in unchanged
    }
    untouched: dict[str, int] = {}
    if not any(_is_in_doubt(statement_file) for statement_file in read.values()):
        untouched = _untouched(connection, tool_id, read, {known[path] for path in unchanged})
    contents = []
    for file in files:
        if file.path in untouched:
            contents.append(StatementFile(known[file.path]))
        else:
            contents.append(read.get(file.path) or read_statement_file(file, known.get(file.path)))
    return ReadStatements(contents, frozenset(untouched.values()))


def _is_plain(
    connection: apsw.Connection,
    tool_id: int,
    files: Sequence[LedgerFile],
    known: Mapping[str, KnownFile],
) -> bool:
    """Whether no file is gone, all were read as now, and every row has an ID and a statement."""
    readers = {file.path: file.reader for file in files}
    if any(
        not known_file.is_present or known_file.app_version != readers.get(known_file.path)
        for known_file in known.values()
    ):
        return False
    other = connection.execute(
        "SELECT 1 FROM transactions WHERE tool_id = ?1 AND identity >= 'row:' "
        "AND identity < 'row;' UNION ALL "
        "SELECT 1 FROM transactions WHERE +tool_id = ?1 AND statement_id IS NULL LIMIT 1",
        (tool_id,),
    )
    return other.fetchone() is None


def _is_in_doubt(read: StatementFile) -> bool:
    return bool(read.unread) or any(not row.mf_id for block in read.blocks for row in block)


def _untouched(
    connection: apsw.Connection,
    tool_id: int,
    read: Mapping[str, StatementFile],
    unchanged: Iterable[KnownFile],
) -> dict[str, int]:
    """The paths of the files that need not be read, each with the id of its statement."""
    statements = ledger_statements.known_statements(connection, tool_id)
    by_key = {statement.statement.key: statement for statement in statements}
    relatives = Counter(statement.family for statement in statements)
    stated = _rows_by_statement(connection, tool_id)
    apart: list[KnownStatement] = []
    for file in unchanged:
        statement = by_key.get((file.path, file.content_hash))
        if (
            statement is not None
            and relatives[statement.family] == 1
            and stated.get(statement.id) == file.rows
            and not file.bad_rows
        ):
            apart.append(statement)
    left = {statement.id for statement in apart}
    reach = _Reach()
    for each in read.values():
        reach.add(each.statement)
    for old in statements:
        if old.id not in left:
            reach.add(old.statement)
    ids = [row.mf_id for each in read.values() for block in each.blocks for row in block]
    shared = _statements_with(connection, tool_id, ids)
    while touched := [
        statement
        for statement in apart
        if statement.id in shared or reach.touches(statement.statement)
    ]:
        for statement in touched:
            reach.add(statement.statement)
        apart = [statement for statement in apart if statement not in touched]
    return {statement.statement.path: statement.id for statement in apart}


@dataclass
class _Reach:
    """The months, names and contents that the files to be read have."""

    months: set[Month] = field(default_factory=set)
    names: set[str] = field(default_factory=set)

    def add(self, statement: Statement) -> None:
        self.months |= _months(statement)
        self.names |= {statement.name.stem, statement.content_hash}

    def touches(self, statement: Statement) -> bool:
        if not self.names.isdisjoint({statement.name.stem, statement.content_hash}):
            return True
        return not self.months.isdisjoint(_months(statement))


def _months(statement: Statement) -> set[Month]:
    """The months of a statement's rows, and of the period in its name."""
    months = {Month.from_iso(day) for day in statement.days}
    name = statement.name
    if name.has_period:
        months |= set(MonthRange(Month.from_iso(name.first), Month.from_iso(name.last)))
    return months


def _rows_by_statement(connection: apsw.Connection, tool_id: int) -> dict[int, int]:
    """How many rows have the values of each statement; rows that are gone are not counted."""
    rows = connection.execute(
        "SELECT statement_id, count(*) FROM transactions "
        "WHERE +tool_id = ? AND removal IS NULL GROUP BY statement_id",
        (tool_id,),
    )
    return {int(str(number)): int(str(count)) for number, count in rows}


def _statements_with(
    connection: apsw.Connection, tool_id: int, ids: Sequence[str]
) -> frozenset[int]:
    """The statements whose transactions have one of these IDs."""
    rows = connection.execute(
        "SELECT DISTINCT statement_id FROM transactions WHERE tool_id = ? "
        "AND identity IN (SELECT 'id:' || value FROM json_each(?))",
        (tool_id, json.dumps(ids)),
    )
    return frozenset(int(str(number)) for (number,) in rows)
