"""Categories by whatever name they have: with separators in it, and in English."""

from datetime import date

import pytest
from plan_ledger import Bought, household
from table_of_cases import each

from mdvec.household.budgeting import budget_status, set_budget
from mdvec.household.comparison import compare_periods
from mdvec.household.core.categories import AmbiguousCategory, UnknownCategory
from mdvec.household.finding import ListingOptions, find_transactions
from mdvec.household.month import monthly_household
from mdvec.household.row_filters import RowFilter
from mdvec.household.rules import try_rule
from mdvec.household.trend import category_trend

TODAY = date(2025, 6, 20)
SEPARATED = [
    (major, minor)
    for major in ("食費>家", "食費/外", "食費 > 昼 > 夜", "A・B→C", "x:y＞z")
    for minor in ("肉/魚", "朝 > 昼", "米>麦")
]


@pytest.fixture
def separated(connection):
    rows = [
        (Bought(f"2025-06-{at + 1:02}", f"店{at}", -(2**at)), major, minor)
        for at, (major, minor) in enumerate(SEPARATED)
    ]
    ledger = household(connection, [row for row, _, _ in rows], today=TODAY)
    with connection:
        connection.executemany(
            "UPDATE transactions SET category_major = ?, category_minor = ? WHERE description = ?",
            ((major, minor, row.shop) for row, major, minor in rows),
        )
    return ledger


def every_name():
    """Each name with the yen of its rows."""
    for major in dict.fromkeys(major for major, _ in SEPARATED):
        yield major, sum(2**at for at, (own, _) in enumerate(SEPARATED) if own == major)
    for at, (major, minor) in enumerate(SEPARATED):
        for name in (f"{major} > {minor}", f"{major}>{minor}", f"{major}/{minor}"):
            yield name, 2**at


@each(("name", "yen"), every_name())
def test_a_category_with_separators_in_its_name_is_found_wherever_one_is_named(
    separated, name, yen
):
    asked = {"period": "2025-06", "category": name}
    month = monthly_household(separated, **asked)
    assert month.spending == yen
    assert [one.total for one in category_trend(separated, **asked).categories] == [yen]
    found, without = (
        find_transactions(separated, wanted, ListingOptions())
        for wanted in (RowFilter(category=[name]), RowFilter(exclude_category=[name]))
    )
    assert (found.spending, without.spending) == (yen, 2 ** len(SEPARATED) - 1 - yen)
    compared = compare_periods(separated, category=name, since="2025-06", base="2025-06")
    assert compared.spending == (yen, yen)
    set_budget(separated, category=name, amount=9)
    statuses = budget_status(separated).statuses
    (status,) = (one for one in statuses if one.budget.subject == month.category)
    assert status.spent == yen
    rule = try_rule(separated, shop="店0", category=name).rule
    assert str(rule.category) == str(month.category)


ENGLISH = [
    Bought("2025-06-01", "スーパー", -100, "食費/食料品"),
    Bought("2025-06-02", "大家", -2_000, "住宅/家賃・地代"),
    Bought("2025-06-03", "電力", -30, "水道・光熱費/電気代"),
    Bought("2025-06-04", "会社", 5_000, "収入/給与"),
]


@pytest.mark.parametrize(
    ("name", "subject", "yen"),
    [("food", "食費", 100), ("Rent", "住宅 > 家賃・地代", 2_000), ("utilities", "水道・光熱費", 30),
     ("income", "収入", 5_000), ("Spending", "支出", 2_130)],
)  # fmt: skip
def test_english_names_are_those_of_the_ledgers_categories(connection, name, subject, yen):
    ledger = household(connection, ENGLISH, today=TODAY)
    month = monthly_household(ledger, category=name)
    assert (str(month.category), month.income or month.spending) == (subject, yen)
    assert any(note.startswith(f"「{name}」は") for note in month.notes)
    found = find_transactions(ledger, RowFilter(category=[name]), ListingOptions())
    assert found.income or found.spending == yen


def test_an_english_name_of_no_category_or_of_two_is_refused_and_the_ledgers_own_comes_first(
    connection,
):
    ledger = household(
        connection, [*ENGLISH, Bought("2025-06-05", "x", -7, "住まい/家賃")], today=TODAY
    )
    with pytest.raises(AmbiguousCategory, match="住まい > 家賃、住宅 > 家賃・地代"):
        monthly_household(ledger, category="rent")
    with pytest.raises(UnknownCategory):
        monthly_household(ledger, category="insurance")
    rows = [*ENGLISH, Bought("2025-06-05", "x", -7, "Food/")]
    own = household(connection, rows, "own", today=TODAY)
    assert monthly_household(own, category="food").spending == 7
