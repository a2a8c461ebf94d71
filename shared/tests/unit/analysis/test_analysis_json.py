"""JSON within a limit: what each kind of value becomes, and what is refused."""

import json
import math
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from enum import Enum
from pathlib import Path
from uuid import UUID

import numpy as np
import pandas as pd
import polars as pl
import pytest
from table_of_cases import each

from mdvec.analysis import NotJson, OutputTooLarge, safe_json_output
from mdvec.errors import MdvecError


class Zone(Enum):
    EASY = "easy"


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ({"平均": 4.5, "店": "髙島"}, '{"平均":4.5,"店":"髙島"}'),
        ([1, True, None, "x"], '[1,true,null,"x"]'),
        ((1, {2}), "[1,[2]]"),
        ([math.nan, math.inf, -math.inf], "[null,null,null]"),
        ([Decimal(1200), Decimal("12.5"), Decimal("NaN")], "[1200,12.5,null]"),
        ([date(2026, 1, 2), time(3, 4)], '["2026-01-02","03:04:00"]'),
        (datetime(2026, 1, 2, 3, tzinfo=UTC), '"2026-01-02T03:00:00+00:00"'),
        (timedelta(minutes=1.5), "90.0"),
        ([Zone.EASY, Path("a/b.png"), UUID(int=0)],
         '["easy","a/b.png","00000000-0000-0000-0000-000000000000"]'),
        ({1: "a", None: "b", date(2026, 1, 1): "c", np.int64(7): "d"},
         '{"1":"a","null":"b","2026-01-01":"c","7":"d"}'),
        ([np.int64(3), np.float64(0.5), np.float32(0.1), np.bool_(True), np.float64("nan")],
         "[3,0.5,0.1,true,null]"),
        ([np.datetime64("2026-01-02"), np.datetime64("NaT"), np.timedelta64(1500, "ms")],
         '["2026-01-02",null,1.5]'),
        (np.array([[1, 2], [3, 4]]), "[[1,2],[3,4]]"),
        (np.array(5), "5"),
        ([pd.Timestamp("2026-01-02"), pd.NaT, pd.NA, pd.Timedelta("2s")],
         '["2026-01-02T00:00:00",null,null,2.0]'),
        (pd.Series([1.5, None]), "[1.5,null]"),
        (pd.Series(["a", "b", "a"]).value_counts(), '{"a":2,"b":1}'),
        (pd.DataFrame({"k": ["a"], "n": [1]}), '[{"k":"a","n":1}]'),
        (pd.DataFrame({"n": [1]}, index=["a"]), '[{"index":"a","n":1}]'),
        (pl.Series([date(2026, 1, 2), None]), '["2026-01-02",null]'),
        (pl.DataFrame({"k": ["食費"], "n": [Decimal("1.5")]}), '[{"k":"食費","n":1.5}]'),
        (pd.Index([1, 2]), "[1,2]"),
        ({}, "{}"),
    ],
    ids=str,
)  # fmt: skip
def test_values_become_their_json_equivalents(value, text):
    assert safe_json_output(value) == text
    json.loads(text)


def test_the_limit_is_in_bytes_and_exact():
    assert len(safe_json_output("あ" * 340 + "ab").encode()) == 1024
    with pytest.raises(OutputTooLarge) as refused:
        safe_json_output("あ" * 340 + "abc")
    assert str(refused.value) == (
        "the JSON has 1,025 bytes, and at most 1,024 are allowed; give fewer keys, aggregate or "
        "round the numbers, save the rest to a file and give its name"
    )


@each("size", [3, 100, 1023, 1024])
def test_a_list_that_just_fits_is_not_refused_early(size):
    ones = [1] * ((size - 1) // 2)
    assert len(safe_json_output(ones, size)) == len(ones) * 2 + 1
    with pytest.raises(OutputTooLarge):
        safe_json_output([*ones, 1], size)


def test_nested_empty_lists_that_fit_are_not_refused_early():
    nested = [[[[]]], [[]]]
    text = json.dumps(nested, separators=(",", ":"))
    assert safe_json_output(nested, len(text)) == text


class Counted:
    """Numbers that count how many of them were read."""

    dtype, shape = "numbers", (10**9,)

    def __init__(self):
        self.asked = 0

    def __iter__(self):
        while True:
            self.asked += 1
            yield 1


def test_data_that_cannot_fit_are_not_converted():
    numbers = Counted()
    with pytest.raises(OutputTooLarge, match="has more than 1,024 bytes, and at most 1,024"):
        safe_json_output({"values": numbers})
    assert numbers.asked < 600


@each(
    ("data", "place"),
    [
        ({"fig": [1, object()]}, "data.fig[1] is a object"),
        (1 + 2j, "data is a complex"),
        ({("a", "b"): 1}, "a key of data is a tuple"),
    ],
)
def test_values_without_a_json_form_are_refused_with_their_place(data, place):
    with pytest.raises(NotJson) as refused:
        safe_json_output(data)
    assert str(refused.value) == (
        f"{place}, which JSON has no form for; give a number, a text or, for a picture, the name "
        "of its file"
    )


def test_circular_data_are_refused():
    loop: list[object] = []
    loop.append(loop)
    with pytest.raises(NotJson, match="nested more than 50 deep"):
        safe_json_output(loop)


def test_the_errors_are_those_that_python_code_expects():
    assert issubclass(OutputTooLarge, ValueError)
    assert issubclass(OutputTooLarge, MdvecError)
    assert issubclass(NotJson, TypeError)


def test_two_equal_keys_are_refused_as_one_would_be_lost():
    with pytest.raises(NotJson, match="both 'a'"):
        safe_json_output(pd.Series([1, 2], index=["a", "a"]))
    with pytest.raises(NotJson, match="both '1'"):
        safe_json_output({1: "a", "1": "b"})
    with pytest.raises(NotJson, match="same name"):
        safe_json_output(pd.DataFrame([[1, 2]], columns=["a", "a"]))


def test_a_long_double_is_a_number():
    assert safe_json_output({"n": np.longdouble(1.5)}) == '{"n":1.5}'


@each(
    ("value", "text"),
    [
        ("12345678901234567.89", '"12345678901234567.89"'),
        ("12345678901234567.00", '"12345678901234567"'),
        ("1234.50", "1234.5"),
        ("0.1234567890123456789", '"0.1234567890123456789"'),
    ],
)
def test_a_decimal_keeps_its_digits(value, text):
    assert safe_json_output(Decimal(value)) == text


def test_an_integer_that_a_float_would_change_is_a_string():
    data = [2**53, 2**53 + 1, -(2**60), np.int64(2**60), {2**60: True}]
    text = '[9007199254740992,"9007199254740993","-1152921504606846976","1152921504606846976",{'
    assert safe_json_output(data) == text + '"1152921504606846976":true}]'


def test_half_of_a_character_is_written_as_json_escapes_it():
    data = {"\udcff": "a\ud800", "whole": "😀"}
    text = safe_json_output(data)
    assert text == '{"\\udcff":"a\\ud800","whole":"😀"}'
    assert json.loads(text.encode()) == data
