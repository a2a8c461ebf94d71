"""A household's spending or income by shop, and the rows behind each."""

from __future__ import annotations

from dataclasses import dataclass

import apsw
import numpy as np

from mdvec.dates import Days
from mdvec.household.core.found import FoundGroup
from mdvec.household.core.shop_names import shop_of, shops_of
from mdvec.household.core.subjects import Subject
from mdvec.household.core.transaction import Transaction
from mdvec.household.found_sums import sums_by
from mdvec.household.interfaces.columns import ColumnsCache, rows_with_ids
from mdvec.household.interfaces.transactions import TRANSACTION_COLUMNS, read_transaction
from mdvec.household.overview import one_state
from mdvec.household.row_search import RowSearch

MAX_SHOPS = 200


@dataclass(frozen=True, slots=True)
class ShopSums:
    """The shops with the largest sums, out of ``total``."""

    shops: tuple[FoundGroup, ...]
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
    cache: ColumnsCache,
    limit: int = 20,
) -> ShopSums:
    """The sums of the rows that count, by shop, as ``find_transactions`` groups them.

    At most ``MAX_SHOPS``. ``subject`` narrows them to a category or to all spending.
    """
    with one_state(connection):
        columns = cache.get(connection, tool_id)
    search = RowSearch(columns)
    search.within_days(days)
    search.of_subject(subject)
    chosen = search.selected("counted")
    shops, _ = sums_by(columns, chosen, columns.shops, str, len(columns.shops.values))
    return ShopSums(shops[: min(limit, MAX_SHOPS)], len(shops))


def rows_of_shop(
    connection: apsw.Connection,
    tool_id: int,
    days: Days,
    subject: Subject | None,
    shop: str,
    cache: ColumnsCache,
    *,
    offset: int,
    limit: int,
) -> ShopRows:
    """A page of the rows of a shop, with the reason in ``left_out`` where one does not count.

    ``shop`` is the shop's name, or a description of one of its rows.
    """
    with one_state(connection):
        columns = cache.get(connection, tool_id)
        search = RowSearch(columns)
        search.within_days(days)
        search.of_subject(subject)
        wanted, shops = shop_of(shop), shops_of(columns.shops.values)
        search.keep(columns.shops, lambda name: shops[name] == wanted)
        places = np.flatnonzero(search.selected("all"))
        ids = [int(number) for number in columns.ids[places[offset : offset + limit]]]
        stored = rows_with_ids(connection, TRANSACTION_COLUMNS, ids)
    return ShopRows(tuple(read_transaction(stored[number]) for number in ids), len(places))
