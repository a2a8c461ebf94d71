"""A household's spending or income by shop, and the rows behind each."""

from __future__ import annotations

from dataclasses import dataclass

import apsw

from mdvec.dates import Days
from mdvec.household.core.categories import Subject
from mdvec.household.core.row_sums import FoundGroup, groups_by, shop_names
from mdvec.household.core.shop_names import shop_of, shops_of
from mdvec.household.core.sums import REASONS
from mdvec.household.core.transaction import Transaction
from mdvec.household.interfaces.row_sums import (
    RowCondition,
    RowsChosen,
    descriptions,
    extent_of,
    page_of,
    row_sums,
)
from mdvec.household.overview import one_state

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
    limit: int = 20,
) -> ShopSums:
    """The sums of the rows that count, by shop, as ``find_transactions`` groups them.

    At most ``MAX_SHOPS``. ``subject`` narrows them to a category or to all spending.
    """
    with one_state(connection):
        sums = row_sums(connection, _condition(connection, tool_id, days, subject), {})
        shop = shop_names(descriptions(connection, tool_id))
    counted = [row_sum for row_sum, _ in sums if row_sum.left_out is None]
    shops = groups_by(counted, lambda row_sum: shop(row_sum.description))
    return ShopSums(tuple(shops[: min(limit, MAX_SHOPS)]), len(shops))


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
    """A page of the rows of a shop, with the reason in ``left_out`` where one does not count.

    ``shop`` is the shop's name, or a description of one of its rows.
    """
    with one_state(connection):
        condition = _condition(connection, tool_id, days, subject)
        sums = [name for name, _ in row_sums(connection, condition, {})]
        wanted, shops = shop_of(shop), shops_of(name.description for name in sums)
        alike = [name for name in sums if shops[name.description] == wanted]
        texts = tuple({(name.description, name.memo): None for name in alike})
        chosen = RowsChosen(condition, (None, *REASONS), texts)
        rows = page_of(connection, chosen, "oldest", offset=offset, limit=limit)
    return ShopRows(tuple(rows), sum(name.rows for name in alike))


def _condition(
    connection: apsw.Connection, tool_id: int, days: Days, subject: Subject | None
) -> RowCondition:
    within = () if subject is None else (subject,)
    return RowCondition(tool_id, extent_of(connection, tool_id), days, within=within)
