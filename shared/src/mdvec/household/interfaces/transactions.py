"""The table of transactions, each stored once by its identity.

User decisions about rows are not written here.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields
from datetime import date
from typing import Any

import apsw

from mdvec.household.core.transaction import Transaction

_FIELDS = tuple(field.name for field in fields(Transaction))
_STORED_AS = {"is_removed": "removal IS 'removed'", "is_transfer": "is_transfer | is_moved"}
TRANSACTION_COLUMNS = ", ".join(_STORED_AS.get(name, name) for name in _FIELDS)
"""The SELECT list that ``read_transaction`` expects."""
_FLAGS = ("is_target", "is_transfer", "is_duplicate", "is_removed")


def read_transaction(row: Sequence[Any]) -> Transaction:
    """Converts a result row of ``TRANSACTION_COLUMNS``."""
    values = dict(zip(_FIELDS, row, strict=True))
    values["date"] = date.fromisoformat(values["date"])
    for flag in _FLAGS:
        values[flag] = bool(values[flag])
    return Transaction(**values)


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


def advance_versions(connection: apsw.Connection, by: int) -> None:
    """Let every ledger's ``data_version`` grow: its rows may differ from all that were seen."""
    connection.execute("UPDATE ledger_versions SET version = version + ?", (by,))


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
