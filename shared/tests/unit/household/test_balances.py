"""The running balance of a statement checks its amounts."""

from datetime import date

from hypothesis import assume, given
from hypothesis import strategies as st
from table_of_cases import each

from mdvec.household.core.balances import BalancedDay, are_in_order, check_balances
from mdvec.household.core.cells import TransactionRow


def row_of(line, account, amount, balance):
    return TransactionRow(
        date(2025, 7, 1), amount, "店", "", "", account, "", True, False, "", line, balance
    )


AMOUNTS = st.integers(-(10**9), 10**9).filter(bool)


@st.composite
def statements(draw):
    """The rows of one or two accounts, the oldest first or last, with right balances."""
    rows, balances = [], {"a": draw(st.integers(0, 10**9)), "b": 0}
    for line in range(2, draw(st.integers(3, 12))):
        account = draw(st.sampled_from(["a", "a", "b"]))
        amount = draw(AMOUNTS)
        balances[account] += amount
        rows.append(row_of(line, account, amount, balances[account]))
    return rows[::-1] if draw(st.booleans()) else rows


@given(statements())
def test_right_balances_fit_in_either_order(rows):
    assert check_balances(rows).misfits == ()


@given(statements(), st.data())
def test_a_row_that_is_missing_in_the_middle_is_noticed(rows, data):
    rows = [row for row in rows if row.account == "a"]
    assume(len(rows) >= 4)
    missing = data.draw(st.integers(1, len(rows) - 2))
    left = [row for place, row in enumerate(rows) if place != missing]
    assert check_balances(left).misfits


def test_a_wrong_amount_is_named_by_its_line():
    rows = [(2, 100, 100), (3, -30, 70), (4, -10, 65), (5, 20, 85)]
    assert check_balances(row_of(line, "", *row) for line, *row in rows) == (3, (4,), {3, 4, 5})


def test_rows_on_both_sides_of_a_line_that_cannot_be_read_are_not_compared():
    rows = [(2, 100, 100), (3, None, None), (4, -10, 60), (5, 20, 80)]
    assert check_balances(row_of(line, "", *row) for line, *row in rows) == (1, (), {5})


def test_a_file_without_balances_has_nothing_to_compare():
    assert check_balances([row_of(2, "", 1, None), row_of(3, "", 1, None)]) == (0, (), set())


def test_which_row_is_the_oldest_is_open_where_both_ends_and_one_day_fit():
    rows = [(2, -500, 500), (3, 500, 1000)]
    assert check_balances(row_of(line, "", *row) for line, *row in rows).followed == set()


@each(
    ("rows", "expected"),
    [
        ([(-10, 90), (-20, 70), (-20, 50)], [True, True, True]),
        ([(-20, 50), (-20, 70), (-10, 90)], [True, True, True]),
        ([(-10, 90), (-10, 90), (-20, 70)], [False, True, True]),
        ([(-10, 90), (-20, 60), (-5, 10)], [False, False, False]),
        ([(-10, 90)], [False]),
        ([], []),
    ],
)
def test_rows_are_booked_in_their_place_where_their_balances_follow_each_other(rows, expected):
    assert are_in_order([BalancedDay("2025-07-01", *row) for row in rows]) == expected
