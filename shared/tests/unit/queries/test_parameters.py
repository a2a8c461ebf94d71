"""Values of a saved question's parameters: what fits, and what the refusal of others says."""

from contextlib import suppress
from typing import get_args

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from table_of_cases import each

from mdvec.queries import Parameter, ParameterType, WrongParameters, bound, check_single

PARAMETERS = (
    Parameter("since", "date"),
    Parameter("least", "number"),
    Parameter("n", "integer", 3),
    Parameter("shop", "text", is_optional=True),
    Parameter("paid", "boolean", is_optional=True),
)


def test_values_come_with_their_types_and_those_left_out_with_their_defaults():
    given = {"$Since": " 2025-06-01 ", "least": "1.5"}
    assert bound("sales", PARAMETERS, given) == {
        "since": ("date", "2025-06-01"), "least": ("number", "1.5"), "n": ("integer", 3),
    }  # fmt: skip
    more = {"since": "2025-06-01T09:30", "least": 10**12, "n": 4.0, "shop": 7}
    assert bound("sales", PARAMETERS, more) == {
        "since": ("date", "2025-06-01T09:30:00"), "least": ("number", 10**12),
        "n": ("integer", 4), "shop": ("text", "7"),
    }  # fmt: skip


@each(
    ("given", "said"),
    [
        ({"least": 1}, "sales needs since (date, such as 2025-06-30); it takes: since (date), "
                       "least (number), n=3, shop (text, optional), paid (boolean, optional)"),
        ({"since": "June", "least": 1},
         "since of sales must be a date, such as 2025-06-30, not 'June'"),
        ({"since": 20250601, "least": 1},
         "since of sales must be a date, such as 2025-06-30, not '20250601'"),
        ({"since": "2025-06-01", "least": "a lot"},
         "least of sales must be a number, such as 1.5, not 'a lot'"),
        ({"since": "2025-06-01", "least": float("nan")},
         "least of sales must be a number, such as 1.5, not 'nan'"),
        ({"since": "2025-06-01", "least": True},
         "least of sales must be a number, such as 1.5, not 'True'"),
        ({"since": "2025-06-01", "least": 1, "n": 2.5},
         "n of sales must be an integer, such as 12, not '2.5'"),
        ({"sinse": "2025-06-01"}, "sales has no parameter 'sinse'; it takes: since (date), "
                                  "least (number), n=3, shop (text, optional), "
                                  "paid (boolean, optional)"),
        ({"since": "2025-06-01", "least": 1, "paid": 1},
         "paid of sales must be a boolean, such as true, not '1'"),
    ],
)  # fmt: skip
def test_a_wrong_value_is_answered_with_the_right_form(given, said):
    with pytest.raises(WrongParameters) as refused:
        bound("sales", PARAMETERS, given)
    assert str(refused.value) == said


def test_true_and_false_are_taken_and_a_list_is_told_what_to_write():
    paid = Parameter("paid", "boolean")
    for value in (True, "true", " TRUE "):
        assert bound("q", (paid,), {"paid": value}) == {"paid": ("boolean", True)}
    with pytest.raises(WrongParameters, match=r"write IN \(\$shops1, \$shops2\)"):
        check_single({"$shops": ["新宿", "渋谷"]})


@given(
    st.sampled_from(get_args(ParameterType)),
    st.text() | st.floats() | st.integers() | st.booleans() | st.none(),
)
@settings(max_examples=50)
def test_any_value_fits_its_type_or_is_refused(kind, value):
    with suppress(WrongParameters):
        ((found, read),) = bound("q", (Parameter("x", kind),), {"x": value}).values()
        assert found == kind or (kind == "any" and found in {"text", "number", "boolean"})
        assert isinstance(read, str) or kind not in {"text", "date"}
        if kind == "number" and isinstance(value, float):
            assert float(read) == value


def test_a_number_keeps_its_digits_and_only_an_exponent_makes_it_a_double():
    for written, read in {
        "12345678901234567.88": "12345678901234567.88", 0.1: "0.1", "１.５０": "1.50",
        "1.5e40": 1.5e40, 1e22: 1e22, "18446744073709551615": 2**64 - 1, -(2**127): -(2**127),
        str(2**128 - 1): 2**128 - 1,
    }.items():  # fmt: skip
        assert bound("q", (Parameter("x", "number"),), {"x": written}) == {"x": ("number", read)}
    assert bound("q", (Parameter("x", "integer"),), {"x": "18446744073709551615"}) == {
        "x": ("integer", 2**64 - 1)
    }


@each("kind", ["integer", "number"])
@each("given", [2**128, -(2**127) - 1, "9" * 40, f"0.{'1' * 39}"])
def test_a_number_with_more_digits_than_sql_keeps_is_told_so(kind, given):
    with pytest.raises(WrongParameters, match=r"has more than the 38 digits|must be an integer"):
        bound("q", (Parameter("x", kind),), {"x": given})
