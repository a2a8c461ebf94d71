"""Charts of exports and of the frames that notebooks make of them."""

import io
import math
import os
import statistics
import sys
from collections import defaultdict
from datetime import UTC, datetime, timedelta
from xml.etree import ElementTree as ET

import numpy as np
import pandas as pd
import polars as pl
import pytest
from PIL import Image
from stored_export import exported
from table_of_cases import each

from mdvec.analysis import (
    AnalysisError,
    ChartRefused,
    ExportMissing,
    LibraryMissing,
    NotAHandle,
    UnknownColumns,
    UnsupportedFrame,
    safe_chart,
    safe_load_export,
    safe_summary_table,
)

START = datetime(2025, 6, 1, 6, tzinfo=UTC)
RUN = """
    SELECT TIMESTAMP '2025-06-01 06:00:00' + to_seconds(i) AS 時刻, i % 7 AS 周回,
        ['朝', '夜'][1 + i % 2] AS 部, 250 + (i * 7919) % 1000 / 10 AS ペース,
        120 + (i * 104729) % 601 / 10 AS 心拍
    FROM range({}) AS t(i)
"""
LINK = "{http://www.w3.org/1999/xlink}href"
PACES = [250 + (i * 7919) % 1000 / 10 for i in range(10_000)]
HEARTS = [120 + (i * 104729) % 601 / 10 for i in range(10_000)]
DRAWN = [
    ("bar", {"x": "部", "y": ["ペース", "心拍"]}),
    ("line", {"x": "時刻", "y": "ペース", "color": "周回"}),
    ("area", {"x": "時刻", "y": ["ペース", "心拍"]}),
    ("scatter", {"x": "ペース", "y": "心拍"}),
    ("histogram", {"x": "心拍"}),
    ("box", {"y": ["ペース", "心拍"]}),
    ("heatmap", {"x": "周回", "y": "部", "color": "心拍"}),
]


@pytest.fixture
def folder(tmp_path):
    return tmp_path / "exports"


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """A run of 10,000 seconds in each form of data, with its folder."""
    folder = tmp_path_factory.mktemp("run") / "exports"
    handles = {fmt: exported(folder, RUN.format(10_000), fmt) for fmt in ("parquet", "csv")}
    frames = {
        name: safe_load_export(handles["parquet"], library=name, folder=folder)
        for name in ("pandas", "polars")
    }
    return handles | frames, folder


def shown(chart):
    return {one.name: one.values for one in chart.plot.series}


def numbered(values, bins):
    """For each value the number of the bin of equal width that it is in."""
    low, high = min(values), max(values)
    return [
        min(max(math.floor((value - low) / ((high - low) / bins)), 0), bins - 1) for value in values
    ]


@pytest.mark.parametrize(
    ("forms", "kind", "columns"),
    [
        (("csv", "pandas") if number % 2 else ("parquet", "polars"), *drawn)
        for number, drawn in enumerate(DRAWN)
    ],
)
def test_an_export_and_its_frame_give_the_same_picture(run, forms, kind, columns):
    data, folder = run
    charts = [safe_chart(data[form], kind, **columns, title="図", folder=folder) for form in forms]
    first = charts[0]
    assert {chart.note for chart in charts} == {first.note}
    assert {chart.png for chart in charts} == {first.png}
    with Image.open(io.BytesIO(first.png)) as picture:
        assert (picture.format, picture.size) == ("PNG", (800, 600))
        ink = picture.convert("L").point(lambda light: 255 * (light < 250))
    drawn = ink.getbbox()
    assert drawn is not None
    assert drawn[2] - drawn[0] > 700
    assert drawn[3] - drawn[1] > 500
    assert 0 < first.points <= 2_000
    assert len(first.png) < 100_000


def test_a_long_line_shows_the_means_of_intervals(run):
    data, folder = run
    chart = safe_chart(data["parquet"], "line", "時刻", ["ペース", "心拍"], folder=folder)
    seconds = [(START + timedelta(seconds=i)).timestamp() for i in range(10_000)]
    bins = defaultdict(list)
    for i, number in enumerate(numbered(seconds, 1_000)):
        bins[number].append(i)
    means = {
        name: [statistics.fmean(values[i] for i in bins[n]) for n in sorted(bins)]
        for name, values in (("時刻", seconds), ("ペース", PACES), ("心拍", HEARTS))
    }
    assert chart.plot.x == pytest.approx(means.pop("時刻"))
    assert shown(chart) == {name: pytest.approx(values) for name, values in means.items()}
    assert chart.note == "10,000行を1,000区間ごとの平均で示しています"
    assert repr(chart) == f"<line chart of 2,000 points: {chart.note}>"


def test_a_cloud_shows_the_mean_of_each_cell(run):
    data, folder = run
    chart = safe_chart(data["csv"], "scatter", "ペース", "心拍", folder=folder)
    cells = defaultdict(list)
    numbers = zip(numbered(PACES, 40), numbered(HEARTS, 40), strict=True)
    for cell, point in zip(numbers, zip(PACES, HEARTS, strict=True), strict=True):
        cells[cell].append(point)
    means = [
        tuple(statistics.fmean(part) for part in zip(*cells[cell], strict=True))
        for cell in sorted(cells)
    ]
    found = list(zip(chart.plot.x, shown(chart)["心拍"], strict=True))
    assert found == [pytest.approx(point) for point in means]


def test_the_values_of_color_name_the_series_even_if_they_are_numbers(folder):
    handle = exported(
        folder, "SELECT i // 2 AS x, 2024 + i % 2 AS year, i FROM range(6) t(i)", "csv"
    )
    chart = safe_chart(handle, "line", "x", "i", color="year", folder=folder)
    assert shown(chart) == {"2025": (1.0, 3.0, 5.0), "2024": (0.0, 2.0, 4.0)}


def test_a_long_series_of_names_shows_the_means_of_intervals(run):
    data, folder = run
    bins = defaultdict(list)
    for i, number in enumerate(numbered(range(10_000), 1_000)):
        bins[i % 2, number].append(PACES[i])
    for one in data.values():
        chart = safe_chart(one, "line", "時刻", "ペース", color="部", folder=folder)
        assert shown(chart) == {
            name: pytest.approx([statistics.fmean(bins[part, n]) for n in range(1_000)])
            for part, name in ((1, "夜"), (0, "朝"))
        }
        assert chart.note == "10,000行を1,000区間ごとの平均で示しています"
        assert chart.plot.x[0] - START.timestamp() == pytest.approx(9_999 / 1_000 / 2)


def test_series_with_times_of_their_own_are_lines_and_not_dots(folder):
    query = "SELECT i AS x, ['a', 'b'][1 + i % 2] AS name, i AS v FROM range(100) t(i)"
    alone = safe_chart(exported(folder, query, "csv"), "line", folder=folder)
    assert [one.places for one in alone.plot.series] == [
        tuple(range(1, 100, 2)), tuple(range(0, 100, 2)),
    ]  # fmt: skip
    drawing = alone.save(folder / "a.svg").read_text()
    both = [
        path for path in ET.fromstring(drawing).iter() if len(path.get("d", "").split("L")) == 50
    ]
    assert len(both) == 2


def test_rows_in_the_same_place_are_shown_by_their_mean(run):
    data, folder = run
    mean = {
        (lap, part): statistics.fmean(
            HEARTS[i] for i in range(10_000) if (i % 7, i % 2) == (lap, part)
        )
        for lap in range(7)
        for part in range(2)
    }
    heat = safe_chart(data["parquet"], "heatmap", "周回", "部", color="心拍", folder=folder)
    assert heat.plot.names == tuple("0123456")
    assert shown(heat) == {
        name: pytest.approx([mean[lap, part] for lap in range(7)])
        for part, name in enumerate(("朝", "夜"))
    }
    bars = safe_chart(data["pandas"], "bar", "周回", "心拍", color="部", folder=folder)
    assert bars.plot.names == heat.plot.names
    assert shown(bars) == {name: pytest.approx(values) for name, values in shown(heat).items()}
    assert heat.note == bars.note == "同じ位置にある行は平均で示しています"


def test_without_names_the_columns_are_taken_in_their_order():
    frame = pl.DataFrame({"費目": ["食費", "住宅"], "円": [120, 98], "備考": ["a", "b"]})
    chart = safe_chart(frame, "bar")
    assert (chart.plot.names, shown(chart)) == (("食費", "住宅"), {"円": (120.0, 98.0)})


def test_an_index_of_pandas_is_a_column():
    grouped = pd.DataFrame({"費目": ["食費", "住宅", "食費"], "円": [1, 2, 3]}).groupby("費目")
    chart = safe_chart(grouped["円"].sum(), "bar")
    assert dict(zip(chart.plot.names, shown(chart)["円"], strict=True)) == {"食費": 4, "住宅": 2}
    years = pd.DataFrame({"円": [1, 2]}, index=range(2023, 2025))
    assert safe_chart(years, "bar").plot.names == ("2023", "2024")
    same_name = grouped["円"].sum().rename("費目")
    assert list(shown(safe_chart(same_name, "bar"))) == ["費目"]


def test_columns_of_pandas_may_have_numbers_for_names():
    frame = pd.DataFrame([["朝", 2.5, 1], ["夜", 4.5, 3]])
    assert shown(safe_chart(frame, "bar", 0, 1)) == {"1": (2.5, 4.5)}
    assert shown(safe_chart(frame, "bar", 0, [1, 2])) == {"1": (2.5, 4.5), "2": (1.0, 3.0)}
    assert shown(safe_chart(frame, "bar", 1, 2, color=0)).keys() == {"朝", "夜"}
    unnamed = pd.DataFrame({"": ["朝", "夜"], "n": [1, 2]})
    assert safe_chart(unnamed, "bar", "", "n").plot.names == ("朝", "夜")
    with pytest.raises(UnknownColumns, match="the data has no column '3'"):
        safe_chart(frame, "bar", 3, 1)
    with pytest.raises(UnknownColumns, match=r"the data has no column '1[.]5'; it has: 0, 1, 2"):
        safe_chart(frame, "bar", 0, 1.5)


def test_a_number_names_its_column_and_not_another_of_the_same_text():
    frame = pd.DataFrame([[1, 2, 3], [2, 9, 30]], columns=["x", "1", 1])
    for number in (1, [1], 1.0, np.int64(1), np.array([1]), frame.columns[2:]):
        assert shown(safe_chart(frame, "line", "x", number)) == {"1": (3.0, 30.0)}
    assert shown(safe_chart(frame, "line", "x", "1")) == {"1": (2.0, 9.0)}
    assert safe_summary_table(frame, columns=[1]).split() == ["1", "3", "30"]
    numbered = safe_chart(frame.rename(columns={1: 2}), "line", "x", np.int64(1))
    assert shown(numbered) == {"1": (2.0, 9.0)}


@each(
    ("column", "names"),
    [
        (pd.period_range("2025-01", periods=2, freq="M"), ("2025-01", "2025-02")),
        (pd.cut(pd.Series([1, 5]), [0, 3, 6]), ("(0, 3]", "(3, 6]")),
        (pd.arrays.IntervalArray.from_tuples([(0, 1), None]), ("(0.0, 1.0]", "—")),
        (pd.array([1, 2], dtype="complex128"), ("(1+0j)", "(2+0j)")),
    ],
)
def test_what_duckdb_has_no_type_for_is_shown_as_text_and_disturbs_no_other_column(column, names):
    frame = pd.DataFrame({"x": column, "n": [1, 2], "円": [3.0, 4.0]})
    assert safe_chart(frame, "bar", "x", "円").plot.names == names
    assert shown(safe_chart(frame, "line", "n", "円")) == {"円": (3.0, 4.0)}


def test_times_with_a_zone_are_shown_in_that_of_the_settings(folder, monkeypatch):
    query = "SELECT TIMESTAMPTZ '2025-06-01 06:00:00+00' + to_hours(i) AS t, i FROM range(3) t(i)"
    handle = exported(folder, query, "csv")
    for zone, hours in (("UTC", 0), ("Asia/Tokyo", 9)):
        monkeypatch.setenv("MDVEC_ANALYTICS_TIME_ZONE", zone)
        for data in (handle, safe_load_export(handle, library="polars", folder=folder)):
            chart = safe_chart(data, "line", "t", "i", folder=folder)
            assert chart.plot.x[0] == (START + timedelta(hours=hours)).timestamp()


def test_a_chart_is_saved_in_the_format_of_the_ending(tmp_path):
    chart = safe_chart(pl.DataFrame({"n": [1, 2, 2, 3]}), "histogram", size="400x300")
    assert chart.save(tmp_path / "図.PNG").read_bytes() == chart.png == chart._repr_png_()
    with Image.open(chart.save(str(tmp_path / "図.jpg"))) as picture:
        assert (picture.format, picture.size) == ("JPEG", (400, 300))
    drawing = ET.fromstring(chart.save(tmp_path / "図.svg").read_bytes())
    assert (drawing.get("width"), drawing.get("height")) == ("400", "300")
    letters = {use.attrib[LINK] for use in drawing.iter() if use.tag.endswith("}use")}
    assert len(letters) > 5
    with pytest.raises(
        ChartRefused, match=r"^a chart is saved as .png, .svg or .jpg, not as '.pdf'"
    ):
        chart.save(tmp_path / "図.pdf")


def test_a_chart_says_nothing_of_its_data_in_its_text():
    frame = pl.DataFrame({"名": ["秘密", "無"], "値": [4711, None]})
    assert repr(safe_chart(frame, "bar", title="秘密")) == "<bar chart of 1 points>"


FRAME = pl.DataFrame({"名": ["a", "b"], "値": [1.0, 2.0], "n": [3, 4]})


@each(
    ("kind", "columns", "message"),
    [
        ("pie", {}, "there is no 'pie' chart; give bar, line, area, scatter, histogram, box or"),
        ("line", {"x": "名"}, "a line chart needs x and y, the names of columns"),
        ("bar", {"x": "名", "y": ["値", "名"]}, "the column '名' holds VARCHAR, not numbers"),
        ("bar", {"x": "n", "y": ["値", "n"], "color": "名"}, "color names the series of one y"),
        ("histogram", {"x": "n", "y": "値"}, "a histogram shows one column; give it as x alone"),
        ("histogram", {"x": "名"}, "a histogram needs numbers or dates"),
        ("box", {"x": "名", "y": ["値", "n"]}, "a box chart shows one y by the names in x"),
        ("box", {"x": "名"}, "the column '名' holds VARCHAR, not numbers"),
        ("heatmap", {"x": "名", "y": "n"}, "a heat map needs x, y and color"),
        ("heatmap", {"x": "n", "y": "n", "color": "名"}, "the column '名' holds VARCHAR"),
        ("bar", {"size": "10x10"}, "the image size 10x10 does not work; give 200x150 to"),
    ],
)
def test_what_cannot_be_drawn_is_refused_with_what_is_needed(kind, columns, message):
    with pytest.raises(ChartRefused, match=f"^{message}") as refused:
        safe_chart(FRAME, kind, **columns)
    assert isinstance(refused.value, AnalysisError)
    assert isinstance(refused.value, ValueError)


def test_other_data_and_unknown_columns_are_refused(folder):
    with pytest.raises(UnknownColumns, match="the data has no column '値段'; did you mean '値'"):
        safe_chart(FRAME, "bar", "名", "値段")
    with pytest.raises(UnsupportedFrame, match="a chart is made of the handle of an export, or"):
        safe_chart([1, 2, 3], "bar")
    with pytest.raises(UnsupportedFrame, match=r"this frame is lazy; pass df.collect\(\)"):
        safe_chart(FRAME.lazy(), "bar")
    with pytest.raises(UnsupportedFrame, match="the frame has columns of objects"):
        safe_chart(FRAME.with_columns(pl.Series("o", [object(), {}], dtype=pl.Object)), "bar")
    with pytest.raises(NotAHandle):
        safe_chart("/etc/passwd", "bar", folder=folder)
    gone = f"export_20250601T000000Z_{'0' * 32}.parquet"
    with pytest.raises(ExportMissing):
        safe_chart(gone, "bar", folder=folder)


def test_rows_that_cannot_be_read_are_refused_without_their_values(folder):
    handle = exported(folder, "SELECT 'a' AS x, 1 AS y", "csv")
    file = folder / handle
    expires = file.stat().st_mtime
    file.write_text("x,y\na,秘密\n", encoding="utf-8")
    os.utime(file, (expires, expires))
    with pytest.raises(ChartRefused) as refused:
        safe_chart(handle, "bar", folder=folder)
    assert str(refused.value) == (
        "the rows could not be read (ConversionException); give each column values of one type, "
        "or draw fewer columns"
    )


def test_durations_are_names_not_numbers():
    frame = pl.DataFrame({"d": [timedelta(seconds=90)], "n": [1]})
    assert safe_chart(frame, "bar", "d", "n").plot.names == ("PT1M30S",)
    with pytest.raises(ChartRefused, match="holds VARCHAR, not numbers"):
        safe_chart(frame, "bar", "n", "d")


@pytest.mark.parametrize("name", ["matplotlib", "matplotlib_fontja"])
def test_without_matplotlib_the_error_says_how_to_install_it(monkeypatch, name):
    monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(LibraryMissing) as missing:
        safe_chart(FRAME, "bar")
    assert str(missing.value).startswith(f"charts need {name}; pip install -c constraints.txt")
