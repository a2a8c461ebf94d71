"""Sums some rows of a ledger exactly: all of them, or by shop, category, account or month."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Literal

from mdvec.household.core.categories import INCOME
from mdvec.household.core.found import MAX_GROUPS, OTHERS, FoundGroup, Totals
from mdvec.household.interfaces.columns import Codes, LedgerColumns

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Mask = NDArray[np.bool_]

GroupBy = Literal["shop", "category", "account", "month"]


def totals_of(columns: LedgerColumns, chosen: Mask) -> Totals:
    """The exact sums of some rows."""
    import numpy as np

    amounts = columns.amounts[chosen]
    is_income = np.array([one[0] == INCOME for one in columns.categories.values], np.bool_)
    income = is_income[columns.categories.places[chosen]]
    earned, balance = int(amounts[income].sum()), int(amounts.sum())
    return Totals(int(chosen.sum()), earned - balance, earned)


def found_groups(
    columns: LedgerColumns, chosen: Mask, group_by: GroupBy | None, month_starts_on: int
) -> tuple[FoundGroup, ...]:
    """The largest groups, and one of the others; months are all listed, in order."""
    match group_by:
        case None:
            return ()
        case "shop":
            largest, others = sums_by(columns, chosen, columns.shops, str)
        case "account":
            largest, others = sums_by(
                columns, chosen, columns.accounts, lambda one: one or "（口座なし）"
            )
        case "category":
            largest, others = sums_by(
                columns, chosen, columns.categories,
                lambda one: " > ".join(filter(None, one)) or "未分類",
            )  # fmt: skip
        case "month":
            codes = columns.months(month_starts_on)
            months, _ = sums_by(columns, chosen, codes, str, len(codes.values))
            return tuple(sorted(months, key=lambda one: one.name))
    if others is None:
        return largest
    return (*largest, FoundGroup(others.rows, others.spending, others.income, OTHERS))


def sums_by(
    columns: LedgerColumns,
    chosen: Mask,
    codes: Codes,
    name: Callable[[Any], str],
    most: int = MAX_GROUPS,
) -> tuple[tuple[FoundGroup, ...], Totals | None]:
    """The groups of equal values in a column with the largest sums, and the totals of the others.

    ``name`` gives a value's name.
    """
    import numpy as np

    places = codes.places[chosen]
    amounts = columns.amounts[chosen]
    is_income = np.array([one[0] == INCOME for one in columns.categories.values], np.bool_)
    earned = np.where(is_income[columns.categories.places[chosen]], amounts, 0)
    size = len(codes.values)
    rows = np.bincount(places, minlength=size)
    balances, incomes = np.zeros(size, amounts.dtype), np.zeros(size, amounts.dtype)
    np.add.at(balances, places, amounts)
    np.add.at(incomes, places, earned)
    found = [
        FoundGroup(
            int(rows[place]),
            int(incomes[place] - balances[place]),
            int(incomes[place]),
            name(codes.values[place]),
        )
        for place in np.flatnonzero(rows)
    ]
    found.sort(key=lambda one: (-abs(one.balance), one.name))
    left = found[most:]
    return tuple(found[:most]), added(left) if left else None


def added(totals: Sequence[Totals]) -> Totals:
    """The sum of totals."""
    return Totals(
        sum(one.rows for one in totals),
        sum(one.spending for one in totals),
        sum(one.income for one in totals),
    )
