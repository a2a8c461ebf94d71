"""Reads the whole ledger of a household."""

from __future__ import annotations

import apsw
from mdvec.household.core.transaction import Transaction
from mdvec.household.interfaces.ledger_sums import TRANSACTION_COLUMNS, read_transaction


def list_transactions(connection: apsw.Connection, tool_id: int) -> list[Transaction]:
    """All rows of a tool by date and id, whether they count or not."""
    rows = connection.execute(
        f"SELECT {TRANSACTION_COLUMNS} FROM transactions WHERE tool_id = ? ORDER BY date, id",
        (tool_id,),
    )
    return [read_transaction(row) for row in rows]
