"""The rows of households for SQL: one JSON object a row, as the table ``transactions`` has them."""

from __future__ import annotations

from collections.abc import Iterator

import apsw

from mdvec.core.household.categories import INCOME
from mdvec.interfaces.database.ledger_sums import REASON

LEDGER_TABLE = "transactions"
"""What SQL calls the table."""

LEDGER_COLUMNS = {
    "household": "VARCHAR",
    "id": "BIGINT",
    "date": "DATE",
    "month": "VARCHAR",
    "amount": "BIGINT",
    "description": "VARCHAR",
    "category_major": "VARCHAR",
    "category_minor": "VARCHAR",
    "account": "VARCHAR",
    "memo": "VARCHAR",
    "kind": "VARCHAR",
    "counted": "BOOLEAN",
    "is_duplicate": "BOOLEAN",
}
"""The columns and their types in SQL.

``month`` is YYYY-MM of the row's own date, ``amount`` in yen and negative when money goes out.
``counted`` says whether sums count the row; only those are of ``kind`` income or expense, so that
sums by kind are the household's; the others are transfer or excluded.
"""


def ledger_lines(connection: apsw.Connection, tool_id: int, household: str) -> Iterator[str]:
    """Every row of a tool's ledger as a JSON object, in no order."""
    # Built by SQLite: as Python values the same rows take twice as long.
    rows = connection.execute(
        f"""
        SELECT json_object(
            'household', ?1, 'id', id, 'date', date, 'month', substr(date, 1, 7),
            'amount', amount, 'description', description, 'category_major', category_major,
            'category_minor', category_minor, 'account', account, 'memo', memo,
            'kind', CASE WHEN reason IS NULL THEN iif(category_major = ?2, 'income', 'expense')
                         WHEN is_transfer THEN 'transfer' ELSE 'excluded' END,
            'counted', json(iif(reason IS NULL, 'true', 'false')),
            'is_duplicate', json(iif(is_duplicate, 'true', 'false')))
        FROM (SELECT *, {REASON} AS reason FROM transactions WHERE +tool_id = ?3)
        """,
        (household, INCOME, tool_id),
    )
    return (str(line) for (line,) in rows)
