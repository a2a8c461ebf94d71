"""The tables of category rules, notes on rows, budgets, and each month's assets."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from mdvec.dates import Month
from mdvec.household.core.budgets import Budget
from mdvec.household.core.categories import Category, Subject, Total
from mdvec.household.core.category_rules import CategoryRule, renamed, rule_for
from mdvec.household.core.moneyforward import AssetMonth
from mdvec.household.core.shop_names import shops_of
from mdvec.household.core.shown import shown_name
from mdvec.household.core.transaction import ListedRow, RowNote, Transaction, listed_row
from mdvec.household.core.wording import format_currency
from mdvec.household.interfaces.ledger import Ledger
from mdvec.household.interfaces.ledger_statements import mark_index
from mdvec.household.interfaces.ledger_sums import counts, counts_unless_decided


def rules_of(ledger: Ledger) -> list[CategoryRule]:
    """A household's rules, the oldest first."""
    rows = ledger.execute(
        "SELECT shop, category_major, category_minor FROM category_rules "
        "WHERE tool_id = ? ORDER BY id"
    )
    return [_rule(shop, Category(major, minor or None)) for shop, major, minor in rows]


_RENAMED = "\t"
"""The prefix of a renamed category in the column of a rule's shop; no shop begins with it."""


def _rule(shop: str, category: Category) -> CategoryRule:
    if shop.startswith(_RENAMED):
        return CategoryRule("", category, Category(*json.loads(shop)))
    return CategoryRule(shop, category)


def _key(rule: CategoryRule) -> str:
    """A rule's value in the column ``shop``, which identifies it."""
    if rule.renamed is None:
        return rule.shop
    return _RENAMED + json.dumps([rule.renamed.major, rule.renamed.minor], ensure_ascii=False)


def filed_names(ledger: Ledger) -> list[tuple[str, str]]:
    """The categories that files gave to rows whose category a rule changed."""
    rows = ledger.execute(
        "SELECT DISTINCT filed_major, filed_minor FROM transactions "
        "WHERE +tool_id = ? AND filed_major IS NOT NULL"
    )
    return list(rows)


def is_filed_uncounted(ledger: Ledger, category: Category) -> bool:
    """Whether files give rows the category, and leave all of them out of the sums."""
    of_category = "coalesce(filed_major, category_major) = ?"
    if category.minor is not None:
        of_category += " AND coalesce(filed_minor, category_minor) = ?"
    names = (category.major,) if category.minor is None else (category.major, category.minor)
    is_uncounted: bool | None = ledger.execute(
        f"SELECT NOT max({counts_unless_decided()}) FROM transactions "
        f"WHERE +tool_id = ? AND {of_category}",
        names,
    ).get
    return bool(is_uncounted)


def put_rule(ledger: Ledger, rule: CategoryRule) -> None:
    """Store a rule, replacing a rule for the same rows; call within a transaction."""
    ledger.execute(
        "INSERT INTO category_rules (tool_id, shop, category_major, category_minor) "
        "VALUES (?, ?, ?, ?) ON CONFLICT (tool_id, shop) DO UPDATE SET "
        "category_major = excluded.category_major, category_minor = excluded.category_minor",
        (_key(rule), rule.category.major, rule.category.minor or ""),
    )


def delete_rule(ledger: Ledger, rule: CategoryRule) -> None:
    """Delete the rule for the same rows."""
    ledger.execute("DELETE FROM category_rules WHERE tool_id = ? AND shop = ?", (_key(rule),))


def apply_rules(ledger: Ledger) -> int:
    """Give each row its own, its rule's or its file's category; returns how many rows changed.

    Call within a transaction, after each change of rules, rows or rows' own categories.
    """
    rules, own = rules_of(ledger), own_categories(ledger)
    filed = "SELECT 1 FROM transactions WHERE +tool_id = ? AND filed_major IS NOT NULL"
    if not (rules or own or ledger.execute(f"SELECT EXISTS ({filed})").get):
        return 0
    descriptions = ledger.column("SELECT DISTINCT description FROM transactions WHERE +tool_id = ?")
    ruled = [
        (text, rule.category.major, rule.category.minor or "")
        for text, shop in shops_of(descriptions).items()
        if (rule := rule_for(shop, rules)) is not None
    ]
    names = _new_names(ledger, rules)
    owned = [(row_id, category.major, category.minor or "") for row_id, category in own.items()]
    ledger.execute(_APPLY, map(json.dumps, (owned, ruled, names)))
    changed: int = ledger.connection.changes()  # without changes by triggers
    if changed:
        mark_index(ledger, current=False)
    return changed


# The casts are for the joins: SQLite builds no automatic index on values without a type.
_APPLY = """
WITH own AS MATERIALIZED (
    SELECT CAST(value ->> 0 AS INTEGER) AS id, value ->> 1 AS major, value ->> 2 AS minor
    FROM json_each(?2)),
ruled AS MATERIALIZED (
    SELECT CAST(value ->> 0 AS TEXT) AS shop, value ->> 1 AS major, value ->> 2 AS minor
    FROM json_each(?3)),
named AS MATERIALIZED (
    SELECT CAST(value ->> 0 AS TEXT) AS major, CAST(value ->> 1 AS TEXT) AS minor,
        value ->> 2 AS now_major, value ->> 3 AS now_minor FROM json_each(?4)),
filed AS (
    SELECT id, description, coalesce(filed_major, category_major) AS major,
        coalesce(filed_minor, category_minor) AS minor FROM transactions WHERE +tool_id = ?1),
given AS (
    SELECT f.*, coalesce(o.major, r.major, n.now_major) AS now_major,
        coalesce(o.minor, r.minor, n.now_minor) AS now_minor
    FROM filed AS f LEFT JOIN own AS o ON o.id = f.id LEFT JOIN ruled AS r ON r.shop = f.description
    LEFT JOIN named AS n ON n.major = f.major AND n.minor = f.minor)
UPDATE transactions AS t SET (category_major, category_minor, filed_major, filed_minor) =
    (coalesce(g.now_major, g.major), coalesce(g.now_minor, g.minor),
    iif(g.now_major IS NULL, NULL, g.major), iif(g.now_major IS NULL, NULL, g.minor))
FROM given AS g WHERE g.id = t.id AND iif(g.now_major IS NULL, t.filed_major IS NOT NULL,
    (t.category_major, t.category_minor) IS NOT (g.now_major, g.now_minor))
"""


def _new_names(ledger: Ledger, rules: Sequence[CategoryRule]) -> list[tuple[str, str, str, str]]:
    """Each category of the files that rules rename: its 大項目 and 中項目, and the new ones."""
    if all(rule.renamed is None for rule in rules):
        return []
    pairs = ledger.execute(
        "SELECT DISTINCT coalesce(filed_major, category_major), "
        "coalesce(filed_minor, category_minor) FROM transactions WHERE +tool_id = ?"
    )
    names = [Category(major, minor or None) for major, minor in pairs]
    return [
        (name.major, name.minor or "", now.major, now.minor or "")
        for name in names
        if (now := renamed(name, rules)) != name
    ]


def renamed_notes(ledger: Ledger, which: Callable[[], tuple[str, tuple[Any, ...]]]) -> list[str]:
    """A note on counting rows whose category rules have renamed, with both names; else empty.

    ``which`` gives the condition of the rows in SQL, and the values to bind.
    """
    rules = [rule for rule in rules_of(ledger) if rule.renamed is not None]
    if not rules:
        return []
    where, values = which()
    rows = ledger.connection.execute(
        "SELECT filed_major, filed_minor, category_major, category_minor, count(*), sum(amount) "
        f"FROM transactions WHERE filed_major IS NOT NULL AND {where} AND {counts()} "
        "GROUP BY 1, 2, 3, 4",
        values,
    )
    parts = [
        f"{shown_name(before)} = {shown_name(now)} {count:,}件 {format_currency(abs(amount))}"
        for filed_major, filed_minor, major, minor, count, amount in rows
        for before in [Category(filed_major, filed_minor or None)]
        for now in [Category(major, minor or None)]
        if renamed(before, rules) == now
    ]
    return [f"規則でカテゴリの名前を変えた明細を含みます: {'、'.join(parts)}"] if parts else []


def own_categories(ledger: Ledger) -> dict[int, Category]:
    """The category that the user gave to a single row, by the row's id."""
    rows = ledger.execute(
        f"SELECT t.id, n.category_major, n.category_minor {_OF_ROWS} AND n.category_major <> ''"
    )
    return {row_id: Category(major, minor or None) for row_id, major, minor in rows}


_OF_ROWS = (
    "FROM row_notes AS n JOIN transactions AS t "
    "ON t.tool_id = n.tool_id AND t.identity = n.identity WHERE n.tool_id = ?"
)


def all_notes(ledger: Ledger) -> dict[int, RowNote]:
    """The note and tags of each row that has any, by id."""
    notes = f"SELECT t.id, n.note, n.tags {_OF_ROWS} AND (n.note, n.tags) <> ('', '[]')"
    return _row_notes(ledger.execute(notes))


def listed_rows(ledger: Ledger, rows: Sequence[Transaction]) -> tuple[ListedRow, ...]:
    """Rows with their notes, as an answer lists them."""
    ids = json.dumps([row.id for row in rows])
    # CROSS JOIN starts from the ids; otherwise SQLite would scan all rows of the ledger.
    of_rows = (
        "SELECT t.id, n.note, n.tags FROM json_each(?) AS one "
        "CROSS JOIN transactions AS t ON t.id = one.value "
        "CROSS JOIN row_notes AS n ON n.tool_id = t.tool_id AND n.identity = t.identity "
        "WHERE n.tool_id = ?"
    )
    noted = _row_notes(ledger.connection.execute(of_rows, (ids, ledger.tool_id)))
    return tuple(listed_row(row, noted.get(row.id)) for row in rows)


def _row_notes(rows: Iterable[tuple[Any, ...]]) -> dict[int, RowNote]:
    return {row_id: RowNote(note, tuple(json.loads(tags))) for row_id, note, tags in rows}


def budgets_of(ledger: Ledger) -> list[Budget]:
    """Every budget of a household; the budget for all spending comes first."""
    rows = ledger.execute(
        "SELECT category_major, category_minor, per, amount FROM budgets "
        "WHERE tool_id = ? ORDER BY category_major, category_minor, per"
    )
    return [
        Budget(Category(major, minor or None) if major else Total.SPENDING, per, amount)
        for major, minor, per, amount in rows
    ]


def put_budget(ledger: Ledger, budget: Budget) -> None:
    """Store a budget, replacing a budget of the same subject and span."""
    ledger.execute(
        "INSERT OR REPLACE INTO budgets (tool_id, category_major, category_minor, per, amount) "
        "VALUES (?, ?, ?, ?, ?)",
        (*_names(budget.subject), budget.per, budget.amount),
    )


def delete_budget(ledger: Ledger, subject: Subject, per: str) -> None:
    """Delete the budget of a subject and span, if there is one."""
    ledger.execute(
        "DELETE FROM budgets WHERE tool_id = ? AND category_major = ? AND category_minor = ? "
        "AND per = ?",
        (*_names(subject), per),
    )


def _names(subject: Subject) -> tuple[str, str]:
    """A subject's names as stored; "" and "" for all spending."""
    return (subject.major, subject.minor or "") if isinstance(subject, Category) else ("", "")


def put_months(ledger: Ledger, path: str, months: Iterable[AssetMonth]) -> None:
    """Store the assets of months, replacing what is stored for them; call within a transaction."""
    for asset_month in months:
        key = (ledger.tool_id, str(asset_month.month))
        ledger.connection.execute("DELETE FROM asset_months WHERE tool_id = ? AND month = ?", key)
        ledger.connection.executemany(
            "INSERT INTO asset_months (tool_id, month, kind, amount, source_file) "
            "VALUES (?, ?, ?, ?, ?)",
            ((*key, kind, amount, path) for kind, amount in asset_month.amounts.items()),
        )


def forget_months(ledger: Ledger) -> None:
    """Delete the assets of every month; call within a transaction."""
    ledger.execute("DELETE FROM asset_months WHERE tool_id = ?")


def months_with_assets(ledger: Ledger) -> list[AssetMonth]:
    """Every month with assets, the earliest first."""
    by_month: dict[str, dict[str, int]] = {}
    for month, kind, amount in ledger.execute(
        "SELECT month, kind, amount FROM asset_months WHERE tool_id = ? ORDER BY month, kind"
    ):
        by_month.setdefault(month, {})[kind] = amount
    return [AssetMonth(Month.from_iso(month), amounts) for month, amounts in by_month.items()]
