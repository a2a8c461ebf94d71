"""Which files are one table, by their names and their columns."""

from hypothesis import given
from hypothesis import strategies as st
from table_of_cases import each

from mdvec.datasets.core.differing import LONG, NO_VALUES, agreed_type, common_columns, difference
from mdvec.datasets.core.grouping import (
    FileGroup,
    file_groups,
    group_of,
    hive_type,
    hive_values,
)
from mdvec.datasets.planning import overlapping


@each(
    ("path", "name", "pattern"),
    [
        ("sales_2024-01.csv", "sales", "sales_*.csv"),
        ("sales_202401.csv", "sales", "sales_*.csv"),
        ("2024-01-sales.csv", "sales", "*-sales.csv"),
        ("sub/sales 2024.tsv", "sub/sales", "sub/sales *.tsv"),
        ("売上2024年1月.csv", "売上", "売上*.csv"),
        ("売上_令和6年12月.csv", "売上", "売上_*.csv"),
        ("2024-01.csv", "", "*.csv"),
        ("sub/2024-01-31.csv", "sub", "sub/*.csv"),
        ("card_2024-01-01_2024-01-31.csv", "card", "card_*.csv"),
        ("log_20240601_120000.csv", "log", "log_*.csv"),
        ("bmi160_2024-01.csv", "bmi160", "bmi160_*.csv"),
        ("run12.csv", "run", "run*.csv"),
        ("run1_part2.csv", "run1_part", "run1_part*.csv"),
        ("sales_2024-01 (1).csv", "sales_1", "sales_* (1).csv"),
        ("s/year=2024/month=01/part-0.parquet", "s", "s/year=*/month=*/*.parquet"),
        ("year=2024/x.csv", "", "year=*/*.csv"),
    ],
)
def test_a_group_is_named_by_what_its_files_have_in_common(path, name, pattern):
    assert group_of(path) == FileGroup(name, pattern)


def test_files_that_differ_by_more_than_a_date_are_not_one_group():
    paths = [
        "lap_2024-01.csv", "lap_2024-02.csv", "pit_2024-01.csv", "notes.csv", "a/lap_2024-03.csv",
    ]  # fmt: skip
    assert file_groups(paths) == {
        FileGroup("lap", "lap_*.csv"): ["lap_2024-01.csv", "lap_2024-02.csv"]
    }


@given(st.text("abx_-1230年月", max_size=12), st.integers(1990, 2030), st.integers(1, 12))
def test_every_month_of_one_name_is_in_one_group(stem, year, month):
    one = group_of(f"{stem}s_2024-01.csv")
    assert group_of(f"{stem}s_{year}-{month:02}.csv") == one
    assert one.has(f"{stem}s_{year}-{month:02}.csv")


def test_a_chosen_pattern_means_the_files_name_or_the_whole_path():
    assert FileGroup("sales", "s*_?.csv", is_chosen=True).has("deep/sales_1.csv")
    assert not FileGroup("sales", "a/s*.csv", is_chosen=True).has("b/sales.csv")


def test_folders_give_columns_with_a_type_of_their_own():
    assert hive_values("a/y=2024/c=a%20b/n=__HIVE_DEFAULT_PARTITION__/f.csv") == {
        "y": "2024", "c": "a b", "n": None,
    }  # fmt: skip
    assert [hive_type(v) for v in (["1", "02"], ["007"], ["2024-01-31", None], [None])] == [
        "BIGINT", "VARCHAR", "DATE", "VARCHAR",
    ]  # fmt: skip


@each(
    ("types", "agreed"),
    [
        (["BIGINT", NO_VALUES], "BIGINT"),
        ([NO_VALUES], "VARCHAR"),
        (["BIGINT", "DOUBLE"], "DOUBLE"),
        ([LONG, "DOUBLE"], None),
        ([LONG, "BIGINT"], "BIGINT"),
        (["DATE", "TIMESTAMP", NO_VALUES], "TIMESTAMP"),
        (["DATE", "BIGINT"], None),
        (["VARCHAR", "BOOLEAN"], None),
    ],
)
def test_a_column_gets_the_type_that_holds_all_its_values(types, agreed):
    assert agreed_type(types) == agreed


def test_the_columns_of_most_files_are_those_of_the_table():
    common = common_columns([("a", "x"), ("b", "a"), ("a", "b")])
    assert common == ("b", "a")
    assert difference(("a", "x"), common) == "lacks b and has x as well"
    assert difference(("a", "b"), common) == ""


@each(
    ("names", "asked"),
    [
        ("2024 2025-01 2025-02", ""),
        ("2025 2025-01 2024", "2025"),
        ("2025Q1 2025-01 2025-02 2025-04", "2025Q1"),
        ("2025-01 2025-01-01 2025-01-02", "2025-01"),
        ("2024年度 2025年1月 2024年1月", "2024年度"),
        ("2024年度 2024年3月 2025年4月", ""),
        ("2025年 2025年度", "2025年度"),
        ("令和6年 2024年4月", "令和6年"),
        ("20250101-20250131 20250101-20250228 20250301-20250331", "20250101-20250228"),
        ("20250101-20250201 20250201-20250301", ""),
        ("20250120-20250210 20250101-20250131", "20250101-20250131"),
        ("20250601_1200 20250601_1800", ""),
        ("2025-01 202501", "202501"),
        ("2025-13 2025", ""),
        ("2025-03 2025-31 2025-32", ""),  # weeks
    ],
)
def test_a_file_whose_period_has_that_of_another_in_it_may_repeat_its_rows(names, asked):
    paths = [f"売上_{name}.csv" for name in names.split()]
    assert " ".join(path[3:-4] for path in overlapping(paths)) == asked
