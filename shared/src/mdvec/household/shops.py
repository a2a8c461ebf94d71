"""A household's spending or income by shop, and the rows behind each."""

from __future__ import annotations

from dataclasses import dataclass

import apsw

from mdvec.dates.days import Days
from mdvec.household.core.subjects import Subject
from mdvec.household.core.transaction import Transaction
from mdvec.household.interfaces import shops as ledger_shops
from mdvec.household.interfaces.shops import ShopSum
from mdvec.household.overview import one_state

MAX_SHOPS = 200


@dataclass(frozen=True, slots=True)
class ShopSums:
    """The shops with the largest sums, out of ``total``."""

    shops: tuple[ShopSum, ...]
    total: int


@dataclass(frozen=True, slots=True)
class ShopRows:
    """A page of a shop's rows, by date, out of ``total``."""

    rows: tuple[Transaction, ...]
    total: int


def shop_sums(
    connection: apsw.Connection,
    tool_id: int,
    days: Days,
    subject: Subject | None,
    limit: int = 20,
) -> ShopSums:
    """The sums of the rows that count, by shop; at most ``MAX_SHOPS``.

    ``subject`` narrows them to a category or to all spending.
    """
    shops, total = ledger_shops.shop_sums(connection, tool_id, days, subject, min(limit, MAX_SHOPS))
    return ShopSums(tuple(shops), total)


def rows_of_shop(
    connection: apsw.Connection,
    tool_id: int,
    days: Days,
    subject: Subject | None,
    shop: str,
    *,
    offset: int,
    limit: int,
) -> ShopRows:
    """A page of the rows of a shop, with the reason in ``left_out`` where one does not count."""
    with one_state(connection):
        rows, total = ledger_shops.rows_of_shop(
            connection, tool_id, days, subject, shop, offset=offset, limit=limit
        )
    return ShopRows(tuple(rows), total)
