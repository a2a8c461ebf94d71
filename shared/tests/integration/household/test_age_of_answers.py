"""An answer says in its first line that its data end long before today."""

from collections.abc import Callable
from dataclasses import replace
from datetime import date, timedelta
from typing import Any

import pytest
from plan_ledger import Bought, fill, household, ledgers_of, monthly

from mdvec.household.budgeting import budget_status, set_budget
from mdvec.household.comparison import compare_periods
from mdvec.household.core.answers import age_line
from mdvec.household.finding import ListingOptions, find_transactions
from mdvec.household.habits import find_anomalies, forecast_spending, list_recurring_payments
from mdvec.household.month import combined_households, monthly_household
from mdvec.household.row_filters import RowFilter
from mdvec.household.trend import category_trend

LAST = date(2025, 9, 30)
FRESH, LATER = LAST + timedelta(days=45), date(2026, 11, 24)
AGE = "明細は2025-09-30までです（14か月前）。"
ROWS = [
    *monthly("携帯", -3_000, "2024-10", 12),
    Bought("2025-09-30", "市場", -500),
    *monthly("市場", -9_000, "2024-10", 12, day=3, category="食費/食料品"),
]


def find(ledger, **wanted):
    return find_transactions(ledger, RowFilter(**wanted), ListingOptions())


ANSWERS: dict[str, Callable[..., Any]] = {
    "month": monthly_household,
    "trend": category_trend,
    "comparison": compare_periods,
    "budgets": budget_status,
    "recurring": list_recurring_payments,
    "forecast": forecast_spending,
    "anomalies": find_anomalies,
    "found": find,
}


@pytest.mark.parametrize("name", ANSWERS)
def test_old_data_are_said_to_be_old_first_and_data_of_last_month_are_not(connection, name):
    fresh = household(connection, ROWS, today=FRESH)
    set_budget(fresh, category="食費", amount=9_000)
    assert ANSWERS[name](replace(fresh, today=LATER)).text.splitlines()[0] == AGE
    assert not ANSWERS[name](fresh).text.startswith("明細は")


@pytest.mark.parametrize("name", ["month", "trend", "comparison", "budgets", "found"])
def test_a_period_that_ends_with_the_data_is_as_asked(connection, name):
    ledger = household(connection, ROWS, today=LATER)
    asked = ANSWERS[name](ledger, period="2025年8月〜9月")
    assert not asked.text.startswith("明細は")
    longer = ANSWERS[name](ledger, period="2025年8月〜12月")
    assert longer.text.splitlines()[0] == AGE
    assert "データのある 2025年08月〜2025年09月 だけを対象にしました" in longer.text


def test_the_latest_months_are_those_with_data_and_their_age_is_said(connection):
    ledger = household(connection, ROWS, today=LATER)
    answer = monthly_household(ledger, period="直近3か月")
    assert answer.text.splitlines()[:2] == [AGE, "2025年07月〜2025年09月の家計簿です。"]


def test_of_several_households_the_old_ones_are_named(connection):
    new = [Bought("2026-11-20", "市場", -1)]
    tools = {"old": fill(connection, ROWS, "old"), "new": fill(connection, new, "new")}
    answer = combined_households(ledgers_of(connection, tools, LATER))
    assert answer.text.splitlines()[0] == "old の明細は2025-09-30までです（14か月前）。"


def test_the_age_is_said_from_the_46th_day_on():
    assert age_line(LAST, FRESH) == ""
    assert age_line(LAST, FRESH + timedelta(days=1)) == "明細は2025-09-30までです（2か月前）。"
    assert age_line(LAST, LATER, until=LAST) == ""
    assert age_line(LAST, LATER, until=LAST + timedelta(days=1)) == AGE
