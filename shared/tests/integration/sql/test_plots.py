"""Charts of queries: what they show of the rows, and that each kind is drawn."""

import math
from itertools import pairwise
from pathlib import Path
from types import SimpleNamespace

import pytest
from query_subject import Subject
from table_of_cases import each

from mdvec.analysis import safe_chart
from mdvec.analysis.exports import ExportFolder
from mdvec.charts.figure import draw, figure_of
from mdvec.charts.query_plot import MAX_POINTS, PlotRefused
from mdvec.charts.style import typeface
from mdvec.sql.core.guard import AnswerGuard
from mdvec.sql.exporting import Exporter
from mdvec.sql.process.messages import QueryLimits
from mdvec.sql.questions import Prepared, Questions

DAYS = "SELECT DATE '2025-01-01' + range::INT AS day, sin(range) AS a, 2.5 AS b FROM range({})"


@pytest.fixture(scope="module")
def queries(tmp_path_factory):
    limits = QueryLimits(10.0, 1024, 2**20, time_zone="Asia/Tokyo")
    queries = Subject(tmp_path_factory.mktemp("plots"), limits=limits).process
    yield queries
    queries.close()


@pytest.fixture
def plots(queries):
    questions = Questions(queries, None, None, Path())

    def plot(query, kind, title):
        return questions.plot(Prepared(query), kind, title)

    return SimpleNamespace(plot=plot)


def shown(plot):
    return {one.name: one.values for one in plot.series}


def test_bars_keep_the_order_and_the_names_of_the_query(plots):
    query = "SELECT * FROM (VALUES ('食費', 120), ('家賃', NULL), (NULL, -5)) AS t(name, yen)"
    plot = plots.plot(query, "bar", "支出")
    assert (plot.names, plot.axis, plot.note) == (("食費", "家賃", "—"), "names", "")
    assert shown(plot) == {"yen": (120.0, None, -5.0)}


def test_more_bars_than_there_is_room_for_are_left_out_and_counted(plots):
    query = "SELECT 'n' || range AS name, range AS n FROM range({})"
    plot = plots.plot(query.format(61), "bar", "")
    assert (len(plot.names), plot.note) == (60, "61行のうち最初の60行だけを示しています")
    assert plots.plot(query.format(60), "bar", "").note == ""
    query = "SELECT ['新宿', '渋谷'][1 + range % 2] AS shop, range AS n FROM range(997)"
    plot = plots.plot(query, "bar", "")
    assert plot.in_words().startswith("bar chart of 60 rows, '新宿' to '渋谷'; ")
    assert [note.english for note in plot.notes] == [
        "only the first 60 of 997 rows are shown",
        "values of 'shop' repeat, and each row is shown; GROUP BY it for one value of each",
    ]


@each(("kind", "is_told"), [("line", 1), ("area", 1), ("scatter", 0)])
def test_a_line_of_several_rows_at_one_place_says_so(plots, kind, is_told):
    note = "values of 'x' repeat, and each row is shown; GROUP BY it for one value of each"
    plot = plots.plot("SELECT i % 5 AS x, i * 0.5 AS y FROM range(50) t(i)", kind, "")
    assert [one.english for one in plot.notes] == [note] * is_told
    assert plots.plot("SELECT i AS x, i * 0.5 AS y FROM range(50) t(i)", kind, "").notes == ()


@each("kind", ["line", "area"])
def test_empty_cells_do_not_count_as_rows_at_one_place(plots, kind):
    wide = "SELECT * FROM (VALUES (1, 1.0, NULL), (2, 2.0, NULL), (1, NULL, 5.0)) t(x, bank, card)"
    assert plots.plot(wide, kind, "").notes == ()
    both = wide.replace("(1, NULL, 5.0)", "(1, 4.0, 5.0)")
    assert plots.plot(both, kind, "").notes != ()


@each("kind", ["line", "area"])
def test_a_long_series_is_shown_by_means_of_intervals_and_says_so(plots, kind):
    plot = plots.plot(DAYS.format(1_000), kind, "")
    assert (len(plot.x), plot.axis, plot.note) == (1_000, "times", "")
    assert shown(plot)["a"] == pytest.approx([math.sin(n) for n in range(1_000)])
    many = plots.plot(DAYS.format(10_000), kind, "")
    assert len(many.x) * len(many.series) <= MAX_POINTS
    assert many.note == "10,000行を1,000区間ごとの平均で示しています"
    assert sum(shown(many)["a"]) == pytest.approx(sum(map(math.sin, range(10_000))) / 10, abs=1)
    assert all(before < after for before, after in pairwise(many.x))


def test_the_note_counts_the_intervals_that_are_drawn(plots):
    day = "SELECT DATE '2025-01-01' + (i % 690)::INT"
    rows = "FROM range(3000) t(i)"
    assert plots.plot(f"{day} AS day, i * 0.5 AS v {rows}", "line", "").notes[0].english == (
        "3,000 rows are shown as the means of 690 intervals"
    )
    long = plots.plot(f"{day} + to_seconds(i) AS at, 'n' || i % 2 AS n, i {rows}", "line", "")
    assert long.note == f"3,000行を{len(long.x)}区間ごとの平均で示しています"


def test_rows_of_a_series_name_and_a_value_become_series(plots):
    query = "SELECT range // 2 AS n, ['朝', '夜'][1 + range % 2] AS part, range AS v FROM range(6)"
    assert shown(plots.plot(query, "line", "")) == {"夜": (1, 3, 5), "朝": (0, 2, 4)}


def test_a_cloud_of_many_points_is_shown_by_cells(plots):
    query = "SELECT range * 1.0 AS x, (range * 7919) % 1000 AS y FROM range({})"
    assert len(plots.plot(query.format(MAX_POINTS), "scatter", "").x) == MAX_POINTS
    plot = plots.plot(query.format(50_000), "scatter", "")
    assert len(plot.x) == 40 * 40
    assert "50,000行" in plot.note


def test_a_cloud_has_a_series_for_each_name(plots):
    query = (
        "SELECT range % 10 AS x, ['雨', '晴れ'][1 + range % 2] AS 天気, range AS n FROM range({})"
    )
    plot = plots.plot(query.format(40), "scatter", "")
    assert shown(plot)["雨"] == (
        0, 10, 20, 30, 2, 12, 22, 32, 4, 14, 24, 34, 6, 16, 26, 36, 8, 18, 28, 38,
    )  # fmt: skip
    assert (len(shown(plot)["晴れ"]), plot.note) == (20, "")
    plot = plots.plot(query.format(5_000), "scatter", "")
    assert plot.note == "5,000行を31×31の区画ごとの平均で示しています"
    assert {name: len(values) for name, values in shown(plot).items()} == {"雨": 155, "晴れ": 155}


def test_a_histogram_counts_every_finite_value_once(plots):
    query = "SELECT CASE WHEN range = 0 THEN 'nan'::DOUBLE ELSE range END AS n FROM range(5001)"
    plot = plots.plot(query, "histogram", "")
    assert sum(plot.series[0].values) == 5_000
    assert plot.x[0] == 1
    assert plot.x[-1] + plot.step == pytest.approx(5_000)
    one = plots.plot("SELECT 7 AS n FROM range(9)", "histogram", "")
    assert sum(one.series[0].values) == 9
    assert one.in_words() == "histogram of 7 to 7 in 1 bin; most, 9, at 7"


@each(
    ("value", "bins", "told"),
    [
        ("i % 60", [2 * 100] * 30, "0 to 59 in 30 bins; most, 200, from 58 to 59"),
        ("((i % 60) / 100)::DECIMAL(5, 2)", [200] * 30,
         "0 to 0.59 in 30 bins; most, 200, from 0.58 to 0.59"),
        ("(i % 5 * 0.1)::DECIMAL(5, 1)", [1_200] * 5, "0 to 0.4 in 5 bins; most, 1,200, at 0.4"),
        ("DATE '2024-01-01' + (i % 60)::INT", [200] * 30,
         "2024-01-01 to 2024-02-29 in 30 bins; most, 200, from 2024-02-28 to 2024-02-29"),
        ("2000 + i % 3", [2_000] * 3, "2000 to 2002 in 3 bins; most, 2,000, at 2002"),
    ],
)  # fmt: skip
def test_bins_of_whole_steps_make_no_comb_of_even_values(plots, value, bins, told):
    plot = plots.plot(f"SELECT {value} AS n FROM range(6000) t(i)", "histogram", "")
    assert (list(plot.series[0].values), plot.in_words()) == (bins, f"histogram of {told}")


def test_years_are_whole_and_have_no_separators(plots):
    query = "SELECT 2024 + range AS y, 985007 - range AS v FROM range(2)"
    plot = plots.plot(query, "line", "")
    assert plot.in_words() == (
        "line chart of 2024 to 2025; 'v' least 985,006 (2025), greatest 985,007 (2024), "
        "last 985,006"
    )
    ticks = figure_of(plot, (800, 600), typeface(None)).axes[0].get_xticklabels()
    assert [tick.get_text() for tick in ticks] == ["2024", "2025"]


def test_a_last_value_that_is_not_of_the_last_place_is_dated(plots):
    query = "SELECT * FROM (VALUES (DATE '2025-05-01', -100), (DATE '2025-06-01', NULL)) t(d, v)"
    assert plots.plot(query, "line", "").in_words().endswith("always -100, last -100 (2025-05-01)")


@each(("kind", "places"), [("bar", 60), ("line", 200), ("area", 200)])
def test_each_name_shown_has_all_its_values_in_whatever_order_the_rows_are(plots, kind, places):
    query = (
        "SELECT 'n' || n AS 店, 's' || s AS 系列, 100 * s + n AS 額 "
        "FROM range(300) a(n), range(8) b(s) ORDER BY s, n"
    )
    plot = plots.plot(query, kind, "")
    assert plot.note == f"300件のうち最初の{places}件だけを示しています"
    assert shown(plot) == {
        f"s{s}": tuple(100 * s + n for n in range(places)) for s in reversed(range(8))
    }


@pytest.mark.parametrize(
    "rows",
    [
        "range(37) a(x), range(29) b(y) ORDER BY random()",
        "range(37) a(x), range(29) b(y) USING SAMPLE 500 ROWS",
        "(SELECT hash(i) % 37 AS x, hash(i + 1) % 29 AS y FROM range(400_000) t(i)) GROUP BY x, y",
    ],
    ids=["random order", "sample", "parallel groups"],
)
@pytest.mark.parametrize(
    ("kind", "x"),
    [("heatmap", "'x' || x"), ("bar", "'x' || x"), ("line", "'x' || x"),
     ("line", "x::INT"), ("scatter", "x::INT")],
)  # fmt: skip
def test_values_are_under_their_names_when_each_run_of_the_query_has_another_order(
    plots, rows, kind, x
):
    plot = plots.plot(f"SELECT {x} AS x, 'y' || y AS y, 100 * x::INT + y::INT AS v FROM {rows}",
                      kind, "")  # fmt: skip
    drawn = [
        (str(place).removeprefix("x"), one.name.removeprefix("y"), value)
        for one in plot.series
        for place, value in zip(plot.names or one.places, one.values, strict=True)
        if value is not None
    ]
    assert len(drawn) > 50
    assert all(value == 100 * float(x) + int(y) for x, y, value in drawn)


def test_a_heat_map_has_the_names_whose_cells_are_not_shown(plots):
    query = (
        "SELECT 'x' || x AS x, 'y' || x AS y, x AS v FROM range(50) t(x) UNION ALL "
        "SELECT 'x0', 'y60', 1 ORDER BY v"
    )
    plot = plots.plot(query, "heatmap", "")
    assert len(plot.names) == len(plot.series) == 40
    (one,) = (one for one in plot.series if one.name == "y7")
    assert [value for value in one.values if value is not None] == [7]


def test_the_cells_of_a_large_heat_map_that_are_shown_have_their_values(plots):
    query = (
        "SELECT 'x' || x AS x, 'y' || y AS y, x * 100 + y AS v FROM range(100) a(x), "
        "range(100) b(y) ORDER BY hash(x * 100 + y)"
    )
    plot = plots.plot(query, "heatmap", "")
    assert plot.note == "100×100件のうち最初の40×40件だけを示しています"
    assert shown(plot) == {
        y: tuple(int(x[1:]) * 100 + int(y[1:]) for x in plot.names) for y in shown(plot)
    }


@each(
    ("kind", "count", "most"),
    [("line", 9, 8), ("bar", 9, 8), ("area", 11, 8), ("scatter", 9, 8), ("box", 31, 30)],
)
def test_columns_that_have_no_room_are_counted(plots, kind, count, most):
    ys = ", ".join(f"i + {number} AS y{number}" for number in range(count))
    columns = ys if kind == "box" else f"i AS x, {ys}"
    plot = plots.plot(f"SELECT {columns} FROM range(5) t(i)", kind, "")
    assert plot.note == f"{count}列のうち最初の{most}列だけを示しています"
    assert len(plot.names if kind == "box" else plot.series) == most


LONG = "'https://example.com/' || repeat('a', 60) || '/' ||"


@each(
    ("name", "labels"),
    [
        (f"{LONG} (i % 3)",
         {f"https://example.com/aaaaaaaaaa…aaaaaaaaaaaaaaaaaaaaaaaaaaa/{at}" for at in range(3)}),
        ("[NULL, '—', 'b'][1 + i % 3]", {"—", "b"}),
    ],
)  # fmt: skip
def test_names_are_told_apart_by_their_whole_text(plots, name, labels):
    boxes = plots.plot(f"SELECT {name} AS n, i % 3 AS v FROM range(30) t(i)", "box", "")
    assert ({*boxes.names}, shown(boxes)["min"]) == (labels, shown(boxes)["max"])
    for kind in ("line", "scatter"):
        plot = plots.plot(f"SELECT i // 3 AS x, {name}, i % 3 AS v FROM range(30) t(i)", kind, "")
        assert {one.name for one in plot.series} == labels
        assert [one.values for one in plot.series] == [(2,) * 10, (1,) * 10, (0,) * 10]
        assert plot.notes == ()
    heat = plots.plot(f"SELECT {name}, i // 3, i % 3 AS v FROM range(9) t(i)", "heatmap", "")
    assert [(one.values, heat.notes) for one in heat.series] == [((0, 1, 2), ())] * 3
    assert plots.plot(f"SELECT {name}, i FROM range(3) t(i)", "bar", "").notes == ()


def test_midnights_on_bars_are_days(plots):
    query = "SELECT {} '2025-01-01' + INTERVAL (i) MONTH, i FROM range(2) t(i)"
    for kind in ("DATE", "TIMESTAMP", "TIMESTAMPTZ"):
        plot = plots.plot(query.format(kind), "bar", "")
        assert plot.names == ("2025-01-01", "2025-02-01")
    plot = plots.plot("SELECT TIMESTAMP '2025-01-01' + INTERVAL 9 HOUR, 1", "bar", "")
    assert plot.names == ("2025-01-01 09:00:00",)


def test_whole_numbers_that_may_name_the_series_are_said_to_be_a_series(plots):
    query = "SELECT DATE '2025-01-01' + (i // 3)::INT AS day, {} AS shop, i FROM range(30) t(i)"
    for kind in ("line", "area", "scatter"):
        note = plots.plot(query.format("i % 3"), kind, "").notes[-1]
        assert note.english == (
            "these are series of 'shop' and 'i'; for series of 'i' for each 'shop' make 'shop' a "
            "text: shop::VARCHAR"
        )
        assert plots.plot(query.format("(i % 3)::VARCHAR"), kind, "").notes == ()
        assert note not in plots.plot(query.format("i * 2"), kind, "").notes


SENTINEL = "1.7976931348623157e308"


@each(
    ("kind", "query"),
    [
        ("line", f"SELECT i AS x, CASE i WHEN 3 THEN -{SENTINEL} ELSE i END FROM range(9) t(i)"),
        ("histogram", f"SELECT CASE i WHEN 3 THEN -{SENTINEL} ELSE i END FROM range(90) t(i)"),
        ("histogram", "SELECT CASE i % 5 WHEN 0 THEN -1e300 ELSE 1e300 END FROM range(90) t(i)"),
        ("scatter", "SELECT (i - 9) * 1e299 AS x, (9 - i) * 1e299 AS y FROM range(18) t(i)"),
        ("line", "SELECT i AS x, 1e300 AS v FROM range(30000) t(i)"),
        ("heatmap", "SELECT i AS x, i AS y, -1e300 * (-1) ** i AS v FROM range(9) t(i)"),
        ("line", "SELECT i AS x, i * 5e-324 AS v FROM range(9) t(i)"),
        ("bar", "SELECT 1.0 AS x, 'n' || i AS n, ['nan', '1', '-2'][1 + i]::DOUBLE AS v "
                "FROM range(3) t(i)"),
        ("heatmap", "SELECT i AS x, 'y' AS y, 1 + i * 2e-16::DOUBLE AS v FROM range(9) t(i)"),
    ],
)  # fmt: skip
def test_very_large_values_are_drawn_or_left_out_and_counted(plots, kind, query):
    plot = plots.plot(query, kind, "")
    is_left_out = "±1e300" in plot.note or "のない1行" in plot.note
    assert is_left_out == (SENTINEL in query or "nan" in query)
    for image_format in ("png", "svg"):
        assert draw(plot, (200, 150), image_format).data


def test_boxes_are_quartiles_by_name_or_by_column(plots):
    quartiles = {"min": (0.0,), "q1": (25.0,), "median": (50.0,), "q3": (75.0,), "max": (100.0,)}
    named = plots.plot("SELECT 'all' AS name, range AS n FROM range(101)", "box", "")
    assert (named.names, shown(named)) == (("all",), quartiles)
    column = plots.plot("SELECT range AS n, 'x' AS name FROM range(101)", "box", "")
    assert (column.names, shown(column)) == (("n",), quartiles)
    query = "SELECT range % 12 AS m, range AS n FROM range(120)"
    months = plots.plot(query, "box", "")
    assert (months.names, [note.english for note in months.notes]) == (
        ("m", "n"),
        [
            "these are boxes of 'm' and 'n'; for boxes of 'n' for each 'm' make 'm' a text: "
            "m::VARCHAR"
        ],
    )
    assert plots.plot("SELECT range AS a, range AS b FROM range(60)", "box", "").notes == ()


@each(("kind", "values", "rows"), [("box", "i", 52), ("bar", "i", 5), ("heatmap", "'x', i", 52)])
def test_names_have_the_order_of_the_rows(plots, kind, values, rows):
    query = f"SELECT (['月', '火', '水', '木', '金'])[1 + i % 5], {values} FROM range({rows}) t(i)"
    plot = plots.plot(f"{query} ORDER BY i % 5", kind, "")
    assert plot.names == ("月", "火", "水", "木", "金")


def test_the_largest_groups_are_shown_in_the_order_of_the_rows(plots):
    query = "SELECT 'g' || i % 40 AS g, i AS v FROM range(90) t(i) WHERE i < 80 OR i > 84"
    plot = plots.plot(f"{query} ORDER BY i % 40 DESC, i", "box", "")
    assert plot.names == tuple(f"g{at}" for at in (*range(39, 14, -1), *range(9, 4, -1)))


def test_a_heat_map_has_a_row_for_each_value_of_its_second_column(plots):
    query = "SELECT * FROM (VALUES (1, '月', 5), (2, '月', 6), (2, '火', 7)) AS t(week, day, n)"
    plot = plots.plot(query, "heatmap", "")
    assert (plot.names, shown(plot)) == (("1", "2"), {"月": (5.0, 6.0), "火": (None, 7.0)})


@each(
    ("kind", "query"),
    [
        ("line", "SELECT 'a' AS x"),
        ("scatter", "SELECT 'a' AS x, 1 AS y"),
        ("histogram", "SELECT 'a' AS x"),
        ("histogram", "SELECT NULL::INT AS x"),
        ("box", "SELECT 'a' AS x"),
        ("heatmap", "SELECT 1 AS x, 2 AS y"),
        ("line", f"SELECT i AS x, {SENTINEL} AS v FROM range(30000) t(i)"),
    ],
)
def test_columns_that_do_not_fit_are_refused_with_what_is_needed(plots, kind, query):
    with pytest.raises(PlotRefused):
        plots.plot(query, kind, "")


@each("image_format", ["png", "svg"])
@each(
    ("kind", "query"),
    [
        ("line", "SELECT TIMESTAMP '2025-01-01 10:00:00' AS t, 1e300 AS n"),
        ("area", DAYS.format(1)),
        ("box", "SELECT '朝' AS part, range AS n FROM range(9)"),
    ],
)
def test_every_other_kind_is_drawn(plots, kind, query, image_format, caplog):
    picture = draw(plots.plot(query, kind, "題"), (400, 300), image_format)
    assert picture.data.startswith(b"\x89PNG" if image_format == "png" else b"<?xml")
    assert "〓" not in caplog.text


TIMES = "TIMESTAMPTZ '2025-06-01 06:00:00+09' + to_seconds(i) AS 時刻"


@pytest.mark.parametrize("fmt", ["parquet", pytest.param("csv", marks=pytest.mark.soak)])
@pytest.mark.parametrize(
    ("kind", "query"),
    [
        ("bar", "SELECT '項目' || i AS 名, i * 1.5 AS 円, i / 3 AS 税 FROM range(70) t(i)"),
        ("line", f"SELECT {TIMES}, i % 1000 AS 歩数 FROM range(9000) t(i)"),
        ("line", f"SELECT {TIMES}, ['朝', '夜'][1 + i % 2] AS 部, i FROM range(9000) t(i)"),
        ("area", "SELECT DATE '2025-01-01' + i::INT AS 日, i % 30 AS 距離 FROM range(365) t(i)"),
        ("scatter", "SELECT i * 7919 % 1000 AS x, i * 104729 % 997 AS y FROM range(9000) t(i)"),
        ("histogram", f"SELECT {TIMES} FROM range(9000) t(i)"),
        ("box", "SELECT '組' || i % 5 AS 組, i * 7919 % 1000 AS 点 FROM range(900) t(i)"),
        ("heatmap", "SELECT i % 7 AS 周回, i % 3 AS 部, i AS 歩数 FROM range(900) t(i)"),
    ],
)  # fmt: skip
def test_a_query_and_its_export_give_the_same_picture(
    queries, plots, tmp_path, monkeypatch, fmt, kind, query
):
    monkeypatch.setenv("MDVEC_ANALYTICS_TIME_ZONE", "Asia/Tokyo")
    exports = ExportFolder(tmp_path / "exports", 3_600, 10**9)
    handle = Exporter(queries, exports, AnswerGuard(4_000, 20), 10_000).export(query, fmt, None)[
        "handle"
    ]
    chart = safe_chart(handle, kind, title="題", folder=exports.folder)
    plot = plots.plot(query, kind, "題")
    assert chart.plot == plot
    if kind == "bar":  # the same plot is the same picture
        assert chart.png == draw(plot, (800, 600), "png").data


def test_rows_at_unknown_places_do_not_hide_others(plots):
    query = "SELECT CASE WHEN range >= 3000 THEN range END AS x, range AS y FROM range(3500)"
    plot = plots.plot(query, "line", "")
    assert shown(plot) == {"y": tuple(range(3000, 3500))}


@each(
    ("kind", "query", "notes"),
    [
        ("line", "VALUES (NULL, 100), (1, 2), (2, 3)", ["1 row without a value of 'x' not shown"]),
        ("area", "VALUES (NULL, 'a', 1), (1, 'a', 2)", ["1 row without a value of 'x' not shown"]),
        ("scatter", "VALUES (NULL, 1), ('nan'::DOUBLE, 2), (1, 3)",
         ["2 rows without a value of 'x' not shown"]),
        ("histogram", "VALUES (NULL, 1), (1, 2), (2, 3)",
         ["2 values in 1 bin", "1 row without a value of 'x' not shown"]),
        ("bar", "VALUES ('a', 'nan'::DOUBLE), ('b', 1), (NULL, 2)",
         ["1 value that no axis has (NaN, infinity, beyond ±1e300) not shown"]),
        ("bar", "VALUES ('a', 1), (NULL, 2)", []),
    ],
)  # fmt: skip
def test_what_is_not_drawn_is_counted(plots, kind, query, notes):
    columns = "x, s, y" if "'a', 1" in query and kind == "area" else "x, y"
    plot = plots.plot(f"SELECT * FROM ({query}) t({columns})", kind, "")
    assert [note.english for note in plot.notes] == notes
