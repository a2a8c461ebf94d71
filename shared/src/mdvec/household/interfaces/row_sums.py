"""Sums of the rows that filters select, in SQL: by shop, category and day, and a page of them."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Any, Literal

import apsw

from mdvec.dates import Days
from mdvec.household.core.categories import INCOME, Category, Subject, folded_category
from mdvec.household.core.sums import KeySum, RowSum
from mdvec.household.core.transaction import RowNote, Transaction
from mdvec.household.interfaces.ledger import Ledger
from mdvec.household.interfaces.ledger_sums import counts, left_out, of_subject, transactions

Order = Literal["newest", "oldest", "largest", "smallest"]
RowOrder = Literal[Order, "shop", "category", "account"]
"""The sort orders of the page's table; models can only sort by date and amount."""
_ORDERS: dict[RowOrder, str] = {
    "newest": "date DESC, id DESC",
    "oldest": "date, id",
    "largest": "amount IS NULL, max(amount, -amount) DESC, date DESC, id DESC",
    "smallest": "amount IS NULL, max(amount, -amount), date DESC, id DESC",
    "shop": "description, date DESC, id DESC",
    "category": "category_major, category_minor, date DESC, id DESC",
    "account": "account, date DESC, id DESC",
}
_BY_SUBJECT, _BY_DATE = "INDEXED BY idx_transactions_subject", "INDEXED BY idx_transactions_date"
_BY_AMOUNT = "INDEXED BY idx_transactions_amount"
_FEW_DAYS = 0.1
"""Up to this share of a ledger's days, the index of days is used even for sums by shop."""
_GREATEST = 2**63 - 1


@dataclass(frozen=True, slots=True)
class RowCondition:
    """The conditions on a ledger's rows other than words; None and () restrict nothing.

    Attributes:
        extent: the days of the whole ledger, from the first with a row to the last.
        within: the rows must be of one of these categories.
        without: the rows must be of none of these categories.
    """

    ledger: Ledger
    extent: Days
    days: Days | None = None
    accounts: tuple[str, ...] | None = None
    min_amount: int | None = None
    max_amount: int | None = None
    within: tuple[Subject, ...] = ()
    without: tuple[Subject, ...] = ()

    @property
    def where(self) -> tuple[str, tuple[Any, ...]]:
        """The condition in SQL, and the values to bind."""
        parts: list[tuple[str, tuple[Any, ...]]] = [("tool_id = ?", (self.ledger.tool_id,))]
        if self.days is not None:
            ends = (self.days.first.isoformat(), self.days.last.isoformat())
            parts.append(("date BETWEEN ? AND ?", ends))
        if self.accounts is not None:
            parts.append((_is_one_of("account"), (json.dumps(self.accounts),)))
        if self.min_amount is not None:
            least = min(self.min_amount, _GREATEST)
            parts.append(("(amount >= ? OR amount <= ?)", (least, -least)))
        if self.max_amount is not None:
            most = min(self.max_amount, _GREATEST)
            parts.append(("amount BETWEEN ? AND ?", (-most, most)))
        for subjects, is_in in ((self.within, ""), (self.without, "NOT ")):
            if subjects:
                conditions, values = zip(*map(of_subject, subjects), strict=True)
                parts.append((f"{is_in}({' OR '.join(conditions)})", sum(values, ())))
        return " AND ".join(sql for sql, _ in parts), sum((values for _, values in parts), ())

    @property
    def known_days(self) -> Days | None:
        """The requested days within the ledger."""
        return (self.days or self.extent).within(self.extent)

    @property
    def is_of_few_days(self) -> bool:
        """Whether only few of the ledger's days are requested."""
        shared = self.known_days
        return self.days is not None and (
            shared is None or _length(shared) <= max(_FEW_DAYS * _length(self.extent), 1)
        )


def _length(days: Days) -> int:
    return (days.last - days.first).days + 1


@dataclass(frozen=True, slots=True)
class RowsChosen:
    """The rows of a condition with some texts, or ids, that do or do not count.

    ``texts`` are descriptions with memos; None stands for all of them. ``noted`` are the ids of
    rows with notes, which are in ``chosen`` if their words were asked for. ``are_transfers``: only
    transfers are chosen, of which money out and in are summed apart.
    """

    condition: RowCondition
    reasons: Collection[str | None]
    texts: tuple[tuple[str, str], ...] | None = None
    noted: tuple[int, ...] = ()
    chosen: tuple[int, ...] = ()
    are_transfers: bool = False


def extent_of(ledger: Ledger) -> Days:
    """The days of a ledger, from the first with a row to the last; there has to be a row."""
    # Each from its own index.
    first, last = ledger.execute(
        "SELECT (SELECT min(date) FROM transactions WHERE tool_id = ?1), "
        "(SELECT max(date) FROM transactions WHERE tool_id = ?1)"
    ).get
    return Days(date.fromisoformat(first), date.fromisoformat(last))


def account_names(ledger: Ledger) -> list[str]:
    """Every account of the ledger that has a name."""
    names = f"SELECT DISTINCT account FROM transactions {_BY_SUBJECT} WHERE tool_id = ?"
    return list(filter(None, ledger.column(names)))


def accounts_named(ledger: Ledger, name: str) -> list[str]:
    """The account with this name, or all whose name contains it."""
    known, wanted = account_names(ledger), folded_category(name)
    accounts = [account for account in known if folded_category(account) == wanted]
    return sorted(
        accounts or [account for account in known if wanted and wanted in folded_category(account)]
    )


def sums_by_text(
    condition: RowCondition, noted: Mapping[int, RowNote], *, of_transfers: bool = False
) -> list[RowSum]:
    """The rows of a condition, summed by every column that word searches and groupings need.

    Rows that do not count have sums of their own. Each row in ``noted`` is returned by itself.
    """
    columns = f"{_COLUMNS}, {_income(of_transfers=of_transfers)}"
    connection = condition.ledger.connection
    where, values = condition.where
    index = _BY_DATE if condition.is_of_few_days else _BY_SUBJECT
    ids = json.dumps(sorted(noted))
    without = f" AND NOT {_is_one_of('id')}" if noted else ""
    # A separate condition on the amount lets SQLite sum the rows in the index's order.
    kinds = (("amount IS NOT NULL", index), ("amount IS NULL", _BY_AMOUNT))
    summed_rows: list[RowSum] = []
    for known, by in kinds:
        rows = connection.execute(
            f"SELECT {columns} FROM transactions {by} "
            f"WHERE {where} AND {known}{without} GROUP BY {_GROUPED}",
            (*values, *([ids] if noted else ())),
        )
        summed_rows += [RowSum(*row) for row in rows]
    if noted:
        rows = connection.execute(
            f"SELECT {columns}, id FROM transactions "
            f"WHERE {where} AND {_is_one_of('id')} GROUP BY id",
            (*values, ids),
        )
        summed_rows += [
            RowSum._make((*row, (noted[row_id].note, *noted[row_id].tags), row_id))
            for *row, row_id in rows
        ]
    return summed_rows


def _income(*, of_transfers: bool) -> str:
    part = "max(amount, 0)" if of_transfers else f"iif(category_major = '{INCOME}', amount, 0)"
    return f"coalesce(sum({part}), 0)"


_SUM = "count(*), coalesce(sum(amount), 0)"
_COLUMNS = f"description, memo, category_major, category_minor, account, {left_out()}, {_SUM}"
_GROUPED = (
    "description, category_major, category_minor, memo, account, removal, is_duplicate, is_moved, "
    "is_transfer, is_target"
)


def rows_left_out(condition: RowCondition) -> list[tuple[str | None, int]]:
    """Why rows of a condition do not count, and how many of them."""
    where, values = condition.where
    index = _index_of_days(condition)
    rows = condition.ledger.connection.execute(
        f"SELECT {left_out()}, count(*) FROM transactions {index} "
        f"WHERE {where} AND NOT ({counts()}) GROUP BY 1",
        values,
    )
    return list(rows)


def sums_by(rows: RowsChosen, key: Literal["date", "source_file"]) -> list[KeySum]:
    """The sums of each day or file with rows, in no particular order."""
    index = _index_of_days(rows.condition)
    if key == "source_file" and not rows.condition.is_of_few_days:
        index = "NOT INDEXED"  # the column is in no index
    sources, values = _sources(rows, index)
    income = _income(of_transfers=rows.are_transfers)
    return [
        KeySum(*row)
        for source, bound in zip(sources, values, strict=True)
        for row in rows.condition.ledger.connection.execute(
            f"SELECT {key}, {_SUM}, {income} FROM {source} GROUP BY 1", bound
        )
    ]


def _index_of_days(condition: RowCondition) -> str:
    has_minor = any(
        isinstance(subject, Category) and subject.minor
        for subject in (*condition.within, *condition.without)
    )
    has_all = condition.accounts is None and not has_minor
    return _BY_DATE if has_all or condition.is_of_few_days else _BY_SUBJECT


def page_of(rows: RowsChosen, order: RowOrder, *, offset: int, limit: int) -> list[Transaction]:
    """A page of the rows in an order; of equal amounts the newest comes first."""
    if not limit:
        return []
    by_date = order in ("newest", "oldest") and rows.condition.days is None
    index = _BY_DATE if by_date else _index_of_days(rows.condition)
    if order in ("shop", "category", "account"):
        index = _BY_SUBJECT  # this index has the columns
    sources, values = _sources(rows, index)
    columns = "id, date, amount, description, category_major, category_minor, account"
    ids = " UNION ALL ".join(f"SELECT {columns} FROM {source}" for source in sources)
    page = (
        f"WHERE id IN (SELECT id FROM ({ids}) ORDER BY {_ORDERS[order]} LIMIT ? OFFSET ?) "
        f"ORDER BY {_ORDERS[order]}"
    )
    connection = rows.condition.ledger.connection
    return list(transactions(connection, page, (*sum(values, ()), limit, offset)))


def ids_of(rows: RowsChosen, among: Collection[int] | None = None) -> list[int]:
    """The ids of all the rows, or of those that are also among some ids."""
    connection = rows.condition.ledger.connection
    if among is None:
        sources, values = _sources(rows, _index_of_days(rows.condition))
        ids = " UNION ALL ".join(f"SELECT id FROM {source}" for source in sources)
        return [row_id for (row_id,) in connection.execute(ids, sum(values, ()))]
    where, bound = rows.condition.where
    few = connection.execute(
        "SELECT id, description, memo FROM transactions NOT INDEXED "
        f"WHERE {_is_one_of('id')} AND {where} AND {_is_asked(rows.reasons)}",
        (json.dumps(list(among)), *bound),
    )
    texts = None if rows.texts is None else set(rows.texts)
    return [
        row_id
        for row_id, *text in few
        if texts is None
        or (row_id in rows.chosen if row_id in rows.noted else tuple(text) in texts)
    ]


def with_ids(ids: Sequence[int]) -> tuple[str, tuple[Any, ...]]:
    """The condition of the rows with these ids in SQL, and the values to bind."""
    return _is_one_of("id"), (json.dumps(ids),)


def _sources(rows: RowsChosen, index: str) -> tuple[list[str], list[tuple[Any, ...]]]:
    """The SQL after FROM, and its values: for rows by texts, and for rows chosen by their notes."""
    where, values = rows.condition.where
    where = f"{where} AND {_is_asked(rows.reasons)}"
    if rows.texts is None:
        return [f"transactions {index} WHERE {where}"], [values]
    # CROSS JOIN starts from the texts: few rows have them, and the index finds these.
    of_texts = (
        "(SELECT value ->> 0 AS shop, value ->> 1 AS words FROM json_each(?)) AS asked "
        f"CROSS JOIN transactions {_BY_SUBJECT} "
        f"WHERE description = asked.shop AND memo = asked.words AND {where}"
    )
    texts = json.dumps(rows.texts)
    if not rows.noted:
        return [of_texts], [(texts, *values)]
    by_id = f"transactions WHERE {where} AND {_is_one_of('id')}"
    return [f"{of_texts} AND NOT {_is_one_of('id')}", by_id], [
        (texts, *values, json.dumps(rows.noted)),
        (*values, json.dumps(rows.chosen)),
    ]


def _is_asked(reasons: Collection[str | None]) -> str:
    if set(reasons) == {None}:
        return counts()
    names = ", ".join(f"'{reason or ''}'" for reason in sorted(reasons, key=str))
    return f"coalesce({left_out()}, '') IN ({names})"


def _is_one_of(column: str) -> str:
    return f"{column} IN (SELECT value FROM json_each(?))"


def texts_of(connection: apsw.Connection, ids: Iterable[int]) -> set[tuple[str, str]]:
    """The descriptions and memos of some rows."""
    rows = connection.execute(
        f"SELECT description, memo FROM transactions WHERE {_is_one_of('id')}",
        (json.dumps(list(ids)),),
    )
    return set(rows)
