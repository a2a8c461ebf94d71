"""Sums, changes and averages, against values computed by hand."""

from decimal import ROUND_HALF_UP, Decimal, localcontext

from hypothesis import given
from hypothesis import strategies as st
from table_of_cases import each

from mdvec.household.core.sums import change, mean
from mdvec.household.core.wording import format_currency, format_percentage


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


@each(
    ("amount", "base", "said"),
    [(58300, 62500, "-6.7%"), (20005, 20000, "+0.02%"), (2_999_999, 3_000_000, "-0.00003%"),
     (2006, 2005, "+0.05%"), (20010, 20000, "+0.1%"),
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


@given(st.integers())
def test_yen_have_thousands_and_a_sign_where_it_is_asked_for(yen):
    assert format_currency(yen) == f"{yen:,}円"
    assert int(format_currency(yen, signed=True).rstrip("円").replace(",", "")) == yen
    assert format_currency(yen, signed=True).startswith("+") == (yen > 0)


def test_an_amount_that_is_missing_is_not_available():
    assert format_currency(None) == "N/A"
