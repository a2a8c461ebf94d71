"""Sums, changes and averages, against values computed by hand."""

from decimal import ROUND_HALF_UP, Decimal, localcontext

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mdvec.dates.months import Month, MonthRange
from mdvec.household.core.categories import Category
from mdvec.household.core.sums import (
    REASONS,
    CategoryShare,
    MonthlySum,
    RowCounts,
    amounts_by_category,
    change,
    counts_of,
    income_and_spending,
    mean,
    percent,
    shares,
    trend_of,
)
from mdvec.household.core.wording import (
    REASONS_IN_WORDS,
    format_currency,
    format_percentage,
    trend_text,
)

FOOD = Category("食費")
JANUARY = Month(2024, 1)


def cell(amount, month=JANUARY, major="食費", minor="", left_out=None, rows=1):
    return MonthlySum(month, major, minor, left_out, rows, amount)


def half_up(number, places):
    with localcontext(prec=60):
        return Decimal(number).quantize(Decimal(places), ROUND_HALF_UP)


YEN = st.integers(-(10**12), 10**12)


@given(YEN, YEN)
def test_a_change_is_exact_and_rounded_half_away_from_zero(amount, base):
    found = change(amount, base)
    if base <= 0:
        assert found is None
    else:
        with localcontext(prec=60):
            exact = (Decimal(amount) - base) * 100 / Decimal(base)
        assert found == half_up(exact, "0.1")


@pytest.mark.parametrize(
    ("amount", "base", "said"),
    [(58300, 62500, "-6.7%"), (20005, 20000, "0.0%"), (20010, 20000, "+0.1%"),
     (19990, 20000, "-0.1%"), (0, 5, "-100.0%"), (-5, 5, "-200.0%"), (5, 0, "N/A"),
     (5, None, "N/A"), (None, 5, "N/A"), (5, -5, "N/A"), (5, 5, "0.0%")],
)  # fmt: skip
def test_a_change_has_one_decimal_and_a_sign_and_is_not_available_without_a_base(
    amount, base, said
):
    assert format_percentage(change(amount, base)) == said


@given(st.lists(YEN, min_size=1, max_size=12))
def test_a_mean_is_rounded_half_away_from_zero_to_whole_yen(amounts):
    with localcontext(prec=60):
        assert mean(amounts) == half_up(Decimal(sum(amounts)) / len(amounts), "1")


MONTH_NUMBERS = st.integers(0, 40)


@given(
    st.dictionaries(MONTH_NUMBERS, st.integers(-1000, 1000), max_size=30),
    MONTH_NUMBERS, MONTH_NUMBERS, MONTH_NUMBERS, MONTH_NUMBERS,
)  # fmt: skip
def test_a_trend_has_a_dense_axis_of_months(rows, a, b, c, d):
    first, last = min(a, b), max(a, b)
    amounts = {JANUARY.plus(n): yen for n, yen in rows.items() if first <= n <= last}
    ledger = MonthRange(JANUARY.plus(first), JANUARY.plus(last))
    shown = MonthRange(JANUARY.plus(min(c, d)), JANUARY.plus(max(c, d)))
    dense = {n: rows.get(n, 0) for n in range(first, last + 1)}

    trend = trend_of(FOOD, amounts, ledger, shown)

    assert [figure.month for figure in trend.months] == list(shown)
    for n, figure in enumerate(trend.months, min(c, d)):
        window = [dense[m] for m in range(n - 11, n + 1) if m in dense] if n in dense else []
        assert figure.amount == dense.get(n)
        assert figure.month_over_month == change(dense.get(n), dense.get(n - 1))
        assert figure.year_over_year == change(dense.get(n), dense.get(n - 12))
        assert figure.averaged_months == len(window)
        assert figure.moving_average == (mean(window) if window else None)
    assert trend.total == sum(dense.get(n, 0) for n in range(min(c, d), max(c, d) + 1))


def test_a_month_without_rows_is_zero_and_the_month_after_it_has_no_base():
    ledger = MonthRange(JANUARY, Month(2025, 3))
    trend = trend_of(FOOD, {JANUARY: 100, Month(2025, 1): 200, Month(2025, 3): 50}, ledger, ledger)
    by_month = {str(figure.month): figure for figure in trend.months}
    assert by_month["2025-01"].year_over_year == Decimal("100.0")
    assert by_month["2025-01"].month_over_month is None
    assert by_month["2025-02"].amount == 0
    assert by_month["2025-02"].month_over_month == Decimal("-100.0")
    assert by_month["2025-03"].month_over_month is None
    assert by_month["2025-03"].moving_average == 21  # 250 / 12 = 20.83…


def test_a_refund_lessens_spending_and_income_is_positive():
    salary, transfer = cell(250_000, major="収入"), cell(-9, left_out="transfer")
    sums = [cell(-1000), cell(300, minor="返品"), salary, transfer]
    assert amounts_by_category(sums) == {
        FOOD: {JANUARY: 700}, Category("収入"): {JANUARY: 250_000},
    }  # fmt: skip


def test_rows_that_do_not_count_are_in_no_sum_and_in_the_counts():
    sums = [cell(-1, left_out=reason, rows=n) for n, reason in enumerate(REASONS, 1)]
    sums.append(cell(-500, rows=7))
    assert counts_of(sums) == RowCounts(7, 1, 2, 3, 4, 5, 6)
    assert counts_of(sums).total == 28
    moved = cell(-1, major="交通費", left_out="transfer")
    assert amounts_by_category([moved, *sums]) == {FOOD: {JANUARY: 500}}
    assert set(REASONS_IN_WORDS) == set(REASONS)


CELLS = st.lists(
    st.builds(
        cell, st.integers(-5000, 2000), st.just(JANUARY), st.sampled_from(["食費", "住宅", "収入"]),
        st.sampled_from(["", "い", "ろ"]), st.sampled_from([None, None, "transfer"]),
        st.integers(1, 9),
    )
)  # fmt: skip


@given(CELLS, st.booleans())
def test_shares_are_of_all_that_counts_and_the_largest_comes_first(sums, by_minor):
    income, spending = income_and_spending(sums)
    assert {c.category_major for c in income} <= {"収入"}
    assert len(income) + len(spending) == len(sums)
    lines = shares(spending, by_minor=by_minor)
    counting = [c for c in spending if c.left_out is None]
    whole = -sum(c.amount for c in counting)
    for line in lines:
        own = [
            c for c in counting
            if c.category_major == line.category.major
            and line.category.minor in (None, c.category_minor)
        ]  # fmt: skip
        amount, rows = -sum(c.amount for c in own), sum(c.rows for c in own)
        share = percent(amount, whole) if whole > 0 else None
        assert line == CategoryShare(line.category, amount, share, rows)
    assert sum(line.amount for line in lines) == whole
    assert sum(line.rows for line in lines) == sum(c.rows for c in counting)
    assert [line.amount for line in lines] == sorted((line.amount for line in lines), reverse=True)


def test_the_text_is_the_template_of_the_specification_to_the_letter():
    july, june = Month(2025, 7), Month(2025, 6)
    amounts = {Month(2024, 7): 56_492, june: 62_500, july: 58_300, Month(2024, 10): 604_960}
    ledger, shown = MonthRange(Month(2024, 7), july), MonthRange(june, july)
    assert trend_text(trend_of(FOOD, amounts, ledger, shown), shown) == [
        "食費カテゴリの 2025年06月〜2025年07月の推移です。",
        "- 2025年06月: 62,500円",
        "- 2025年07月: 58,300円 （前月比 -6.7%, 前年同月比 +3.2%）",
        "- 12か月平均: 60,480円",
    ]


@given(st.integers())
def test_yen_have_thousands_and_a_sign_where_it_is_asked_for(yen):
    assert format_currency(yen) == f"{yen:,}円"
    assert int(format_currency(yen, signed=True).rstrip("円").replace(",", "")) == yen
    assert format_currency(yen, signed=True).startswith("+") == (yen > 0)


def test_an_amount_that_is_missing_is_not_available():
    assert format_currency(None) == "N/A"
