"""Queries on a ledger: its months, categories, sums, and pages of its rows.

Each transaction is stored once, by its identity. User decisions about rows are not written here.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import fields
from datetime import date
from typing import Any

import apsw

from mdvec.dates import Days, Month, MonthRange
from mdvec.household.core.categories import INCOME, UNCATEGORISED, Category, Subject, Total
from mdvec.household.core.category_rules import ShopTotal
from mdvec.household.core.row_sums import ShopOf, shop_names
from mdvec.household.core.shop_names import shops_of
from mdvec.household.core.sums import MonthlySum, Totals
from mdvec.household.core.transaction import CountedRow, Transaction
from mdvec.household.interfaces.ledger import Ledger

_FIELDS = tuple(field.name for field in fields(Transaction))
_STORED_AS = {"is_removed": "removal IS 'removed'", "is_transfer": "is_transfer | is_moved"}
TRANSACTION_COLUMNS = ", ".join(_STORED_AS.get(name, name) for name in _FIELDS)
"""The SELECT list that ``read_transaction`` expects."""
_FLAGS = ("is_target", "is_transfer", "is_duplicate", "is_removed")


def read_transaction(row: Sequence[Any]) -> Transaction:
    """A transaction from a result row of ``TRANSACTION_COLUMNS``."""
    values = dict(zip(_FIELDS, row, strict=True))
    values["date"] = date.fromisoformat(values["date"])
    for flag in _FLAGS:
        values[flag] = bool(values[flag])
    return Transaction(**values)


def transactions(
    connection: apsw.Connection, rest: str, values: tuple[Any, ...]
) -> Iterator[Transaction]:
    """The rows that an SQL statement selects; ``rest`` is its part after ``FROM transactions``."""
    rows = connection.execute(f"SELECT {TRANSACTION_COLUMNS} FROM transactions {rest}", values)
    return map(read_transaction, rows)


def row_count(ledger: Ledger) -> int:
    """The number of rows of a ledger."""
    return ledger.number("SELECT count(*) FROM transactions WHERE tool_id = ?")


def rows_by_file(ledger: Ledger) -> dict[str, int]:
    """The number of rows from each file, by path."""
    rows = "SELECT source_file, count(*) FROM transactions WHERE tool_id = ? GROUP BY 1"
    return dict(ledger.execute(rows))


def statements_without_file(ledger: Ledger, present: Collection[int]) -> set[int]:
    """The statements with rows of the ledger that no statement of ``present``, by id, has.

    Rows that newer files show to be gone are left aside.
    """
    there = "(SELECT value FROM json_each(?2))"
    rows = ledger.execute(
        "SELECT DISTINCT statement_id FROM transactions WHERE +tool_id = ?1 AND removal IS NULL "
        f"AND statement_id NOT IN {there} AND identity NOT IN "
        f"(SELECT identity FROM statement_rows WHERE statement_id IN {there})",
        (json.dumps(sorted(present)),),
    )
    return {statement for (statement,) in rows}


def data_version(ledger: Ledger) -> int:
    """A number that grows with every change of the tool's rows or decisions, by any process.

    New rows are seen by their ids, which are never reused (a trigger on each row would make a large
    import three times slower); all other changes are counted by triggers.
    """
    return ledger.number(
        "SELECT (SELECT coalesce(sum(version), 0) FROM ledger_versions WHERE tool_id = ?) + "
        "(SELECT coalesce(sum(seq), 0) FROM sqlite_sequence "
        "WHERE name IN ('transactions', 'duplicate_checks'))"
    )


def advance_versions(connection: apsw.Connection, by: int) -> None:
    """Raise every ledger's ``data_version``, since its rows may differ from all seen before."""
    connection.execute("UPDATE ledger_versions SET version = version + ?", (by,))


_NOT_IN_LEDGER = "{0}removal IS 'removed'"
_REASONS = {
    "transfer": "({0}is_transfer OR {0}is_moved)",
    "not_target": "NOT {0}is_target",
    "duplicate": "{0}is_duplicate",
    "no_amount": "{0}amount IS NULL",
    "no_category": "{0}category_major = ''",
    "removed": _NOT_IN_LEDGER,
}
"""The condition of each reason to leave a row out, in the order of ``Transaction.left_out``.

Money Forward also marks its transfers as 計算対象 0; transfer is the more telling reason.
"""


def left_out() -> str:
    """An SQL expression: the first reason that keeps a row out of the sums, NULL if it counts."""
    cases = (f"WHEN {holds.format('')} THEN '{reason}'" for reason, holds in _REASONS.items())
    return f"CASE {' '.join(cases)} END"


def counts(table: str = "") -> str:
    """An SQL condition: a row of ``table`` (its name or alias) goes into sums."""
    return _none_of(_REASONS, table)


def counts_unless_decided(table: str = "") -> str:
    """An SQL condition: a row of ``table`` would go into sums but for decisions about pairs."""
    file_says = _REASONS | {"transfer": "{0}is_transfer"}
    del file_says["duplicate"]
    return _none_of(file_says, table)


def in_ledger(table: str = "") -> str:
    """An SQL condition: a row of ``table`` is in its statements, or its removal is undecided."""
    return _none_of({"removed": _NOT_IN_LEDGER}, table)


def _none_of(reasons: Mapping[str, str], table: str) -> str:
    prefix = f"{table}." if table else ""
    return " AND ".join(f"NOT ({holds.format(prefix)})" for holds in reasons.values())


_COLUMNS = "id, date, amount, description, category_major, category_minor, account"


def descriptions(ledger: Ledger) -> list[str]:
    """Every description of the ledger once, sorted."""
    texts = "SELECT DISTINCT description FROM transactions WHERE tool_id = ? ORDER BY 1"
    return ledger.column(texts)


def shops_of_ledger(ledger: Ledger) -> ShopOf:
    """A function that gives the shop's name in answers for each description of the ledger."""
    return shop_names(tuple(descriptions(ledger)))


def counted_rows(
    ledger: Ledger, first: date, last: date, subject: Subject | None = None, *, others: bool = False
) -> list[CountedRow]:
    """The rows that count from ``first`` to ``last``, both included, by date and id.

    There are none if ``last`` is before ``first``, as in a ledger with only future rows. ``others``
    selects the rows that do not count instead, with 0 for a missing amount.
    """
    if last < first:
        return []
    where, values = where_rows(ledger.tool_id, Days(first, last), subject)
    selected = f"{where} AND {'NOT ' * others}({counts()})"
    query = f"SELECT {_COLUMNS} FROM transactions WHERE {selected} ORDER BY date, id"
    rows = list(ledger.connection.execute(query, values))
    shop = shops_of_ledger(ledger) if rows else str
    return [
        CountedRow(
            row_id, date.fromisoformat(day), amount or 0, text, shop(text), major, minor, account
        )
        for row_id, day, amount, text, major, minor, account in rows
    ]


def shop_totals(ledger: Ledger) -> list[ShopTotal]:
    """The rows that count, summed by description and category, the earliest first."""
    rows = ledger.execute(
        "SELECT description, category_major, category_minor, count(*), "
        f"sum(iif(category_major = '{INCOME}', amount, -amount)) "
        f"FROM transactions WHERE +tool_id = ? AND {counts()} "
        "GROUP BY 1, 2, 3 ORDER BY min(date), min(id)"
    )
    sums = list(rows)
    shops, name = shops_of(row[0] for row in sums), shops_of_ledger(ledger)
    return [
        ShopTotal(shops[text], name(text), major, minor, rows, yen)
        for text, major, minor, rows, yen in sums
    ]


def tool_name(ledger: Ledger) -> str:
    """The name of the household's tool."""
    return ledger.execute("SELECT name FROM tools WHERE id = ?").get or ""


def months_with_rows(ledger: Ledger) -> list[Month]:
    """Every month with rows, in order."""
    # One index look-up for each month; reading every row would take a hundred times as long.
    next_day = (
        f"SELECT min(date) FROM transactions WHERE tool_id = ? AND date > ? AND {in_ledger()}"
    )
    months: list[Month] = []
    end = ""
    while day := ledger.execute(next_day, (end,)).get:
        months.append(Month.of(date.fromisoformat(day), ledger.month_starts_on))
        end = months[-1].last_day.isoformat()
    return months


def rows_at_most(ledger: Ledger, days: Days, most: int) -> int:
    """The number of rows on these days, but at most ``most``."""
    where, (_, *values) = where_rows(ledger.tool_id, days, None)
    rows = f"SELECT 1 FROM transactions WHERE {where} AND {in_ledger()} LIMIT ?"
    return ledger.number(f"SELECT count(*) FROM ({rows})", (*values, most))


def days_with_rows(ledger: Ledger, days: Days) -> Days | None:
    """The days from the first row on these days to the last; None without rows."""
    where, values = where_rows(ledger.tool_id, days, None)
    # Two statements, each of which reads one end of the index: together they would read every row.
    first, last = (
        ledger.connection.execute(
            f"SELECT {end}(date) FROM transactions WHERE {where} AND {in_ledger()}", values
        ).get
        for end in ("min", "max")
    )
    return None if last is None else Days(date.fromisoformat(first), date.fromisoformat(last))


def rows_by_month(ledger: Ledger, days: Days) -> dict[Month, int]:
    """The number of rows on these days by month; months without rows are missing."""
    where, values = where_rows(ledger.tool_id, days, None)
    rows = ledger.connection.execute(
        f"SELECT date, count(*) FROM transactions WHERE {where} AND {in_ledger()} GROUP BY 1",
        values,
    )
    by_month: Counter[Month] = Counter()
    for day, count in rows:
        by_month[Month.of(date.fromisoformat(day), ledger.month_starts_on)] += count
    return by_month


def category_names(ledger: Ledger) -> list[tuple[str, str]]:
    """Every combination of 大項目 and 中項目 in the ledger."""
    # The plus keeps SQLite from using the index: a scan of the table is seven times as fast as
    # looking up each of its rows.
    names = "SELECT DISTINCT category_major, category_minor FROM transactions WHERE +tool_id = ?"
    return list(ledger.execute(names))


def monthly_sums(
    ledger: Ledger, days: Days, subject: Subject | None, *, by_minor: bool
) -> list[MonthlySum]:
    """Sums of the rows on these days by month, category, and reason why rows do not count.

    Without ``by_minor``, sums are by 大項目, and
    ``category_minor`` is "".
    """
    minor = "category_minor" if by_minor else "''"
    sums: list[MonthlySum] = []
    # One query for each month: grouping all rows at once takes nearly twice as long.
    for month in MonthRange.around(days, ledger.month_starts_on):
        within = month.days.within(days)
        if within:
            where, values = where_rows(ledger.tool_id, within, subject)
            rows = ledger.connection.execute(
                f"SELECT category_major, {minor}, {left_out()}, count(*), coalesce(sum(amount), 0) "
                f"FROM transactions WHERE {where} GROUP BY 3, 1, 2",
                values,
            )
            sums += [MonthlySum(month, *row) for row in rows]
    return sums


def page_of_rows(
    ledger: Ledger, days: Days, subject: Subject | None, *, offset: int, limit: int
) -> list[Transaction]:
    """A page of rows by date, whether they count or not."""
    where, values = where_rows(ledger.tool_id, days, subject)
    page = f"WHERE {where} ORDER BY date, id LIMIT ? OFFSET ?"
    return list(transactions(ledger.connection, page, (*values, limit, offset)))


def where_rows(
    tool_id: int, days: Days, subject: Subject | None
) -> tuple[str, tuple[int | str, ...]]:
    """An SQL condition for a subject's rows on these days, and the values to bind."""
    where = "tool_id = ? AND date BETWEEN ? AND ?"
    values: tuple[int | str, ...] = (tool_id, days.first.isoformat(), days.last.isoformat())
    condition, names = of_subject(subject)
    return f"{where} AND {condition}" if names else where, (*values, *names)


def of_subject(subject: Subject | None) -> tuple[str, tuple[str, ...]]:
    """An SQL condition for a category's rows, or for all spending, and the values to bind."""
    if subject is Total.SPENDING:
        return "category_major <> ?", (INCOME,)
    if not isinstance(subject, Category):
        return "TRUE", ()
    if subject == Category(UNCATEGORISED):
        return "category_major IN (?, '')", (subject.major,)
    if subject.minor is None:
        return "category_major = ?", (subject.major,)
    return "(category_major = ? AND category_minor = ?)", (subject.major, subject.minor)


def counted_totals(ledger: Ledger, days: Days, subject: Subject | None) -> Totals:
    """The sums of the counting rows on these days."""
    return _totals(ledger.connection, *where_rows(ledger.tool_id, days, subject))


def days_around(ledger: Ledger, days: Days, subject: Subject) -> tuple[date | None, date | None]:
    """The last day before these days, and the first after them, with rows that count."""
    where, values = where_rows(ledger.tool_id, Days(date.min, date.max), subject)
    found: tuple[str | None, str | None] = ledger.connection.execute(
        "SELECT max(date) FILTER (WHERE date < ?), min(date) FILTER (WHERE date > ?) "
        f"FROM transactions WHERE {where} AND {counts()}",
        (days.first.isoformat(), days.last.isoformat(), *values),
    ).get
    before, after = (date.fromisoformat(day) if day else None for day in found)
    return before, after


def totals_of_ids(connection: apsw.Connection, ids: Iterable[int]) -> Totals:
    """The sums of the rows with these ids that count."""
    return _totals(connection, _WITH_IDS, (json.dumps(list(ids)),))


_WITH_IDS = "id IN (SELECT value FROM json_each(?))"


def _totals(connection: apsw.Connection, where: str, values: Sequence[int | str]) -> Totals:
    rows, amount, income = connection.execute(
        "SELECT count(*), coalesce(sum(amount), 0), "
        f"coalesce(sum(iif(category_major = '{INCOME}', amount, 0)), 0) FROM transactions "
        f"WHERE {where} AND {counts()}",
        values,
    ).get
    return Totals(rows, income - amount, income)


def ids_matching(
    connection: apsw.Connection, where: tuple[str, tuple[int | str, ...]], among: Collection[int]
) -> list[int]:
    """The ids in ``among`` of rows that meet an SQL condition, ``where``, with its values."""
    condition, values = where
    rows = connection.execute(
        f"SELECT id FROM transactions WHERE {condition} AND {_WITH_IDS}",
        (*values, json.dumps(list(among))),
    )
    return [row_id for (row_id,) in rows]


def rows_outside(ledger: Ledger, days: Days, limit: int) -> tuple[int, list[Transaction]]:
    """The number of rows before or after these days, and the first ``limit`` of them."""
    where = f"tool_id = ? AND (date < ? OR date > ?) AND {in_ledger()}"
    values = (ledger.tool_id, days.first.isoformat(), days.last.isoformat())
    counted = f"SELECT count(*) FROM transactions WHERE {where}"
    page = f"WHERE {where} ORDER BY date, id LIMIT ?"
    first = transactions(ledger.connection, page, (*values, limit))
    return ledger.number(counted, values[1:]), list(first)
