"""Histograms over real tables: every row is counted once, in the bin that its value is in."""

import math
from datetime import date, datetime, timedelta
from itertools import pairwise

import duckdb
import pytest
from hypothesis import given
from hypothesis import strategies as st
from table_of_cases import each

from mdvec.datasets.core.columns import Column
from mdvec.sql.core import histogram
from mdvec.sql.core.histogram import Histogram, NoHistogram
from mdvec.sql.core.statement import with_source

CONNECTION = duckdb.connect()


def histogram_of(connection, table: str, column: Column, bins: int) -> Histogram:
    def rows(sql: str) -> list[tuple]:
        return connection.execute(with_source(sql, table)).fetchall()

    if histogram.is_counted_by_value(column):
        return histogram.read_categories(rows(histogram.categories_sql(column, bins)), bins)
    span = histogram.read_span(*rows(histogram.span_sql(column))[0])
    edges = histogram.edges_over(column, span, bins)
    return histogram.read_counts(span, edges, rows(histogram.counts_sql(column, edges)))


def counted(type_: str, values: list[object], bins: int) -> Histogram:
    column = Column('値 "{source}"', type_)
    connection = CONNECTION.cursor()
    connection.execute(f"CREATE OR REPLACE TEMP TABLE given (v {type_})")
    if values:
        connection.execute(f"INSERT INTO given SELECT unnest(?::{type_}[])", [values])
    return histogram_of(connection, '(SELECT v AS "値 ""{source}""" FROM given)', column, bins)


def total(found: Histogram) -> int:
    counts = sum(one["count"] for one in found.bins)
    return counts + found.null_count + found.not_finite_count + (found.other_count or 0)


@given(st.lists(st.none() | st.integers(-(2**63) + 1, 2**63 - 1), max_size=40), st.integers(1, 100))
def test_every_integer_is_in_the_bin_that_has_it(values, bins):
    found = counted("BIGINT", values, bins)
    assert total(found) == found.total_count == len(values)
    assert found.null_count == values.count(None)
    assert len(found.bins) <= bins
    for one in found.bins:
        inside = [v for v in values if v is not None and one["min"] <= v < one["max"]]
        assert one["count"] == len(inside)


@given(st.lists(st.none() | st.floats(width=64), max_size=40), st.integers(1, 100))
def test_every_number_is_counted_once_whatever_it_is(values, bins):
    found = counted("DOUBLE", values, bins)
    finite = [v for v in values if v is not None and math.isfinite(v)]
    assert total(found) == found.total_count == len(values)
    assert found.not_finite_count == len(values) - len(finite) - values.count(None)
    if finite:  # six digits are told, so an edge is off by at most one of the sixth: 1e-5
        assert found.bins[0]["min"] == pytest.approx(min(finite), rel=1.01e-5)
        assert found.bins[-1]["max"] == pytest.approx(max(finite), rel=1.01e-5)


@given(st.lists(st.dates(), min_size=1, max_size=40), st.integers(1, 100))
def test_bins_of_dates_are_whole_days(values, bins):
    found = counted("DATE", values, bins)
    assert found.total_count == len(values) == total(found)
    assert found.bins[0]["min"] == min(values).isoformat()
    for one in found.bins:
        if "after" not in one["max"]:
            assert date.fromisoformat(one["min"]) < date.fromisoformat(one["max"])


def test_edges_of_times_are_whole_seconds_if_that_is_fine_enough():
    begin = datetime(2025, 6, 1, 6, 30)  # noqa: DTZ001
    values = [begin + timedelta(milliseconds=1_001 * n) for n in range(100)]
    found = counted("TIMESTAMP", values, 7)
    assert found.bins[0] == {
        "min": "2025-06-01T06:30:00",
        "max": "2025-06-01T06:30:15",
        "count": 15,
    }
    assert total(found) == 100


@each(
    ("type_", "first", "last", "bins", "told"),
    [
        ("TIMESTAMP", "2025-01-01 03:04:05.678", "2025-12-31 20:00:00", 12,
         ["2025-01-01T00:00", "2025-02-01T00:00"]),
        ("TIMESTAMP WITH TIME ZONE", "2025-06-01 00:00:00.5+00", "2025-06-02 11:59:59+00", 36,
         ["2025-06-01T00:00", "2025-06-01T01:00"]),
        ("TIMESTAMP", "2025-06-01 00:00:03", "2025-06-01 00:39:59", 2,
         ["2025-06-01T00:00", "2025-06-01T00:20"]),
        ("TIMESTAMP", "2025-06-01 00:00:00.123456", "2025-06-01 00:00:59", 20,
         ["2025-06-01T00:00:00", "2025-06-01T00:00:03"]),
        ("TIMESTAMP", "2025-06-01 00:00:00.123456", "2025-06-01 00:00:00.999", 20,
         ["2025-06-01T00:00:00.123", "2025-06-01T00:00:00.167"]),
    ],
)  # fmt: skip
def test_edges_of_times_are_round_and_in_the_shortest_form(type_, first, last, bins, told):
    found = counted(type_, [first, last], bins)
    assert [found.bins[0]["min"], found.bins[0]["max"]] == told
    assert total(found) == 2
    assert len(found.bins) == bins


MOMENTS = st.datetimes(datetime(1, 1, 2), datetime(9990, 1, 1))  # noqa: DTZ001


@given(MOMENTS, st.integers(0, 10**14), st.integers(1, 100))
def test_round_edges_cost_no_bin_and_hold_every_time(first, microseconds, bins):
    values = [first, first + timedelta(microseconds=microseconds)]
    found = counted("TIMESTAMP", values, bins)
    edges = [datetime.fromisoformat(one["min"]) for one in found.bins]
    end = datetime.fromisoformat(found.bins[-1]["max"])
    assert edges[0] <= values[0] <= values[1] < end
    assert {b - a for a, b in pairwise([*edges, end])} == {end - edges[-1]}
    # Below a second for each, whole seconds count more than the number of bins.
    assert len(found.bins) == bins or microseconds < bins * max(bins, 50) * 10**6
    for one, begin in zip(found.bins, edges, strict=True):
        assert one["count"] == sum(begin <= v < begin + (end - edges[-1]) for v in values)


def test_edges_are_given_once_if_space_is_short():
    found = counted("BIGINT", [1, 2, 3], 3).without_repeats()
    assert found.bins == (
        {"min": 1, "count": 1}, {"min": 2, "count": 1}, {"min": 3, "max": 4, "count": 1},
    )  # fmt: skip
    assert counted("BIGINT", [], 3).without_repeats().bins == ()


def test_infinite_dates_are_counted_separately():
    connection_values = ["2025-01-01", "infinity", "-infinity", None]
    found = counted("DATE", connection_values, 5)
    assert (found.not_finite_count, found.null_count, found.total_count) == (2, 1, 4)


def test_categories_are_ordered_by_how_often_they_occur():
    values = ["食費"] * 5 + ["住宅"] * 3 + ["交通費", "娯楽", None]
    found = counted("VARCHAR", values, 2)
    assert found.bins == ({"value": "食費", "count": 5}, {"value": "住宅", "count": 3})
    assert (found.other_count, found.other_values, found.null_count) == (2, 2, 1)
    assert found.total_count == len(values)


@given(st.lists(st.none() | st.sampled_from("abcdef"), max_size=30), st.integers(1, 8))
def test_every_category_is_counted_once(values, bins):
    found = counted("VARCHAR", values, bins)
    assert total(found) == found.total_count == len(values)
    assert len(found.bins) == min(bins, len(set(values) - {None}))
    for one in found.bins:
        assert one["count"] == values.count(one["value"])


def test_a_column_named_like_our_own_alias_works():
    table = "(SELECT 'x' category, 1 v, 2 bin, 3 missing)"
    found = histogram_of(CONNECTION, table, Column("category", "VARCHAR"), 5)
    assert found.bins == ({"value": "x", "count": 1},)
    for name, value in (("v", 1), ("bin", 2), ("missing", 3)):
        found = histogram_of(CONNECTION, table, Column(name, "INTEGER"), 5)
        assert found.bins == ({"min": value, "max": value + 1, "count": 1},)


def test_no_rows_give_no_bins():
    for type_ in ("BIGINT", "DOUBLE", "DATE", "VARCHAR"):
        found = counted(type_, [], 10)
        assert (found.bins, found.total_count, found.null_count) == ((), 0, 0)


def test_rare_categories_are_counted_as_others():
    fewer = counted("VARCHAR", ["a"] * 3 + ["b"] * 2 + ["c"], 5).most_frequent(1)
    assert fewer.bins == ({"value": "a", "count": 3},)
    assert (fewer.other_count, fewer.other_values) == (3, 2)


def test_edges_far_from_zero_stay_distinct():
    found = counted("DOUBLE", [1.7e9 + n / 100 for n in range(100)], 10)
    edges = [one["min"] for one in found.bins]
    assert len(set(edges)) == len(found.bins) == 10


def test_a_list_has_no_bins():
    with pytest.raises(NoHistogram, match=r"'v' is INTEGER\[\]"):
        histogram.is_counted_by_value(Column("v", "INTEGER[]"))
