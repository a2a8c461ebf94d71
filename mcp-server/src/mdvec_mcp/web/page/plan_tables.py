"""The tables of the view of plans, as they are downloaded."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from mdvec_mcp.web.page.plan_view import ShownPlan

Table = tuple[Sequence[str], Iterable[Sequence[object]]]


def _budgets(plan: ShownPlan) -> Table:
    columns = ("budget", "per", "yen", "spent", "left", "used_percent", "elapsed_percent",
               "expected")  # fmt: skip
    return columns, [
        (str(one.budget.subject), one.budget.per, one.amount, one.spent, one.left, one.used,
         one.elapsed, one.expected)
        for one in plan.budgets.statuses
    ]  # fmt: skip


def _recurring(plan: ShownPlan) -> Table:
    columns = ("name", "category", "every", "yen", "yen_per_year", "last", "next", "ended")
    return columns, [
        (one.name, one.category, one.interval.name, one.amount, one.per_year, one.last_day,
         one.next_day, one.next_day is None)
        for one in ([] if plan.habits is None else plan.habits.recurring.payments)
    ]  # fmt: skip


def _forecast(plan: ShownPlan) -> Table:
    columns = ("month", "yen", "spent", "recurring", "other", "low", "high", "typical_error",
               "trials")  # fmt: skip
    return columns, [
        (str(one.month), one.amount, one.spent, one.recurring, one.other, one.low, one.high,
         one.typical_error, one.trials)
        for one in ([] if plan.habits is None else plan.habits.forecast.months)
    ]  # fmt: skip


def _worth(plan: ShownPlan) -> Table:
    kinds = plan.kinds
    months = () if plan.worth is None else plan.worth.months
    return ("month", "yen", "difference", *kinds), [
        (str(one.month), one.total, one.difference, *(one.kinds.get(kind) for kind in kinds))
        for one in months
    ]


TABLES: dict[str, Callable[[ShownPlan], Table]] = {
    "budgets": _budgets,
    "recurring": _recurring,
    "forecast": _forecast,
    "worth": _worth,
}
"""Each table's columns and rows, by its name in an address."""
