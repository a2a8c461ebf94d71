"""CSV files with very many columns: converted about as fast as DuckDB copies them."""

import csv
import sys

import duckdb
from hypothesis import example, given, settings
from hypothesis import strategies as st
from source_folder import READER

from mdvec.datasets.core.columns import column_names
from mdvec.datasets.interfaces.connection import parquet_scan
from mdvec.datasets.interfaces.csv_file import csv_to_parquet
from mdvec.datasets.interfaces.parquet import parquet_extent
from mdvec.datasets.interfaces.typed_columns import MIN_WIDE_COLUMNS

CELLS = st.one_of(
    st.sampled_from(
        ["", "NA", "NaN", "nan", "null", "None", "0", "00", "-1", " 5 ", "1.5", ".5", "1e9", "inf",
         "true", "FALSE", "¥1,000", "1,000円", "-¥5.25", "2025-01-02", "2025/1/2", "2025-13-01",
         "2025-01-02 03:04", "2025-01-02T03:04:05+09:00", "9" * 18, "9" * 19, "0.1234567890123456",
         "あ", "'", '"', "a,b", "a\nb", "\\", "{}", "[1]", "\x7f", "\u2028"]
    ),
    st.text(st.characters(codec="utf-8", exclude_characters="\0\r"), max_size=4),
)  # fmt: skip


@settings(max_examples=2, deadline=None)
@example(columns=[["", "", "2025-01-02T03:04:05+09:00"]])
@given(columns=st.lists(st.lists(CELLS, min_size=3, max_size=3), min_size=1, max_size=6))
def test_a_wide_file_is_read_like_a_narrow_one(one_folder, columns):
    found, named = [], [[f"c{n}", *cells] for n, cells in enumerate(columns)]
    for filling in (0, MIN_WIDE_COLUMNS):
        source, target = one_folder / f"{filling}.csv", one_folder / f"{filling}.parquet"
        with source.open("w", newline="", encoding="utf-8") as text:
            rows = zip(*[["key", "k", "k", "k"], *named], strict=True)
            csv.writer(text).writerows([*row, *["x"] * filling] for row in rows)
        csv_to_parquet(source, target)
        shown = ", ".join(f"c{n}" for n in range(len(columns)))
        read = READER.sql(f"SELECT {shown} FROM {parquet_scan(target)}")
        # As texts: Python's times with a zone need a package.
        found.append((read.types, read.project("COLUMNS(*)::VARCHAR").fetchall()))
    assert found[0] == found[1]


@given(header=st.lists(st.sampled_from(["a", "A", "a_2", "b", "", "column2"]), min_size=2))
def test_every_column_has_a_name_of_its_own(header):
    names = column_names(["first", *header])
    assert len({name.lower() for name in names}) == len(names)
    for cell, name in zip(header, names[1:], strict=True):
        assert name.startswith(cell or "column")


def lines_run(work):
    """How many lines of Python a call runs: unlike its time, the same on a busy machine."""
    before, lines = sys.gettrace(), 0

    def count(_frame, event, _argument):
        nonlocal lines
        lines += event == "line"
        return count

    sys.settrace(count)
    try:
        work()
    finally:
        sys.settrace(before)
    return lines


def test_naming_ten_times_as_many_columns_of_one_name_is_ten_times_the_work():
    assert column_names(["x"] * 2_000)[-1] == "x_2000"
    few, many = (lines_run(lambda n=n: column_names(["x"] * n)) for n in (200, 2_000))
    assert 0 < many <= 12 * few


def test_a_list_of_times_is_no_period(folder):
    lists = "SELECT [TIMESTAMP '2025-01-01'] AS times, DATE '2025-02-02' AS day"
    duckdb.execute(f"COPY ({lists}) TO '{folder}/t.parquet'")
    extent = parquet_extent(folder / "t.parquet")
    assert (extent.period_column, extent.first, extent.last) == ("day", "2025-02-02", "2025-02-02")
