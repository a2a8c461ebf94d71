"""Queries on the rows of a ledger that count, and their sums by shop."""

from __future__ import annotations

from datetime import date
from typing import Any

import apsw

from mdvec.dates.days import Days
from mdvec.household.core.categories import INCOME
from mdvec.household.core.category_rules import ShopTotal
from mdvec.household.core.counted_row import CountedRow
from mdvec.household.core.shop import shops_of
from mdvec.household.core.subjects import Subject
from mdvec.household.interfaces.counting import counts
from mdvec.household.interfaces.sums import where_rows

_COLUMNS = "id, date, amount, description, category_major, category_minor, account"


def counted_rows(
    connection: apsw.Connection,
    tool_id: int,
    first: date,
    last: date,
    subject: Subject | None = None,
) -> list[CountedRow]:
    """The rows that count from ``first`` to ``last``, both included, by date and id.

    There are none if ``last`` is before ``first``, as in a ledger of the future alone.
    """
    if last < first:
        return []
    where, values = where_rows(tool_id, Days(first, last), subject)
    found: list[tuple[Any, ...]] = connection.execute(
        f"SELECT {_COLUMNS} FROM transactions WHERE {where} AND {counts()} ORDER BY date, id",
        values,
    ).fetchall()
    shops = shops_of(str(row[3]) for row in found)
    return [
        CountedRow(
            row_id, date.fromisoformat(day), amount, text, shops[text], major, minor, account
        )
        for row_id, day, amount, text, major, minor, account in found
    ]


def shop_totals(connection: apsw.Connection, tool_id: int) -> list[ShopTotal]:
    """The rows that count, summed by description and category, the earliest first."""
    found: list[tuple[Any, ...]] = connection.execute(
        "SELECT description, category_major, category_minor, count(*), "
        "sum(CASE WHEN category_major = ? THEN amount ELSE -amount END) "
        f"FROM transactions WHERE +tool_id = ? AND {counts()} "
        "GROUP BY 1, 2, 3 ORDER BY min(date), min(id)",
        (INCOME, tool_id),
    ).fetchall()
    shops = shops_of(str(row[0]) for row in found)
    return [
        ShopTotal(shops[text], " ".join(text.split()), major, minor, rows, yen)
        for text, major, minor, rows, yen in found
    ]
