"""Every answer that takes a period takes stated dates, with the sums of plain counting."""

import random
from datetime import date, timedelta

import pytest
from plan_ledger import Bought, fill, household
from table_of_cases import each

from mdvec.database.connection import open_database
from mdvec.household import Ledger
from mdvec.household.budgeting import InvalidBudget, budget_status, set_budget
from mdvec.household.comparison import compare_periods
from mdvec.household.core.periods import InvalidDates
from mdvec.household.finding import ListingOptions, find_transactions
from mdvec.household.habits import find_anomalies
from mdvec.household.month import combined_households, monthly_household
from mdvec.household.row_filters import RowFilter

TODAY = date(2026, 11, 24)
FIRST = date(2024, 1, 1)
CATEGORIES = ("食費/外食", "日用品/雑貨", "住宅/家賃", "収入/給与")


@pytest.fixture(scope="module")
def ledger(tmp_path_factory):
    """Two rows a day from 2024 to today, of amounts and categories by chance."""
    choice = random.Random(20261124)
    rows = [
        Bought(
            str(FIRST + timedelta(days=day)),
            choice.choice(("朝市", "書店", "薬局")),
            choice.randrange(-9_000, -10),
            choice.choice(CATEGORIES[:3]),
        )
        for day in range((TODAY - FIRST).days + 1)
        for _ in range(2)
    ]
    rows += [Bought(f"2025-{month:02}-25", "給与", 200_000, "収入/給与") for month in range(1, 13)]
    path = tmp_path_factory.mktemp("ledger") / "ledger.sqlite"
    with open_database(path, "create") as connection:
        yield connection, fill(connection, rows), rows


def sums(rows, first, last):
    """Spending and income of these days, row by row."""
    inside = [row for row in rows if first <= row.day <= last]
    return tuple(
        sum(r.yen for r in inside if (r.major == "収入") is earned) for earned in (False, True)
    )


SPANS = [
    ("2025-06-10", "2025-06-20", "2025-06-10", "2025-06-20"),
    ("2025-02", "2025-02", "2025-02-01", "2025-02-28"),
    ("2024-02", "2024-02-29", "2024-02-01", "2024-02-29"),
    ("2024-11-15", "2025-03", "2024-11-15", "2025-03-31"),
    ("2026-11", None, "2026-11-01", "2026-11-24"),
    (None, "2024-03-05", "2024-01-01", "2024-03-05"),
    ("2025-12-31", "2026-01-01", "2025-12-31", "2026-01-01"),
]


@each(("since", "until", "first", "last"), SPANS)
def test_sums_are_of_exactly_the_stated_days(ledger, since, until, first, last):
    connection, tool, rows = ledger
    stated = {"since": since, "until": until}
    spending, income = sums(rows, first, last)
    month = monthly_household(Ledger(connection, tool, TODAY), **stated)
    assert (month.spending, month.income) == (spending, income)
    assert (str(month.first_day), str(month.last_day)) == (first, last)
    read = f"「{since or ''}〜{until or ''}」を {month.period_in_words} と解釈"
    assert (read in month.text) == ("解釈" in month.text) == (not (since and until))
    assert month.text.startswith(f"{month.period_in_words}の家計簿です。")
    found = find_transactions(
        Ledger(connection, tool, TODAY), RowFilter(**stated), ListingOptions()
    )
    assert (found.spending, found.income) == (spending, income)
    both = combined_households({"kakeibo": Ledger(connection, tool, TODAY)}, **stated)
    assert (both.spending, both.income) == (spending, income)
    compared = compare_periods(Ledger(connection, tool, TODAY), **stated, base="2025年")
    assert (compared.spending[1], compared.income[1]) == (spending, income)


@each(
    ("asked", "as_of", "elapsed"),
    [
        ({"period": "先月"}, "2026-10-31", 304),
        ({"until": "2026-10", "since": "2026-10"}, "2026-10-31", 304),
        ({"since": "2026-06", "until": "2026-06-15"}, "2026-06-15", 166),
        ({"period": "2025年度"}, "2026-03-31", 90),
        ({}, "2026-11-24", 328),
    ],
)
def test_a_yearly_budget_ends_with_the_period_that_it_is_seen_from(ledger, asked, as_of, elapsed):
    connection, tool, rows = ledger
    set_budget(Ledger(connection, tool, TODAY), category="支出", amount=5_000_000, per="year")
    set_budget(Ledger(connection, tool, TODAY), category="食費", amount=90_000)
    answer = budget_status(Ledger(connection, tool, TODAY), **asked)
    year = next(one for one in answer.statuses if one.budget.per == "year")
    assert year.spent == sums(rows, "2026-01-01", as_of)[0]
    assert abs(float(year.elapsed) - elapsed / 3.65) < 0.06
    month = next(one for one in answer.statuses if one.budget.per == "month")
    food = [row for row in rows if row.major == "食費"]
    first = str(answer.months.first.first_day)
    assert month.spent == sums(food, first, as_of)[0]
    others = [row for row in rows if row.major != "食費"]
    assert answer.unbudgeted == sums(others, first, as_of)[0]


def test_a_budget_of_days_within_a_month_is_refused_in_a_sentence(ledger):
    connection, tool, _ = ledger
    with pytest.raises(InvalidBudget, match="月の初日から指定してください（since=2026-06-01）"):
        budget_status(Ledger(connection, tool, TODAY), since="2026-06-05", until="2026-06-15")


def test_anomalies_are_those_of_the_month_stated_up_to_its_last_day(tmp_path):
    usual = [
        Bought(f"2025-{month:02}-{day:02}", "朝市", -1_000)
        for month in range(1, 13)
        for day in (3, 13, 23)
    ]
    odd = [
        Bought("2025-09-20", "寿司", -80_000, "食費/外食"),
        Bought("2025-12-30", "宴会", -70_000),
    ]
    with open_database(tmp_path / "ledger.sqlite", "create") as connection:
        ledger = household(connection, [*usual, *odd], today=date(2026, 1, 5))

        def found(**asked):
            answer = find_anomalies(ledger, **asked)
            return [(one.name, one.yen) for one in answer.anomalies], str(answer.as_of)

        assert found() == ([("食費", 73_000)], "2025-12-30")
        assert found(period="2025年9月") == ([("食費", 83_000)], "2025-09-30")
        assert found(since="2025-09", until="2025-09-19") == ([], "2025-09-19")
        assert found(since="2025-08", until="2025-08") == ([], "2025-08-31")
        for asked in ({"period": "2025年"}, {"since": "2025-09-02", "until": "2025-09-30"}):
            with pytest.raises(InvalidDates, match="ひと月か、月の初日から"):
                found(**asked)
