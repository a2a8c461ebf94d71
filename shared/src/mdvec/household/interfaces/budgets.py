"""The table of budgets."""

from __future__ import annotations

from typing import Any

import apsw

from mdvec.household.core.budgets import Budget
from mdvec.household.core.categories import Category
from mdvec.household.core.subjects import Subject, Total


def budgets_of(connection: apsw.Connection, tool_id: int) -> list[Budget]:
    """Every budget of a household, that of all spending first."""
    rows: list[tuple[Any, ...]] = connection.execute(
        "SELECT category_major, category_minor, per, amount FROM budgets "
        "WHERE tool_id = ? ORDER BY category_major, category_minor, per",
        (tool_id,),
    ).fetchall()
    return [Budget(_subject(major, minor), per, amount) for major, minor, per, amount in rows]


def put_budget(connection: apsw.Connection, tool_id: int, budget: Budget) -> None:
    """Store a budget in place of the one of its subject and span."""
    connection.execute(
        "INSERT OR REPLACE INTO budgets (tool_id, category_major, category_minor, per, amount) "
        "VALUES (?, ?, ?, ?, ?)",
        (tool_id, *_names(budget.subject), budget.per, budget.amount),
    )


def delete_budget(connection: apsw.Connection, tool_id: int, subject: Subject, per: str) -> None:
    """Delete the budget of a subject and span, if there is one."""
    connection.execute(
        "DELETE FROM budgets WHERE tool_id = ? AND category_major = ? AND category_minor = ? "
        "AND per = ?",
        (tool_id, *_names(subject), per),
    )


def _names(subject: Subject) -> tuple[str, str]:
    """A subject as stored; all spending has no names."""
    return (subject.major, subject.minor or "") if isinstance(subject, Category) else ("", "")


def _subject(major: str, minor: str) -> Subject:
    return Category(major, minor or None) if major else Total.SPENDING
