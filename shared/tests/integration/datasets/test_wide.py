"""CSV files with very many columns: converted about as fast as DuckDB copies them."""

import csv
import sys
import time

import duckdb
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mdvec.datasets.core.columns import column_names
from mdvec.datasets.core.value_types import VALUE_KINDS
from mdvec.datasets.interfaces.connection import parquet_scan, safe_connection
from mdvec.datasets.interfaces.delimited import delimited_to_parquet
from mdvec.datasets.interfaces.parquet import parquet_facts
from mdvec.datasets.interfaces.wide import (
    MIN_WIDE_COLUMNS,
    ListColumn,
    lists_to_parquet,
    write_lists,
)

VALUES = ["7", "0.25", "2025-01-31", "text", "true", "¥1,200", "1e+3", "2025/1/2 3:04", ""]


def write(file, width, rows=20):
    with file.open("w", newline="", encoding="utf-8") as text:
        writer = csv.writer(text)
        writer.writerow(f"col_{number}" for number in range(width))
        for row in range(rows):
            writer.writerow(VALUES[number % len(VALUES)] + str(row % 2) * (number % 9 == 0)
                            for number in range(width))  # fmt: skip


class Counting:
    """A connection that records its statements."""

    def __init__(self, connection):
        self.connection, self.asked = connection, []

    def execute(self, sql, *values):
        self.asked.append(sql)
        return self.connection.execute(sql, *values)


def test_thousands_of_columns_are_checked_in_a_few_short_statements(tmp_path):
    width = 1_000
    plain, target = tmp_path / "plain", tmp_path / "target"
    with plain.open("w", encoding="utf-8") as lists:
        write_lists([[VALUES[n % len(VALUES)] for n in range(width)]] * 20, lists)
    with safe_connection([plain, target], optimizes=False) as connection:
        counting = Counting(connection)
        lists_to_parquet(counting, [ListColumn(f"c{n}") for n in range(width)], plain, target)
    *asked, written = counting.asked
    assert len(asked) <= len(VALUE_KINDS)
    assert max(map(len, asked)) < 5_000
    assert len(written) < 200 * width
    types = [column.type for column in parquet_facts(target).columns[: len(VALUES)]]
    assert types == [
        "BIGINT", "DOUBLE", "DATE", "VARCHAR", "BOOLEAN", "BIGINT", "DOUBLE", "TIMESTAMP",
        "VARCHAR",
    ]  # fmt: skip


CELLS = st.one_of(
    st.sampled_from(
        ["", "NA", "NaN", "nan", "null", "None", "0", "00", "-1", " 5 ", "1.5", ".5", "1e9", "inf",
         "true", "FALSE", "¥1,000", "1,000円", "-¥5.25", "2025-01-02", "2025/1/2", "2025-13-01",
         "2025-01-02 03:04", "2025-01-02T03:04:05+09:00", "9" * 18, "9" * 19, "0.1234567890123456",
         "あ", "'", '"', "a,b", "a\nb", "\\", "{}", "[1]", "\x7f", "\u2028"]
    ),
    st.text(st.characters(codec="utf-8", exclude_characters="\0\r"), max_size=4),
)  # fmt: skip


@settings(max_examples=3, deadline=None)
@given(columns=st.lists(st.lists(CELLS, min_size=3, max_size=3), min_size=1, max_size=6))
def test_a_wide_file_is_read_like_a_narrow_one(tmp_path_factory, columns):
    folder = tmp_path_factory.mktemp("wide")
    found, named = [], [[f"c{n}", *cells] for n, cells in enumerate(columns)]
    for filling in (0, MIN_WIDE_COLUMNS):
        source, target = folder / f"{filling}.csv", folder / f"{filling}.parquet"
        with source.open("w", newline="", encoding="utf-8") as text:
            rows = zip(*[["key", "k", "k", "k"], *named], strict=True)
            csv.writer(text).writerows([*row, *["x"] * filling] for row in rows)
        delimited_to_parquet(source, target)
        with duckdb.connect() as connection:
            shown = ", ".join(f"c{n}" for n in range(len(columns)))
            read = connection.execute(f"SELECT {shown} FROM {parquet_scan(target)}")
            types = [str(column[1]) for column in read.description]
            found.append((types, str(read.fetchall())))
    assert found[0] == found[1]


@given(header=st.lists(st.sampled_from(["a", "A", "a_2", "b", "", "column2"]), min_size=2))
def test_every_column_has_a_name_of_its_own(header):
    names = column_names(["first", *header])
    assert len({name.lower() for name in names}) == len(names)
    for cell, name in zip(header, names[1:], strict=True):
        assert name.startswith(cell or "column")


def test_ten_thousand_columns_of_one_name_are_named_at_once():
    began = time.process_time()
    assert column_names(["x"] * 10_000)[-1] == "x_10000"
    assert time.process_time() - began < 2


@pytest.mark.soak
def test_four_times_the_columns_take_about_four_times_the_steps(tmp_path):
    source = tmp_path / "wide.csv"

    def steps(width):
        """How many lines of Python run; unlike time, it is the same at every run."""
        run = 0

        def counted(_frame, event, _value):
            nonlocal run
            run += event == "line"
            return counted

        write(source, width)
        sys.settrace(counted)
        try:
            delimited_to_parquet(source, tmp_path / "wide.parquet")
            parquet_facts(tmp_path / "wide.parquet")
        finally:
            sys.settrace(None)
        return run

    assert steps(10_000) <= 5 * steps(2_500)
