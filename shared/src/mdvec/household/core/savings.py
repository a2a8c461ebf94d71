"""Savings rates: how much of the income was not spent."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal

from mdvec.dates.months import Month, MonthRange
from mdvec.household.core.answer_json import MonthText, Percentage
from mdvec.household.core.sums import percent


@dataclass(frozen=True, slots=True)
class MonthlySavings:
    """A month's income, spending and savings rate in percent."""

    month: MonthText
    income: int
    spending: int
    rate: Percentage | None


@dataclass(frozen=True, slots=True)
class SavingsTrend:
    """The savings rate month by month, and over all months."""

    months: tuple[MonthlySavings, ...]
    rate: Percentage | None


def savings_rate(income: int, spending: int) -> Decimal | None:
    """Income minus spending, in percent of the income; None without income."""
    return percent(income - spending, income) if income > 0 else None


def savings_of(
    income: Mapping[Month, int], spending: Mapping[Month, int], shown: MonthRange
) -> SavingsTrend:
    """Computes the savings rate of each month shown, and over all of them."""
    months = tuple(
        MonthlySavings(month, earned, spent, savings_rate(earned, spent))
        for month in shown
        for earned, spent in [(income.get(month, 0), spending.get(month, 0))]
    )
    whole = savings_rate(sum(m.income for m in months), sum(m.spending for m in months))
    return SavingsTrend(months, whole)
