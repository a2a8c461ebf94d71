"""The ledger: transactions, decisions about duplicates, and what is known of the files.

Identity decides what is stored once; what its user decided about a row is never written here.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Any, NamedTuple

import apsw

from mdvec.core.household.rows import TransactionRow
from mdvec.core.household.transaction import Transaction

_SCHEMA = """
CREATE TABLE transactions (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    tool_id INTEGER NOT NULL REFERENCES tools(id) ON DELETE CASCADE,
    identity TEXT NOT NULL,
    mf_id TEXT NOT NULL,
    source_file TEXT NOT NULL,
    row_number INTEGER NOT NULL,
    date DATE NOT NULL,
    amount INTEGER,
    description TEXT NOT NULL,
    category_major TEXT NOT NULL,
    category_minor TEXT NOT NULL,
    account TEXT NOT NULL,
    memo TEXT NOT NULL,
    is_target INTEGER NOT NULL,
    is_transfer INTEGER NOT NULL,
    is_duplicate INTEGER NOT NULL DEFAULT 0,
    duplicate_of INTEGER REFERENCES transactions(id) ON DELETE SET NULL,
    duplicate_checked INTEGER NOT NULL DEFAULT 0,
    duplicate_checked_at DATETIME,
    created_at DATETIME NOT NULL DEFAULT CURRENT_TIMESTAMP,
    updated_at DATETIME NOT NULL DEFAULT CURRENT_TIMESTAMP,
    UNIQUE (tool_id, identity)
);
CREATE INDEX idx_transactions_date ON transactions (tool_id, date);
CREATE INDEX idx_transactions_amount ON transactions (tool_id, amount);
CREATE INDEX idx_transactions_duplicate_of ON transactions (duplicate_of);
CREATE TABLE duplicate_checks (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    tool_id INTEGER NOT NULL REFERENCES tools(id) ON DELETE CASCADE,
    transaction_id_1 INTEGER NOT NULL REFERENCES transactions(id) ON DELETE CASCADE,
    transaction_id_2 INTEGER NOT NULL REFERENCES transactions(id) ON DELETE CASCADE,
    detection_date_tolerance INTEGER NOT NULL,
    detection_amount_tolerance_abs TEXT NOT NULL,
    detection_amount_tolerance_pct TEXT NOT NULL,
    similarity_score REAL NOT NULL,
    detected_at DATETIME NOT NULL DEFAULT CURRENT_TIMESTAMP,
    user_decision TEXT CHECK (user_decision IN ('duplicate', 'not_duplicate', 'skip')),
    decided_at DATETIME,
    UNIQUE (transaction_id_1, transaction_id_2),
    CHECK (transaction_id_1 < transaction_id_2)
);
CREATE INDEX idx_duplicate_checks_decision ON duplicate_checks (tool_id, user_decision);
CREATE INDEX idx_duplicate_checks_second ON duplicate_checks (transaction_id_2);
CREATE TABLE ledger_files (
    tool_id INTEGER NOT NULL REFERENCES tools(id) ON DELETE CASCADE,
    path TEXT NOT NULL,
    size INTEGER NOT NULL,
    mtime_ns INTEGER NOT NULL,
    content_hash TEXT NOT NULL,
    is_present INTEGER NOT NULL,
    rows INTEGER NOT NULL,
    bad_rows TEXT NOT NULL,
    passed_over TEXT NOT NULL,
    app_version TEXT NOT NULL,
    PRIMARY KEY (tool_id, path)
) WITHOUT ROWID;
CREATE TABLE ledger_versions (
    tool_id INTEGER PRIMARY KEY REFERENCES tools(id) ON DELETE CASCADE,
    version INTEGER NOT NULL DEFAULT 0,
    without_file INTEGER NOT NULL DEFAULT 0
);
CREATE TRIGGER ledger_versions_begun AFTER INSERT ON tools BEGIN
    INSERT INTO ledger_versions (tool_id) VALUES (NEW.id);
END;
INSERT INTO ledger_versions (tool_id) SELECT id FROM tools;
CREATE TRIGGER transactions_updated AFTER UPDATE OF
    date, amount, description, category_major, category_minor, account, memo, is_target,
    is_transfer, mf_id, is_duplicate, duplicate_of, duplicate_checked
ON transactions BEGIN
    UPDATE ledger_versions SET version = version + 1 WHERE tool_id = NEW.tool_id;
END;
CREATE TRIGGER transactions_deleted AFTER DELETE ON transactions BEGIN
    UPDATE ledger_versions SET version = version + 1 WHERE tool_id = OLD.tool_id;
END;
CREATE TRIGGER duplicate_checks_updated AFTER UPDATE ON duplicate_checks BEGIN
    UPDATE ledger_versions SET version = version + 1 WHERE tool_id = NEW.tool_id;
END;
CREATE TRIGGER duplicate_checks_deleted AFTER DELETE ON duplicate_checks BEGIN
    UPDATE ledger_versions SET version = version + 1 WHERE tool_id = OLD.tool_id;
END;
"""
# What an export says of a transaction, in the order of StoredRow.values.
_VALUES = (
    "date, amount, description, category_major, category_minor, account, memo, is_target, "
    "is_transfer, mf_id"
)


Values = tuple[str, int | None, str, str, str, str, str, int, int, str]
"""date, amount, description, both categories, account, memo, both flags, mf_id."""


class StoredRow(NamedTuple):
    """What the ledger has of one identity."""

    id: int
    source_file: str
    row_number: int
    values: Values


class Placed(NamedTuple):
    """What an export says of one identity, and where."""

    source_file: str
    row_number: int
    values: Values


@dataclass(frozen=True, slots=True)
class LedgerStatistics:
    """How many rows a tool's ledger has, and its first and last day; None when it is empty."""

    rows: int
    first: date | None
    last: date | None


def create_ledger(connection: apsw.Connection) -> None:
    """Make the ledger's tables, empty; a step of the file's format."""
    connection.execute(_SCHEMA).fetchall()


def values_of(row: TransactionRow) -> Values:
    """A row of an export as its columns."""
    return (
        row.date.isoformat(), row.amount, row.description, row.category_major, row.category_minor,
        row.account, row.memo, int(row.is_target), int(row.is_transfer), row.mf_id,
    )  # fmt: skip


def list_transactions(
    connection: apsw.Connection, tool_id: int, first: date | None = None, last: date | None = None
) -> list[Transaction]:
    """A tool's rows, those left out of sums included, by date and id.

    ``first`` and ``last`` are days, both included; None is no limit.
    """
    rows = connection.execute(
        "SELECT id, tool_id, date, amount, description, category_major, category_minor, account, "
        "memo, is_target, is_transfer, is_duplicate, duplicate_of, mf_id, source_file, row_number "
        "FROM transactions WHERE tool_id = ? AND date BETWEEN ? AND ? ORDER BY date, id",
        (tool_id, (first or date.min).isoformat(), (last or date.max).isoformat()),
    )
    return [_transaction(row) for row in rows]


def statistics(connection: apsw.Connection, tool_id: int) -> LedgerStatistics:
    """The size and the span of a tool's ledger."""
    found = connection.execute(
        "SELECT count(*), min(date), max(date) FROM transactions WHERE tool_id = ?", (tool_id,)
    ).fetchall()
    rows, *days = found[0]
    first, last = (None if day is None else date.fromisoformat(str(day)) for day in days)
    return LedgerStatistics(int(rows or 0), first, last)


def rows_by_file(connection: apsw.Connection, tool_id: int) -> dict[str, int]:
    """How many of a tool's rows come from each file, by path."""
    rows = connection.execute(
        "SELECT source_file, count(*) FROM transactions WHERE tool_id = ? "
        "GROUP BY source_file ORDER BY source_file",
        (tool_id,),
    )
    return {str(path): int(count or 0) for path, count in rows}


def data_version(connection: apsw.Connection, tool_id: int) -> int:
    """A number that grows whenever a row or a decision of the tool changes, whoever wrote it.

    New rows are counted by their ids, which are never given twice (a trigger on each would make
    a large import three times as slow); everything else by triggers.
    """
    found = connection.execute(
        "SELECT (SELECT coalesce(sum(version), 0) FROM ledger_versions WHERE tool_id = ?) + "
        "(SELECT coalesce(sum(seq), 0) FROM sqlite_sequence "
        "WHERE name IN ('transactions', 'duplicate_checks'))",
        (tool_id,),
    ).fetchall()
    return int(found[0][0] or 0)


def stored_rows(connection: apsw.Connection, tool_id: int) -> dict[str, StoredRow]:
    """Every row of a tool by its identity."""
    rows = connection.execute(
        f"SELECT identity, id, source_file, row_number, {_VALUES} "
        "FROM transactions WHERE tool_id = ?",
        (tool_id,),
    )
    return {row[0]: StoredRow(row[1], row[2], row[3], row[4:]) for row in rows}


def insert_rows(
    connection: apsw.Connection, tool_id: int, rows: Iterable[tuple[str, Placed]]
) -> None:
    """Add rows, each with its identity; call within a transaction."""
    connection.executemany(
        f"INSERT INTO transactions (tool_id, identity, source_file, row_number, {_VALUES}) "
        "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        ((tool_id, identity, row[0], row[1], *row[2]) for identity, row in rows),
    )


def update_rows(connection: apsw.Connection, rows: Iterable[tuple[int, Placed]]) -> None:
    """Give rows, by id, what a later export says; decisions stay. Call within a transaction."""
    connection.executemany(
        f"UPDATE transactions SET (source_file, row_number, {_VALUES}, updated_at) = "
        "(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, CURRENT_TIMESTAMP) WHERE id = ?",
        ((row[0], row[1], *row[2], row_id) for row_id, row in rows),
    )


def move_rows(
    connection: apsw.Connection, tool_id: int, rows: Sequence[tuple[int, Placed]]
) -> None:
    """Note where rows, by id, stand now; call within a transaction."""
    if not rows:
        return
    _count_change(connection, tool_id)
    connection.executemany(
        "UPDATE transactions SET source_file = ?, row_number = ? WHERE id = ?",
        ((row[0], row[1], row_id) for row_id, row in rows),
    )


def rename_files(connection: apsw.Connection, tool_id: int, renames: Mapping[str, str]) -> None:
    """Note new paths of files, by their old ones; call within a transaction."""
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

    A row that was marked as the duplicate of one of them is the only one left, so it counts
    again.
    """
    ids = [(row_id,) for row_id in row_ids]
    connection.executemany(
        "UPDATE transactions SET is_duplicate = 0, duplicate_of = NULL, duplicate_checked = 0, "
        "duplicate_checked_at = NULL WHERE duplicate_of = ?",
        ids,
    )
    connection.executemany("DELETE FROM transactions WHERE id = ?", ids)


def _count_change(connection: apsw.Connection, tool_id: int) -> None:
    """Count a change of places once: the triggers look at contents and decisions only."""
    connection.execute(
        "UPDATE ledger_versions SET version = version + 1 WHERE tool_id = ?", (tool_id,)
    )


def _transaction(row: tuple[Any, ...]) -> Transaction:
    return Transaction(
        row[0], row[1], date.fromisoformat(row[2]), row[3], row[4], row[5], row[6], row[7], row[8],
        bool(row[9]), bool(row[10]), bool(row[11]), row[12], row[13], row[14], row[15],
    )  # fmt: skip
