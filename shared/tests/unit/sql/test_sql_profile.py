"""Profiles: the figures of columns are those that Python computes."""

import math
import statistics
from fractions import Fraction

import duckdb
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mdvec.datasets.core.columns import Column
from mdvec.sql.core.period import UnknownColumn
from mdvec.sql.core.profile import (
    EXACTLY,
    ColumnSize,
    ProfileEffort,
    Sample,
    Samples,
    Sizes,
    chosen,
    plan_profile,
    plan_samples,
    read_sizes,
    rounded,
    size_sql,
)
from mdvec.sql.core.refusals import RowsDiffer
from mdvec.sql.core.statement import with_source

CONNECTION = duckdb.connect()


def profiled(columns: list[Column], table: str, samples: Samples = EXACTLY):
    period = next((column for column in columns if column.type == "DATE"), None)
    sizes = CONNECTION.execute(with_source(size_sql(columns), table)).fetchone() or ()
    plan = plan_profile(columns, period, samples, read_sizes(columns, sizes))
    row = CONNECTION.execute(with_source(plan.sql, table)).fetchone()
    assert row is not None
    return row[:3], plan.columns(row), plan.approximate(row)


WHOLE = {
    "INTEGER": 2**31 - 1,
    "BIGINT": 2**63 - 1,
    "HUGEINT": 2**127 - 1,
    "DECIMAL(38,0)": 10**38 - 1,
}


@given(st.data(), st.sampled_from(sorted(WHOLE)))
def test_figures_of_whole_numbers_are_exact(data, type_):
    most = WHOLE[type_]
    whole = st.integers(-most, most) | st.integers(-3, 3)
    values = data.draw(st.lists(st.none() | whole, min_size=1, max_size=50))
    connection = CONNECTION.cursor()
    connection.execute(f"CREATE OR REPLACE TABLE given (v {type_})")
    given_ = [value if value is None else str(value) for value in values]
    connection.execute(f"INSERT INTO given SELECT unnest(?::VARCHAR[])::{type_}", [given_])
    (rows, _, _), found, approximate = profiled([Column("v", type_)], "given")
    present = [value for value in values if value is not None]
    figures = found["v"]
    assert (rows, approximate) == (len(values), {})
    assert figures["null_rate"] == rounded(values.count(None) / len(values), 6)
    assert figures["distinct_count"] == len(set(present))
    if present:
        assert (figures["min"], figures["max"]) == (min(present), max(present))
        largest = max(map(abs, present))
        mean = Fraction(sum(present), len(present))
        assert figures["mean"] == pytest.approx(float(mean), rel=1e-11, abs=1e-15 * largest)
        assert figures["median"] == statistics.median_low(present) or len(present) % 2 == 0
        middle = float(statistics.median(map(Fraction, present)))
        assert float(figures["median"]) == pytest.approx(middle, rel=5e-15, abs=0)  # 15 digits
    if len(present) > 1:
        deviation = float(statistics.stdev(map(Fraction, present)))
        assert figures["std"] == pytest.approx(deviation, rel=1e-5, abs=1e-15 * largest)
        exact = map(Fraction, present)
        quartiles = statistics.quantiles(exact, method="inclusive")  # as pandas and Excel
        for name, quartile in zip(("q1", "median", "q3"), quartiles, strict=True):
            assert float(figures[name]) == pytest.approx(float(quartile), rel=5e-15, abs=0)
    else:
        assert "std" not in figures


@given(st.lists(st.none() | st.floats(width=64), min_size=1, max_size=50))
def test_figures_of_any_floats_are_finite_and_correct(values):
    connection = CONNECTION.cursor()
    connection.execute("CREATE OR REPLACE TABLE given (v DOUBLE)")
    connection.execute("INSERT INTO given SELECT unnest(?::DOUBLE[])", [values])
    _, found, _ = profiled([Column("v", "DOUBLE")], "given")
    figures = found["v"]
    present = [v for v in values if v is not None and math.isfinite(v)]
    assert figures["distinct_count"] == len(set(present))
    assert figures.get("not_finite", 0) == len(values) - values.count(None) - len(present)
    if present:
        exact = [Fraction(value) for value in present]
        largest = max(map(abs, present))
        assert (figures["min"], figures["max"]) == (min(present), max(present))
        mean = float(sum(exact) / len(exact))
        # Values are scaled down, so that no sum overflows: below 1e-300 their last digits go.
        least = max(1e-14 * largest, 1e-314)
        assert figures["mean"] == pytest.approx(mean, rel=1e-11, abs=least)
        assert figures["median"] == pytest.approx(float(statistics.median(exact)), rel=1e-14, abs=0)


def test_the_mean_of_close_values_is_among_them():
    first = 2**53 + 1
    for values in (f"{first} + i", f"({first} + i)::DECIMAL(38,0)", f"({first} + i)::DOUBLE"):
        table = f"(SELECT {values} AS v FROM range(1001) AS t(i)) AS t"
        type_ = values.rpartition("::")[2] if "::" in values else "BIGINT"
        figures = profiled([Column("v", type_)], table)[1]["v"]
        assert figures["mean"] == pytest.approx(first + 500, rel=1e-15)
    tenth = profiled([Column("v", "DOUBLE")], "(SELECT 0.1 AS v FROM range(1001)) AS t")[1]["v"]
    assert tenth["mean"] == 0.1


def test_values_whose_squares_overflow_have_quartiles_and_no_standard_deviation():
    found = profiled([Column("v", "DOUBLE")], "(VALUES (1e200::DOUBLE), (2.0), (1.0)) t(v)")[1]["v"]
    assert (found["q1"], found["q3"], "std" in found) == (1.5, 5e199, False)


@pytest.mark.parametrize("odd", ["nan", "inf", "-inf"])
def test_a_column_that_has_odd_values_only_when_read_again_is_refused(odd):
    columns = [Column("v", "DOUBLE")]
    counted = CONNECTION.execute(with_source(size_sql(columns), "(VALUES (1.0), (2.0)) t(v)"))
    sizes = read_sizes(columns, counted.fetchone() or ())
    plan = plan_profile(columns, None, EXACTLY, sizes)
    table = f"(VALUES (1.0), ('{odd}'::DOUBLE)) t(v)"
    row = CONNECTION.execute(with_source(plan.sql, table)).fetchone() or ()
    with pytest.raises(RowsDiffer):
        plan.columns(row)


def test_texts_dates_and_lists_have_only_meaningful_figures():
    columns = [Column("分類", "VARCHAR"), Column("日", "DATE"), Column("一覧", "INTEGER[]")]
    table = (
        "(VALUES ('食費', DATE '2025-06-01', [1]), ('住宅', '2025-06-30', NULL)) t(分類, 日, 一覧)"
    )
    (count, first, last), found, _ = profiled(columns, table)
    assert (count, str(first), str(last)) == (2, "2025-06-01", "2025-06-30")
    assert found["分類"] == {"min": "住宅", "max": "食費", "distinct_count": 2, "null_rate": 0}
    assert "mean" not in found["日"]
    assert found["一覧"] == {"null_rate": 0.5}


def test_a_profile_of_no_rows_has_no_figures():
    (rows, _, _), found, _ = profiled([Column("v", "INTEGER")], "(SELECT 1 AS v WHERE false)")
    assert rows == 0
    assert found["v"]["min"] is None
    assert found["v"]["null_rate"] is None


def test_a_single_null_or_value_among_many_rows_is_seen_in_the_rate():
    for value, rate in (("NULL", 2.5e-7), ("1", 0.99999975)):
        other = "1" if value == "NULL" else "NULL::INTEGER"
        table = (
            f"(SELECT CASE WHEN i = 5 THEN {value} ELSE {other} END AS v FROM range(4000000) t(i))"
        )
        assert profiled([Column("v", "INTEGER")], table)[1]["v"]["null_rate"] == rate


def test_estimates_are_marked_with_their_error_bound():
    table = "(SELECT v, v AS w FROM range(100000) t(v))"
    columns = [Column("v", "BIGINT"), Column("w", "BIGINT")]
    samples = {"v": Sample(rows=0.1, one_in=8)}
    _, found, approximate = profiled(columns, table, samples)
    assert approximate == {"median": "±1.7 % of the rows: v", "distinct_count": "±3 %: v"}
    assert found["v"]["median"] == pytest.approx(50_000, abs=1_700)
    assert found["v"]["distinct_count"] == pytest.approx(100_000, rel=0.03)
    assert found["w"]["median"] == 49_999.5
    assert profiled(columns, table)[2] == {}


@given(
    st.lists(st.integers(0, 10**8), min_size=1, max_size=30),
    st.integers(0, 10**8),
    st.integers(1_000, 10**8),
)
def test_columns_share_the_effort(distinct, nulls, room):
    columns = [Column(f"c{n}", "BIGINT") for n in range(len(distinct))]
    rows = max(distinct) + nulls
    held = [ColumnSize(values=one, distinct=one) for one in distinct]
    sizes = Sizes(rows, {f"c{n}": one for n, one in enumerate(held)})
    found = plan_samples(columns, sizes, ProfileEffort(room, room))
    kept = [found.get(column.name, Sample()) for column in columns]
    assert sum(n * one.rows for n, one in zip(distinct, kept, strict=True)) <= room * 1.001
    assert sum(n / one.one_in for n, one in zip(distinct, kept, strict=True)) <= room * 1.001
    if sum(distinct) <= room:
        assert set(kept) == {Sample()}
    for size, one in zip(distinct, kept, strict=True):
        if size <= room // len(distinct):
            assert one == Sample()


def test_columns_are_found_whatever_their_case():
    columns = [Column("Pace", "DOUBLE"), Column("hr", "INTEGER")]
    assert chosen(columns, ["HR", "pace", "hr"]) == [columns[1], columns[0]]
    assert chosen(columns, None) == columns
    alike = [Column("Ä", "INTEGER"), Column("ä", "INTEGER")]
    assert chosen(alike, ["ä"]) == [alike[1]]
    with pytest.raises(UnknownColumn, match="no column 'heart'; there are: 'Pace', 'hr'"):
        chosen(columns, ["heart"])
