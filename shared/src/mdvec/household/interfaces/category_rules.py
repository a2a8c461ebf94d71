"""The table of category rules, and their effect on the rows."""

from __future__ import annotations

from typing import Any

import apsw

from mdvec.household.core.categories import Category
from mdvec.household.core.category_rules import CategoryRule, rule_for
from mdvec.household.core.shop import shops_of


def rules_of(connection: apsw.Connection, tool_id: int) -> list[CategoryRule]:
    """A household's rules, the oldest first."""
    rows: list[tuple[Any, ...]] = connection.execute(
        "SELECT shop, category_major, category_minor FROM category_rules "
        "WHERE tool_id = ? ORDER BY id",
        (tool_id,),
    ).fetchall()
    return [CategoryRule(shop, Category(major, minor or None)) for shop, major, minor in rows]


def filed_names(connection: apsw.Connection, tool_id: int) -> list[tuple[str, str]]:
    """The files' own categories of rows that rules changed; perhaps no row has them any more."""
    rows = connection.execute(
        "SELECT DISTINCT filed_major, filed_minor FROM transactions "
        "WHERE +tool_id = ? AND filed_major IS NOT NULL",
        (tool_id,),
    )
    return [(str(major), str(minor)) for major, minor in rows]


def put_rule(connection: apsw.Connection, tool_id: int, rule: CategoryRule) -> None:
    """Store a rule in place of the one for the same shop; call within a transaction."""
    connection.execute(
        "INSERT INTO category_rules (tool_id, shop, category_major, category_minor) "
        "VALUES (?, ?, ?, ?) ON CONFLICT (tool_id, shop) DO UPDATE SET "
        "category_major = excluded.category_major, category_minor = excluded.category_minor",
        (tool_id, rule.shop, rule.category.major, rule.category.minor or ""),
    )


def delete_rule(connection: apsw.Connection, tool_id: int, shop: str) -> bool:
    """Delete the rule for a shop, and return whether there was one."""
    connection.execute("DELETE FROM category_rules WHERE tool_id = ? AND shop = ?", (tool_id, shop))
    return connection.changes() > 0


def apply_rules(connection: apsw.Connection, tool_id: int) -> int:
    """Give every row its rule's category, or its file's; returns how many rows changed.

    Call within a transaction, after each change of rules or rows.
    """
    rules = rules_of(connection, tool_id)
    if not rules and not _has_filed_rows(connection, tool_id):
        return 0
    descriptions = [
        str(text)
        for (text,) in connection.execute(
            "SELECT DISTINCT description FROM transactions WHERE +tool_id = ?", (tool_id,)
        )
    ]
    given = [
        (text, rule.category.major, rule.category.minor or "")
        for text, shop in shops_of(descriptions).items()
        if (rule := rule_for(shop, rules)) is not None
    ]
    connection.execute(
        "CREATE TEMP TABLE ruled (description TEXT PRIMARY KEY, major TEXT, minor TEXT)"
    )
    connection.executemany("INSERT INTO ruled VALUES (?, ?, ?)", given)
    changed = 0
    for statement in (_RESTORE, _GIVE):
        connection.execute(statement, (tool_id,))
        changed += connection.changes()  # without those of triggers
    connection.execute("DROP TABLE ruled")
    if changed:
        connection.execute(
            "UPDATE ledger_versions SET is_indexed = 0 WHERE tool_id = ?", (tool_id,)
        )
    return changed


_RESTORE = """
UPDATE transactions SET (category_major, category_minor, filed_major, filed_minor)
    = (filed_major, filed_minor, NULL, NULL)
WHERE tool_id = ? AND filed_major IS NOT NULL
AND description NOT IN (SELECT description FROM ruled)
"""
_GIVE = """
UPDATE transactions SET (filed_major, filed_minor, category_major, category_minor) = (
    coalesce(filed_major, category_major), coalesce(filed_minor, category_minor),
    ruled.major, ruled.minor)
FROM ruled WHERE tool_id = ? AND ruled.description = transactions.description
AND (category_major, category_minor) IS NOT (ruled.major, ruled.minor)
"""


def _has_filed_rows(connection: apsw.Connection, tool_id: int) -> bool:
    row = connection.execute(
        "SELECT 1 FROM transactions WHERE tool_id = ? AND filed_major IS NOT NULL LIMIT 1",
        (tool_id,),
    ).fetchone()
    return row is not None
