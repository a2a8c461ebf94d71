"""The ledger as a DuckDB table: its columns, and its rows as JSON arrays."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date
from functools import cache

import apsw

from mdvec.dates import Month
from mdvec.household.core.categories import INCOME
from mdvec.household.core.shop_names import shops_of
from mdvec.household.interfaces.ledger_sums import left_out

LEDGER_TABLE = "transactions"
"""The table's name in SQL."""

LEDGER_COLUMNS = {
    "household": ("VARCHAR", "row[1]"),
    "id": ("BIGINT", "row[2]"),
    "date": ("DATE", "row[3]"),
    "month": ("VARCHAR", "row[14]"),
    "amount": ("BIGINT", "row[4]"),
    "description": ("VARCHAR", "row[5]"),
    "shop": ("VARCHAR", "row[13]"),
    "category_major": ("VARCHAR", "row[6]"),
    "category_minor": ("VARCHAR", "row[7]"),
    "account": ("VARCHAR", "row[8]"),
    "memo": ("VARCHAR", "row[9]"),
    "kind": (
        "VARCHAR",
        f"CASE WHEN row[10] IS NULL THEN if(row[6] = '{INCOME}', 'income', 'expense') "
        "WHEN row[11] = '1' THEN 'transfer' ELSE 'excluded' END",
    ),
    "counted": ("BOOLEAN", "row[10] IS NULL"),
    "is_duplicate": ("BOOLEAN", "row[12] = '1'"),
}
"""Each column with its SQL type, and the DuckDB expression that reads it from a row of texts.

``month`` is the household's month (YYYY-MM), as in its answers; ``amount`` is in yen, negative for
money that goes out. ``shop`` is the normalised description, to group and search by. ``counted``
says whether the row goes into sums; only such rows have the ``kind`` income or expense, so sums by
kind agree with the household's answers. All others are transfer or excluded.
"""


def ledger_lines(
    connection: apsw.Connection, tool_id: int, household: str, month_starts_on: int = 1
) -> Iterator[str]:
    """Every row of a tool's ledger as a JSON array, in no particular order.

    Months start on the day ``month_starts_on``.
    """
    descriptions = connection.execute(
        "SELECT description FROM transactions WHERE +tool_id = ?", (tool_id,)
    )
    shops = shops_of(str(description) for (description,) in descriptions)
    connection.create_scalar_function(
        "shop_of", lambda *texts: shops[str(texts[0])], 1, deterministic=True
    )
    month_of = cache(lambda day: str(Month.of(date.fromisoformat(day), month_starts_on)))
    connection.create_scalar_function(
        "month_of", lambda *days: month_of(str(days[0])), 1, deterministic=True
    )
    month = "substr(date, 1, 7)" if month_starts_on == 1 else "month_of(date)"
    # Built by SQLite: as Python values the same rows take twice as long.
    rows = connection.execute(
        "SELECT json_array(?, id, date, amount, description, category_major, category_minor, "
        f"account, memo, {left_out()}, is_transfer | is_moved, is_duplicate, shop_of(description), "
        f"{month}) "
        "FROM transactions WHERE +tool_id = ?",
        (household, tool_id),
    )
    return (str(line) for (line,) in rows)
