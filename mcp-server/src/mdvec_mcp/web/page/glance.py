"""Finds the month with the most spending, and the category that caused it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from mdvec.household.core.sums import CategoryTrend, mean


@dataclass(frozen=True, slots=True)
class Dearest:
    """The month with the most spending, and the category that is most above its own mean in it."""

    month: str
    amount: int
    category: str
    above: int


def dearest_month(spending: CategoryTrend, categories: Sequence[CategoryTrend]) -> Dearest | None:
    """The month with the most spending; None if nothing was spent or no category stands out.

    Args:
        spending: all spending by month.
        categories: the categories, over the same months.
    """
    known = [figure for figure in spending.months if figure.amount]
    if len(known) < 2:
        return None
    month = max(known, key=lambda figure: figure.amount or 0)
    place = spending.months.index(month)
    above = {
        str(one.category): (one.months[place].amount or 0) - usual
        for one in categories
        if not one.category.is_income
        for usual in [mean([figure.amount or 0 for figure in one.months])]
    }
    most = max(above, key=lambda name: above[name], default="")
    if not most or above[most] <= 0 or month.amount is None or month.amount <= 0:
        return None
    return Dearest(str(month.month), month.amount, most, above[most])
