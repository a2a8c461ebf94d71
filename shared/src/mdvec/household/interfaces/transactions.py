"""The table of transactions, each stored once by its identity.

User decisions about rows are not written here.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from datetime import date
from typing import Any, NamedTuple

import apsw

from mdvec.household.core.source_row import SourceRow, Values
from mdvec.household.core.transaction import Transaction

_FIELDS = tuple(field.name for field in fields(Transaction))
_STORED_AS = {"is_removed": "removal IS 'removed'", "is_transfer": "is_transfer | is_moved"}
TRANSACTION_COLUMNS = ", ".join(_STORED_AS.get(name, name) for name in _FIELDS)
"""The SELECT list that ``read_transaction`` expects."""
_FLAGS = ("is_target", "is_transfer", "is_duplicate", "is_removed")
_VALUES = ", ".join(Values._fields)
_VALUES_OF_FILE = ", ".join(
    {
        "category_major": "coalesce(filed_major, category_major)",
        "category_minor": "coalesce(filed_minor, category_minor)",
    }.get(name, name)
    for name in Values._fields
)
"""The values that the files have: a rule may have given a row another category."""
_VALUES_GIVEN = ", ".join("?" for _ in Values._fields)


def read_transaction(row: Sequence[Any]) -> Transaction:
    """Converts a result row of ``TRANSACTION_COLUMNS``."""
    values = dict(zip(_FIELDS, row, strict=True))
    values["date"] = date.fromisoformat(values["date"])
    for flag in _FLAGS:
        values[flag] = bool(values[flag])
    return Transaction(**values)


class StoredRow(NamedTuple):
    """The stored row of one identity.

    ``statement`` is the id of the statement that its values come from. ``removal`` is None, or the
    row's state since a later file no longer has it.
    """

    id: int
    source_file: str
    row_number: int
    statement: int | None
    removal: str | None
    values: Values


class RowToWrite(NamedTuple):
    """A row to be written: its values, its statement, and the statement that shows it removed."""

    row: SourceRow
    statement: int
    removal: str | None
    removed_by: int | None


@dataclass(frozen=True, slots=True)
class LedgerStatistics:
    """A ledger's number of rows, and its first and last day; None if it is empty."""

    rows: int
    first: date | None
    last: date | None


def statistics(connection: apsw.Connection, tool_id: int) -> LedgerStatistics:
    """The size and the first and last day of a tool's ledger."""
    totals = connection.execute(
        "SELECT count(*), min(date), max(date) FROM transactions WHERE tool_id = ?", (tool_id,)
    ).fetchall()
    rows, *days = totals[0]
    first, last = (None if day is None else date.fromisoformat(str(day)) for day in days)
    return LedgerStatistics(int(rows or 0), first, last)


def rows_by_file(connection: apsw.Connection, tool_id: int) -> dict[str, int]:
    """The number of rows from each file, by path."""
    rows = connection.execute(
        "SELECT source_file, count(*) FROM transactions WHERE tool_id = ? "
        "GROUP BY source_file ORDER BY source_file",
        (tool_id,),
    )
    return {str(path): int(count or 0) for path, count in rows}


def data_version(connection: apsw.Connection, tool_id: int) -> int:
    """A number that grows with every change of the tool's rows or decisions, by any process.

    New rows are counted by their ids, which are never reused (a trigger for each would make a
    large import three times slower); all other changes by triggers.
    """
    rows = connection.execute(
        "SELECT (SELECT coalesce(sum(version), 0) FROM ledger_versions WHERE tool_id = ?) + "
        "(SELECT coalesce(sum(seq), 0) FROM sqlite_sequence "
        "WHERE name IN ('transactions', 'duplicate_checks'))",
        (tool_id,),
    ).fetchall()
    return int(rows[0][0] or 0)


def stored_rows(
    connection: apsw.Connection, tool_id: int, without: Collection[int] = ()
) -> dict[str, StoredRow]:
    """All rows of a tool, by identity; those of the statements ``without`` are left out."""
    rows = connection.execute(
        f"SELECT identity, id, source_file, row_number, statement_id, removal, {_VALUES_OF_FILE} "
        "FROM transactions WHERE +tool_id = ? "  # through the table: no look-up for each row
        "AND (statement_id IS NULL OR statement_id NOT IN (SELECT value FROM json_each(?)))",
        (tool_id, json.dumps(sorted(without))),
    )
    return {
        identity: StoredRow(
            id=row_id,
            source_file=path,
            row_number=line,
            statement=statement,
            removal=removal,
            values=Values._make(values),
        )
        for identity, row_id, path, line, statement, removal, *values in rows
    }


def insert_rows(
    connection: apsw.Connection,
    tool_id: int,
    rows: Iterable[tuple[str, RowToWrite]],
    numbers: Mapping[str, int],
) -> None:
    """Add rows with their identities; call within a transaction.

    ``numbers`` are the former ids of returning rows, which they get again.
    """
    if numbers:
        _count_change(connection, tool_id)
    connection.executemany(
        "INSERT INTO transactions (id, tool_id, identity, statement_id, removal, removed_by, "
        f"removed_at, source_file, row_number, {_VALUES}) VALUES (?, ?, ?, ?, ?5, ?, "
        f"iif(?5 IS NULL, NULL, CURRENT_TIMESTAMP), ?, ?, {_VALUES_GIVEN})",
        (
            (
                numbers.get(identity), tool_id, identity, new.statement, new.removal,
                new.removed_by, new.row.source_file, new.row.row_number, *new.row.values,
            )
            for identity, new in rows
        ),
    )  # fmt: skip


def update_rows(connection: apsw.Connection, rows: Iterable[tuple[int, RowToWrite]]) -> None:
    """Update rows, by id, to the values of a newer file; call within a transaction."""
    connection.executemany(
        f"UPDATE transactions SET ({_PLACE}, {_VALUES}, updated_at, filed_major, filed_minor) = "
        f"({_PLACED}, {_VALUES_GIVEN}, CURRENT_TIMESTAMP, NULL, NULL) WHERE id = ?",
        ((*_place(new), *new.row.values, row_id) for row_id, new in rows),
    )


def move_rows(
    connection: apsw.Connection, tool_id: int, rows: Sequence[tuple[int, RowToWrite]]
) -> None:
    """Update the file and line of rows, by id; call within a transaction."""
    if not rows:
        return
    _count_change(connection, tool_id)
    connection.executemany(
        f"UPDATE transactions SET ({_PLACE}) = ({_PLACED}) WHERE id = ?",
        ((*_place(new), row_id) for row_id, new in rows),
    )


_PLACE = "statement_id, source_file, row_number, removal, removed_by, removed_at"
_PLACED = (
    "?1, ?2, ?3, ?4, ?5, CASE WHEN ?4 IS NULL THEN NULL WHEN removal IS ?4 THEN removed_at "
    "ELSE CURRENT_TIMESTAMP END"
)


def _place(new: RowToWrite) -> tuple[int, str, int, str | None, int | None]:
    return new.statement, new.row.source_file, new.row.row_number, new.removal, new.removed_by


def ids_of(connection: apsw.Connection, tool_id: int, identities: Iterable[str]) -> set[int]:
    """The ids of the rows with these identities."""
    ids = set()
    for identity in identities:
        ids |= {
            int(str(row_id))
            for (row_id,) in connection.execute(
                "SELECT id FROM transactions WHERE tool_id = ? AND identity = ?",
                (tool_id, identity),
            )
        }
    return ids


def rename_identities(
    connection: apsw.Connection, tool_id: int, renames: Mapping[str, str]
) -> None:
    """Change identities from old to new; call within a transaction."""
    connection.executemany(
        "UPDATE transactions SET identity = ? WHERE tool_id = ? AND identity = ?",
        ((new, tool_id, old) for old, new in renames.items()),
    )


def rename_files(connection: apsw.Connection, tool_id: int, renames: Mapping[str, str]) -> None:
    """Change the paths of source files from old to new; call within a transaction."""
    _count_change(connection, tool_id)
    connection.execute("CREATE TEMP TABLE renamed (old TEXT PRIMARY KEY, new TEXT NOT NULL)")
    connection.executemany("INSERT INTO renamed VALUES (?, ?)", renames.items())
    connection.execute(
        "UPDATE transactions SET source_file = (SELECT new FROM renamed WHERE old = source_file) "
        "WHERE tool_id = ? AND source_file IN (SELECT old FROM renamed)",
        (tool_id,),
    )
    connection.execute("DROP TABLE renamed")


def delete_rows(connection: apsw.Connection, row_ids: Iterable[int]) -> None:
    """Delete rows by id; call within a transaction.

    A row that was marked as a duplicate of a deleted one counts again.
    """
    ids = [(row_id,) for row_id in row_ids]
    connection.executemany(
        "UPDATE transactions SET is_duplicate = 0, duplicate_of = NULL, duplicate_checked = 0, "
        "duplicate_checked_at = NULL WHERE duplicate_of = ?",
        ids,
    )
    connection.executemany("DELETE FROM transactions WHERE id = ?", ids)


def _count_change(connection: apsw.Connection, tool_id: int) -> None:
    """Raise the data version: the triggers do not see changes of files and lines."""
    connection.execute(
        "UPDATE ledger_versions SET version = version + 1 WHERE tool_id = ?", (tool_id,)
    )
