"""Queries on the rows of a ledger that count, and their sums by shop."""

from __future__ import annotations

from datetime import date
from typing import Any

import apsw

from mdvec.household.core.categories import INCOME, Category
from mdvec.household.core.category_rules import ShopTotal
from mdvec.household.core.counted_row import CountedRow
from mdvec.household.core.shop import shops_of
from mdvec.household.core.subjects import Subject, Total
from mdvec.household.interfaces.counting import counts

_COLUMNS = "id, date, amount, description, category_major, category_minor, account"


def counted_rows(
    connection: apsw.Connection,
    tool_id: int,
    first: date,
    last: date,
    subject: Subject | None = None,
) -> list[CountedRow]:
    """The rows that count from ``first`` to ``last``, both included, by date and id."""
    of_subject, names = _of_subject(subject)
    found: list[tuple[Any, ...]] = connection.execute(
        f"SELECT {_COLUMNS} FROM transactions "
        f"WHERE tool_id = ? AND date BETWEEN ? AND ? AND {counts()}{of_subject} ORDER BY date, id",
        (tool_id, first.isoformat(), last.isoformat(), *names),
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


def _of_subject(subject: Subject | None) -> tuple[str, tuple[str, ...]]:
    if subject is Total.SPENDING:
        return " AND category_major <> ?", (INCOME,)
    if not isinstance(subject, Category):
        return "", ()
    if subject.minor is None:
        return " AND category_major = ?", (subject.major,)
    return " AND category_major = ? AND category_minor = ?", (subject.major, subject.minor)
