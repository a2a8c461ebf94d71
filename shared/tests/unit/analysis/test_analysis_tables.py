"""Summary tables of polars and pandas: few rows, few columns, short cells."""

import json
from datetime import date, datetime

import numpy as np
import pandas as pd
import polars as pl
import pytest
from table_of_cases import each

import mdvec.analysis
from mdvec.analysis import (
    UnknownColumns,
    UnsupportedFrame,
    safe_json_output,
    safe_summary_table,
    validate_output,
)

LIBRARIES = pytest.mark.parametrize("frame", [pl.DataFrame, pd.DataFrame], ids=["polars", "pandas"])


@LIBRARIES
def test_a_short_frame_is_shown_whole(frame):
    table = safe_summary_table(
        frame({"店": ["まるなか", "cafe"], "pace": [271.25, 300.0], "n": [10, None]})
    )
    missing = "null" if frame is pl.DataFrame else "NaN"
    assert table.splitlines() == [
        f"      店    pace  {'n':>{len(missing)}}",
        f"まるなか  271.25  {'10':>{len(missing)}}",
        f"    cafe     300  {missing}",
    ]


@LIBRARIES
def test_of_a_long_frame_the_first_and_the_last_rows_are_shown(frame):
    table = safe_summary_table(frame({"n": range(1000)}))
    assert table.splitlines() == [
        "  n",
        *(f"  {n}" for n in range(5)),
        "… (990 rows omitted) …",
        *(str(n) for n in range(995, 1000)),
    ]


@LIBRARIES
def test_ten_rows_are_not_cut_and_eleven_are(frame):
    assert "omitted" not in safe_summary_table(frame({"n": range(10)}))
    assert "(1 row omitted)" in safe_summary_table(frame({"n": range(11)}))


@LIBRARIES
@pytest.mark.parametrize(("most", "shown"), [(3, [0, 1, 99]), (1, [0]), (0, []), (-1, [])])
def test_max_rows_can_be_set(frame, most, shown):
    lines = safe_summary_table(frame({"n": range(100)}), max_rows=most).splitlines()
    assert [int(line) for line in lines[1:] if "omitted" not in line] == shown
    assert f"({100 - len(shown)} rows omitted)" in "\n".join(lines)


@LIBRARIES
def test_columns_can_be_chosen_in_their_order(frame):
    table = safe_summary_table(frame({"a": [1], "b": [2], "c": [3]}), columns=["c", "a"])
    assert table.splitlines() == ["c  a", "3  1"]


@LIBRARIES
def test_a_column_that_is_not_there_is_refused_with_the_nearest(frame):
    with pytest.raises(UnknownColumns) as refused:
        safe_summary_table(frame({"heart_rate": [1]}), columns=["heartrate"])
    assert str(refused.value) == ("the frame has no column 'heartrate'; did you mean 'heart_rate'?")


@LIBRARIES
def test_a_wide_frame_names_the_columns_that_it_leaves_out(frame):
    table = safe_summary_table(frame({f"c{n}": range(20) for n in range(40)}))
    lines = table.splitlines()
    assert lines[0].split() == [f"c{n}" for n in range(12)]
    assert lines[-1].startswith("(28 more columns: c12, c13,")
    assert lines[-1].endswith("c31, …)")


@LIBRARIES
def test_a_long_cell_is_cut_and_stays_on_its_line(frame):
    table = safe_summary_table(frame({"memo": ["一行目\n二行目\x1b[31m" + "長" * 10**6]}))
    line = table.splitlines()[1]
    assert line == "一行目 二行目 [31m" + "長" * 17 + "…"


@LIBRARIES
def test_dates_and_numbers_are_written_shortly(frame):
    values = {
        "day": [date(2026, 1, 2)],
        "at": [datetime.fromisoformat("2026-01-02 03:04:05")],
        "third": [1 / 3],
        "tiny": [1.23456e-9],
        "large": [1234567.891],
        "is": [True],
        "zero": [-0.0],
    }
    cells = safe_summary_table(frame(values)).splitlines()[1].split("  ")
    assert [cell for cell in map(str.strip, cells) if cell] == [
        "2026-01-02", "2026-01-02 03:04:05", "0.3333", "1.235e-09", "1234567.891", "True", "-0",
    ]  # fmt: skip


@LIBRARIES
def test_a_frame_without_rows_shows_its_columns(frame):
    assert safe_summary_table(frame({"a": [], "b": []})).splitlines() == ["a  b", "(no rows)"]


def test_values_that_are_missing_say_so():
    frame = pd.DataFrame(
        {"at": [pd.NaT], "n": pd.array([pd.NA], dtype="Int64"), "x": [float("nan")]}
    )
    assert safe_summary_table(frame).splitlines()[1].split() == ["null", "null", "NaN"]
    assert safe_summary_table(pl.DataFrame({"x": [None, 1]})).splitlines()[1].split() == ["null"]


def test_a_range_of_pandas_is_a_column_unless_it_only_counts_the_rows():
    years = pd.DataFrame({"v": [1, 2, 3]}, index=range(2023, 2026))
    assert safe_summary_table(years).splitlines()[:2] == ["index  v", " 2023  1"]
    assert safe_summary_table(years.reset_index(drop=True)).splitlines()[:2] == ["v", "1"]
    assert safe_json_output(pd.Series([5, 6], index=range(0, 4, 2))) == '{"0":5,"2":6}'


def test_the_last_rows_have_the_columns_of_the_first_whatever_their_range_begins_with():
    temperatures = pd.DataFrame({"v": range(10, 16)}, index=range(-3, 3))
    lines = safe_summary_table(temperatures, max_rows=4).splitlines()
    assert [line.split() for line in lines if "omitted" not in line] == [
        ["index", "v"], ["-3", "10"], ["-2", "11"], ["1", "14"], ["2", "15"],
    ]  # fmt: skip


def test_a_meaningful_pandas_index_is_a_column():
    frame = pd.DataFrame({"k": ["a", "a", "b"], "m": [1, 2, 1], "v": [1.5, 2.5, 3.5]})
    by_two = frame.groupby(["k", "m"]).sum()
    assert safe_summary_table(by_two).splitlines()[:2] == ["k  m    v", "a  1  1.5"]
    described = safe_summary_table(frame[["v"]].describe())
    assert described.splitlines()[:2] == ["index    v", "count    3"]


def test_a_series_is_a_table_of_one_column():
    assert safe_summary_table(pl.Series("pace", [1, 2])).splitlines() == ["pace", "   1", "   2"]
    counts = pd.Series(["a", "b", "a"], name="k").value_counts()
    assert safe_summary_table(counts).splitlines() == ["k  count", "a      2", "b      1"]


def test_columns_of_pandas_may_share_a_name_or_be_numbers():
    assert safe_summary_table(pd.DataFrame([[1, 2]], columns=["a", "a"])).splitlines()[1] == "1  2"
    assert safe_summary_table(pd.DataFrame([[1, 2]]), columns=["1"]).splitlines() == ["1", "2"]


@each("what", [[1, 2], "text", None, {"a": 1}])
def test_a_value_that_is_not_a_frame_is_refused(what):
    with pytest.raises(UnsupportedFrame, match="use safe_json_output for other data"):
        safe_summary_table(what)


def test_a_lazy_frame_is_to_be_collected_first():
    with pytest.raises(UnsupportedFrame, match=r"this frame is lazy; pass df.collect\(\)"):
        safe_summary_table(pl.DataFrame({"a": [1]}).lazy())


@LIBRARIES
@pytest.mark.parametrize("rows", [0, 10, 11, 10_000])
@pytest.mark.parametrize("columns", [1, 12, 40])
def test_every_summary_passes_the_validation(frame, rows, columns):
    table = safe_summary_table(frame({f"column_{n}": range(rows) for n in range(columns)}))
    assert validate_output(table) == (True, None)


def test_a_star_imports_every_name_of_the_module():
    names: dict[str, object] = {}
    exec("from mdvec.analysis import *", names)
    assert set(dir(mdvec.analysis)) == names.keys() - {"__builtins__"}
    assert names["safe_summary_table"] is safe_summary_table


def test_days_of_pandas_are_dates_as_it_prints_them_and_times_are_whole():
    days = pd.to_datetime(["2025-06-05", None, "2025-06-06"])
    times = pd.to_datetime(["2025-06-05 01:00", "2025-06-06 00:00", "2025-06-07 00:00"])
    frame = pd.DataFrame({"day": days, "time": times})
    for shown in (frame, frame.set_index("day")):
        assert [line.split() for line in safe_summary_table(shown).splitlines()] == [
            ["day", "time"],
            ["2025-06-05", "2025-06-05", "01:00:00"],
            ["null", "2025-06-06", "00:00:00"],
            ["2025-06-06", "2025-06-07", "00:00:00"],
        ]
    assert json.loads(safe_json_output(frame[:1])) == [
        {"day": "2025-06-05", "time": "2025-06-05T01:00:00"}
    ]
    far = pd.DataFrame({"day": np.array(["20250-01-01"], "datetime64[s]")})
    assert "20250-01-01" in safe_summary_table(far)
