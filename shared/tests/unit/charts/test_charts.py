"""Charts: what their Axes hold, difficult texts, and data that cannot be drawn."""

import gc
import io
import re
import threading
from itertools import combinations
from math import isnan
from xml.etree import ElementTree as ET

import matplotlib as mpl
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from matplotlib import font_manager
from matplotlib.backends.backend_agg import RendererAgg
from matplotlib.colors import to_hex
from PIL import Image
from sample_charts import (
    EVERY,
    ITEMS,
    NAMES,
    category,
    figure,
    labels,
    months,
    pixels,
    texts,
    trend,
)
from table_of_cases import each

from mdvec.charts.colors import OTHERS_COLOR, colors_of
from mdvec.charts.figure import draw
from mdvec.charts.plot import ChartError, Plot, Series, category_plot, month_plot
from mdvec.charts.style import EMPTY_BAND, LOSS_INK, lighter

each_chart = pytest.mark.parametrize("chart", EVERY, ids=lambda chart: f"{chart.axis} {chart.kind}")


def bars_of(drawn, color=None):
    """The patches of the first Axes in a colour."""
    return [
        patch for patch in drawn.axes[0].patches
        if color is None or to_hex(patch.get_facecolor()).upper() == color
    ]  # fmt: skip


@each("width", range(201, 1921, 344))
def test_no_width_loses_a_pixel_to_rounding(width):
    drawn = draw(category("bar", 1, "題"), (width, 151), "png")
    assert Image.open(io.BytesIO(drawn.data)).size == (width, 151)


@each_chart
def test_an_svg_has_the_size_and_the_shape_that_was_asked_for_and_holds_shapes_only(chart):
    drawn = draw(chart, (801, 599), "svg")
    root = ET.fromstring(drawn.data)
    assert (root.get("width"), root.get("height")) == ("801", "599")
    left, top, width, height = map(float, root.get("viewBox").split())
    assert (left, top, round(width / height, 4)) == (0, 0, round(801 / 599, 4))
    assert drawn.media_type == "image/svg+xml"
    text = drawn.data.decode()
    assert [what for what in ("<text", "<script", "<image", "<!") if what in text] == []
    assert not re.search(r"(href|src)=\"(?!#)", text)
    assert not re.search(r"20\d\d-\d\d-\d\dT", text)


def test_a_slice_takes_its_share_of_the_pie():
    chart = figure(category_plot("pie", "題", (("あ", 75), ("い", 25))))
    large, small = (bars_of(chart, color)[0] for color in colors_of(("あ", "い")))
    assert (large.theta2 - large.theta1, small.theta2 - small.theta1) == (270, 90)


def test_a_bar_is_as_long_as_its_amount():
    chart = figure(category_plot("bar", "題", (("い", 30_000), ("あ", 90_000), ("う", -10_000))))
    assert [bar.get_width() for bar in bars_of(chart)] == [90_000, 30_000, -10_000]
    assert labels(chart.axes[0].get_yticklabels()) == ["あ", "い", "う"]
    assert {"90,000円", "30,000円", "-10,000円"} <= set(texts(chart))
    assert labels(chart.axes[0].get_xticklabels())[:2] == ["0円", "2万円"]


def test_bars_keep_their_order_each_on_its_target():
    chart = figure(category_plot(
        "bar", "予算", (("食費（毎月）", 70), ("服（毎月）", 20)), keys=("食費", "服"),
        targets=(50, 60),
    ))  # fmt: skip
    assert labels(chart.axes[0].get_yticklabels()) == ["食費（毎月）", "服（毎月）"]
    food, clothes = colors_of(("食費", "服"))
    assert [bar.get_width() for bar in bars_of(chart, OTHERS_COLOR)] == [50, 60]
    assert [bars_of(chart, color)[0].get_width() for color in (food, clothes)] == [70, 20]
    inks = {text.get_text(): text.get_color() for text in chart.axes[0].texts}
    assert (inks["70円 / 50円"] == LOSS_INK, inks["20円 / 60円"] == LOSS_INK) == (True, False)
    assert labels(chart.legends[0].get_texts()) == ["予算"]


def test_a_line_breaks_where_a_month_has_no_value():
    gap = month_plot(
        "line", "題", months(24), (Series("食費", (5,) * 6 + (None,) * 12 + (5,) * 6),)
    )
    drawn = figure(gap).axes[0].lines[-2 if len(figure(gap).axes[0].lines) > 2 else -1]
    assert [isnan(value) for value in drawn.get_ydata()] == [False] * 6 + [True] * 12 + [False] * 6


def test_months_that_are_not_listed_are_a_gap_of_their_own_width():
    every = months(12)
    listed = month_plot("line", "題", (*every[:2], every[-1]), (Series("a", (1, 1, 1)),))
    filled = month_plot("line", "題", every, (Series("a", (1, 1, *(None,) * 9, 1)),))
    assert (pixels(listed) == pixels(filled)).all()


def test_an_area_reaches_down_to_zero_and_a_line_does_not():
    line, area = (figure(trend(kind, series=1)).axes[0] for kind in ("line", "area"))
    assert not line.collections
    (filled,) = area.collections
    assert filled.get_paths()[0].vertices[:, 1].min() == 0


@each(("count", "label"), [(1, "4月\n2024年"), (12, "4月\n2024年"), (60, "7月\n2024年")])
def test_the_bars_of_months_are_drawn_and_a_month_alone_has_no_giant_one(count, label):
    chart = figure(trend("bar", count, 2))
    assert labels(chart.axes[0].get_xticklabels())[0] == label
    left, right = chart.axes[0].get_xlim()
    bars = bars_of(chart)
    assert len(bars) == 2 * count
    assert all(0 < bar.get_width() <= (right - left) / 6 for bar in bars)
    heights = [float(value) for one in trend("bar", count, 2).series for value in one.values]
    assert [bar.get_height() for bar in bars] == heights
    assert "万円" in labels(chart.axes[0].get_yticklabels())[-1]


def test_a_forecast_has_its_bands_as_lines_over_its_bars():
    band = ((4, 8), (None, None))
    series = Series("見通し", (5, 6), band=band)
    chart = figure(month_plot("bar", "題", months(2), (series,)))
    assert len(bars_of(chart)) == 2
    drawn = [list(line.get_ydata()) for line in chart.axes[0].lines if len(line.get_ydata()) == 2]
    assert [4, 8] in drawn
    assert chart.axes[0].get_ylim()[1] >= 8


def marked(kind):
    """A year whose month 5 has no data and whose last is running."""
    values = (5_000,) * 4 + (None,) + (5_000,) * 6 + (2_000,)
    return month_plot(
        kind, "題", months(12), (Series("食費", values),), running=months(12)[-1:],
        empty=months(12)[4:5],
    )  # fmt: skip


@each("kind", ["line", "area", "bar"])
def test_running_and_empty_months_are_marked_and_said(kind):
    chart = figure(marked(kind))
    assert {"途中", "明細なし", "薄い月は途中、灰色の月は明細なし（0円ではありません）"} <= set(
        texts(chart)
    )
    (band,) = bars_of(chart, EMPTY_BAND)
    assert band.get_width() == 1
    assert not bars_of(figure(trend(kind)), EMPTY_BAND)


def test_a_bar_of_a_running_month_is_lighter_and_a_month_without_data_has_none():
    (color,) = colors_of(("食費",))
    chart = figure(marked("bar"))
    assert [bar.get_height() for bar in bars_of(chart, lighter(color))] == [2_000]
    assert [bar.get_height() for bar in bars_of(chart, color)] == [5_000] * 10


def test_a_line_towards_a_running_month_is_dashed_with_a_hollow_dot():
    whole, ahead, dots, hollow = figure(marked("line")).axes[0].lines[1:]
    assert isnan(whole.get_ydata()[-1])
    assert ahead.is_dashed()
    assert list(ahead.get_ydata()[-2:]) == [5_000, 2_000]
    assert np.count_nonzero(~np.isnan(dots.get_ydata())) == 10
    assert (hollow.get_markerfacecolor(), hollow.get_ydata()[-1]) == ("#FFFFFF", 2_000)


def query(kind, names=(), axis="names", series=2, values=None, **more):
    """A plot of a query."""
    x = tuple(float(at) for at in range(len(names) or 5))
    given = [
        Series(f"列{at}", tuple(values or (float(n * (at + 1)) for n in x))) for at in range(series)
    ]
    return Plot(kind, "題", axis, x, tuple(given), tuple(names), **more)


LONG = tuple(f"とても長い名前の項目その{number}（店舗の名前も含む）" for number in range(60))


@each(("count", "lies_down"), [(1, True), (40, True), (60, False)])
def test_bars_of_names_lie_one_below_another_while_they_have_room(count, lies_down):
    axes = figure(query("bar", LONG[:count], series=1)).axes[0]
    assert len(axes.patches) == count
    shown = labels(axes.get_yticklabels() if lies_down else axes.get_xticklabels())
    assert len(shown) == count
    assert all(text.startswith("とても長") for text in shown)
    ordered = figure(query("bar", LONG[:count], series=1, in_order=True)).axes[0]
    assert [bar.get_height() for bar in ordered.patches] == [float(n) for n in range(count)]


def test_a_missing_bar_has_no_value_and_the_others_keep_theirs():
    axes = figure(query("bar", ("a", "b", "c"), series=1, values=(120.0, None, -30.5))).axes[0]
    written = {text.get_text(): text.xy for text in axes.texts}
    assert (written["120"], written["-30.5"]) == ((120, 0), (0, 2))


def test_long_whole_numbers_are_written_in_full_and_their_labels_keep_apart():
    milliseconds = tuple(1_736_000_000_001.0 + 1_000_000 * n for n in range(30))
    plot = Plot("line", "", "numbers", milliseconds, (Series("v", milliseconds),))
    assert plot.in_words().startswith("line chart of 1,736,000,000,001 to 1,736,029,000,001; ")
    drawn = figure(plot, (400, 300))
    renderer = RendererAgg(400, 300, 96)
    drawn.draw(renderer)
    boxes = extents(drawn.axes[0].get_xticklabels(), 0, renderer)
    assert len(boxes) > 1
    assert not any(one.overlaps(other) for one, other in combinations(boxes, 2))


def test_each_kind_of_plot_holds_its_values():
    names = ("a", "b", "c")
    dots = figure(query("scatter", axis="numbers", series=1)).axes[0].collections[0]
    assert dots.get_offsets().tolist() == [[n, n] for n in range(5)]
    bins = figure(query("histogram", axis="numbers", series=1, step=1.0)).axes[0]
    assert [(bar.get_x(), bar.get_height()) for bar in bins.patches] == [(n, n) for n in range(5)]
    boxes = Plot("box", "", "names", (0.0,), tuple(
        Series(part, (float(n),)) for n, part in enumerate(("min", "q1", "median", "q3", "max"))
    ), ("朝",))  # fmt: skip
    axes = figure(boxes).axes[0]
    assert axes.patches[0].get_path().vertices[:, 1].max() == 3
    assert [2.0, 2.0] in [list(line.get_ydata()) for line in axes.lines]
    heat = figure(query("heatmap", names, values=(-5.0, None, 8.0)))
    assert labels(heat.axes[0].texts) == ["-5", "8", "-5", "8"]
    assert labels(heat.axes[0].get_xticklabels()) == list(names)
    assert labels(heat.axes[1].get_yticklabels()) == ["-5", "8"]  # the ends of the scale


@pytest.mark.parametrize(
    ("count", "size"),
    [(1, (200, 150)), (12, (800, 600)), (60, (200, 150)), *(
        pytest.param(count, size, marks=pytest.mark.soak)
        for count in (1, 12, 60) for size in ((200, 150), (400, 300), (800, 600), (1920, 1080))
        if (count, size) not in {(1, (200, 150)), (12, (800, 600)), (60, (200, 150))}
    )],
)  # fmt: skip
def test_labels_do_not_overlap_and_stay_inside(count, size):
    day = 86_400.0
    times = Plot("line", "題", "times", tuple(1.7e9 + day * n for n in range(count)),
                 (Series("値", tuple(float(n) for n in range(count))),))  # fmt: skip
    days = query("bar", [f"2025-01-{n:02}" for n in range(count)], in_order=True)
    for chart in (trend("bar", count), trend("line", count), times, days):
        drawn = figure(chart, size)
        renderer = RendererAgg(size[0], size[1], 96)
        drawn.draw(renderer)
        for ticks in (drawn.axes[0].get_xticklabels(), drawn.axes[0].get_yticklabels()):
            for line in (0, -1):  # months, and the years below some of them
                boxes = extents(ticks, line, renderer)
                assert boxes
                assert all(box.x0 >= 0 and box.x1 <= size[0] and box.y0 >= 0 for box in boxes)
                assert not any(one.overlaps(other) for one, other in combinations(boxes, 2))


def extents(ticks, line, renderer):
    """The boxes of one line of the labels of an axis; of the last, where there are two."""
    boxes = []
    for tick in ticks:
        whole = tick.get_text()
        if whole and (line == 0 or "\n" in whole or "\n" not in "".join(labels(ticks))):
            tick.set_text(whole.split("\n")[line])
            boxes.append(tick.get_window_extent(renderer))
            tick.set_text(whole)
    return boxes


def test_the_same_chart_is_the_same_bytes_from_any_thread():
    chart = trend("area")
    wanted = {form: draw(chart, (400, 300), form).data for form in ("png", "svg")}
    seen: list[bool] = []

    def work():
        seen.extend(draw(chart, (400, 300), form).data == data for form, data in wanted.items())

    threads = [threading.Thread(target=work) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert seen == [True] * 4


def test_texts_cannot_break_out_of_an_svg():
    nasty = '--><script>alert(1)</script><!-- "&'
    chart = category_plot("bar", nasty, ((nasty, 5),), note=nasty)
    text = draw(chart, (800, 600), "svg").data.decode()
    ET.fromstring(text)
    assert "script" not in text


def settings_of_matplotlib():
    """All settings except the backend, which reading would resolve."""
    return {name: mpl.rcParams[name] for name in mpl.rcParams if name != "backend"}


def test_matplotlibs_global_state_is_unchanged():
    before = settings_of_matplotlib()
    fonts = len(font_manager.fontManager.ttflist)
    draw(category("pie"), (300, 200), "png")
    draw(trend("line"), (300, 200), "svg")
    assert settings_of_matplotlib() == before
    assert len(font_manager.fontManager.ttflist) == fonts


EXTREMES = {
    "20 slices": category("pie", 20),
    "20 bars": category("bar", 20),
    "1 slice": category("pie", 1),
    "1 bar": category("bar", 1),
    "1 month": trend("line", 1, 1),
    "1 month of area": trend("area", 1, 1),
    "120 months, 12 series": trend("line", 120, 12),
    "120 months of areas": trend("area", 120, 12),
    "zeros in a trend": month_plot("line", "題", months(3), (Series("a", (0, 0, 0)),)),
    "huge": category_plot("bar", "題" * 200, tuple((n * 9, v * 10**12) for n, v in ITEMS[:9])),
    "huge slices": category_plot("pie", "題", tuple((n * 9, v * 10**12) for n, v in ITEMS[:9])),
    "120 months of bars": trend("bar", 120, 3),
    "a running month alone": month_plot(
        "bar", "題", months(1), (Series("食費", (5,)),), running=months(1)
    ),
    "30 slices": category_plot("pie", "題", tuple((f"費目{n}", 9_000 + n) for n in range(30))),
    "negative": category_plot("bar", "題", (("返金", -5), ("払戻", -70_000))),
    "negative trend": month_plot("area", "題", months(3), (Series("a", (-10, None, -(10**15))),)),
    "same amounts": category_plot("pie", "題", tuple((name, 1) for name in NAMES)),
    "refunds": category_plot("pie", "題", (*ITEMS[:9], ("返金", -9), ("払戻", -80))),
    "no names": category_plot("pie", "", (("", 1), ("", 2))),
}


EXTREMES |= {
    "equal huge numbers": query("heatmap", ("a", "b"), values=(1e300, 1e300)),
    "a bin narrower than floats": Plot(
        "histogram", "題", "times", (1.7e9,), (Series("件数", (3.0,)),), step=1e-9
    ),
}


LARGE = ("20 slices", "120 months of areas", "huge", "120 months of bars")


@pytest.mark.parametrize(
    ("name", "size"),
    [
        *((name, (200, 150)) for name in EXTREMES),
        *(pytest.param(name, (1920, 1080), marks=pytest.mark.soak) for name in LARGE),
    ],
)
def test_extremes_are_drawn_in_under_500_kb_inside_the_picture(name, size):
    drawn = draw(EXTREMES[name], size, "png")
    assert len(drawn.data) < 500_000
    picture = np.asarray(Image.open(io.BytesIO(drawn.data)).convert("RGB"))
    edges = np.concatenate([picture[0], picture[-1], picture[:, 0], picture[:, -1]])
    assert (edges == 255).all()
    assert (picture < 200).any(axis=2).mean() > 0.003


@pytest.mark.soak
def test_a_wild_picture_in_full_colour_stays_under_500_kb():
    values = [tuple((m * 7919 * (k + 3)) % 100_003 for m in range(120)) for k in range(20)]
    named = tuple(Series(NAMES[k], values[k]) for k in range(20))
    chart = month_plot("line", "題", months(120), named)
    assert 200_000 < len(draw(chart, (1920, 1080), "png").data) < 500_000
    jpeg = draw(chart, (1920, 1080), "jpeg")
    assert len(jpeg.data) < 500_000
    picture = Image.open(io.BytesIO(jpeg.data))
    assert (picture.format, picture.size) == ("JPEG", (1920, 1080))
    assert jpeg.media_type == "image/jpeg"


@each("size", [(800, 600), (1900, 1080), (500, 900)])
def test_a_name_is_not_cut_if_there_is_room(size):
    for names in (("住宅", "食費"), ("家", "車"), NAMES[:7]):
        chart = category_plot("pie", "題", tuple((name, 9876) for name in names))
        assert {*names, "合計"} <= set(texts(figure(chart, size)))


@each("size", [(400, 300), (800, 600)])
def test_rounding_leaves_no_amount_out_of_a_legend_that_has_just_room(size):
    assert {"150,000円", "75,000円"} <= set(texts(figure(category("pie", 2), size)))


def test_a_pie_lists_amounts_without_a_slice():
    with_refund = category_plot("pie", "題", (("食費", 5), ("返金", -3), ("なし", 0)))
    written = texts(figure(with_refund))
    assert written[-8:] == ["食費", "5円", "250.0%", "返金", "-3円", "-150.0%", "合計", "2円"]
    assert (
        "0円以下の2項目には扇形がありません（合計と割合には含みます）。扇形は1項目です" in written
    )


@each(
    ("chart", "reason"),
    [
        (lambda: category_plot("pie", "題", ()), "円グラフにできる支出"),
        (
            lambda: category_plot("pie", "題", (("a", 0), ("b", -5))),
            "円グラフにできる支出がありません",
        ),
        (lambda: category_plot("pie", "題", (("a", 5), ("b", -5))), "合計が0円以下"),
        (
            lambda: category_plot("bar", "題", (("a", 0), ("b", 0))),
            "棒グラフにできる金額がありません",
        ),
        (lambda: month_plot("line", "題", months(2), (Series("a", (None, None)),)), "月のデータが"),
        (lambda: month_plot("line", "題", months(2), ()), "月のデータがありません"),
        (lambda: month_plot("line", "題", (), ()), "月のデータがありません"),
    ],
)
def test_impossible_charts_are_refused_in_japanese(chart, reason):
    with pytest.raises(ChartError, match=reason):
        draw(chart(), (800, 600), "png")


def test_an_error_does_not_affect_the_next_chart():
    with pytest.raises(ChartError):
        draw(category_plot("pie", "題", ()), (800, 600), "png")
    assert draw(EVERY[0], (800, 600), "png").data


@settings(max_examples=3, deadline=None)
@given(
    st.text(max_size=40),
    st.lists(st.tuples(st.text(max_size=30), st.integers(-(10**18), 10**18)), max_size=25),
    st.sampled_from(["pie", "bar"]),
    st.tuples(st.integers(200, 500), st.integers(150, 400)),
)
def test_any_texts_and_amounts_give_a_picture_or_a_reason(title, items, kind, size):
    try:
        drawn = draw(category_plot(kind, title, tuple(items)), size, "png")
    except ChartError:
        whole = sum(value for _, value in items)
        assert kind == "pie" or not any(value for _, value in items)
        assert whole <= 0
    else:
        assert Image.open(io.BytesIO(drawn.data)).size == size


def test_pictures_share_their_pixels_whatever_the_garbage_collector_does():
    gc.collect()
    gc.disable()
    try:
        for chart in EVERY[1:3]:
            draw(chart, (800, 600), "png")
        assert sum(type(each) is RendererAgg for each in gc.get_objects()) <= 1
    finally:
        gc.enable()
