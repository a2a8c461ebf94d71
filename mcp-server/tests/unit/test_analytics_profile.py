"""Profiles: the figures of columns are those that Python computes."""

import statistics

import duckdb
import pytest
from hypothesis import given
from hypothesis import strategies as st
from mdvec.core.datasets.columns import Column

from mdvec_mcp.core.analytics.column import UnknownColumn
from mdvec_mcp.core.analytics.placing import placed
from mdvec_mcp.core.analytics.profile import chosen, plan_profile, rounded

CONNECTION = duckdb.connect()


def profiled(columns: list[Column], table: str, *, exact: bool = True, condition=None):
    period = next((column for column in columns if column.type == "DATE"), None)
    plan = plan_profile(columns, period, condition, exact=exact)
    row = CONNECTION.execute(placed(plan.sql, table)).fetchone()
    assert row is not None
    return row[:3], plan.columns(row), plan


@given(st.lists(st.none() | st.integers(-1000, 1000), min_size=1, max_size=50), st.booleans())
def test_figures_are_those_of_the_values(values, exact):
    connection = CONNECTION.cursor()
    connection.execute("CREATE OR REPLACE TABLE given (v INTEGER)")
    connection.execute("INSERT INTO given SELECT unnest(?::INTEGER[])", [values])
    (rows, _, _), found, _ = profiled([Column("v", "INTEGER")], "given", exact=exact)
    present = [value for value in values if value is not None]
    figures = found["v"]
    assert rows == len(values)
    assert figures["null_rate"] == rounded(values.count(None) / len(values))
    if present:
        assert (figures["min"], figures["max"]) == (min(present), max(present))
        assert figures["mean"] == pytest.approx(statistics.fmean(present), rel=1e-4, abs=1e-4)
        assert min(present) <= figures["median"] <= max(present)
    if exact:
        assert figures["distinct_count"] == len(set(present))
        if present:
            assert figures["median"] == pytest.approx(statistics.median(present))


def test_nan_and_infinity_spoil_no_average():
    table = "(VALUES (1.0::DOUBLE), (3.0), ('nan'), ('inf'), (NULL)) t(v)"
    (rows, _, _), found, _ = profiled([Column("v", "DOUBLE")], table)
    assert rows == 5
    assert found["v"] == {
        "min": 1, "max": 3, "mean": 2, "median": 2, "distinct_count": 2, "null_rate": 0.2,
        "not_finite": 2,
    }  # fmt: skip


def test_texts_dates_and_lists_have_the_figures_that_mean_something():
    columns = [Column("分類", "VARCHAR"), Column("日", "DATE"), Column("一覧", "INTEGER[]")]
    table = (
        "(VALUES ('食費', DATE '2025-06-01', [1]), ('住宅', '2025-06-30', NULL)) t(分類, 日, 一覧)"
    )
    (count, first, last), found, _ = profiled(columns, table)
    assert (count, str(first), str(last)) == (2, "2025-06-01", "2025-06-30")
    assert found["分類"] == {"min": "住宅", "max": "食費", "distinct_count": 2, "null_rate": 0}
    assert "mean" not in found["日"]
    assert found["一覧"] == {"null_rate": 0.5}


def test_ids_and_yen_are_told_to_the_last_digit():
    table = "(SELECT 20250601 + i AS id, 1234567.89 + i AS yen FROM range(11) t(i))"
    _, found, _ = profiled([Column("id", "BIGINT"), Column("yen", "DECIMAL(11,2)")], table)
    assert (found["id"]["median"], found["id"]["max"]) == (20250606, 20250611)
    assert float(found["yen"]["min"]) == 1234567.89


def test_a_profile_of_nothing_has_no_figures():
    (rows, _, _), found, _ = profiled(
        [Column("v", "INTEGER")], "(SELECT 1 AS v WHERE false)", exact=False
    )
    assert rows == 0
    assert found["v"]["min"] is None
    assert found["v"]["null_rate"] is None


def test_what_is_estimated_says_so():
    table = "range(3) t(v)"
    assert profiled([Column("v", "BIGINT")], table, exact=False)[2].approximate == (
        "median",
        "distinct_count",
    )
    assert profiled([Column("v", "BIGINT")], table, exact=True)[2].approximate == ()


def test_a_condition_counts_for_everything():
    (rows, _, _), found, _ = profiled([Column("v", "BIGINT")], "range(10) t(v)", condition="v < 4")
    assert (rows, found["v"]["max"]) == (4, 3)


def test_columns_are_found_whatever_their_case():
    columns = [Column("Pace", "DOUBLE"), Column("hr", "INTEGER")]
    assert chosen(columns, ["HR", "pace", "hr"]) == [columns[1], columns[0]]
    assert chosen(columns, None) == columns
    alike = [Column("Ä", "INTEGER"), Column("ä", "INTEGER")]
    assert chosen(alike, ["ä"]) == [alike[1]]
    with pytest.raises(UnknownColumn, match="no column 'heart'; there are: 'Pace', 'hr'"):
        chosen(columns, ["heart"])
