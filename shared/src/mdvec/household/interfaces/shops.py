"""Queries on a ledger by shop: its sums, and the rows of one."""

from __future__ import annotations

from dataclasses import dataclass

import apsw

from mdvec.dates.days import Days
from mdvec.household.core.subjects import Subject
from mdvec.household.core.transaction import Transaction
from mdvec.household.interfaces.counting import counts
from mdvec.household.interfaces.rows import TRANSACTION_COLUMNS, read_transaction
from mdvec.household.interfaces.sums import where_rows


@dataclass(frozen=True, slots=True)
class ShopSum:
    """The rows of a shop that count: how many, and their sum in yen, signed as in the ledger."""

    shop: str
    rows: int
    amount: int


def shop_sums(
    connection: apsw.Connection,
    tool_id: int,
    days: Days,
    subject: Subject | None,
    limit: int,
) -> tuple[list[ShopSum], int]:
    """The shops with the largest sums, whatever their sign, and how many shops there are."""
    where, values = where_rows(tool_id, days, subject)
    rows = connection.execute(
        "SELECT description, count(*), sum(amount), count(*) OVER () FROM transactions "
        f"WHERE {where} AND {counts()} GROUP BY description "
        "ORDER BY abs(sum(amount)) DESC, description LIMIT ?",
        (*values, limit),
    ).fetchall()
    total = int(str(rows[0][3])) if rows else 0
    sums = [ShopSum(str(row[0]), int(str(row[1])), int(str(row[2]))) for row in rows]
    return sums, total


def rows_of_shop(
    connection: apsw.Connection,
    tool_id: int,
    days: Days,
    subject: Subject | None,
    shop: str,
    *,
    offset: int,
    limit: int,
) -> tuple[list[Transaction], int]:
    """A page of a shop's rows by date, whether they count or not, and the number of all."""
    where, values = where_rows(tool_id, days, subject)
    of_shop = f"FROM transactions WHERE {where} AND description = ?"
    ((total,),) = connection.execute(f"SELECT count(*) {of_shop}", (*values, shop)).fetchall()
    rows = connection.execute(
        f"SELECT {TRANSACTION_COLUMNS} {of_shop} ORDER BY date, id LIMIT ? OFFSET ?",
        (*values, shop, limit, offset),
    )
    return [read_transaction(row) for row in rows], int(str(total))
