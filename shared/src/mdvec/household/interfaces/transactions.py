"""The table of transactions, each stored once by its identity.

User decisions about rows are not written here.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields
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


def row_count(connection: apsw.Connection, tool_id: int) -> int:
    """The number of rows of a ledger."""
    rows: int = connection.execute(
        "SELECT count(*) FROM transactions WHERE tool_id = ?", (tool_id,)
    ).get
    return rows


def rows_by_file(connection: apsw.Connection, tool_id: int) -> dict[str, int]:
    """The number of rows from each file, by path."""
    return dict(
        connection.execute(
            "SELECT source_file, count(*) FROM transactions WHERE tool_id = ? GROUP BY 1",
            (tool_id,),
        )
    )


def data_version(connection: apsw.Connection, tool_id: int) -> int:
    """A number that grows with every change of the tool's rows or decisions, by any process.

    New rows are counted by their ids, which are never reused (a trigger for each would make a
    large import three times slower); all other changes by triggers.
    """
    version: int = connection.execute(
        "SELECT (SELECT coalesce(sum(version), 0) FROM ledger_versions WHERE tool_id = ?) + "
        "(SELECT coalesce(sum(seq), 0) FROM sqlite_sequence "
        "WHERE name IN ('transactions', 'duplicate_checks'))",
        (tool_id,),
    ).get
    return version


def advance_versions(connection: apsw.Connection, by: int) -> None:
    """Let every ledger's ``data_version`` grow: its rows may differ from all that were seen."""
    connection.execute("UPDATE ledger_versions SET version = version + ?", (by,))
