"""Charts: important pixels, difficult texts, and data that cannot be drawn."""

import gc
import io
import re
import threading
import weakref
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import matplotlib as mpl
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from matplotlib import font_manager
from PIL import Image

from mdvec.charts.bar import draw_bars
from mdvec.charts.chart import CategoryChart, ChartError, Series, TrendChart
from mdvec.charts.colors import colors_of
from mdvec.charts.encoding import png
from mdvec.charts.figure import draw
from mdvec.charts.fonts import FontUnusable, typeface
from mdvec.charts.page import Page
from mdvec.charts.pie import draw_pie
from mdvec.charts.styles import EMPTY_BAND, lighter
from mdvec.charts.trend import draw_trend

NAMES = (
    "食費", "日用品", "水道・光熱費", "通信費", "住宅", "交通費", "教養・教育", "趣味・娯楽",
    "衣服・美容", "健康・医療", "交際費", "特別な支出", "自動車", "保険", "税・社会保障",
    "現金・カード", "その他", "未分類", "旅行・レジャー費用の積立", "ペット",
)  # fmt: skip
ITEMS = tuple((name, 150_000 // (at + 1)) for at, name in enumerate(NAMES))


def months(count, start=2024 * 12 + 3):
    return tuple(f"{n // 12}-{n % 12 + 1:02d}" for n in range(start, start + count))


def trend(kind="line", count=12, series=3, title="カテゴリ別の推移"):
    values = [
        tuple(60_000 // (k + 1) + m * 977 % 9000 for m in range(count)) for k in range(series)
    ]
    named = tuple(Series(NAMES[k], values[k]) for k in range(series))
    return TrendChart(kind, title, months(count), named)


def category(kind="bar", count=8, title="2025年6月の支出"):
    return CategoryChart(kind, title, ITEMS[:count])


EVERY = [category("pie"), category("bar"), trend("line"), trend("area"), trend("bar")]
each_chart = pytest.mark.parametrize(
    "chart", EVERY, ids=lambda chart: f"{type(chart).__name__} {chart.kind}"
)


def pixels(chart, size=(800, 600)):
    return np.asarray(Image.open(io.BytesIO(draw(chart, size, "png").data)).convert("RGB"))


def share_of(picture, color):
    """The share of a picture's pixels with exactly this colour."""
    wanted = np.frombuffer(bytes.fromhex(color[1:]), np.uint8)
    return (picture == wanted).all(axis=2).mean()


def title_of(text, size=(800, 600)):
    """The rows of a chart in which its title stands."""
    return pixels(category("bar", 1, text), size)[: size[1] // 15]


@each_chart
@pytest.mark.parametrize("size", [(200, 150), (801, 599), (300, 900)])
def test_a_png_has_exactly_the_size_that_was_asked_for(chart, size):
    drawn = draw(chart, size, "png")
    picture = Image.open(io.BytesIO(drawn.data))
    assert (picture.size, picture.format, drawn.media_type) == (size, "PNG", "image/png")


@pytest.mark.parametrize("width", range(201, 1921, 172))
def test_no_width_loses_a_pixel_to_rounding(width):
    drawn = draw(category("bar", 1, "題"), (width, 151), "png")
    assert Image.open(io.BytesIO(drawn.data)).size == (width, 151)


@each_chart
def test_an_svg_has_the_size_and_the_shape_that_was_asked_for(chart):
    drawn = draw(chart, (801, 599), "svg")
    root = ET.fromstring(drawn.data)
    assert (root.get("width"), root.get("height")) == ("801", "599")
    left, top, width, height = map(float, root.get("viewBox").split())
    assert (left, top, round(width / height, 4)) == (0, 0, round(801 / 599, 4))
    assert drawn.media_type == "image/svg+xml"


@each_chart
def test_a_chart_shows_the_palette_on_white(chart):
    picture = pixels(chart)
    shown = 8 if isinstance(chart, CategoryChart) else 3
    for color in colors_of(NAMES[:shown]):
        assert share_of(picture, color) > 0.0005, color
    assert picture[0, 0].tolist() == picture[-1, -1].tolist() == [255, 255, 255]
    assert share_of(picture, "#FFFFFF") > 0.3


def test_a_slice_takes_its_share_of_the_pie():
    chart = CategoryChart("pie", "題", (("あ", 75), ("い", 25)))
    picture = pixels(chart)[60:]
    large, small = (share_of(picture, color) for color in colors_of(("あ", "い")))
    assert large / small == pytest.approx(3, rel=0.08)


def test_a_bar_is_as_long_as_its_amount():
    picture = pixels(CategoryChart("bar", "題", (("あ", 90_000), ("い", 30_000))))
    long, short = (share_of(picture, color) for color in colors_of(("あ", "い")))
    assert long / short == pytest.approx(3, rel=0.05)


def test_a_line_breaks_where_a_month_has_no_value():
    whole = TrendChart("line", "題", months(24), (Series("食費", (5,) * 24),))
    gap = TrendChart(
        "line", "題", months(24), (Series("食費", (5,) * 6 + (None,) * 12 + (5,) * 6),)
    )
    drawn = [share_of(pixels(chart)[80:], colors_of(("食費",))[0]) for chart in (whole, gap)]
    assert drawn[1] < 0.6 * drawn[0]


def test_months_that_are_not_listed_are_a_gap_of_their_own_width():
    listed = TrendChart("line", "題", ("2024-01", "2024-02", "2024-12"), (Series("a", (1, 1, 1)),))
    filled = TrendChart(
        "line", "題", months(12, 2024 * 12), (Series("a", (1, 1, *(None,) * 9, 1)),)
    )
    assert (pixels(listed) == pixels(filled)).all()


def test_an_area_reaches_down_to_zero_and_a_line_does_not():
    line, area = (pixels(trend(kind, series=1)) for kind in ("line", "area"))
    below = (slice(420, 440), slice(300, 500))
    assert (line[below] != 255).any(axis=2).mean() < 0.2
    assert (area[below] != 255).any(axis=2).mean() > 0.95


def marked(kind):
    """A year whose month 5 has no data and whose last is running."""
    values = (5_000,) * 4 + (None,) + (5_000,) * 6 + (2_000,)
    return TrendChart(
        kind, "題", months(12), (Series("食費", values),), running=months(12)[-1:],
        empty=months(12)[4:5],
    )  # fmt: skip


@pytest.mark.parametrize("kind", ["line", "area", "bar"])
def test_running_and_empty_months_are_marked_and_said(kind):
    page = Page((800, 600), typeface(None))
    draw_trend(page, marked(kind))
    texts = [text.get_text() for text in page.figure.texts]
    page.close()
    assert {"途中", "明細なし"} <= set(texts)
    assert "薄い月は途中、灰色の月は明細なし（0円ではありません）" in texts
    assert share_of(pixels(marked(kind)), EMPTY_BAND) > 0.01
    assert share_of(pixels(trend(kind)), EMPTY_BAND) == 0


def test_a_bar_of_a_running_month_is_lighter_and_a_month_without_data_has_none():
    (color,) = colors_of(("食費",))
    picture = pixels(marked("bar"))[120:]
    whole = share_of(picture, color)
    light = np.frombuffer(bytes.fromhex(lighter(color)[1:]), np.uint8).astype(int)
    running = (abs(picture - light) <= 8).all(axis=2).mean()  # a PNG has 256 colours
    # Ten bars of 5,000 yen, and one of 2,000.
    assert running / whole == pytest.approx(2 / 50, rel=0.2)


@pytest.mark.parametrize("pair", [("食費", "住宅"), ("あ", "い"), ("髙", "①"), ("㈱", "〜")])
def test_letters_are_drawn_and_not_boxes(pair):
    first, second = (title_of(letters * 3) for letters in pair)
    assert (first != second).any()
    # A letter that no font has: were it drawn, it would be the box that stands for all of them.
    assert not any((one == title_of("〓" * len(pair[0]) * 3)).all() for one in (first, second))
    assert (first < 128).sum() > 50


def test_a_character_the_font_lacks_is_shown_as_a_stand_in_and_counted(caplog):
    drawn = draw(category(title="🍜と𠮷"), (800, 600), "png")
    assert drawn.missing_characters == ("🍜", "𠮷")
    assert (title_of("🍜と𠮷") == title_of("〓と〓")).all()
    assert "2 characters" in caplog.text
    assert "🍜" not in caplog.text


def test_decomposed_letters_joiners_and_line_breaks_are_normalised():
    shown = typeface(None).legible("カ\u3099ス\ufe0f\u200d\n代\t 円\x00")
    assert shown == ("ガス 代 円", [])


@pytest.mark.parametrize(
    "text", ["$x_1^2$", "\\alpha", "a$b", "_食費", "^_^", "$\\frac{1}{0}$", "%{}#&"]
)
def test_mathematical_signs_are_drawn_as_text(text):
    chart = CategoryChart("pie", text, ((text, 5), ("食費", 3)), note=text)
    assert draw(chart, (800, 600), "png").missing_characters == ()
    one = TrendChart("line", text, months(2), (Series(text, (1, 2)),), note=text)
    assert draw(one, (800, 600), "svg").missing_characters == ()
    assert (title_of(text) != title_of(text.replace("$", ""))).any() or "$" not in text


def test_a_dollar_sign_is_as_wide_as_it_is():
    plain, dollars = ((title_of(text) < 128).sum() for text in ("x12", "$x_1^2$"))
    assert dollars > plain * 1.5


@pytest.mark.parametrize("chart", [category("pie"), trend("area")])
def test_the_same_chart_is_the_same_bytes_from_any_thread(chart):
    wanted = {form: draw(chart, (400, 300), form).data for form in ("png", "svg")}
    seen: list[bool] = []

    def work():
        seen.extend(draw(chart, (400, 300), form).data == data for form, data in wanted.items())

    threads = [threading.Thread(target=work) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert seen == [True] * 6


@each_chart
def test_an_svg_holds_shapes_only(chart):
    text = draw(chart, (800, 600), "svg").data.decode()
    assert "<text" not in text
    assert "<script" not in text
    assert "<image" not in text
    assert "<!" not in text
    assert not re.search(r"(href|src)=\"(?!#)", text)
    assert not re.search(r"20\d\d-\d\d-\d\dT", text)


def test_texts_cannot_break_out_of_an_svg():
    nasty = '--><script>alert(1)</script><!-- "&'
    chart = CategoryChart("bar", nasty, ((nasty, 5),), note=nasty)
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
    "zeros in a trend": TrendChart("line", "題", months(3), (Series("a", (0, 0, 0)),)),
    "huge": CategoryChart("bar", "題" * 200, tuple((n * 9, v * 10**12) for n, v in ITEMS[:9])),
    "huge slices": CategoryChart("pie", "題", tuple((n * 9, v * 10**12) for n, v in ITEMS[:9])),
    "120 months of bars": trend("bar", 120, 3),
    "a running month alone": TrendChart(
        "bar", "題", months(1), (Series("食費", (5,)),), running=months(1)
    ),
    "30 slices": CategoryChart("pie", "題", tuple((f"費目{n}", 9_000 + n) for n in range(30))),
    "negative": CategoryChart("bar", "題", (("返金", -5), ("払戻", -70_000))),
    "negative trend": TrendChart("area", "題", months(3), (Series("a", (-10, None, -(10**15))),)),
    "same amounts": CategoryChart("pie", "題", tuple((name, 1) for name in NAMES)),
    "refunds": CategoryChart("pie", "題", (*ITEMS[:9], ("返金", -9), ("払戻", -80))),
    "no names": CategoryChart("pie", "", (("", 1), ("", 2))),
}


LARGE = ("20 slices", "120 months of areas", "huge", "120 months of bars")


@pytest.mark.parametrize(
    ("name", "size"),
    [*((name, (200, 150)) for name in EXTREMES), *((name, (1920, 1080)) for name in LARGE)],
)
def test_extremes_are_drawn_in_under_500_kb_inside_the_picture(name, size):
    drawn = draw(EXTREMES[name], size, "png")
    assert len(drawn.data) < 500_000
    picture = np.asarray(Image.open(io.BytesIO(drawn.data)).convert("RGB"))
    edges = np.concatenate([picture[0], picture[-1], picture[:, 0], picture[:, -1]])
    assert (edges == 255).all()
    assert (picture < 200).any(axis=2).mean() > 0.003


def test_a_wild_picture_in_full_colour_stays_under_500_kb():
    values = [tuple((m * 7919 * (k + 3)) % 100_003 for m in range(120)) for k in range(20)]
    named = tuple(Series(NAMES[k], values[k]) for k in range(20))
    chart = TrendChart("line", "題", months(120), named)
    assert 200_000 < len(draw(chart, (1920, 1080), "png").data) < 500_000
    jpeg = draw(chart, (1920, 1080), "jpeg")
    assert len(jpeg.data) < 500_000
    picture = Image.open(io.BytesIO(jpeg.data))
    assert (picture.format, picture.size) == ("JPEG", (1920, 1080))
    assert jpeg.media_type == "image/jpeg"


def texts_of_a_pie(chart, size):
    page = Page(size, typeface(None))
    draw_pie(page, chart)
    texts = [text.get_text() for text in page.figure.texts]
    page.close()
    return texts


@pytest.mark.parametrize("size", [(800, 600), (1024, 768), (1600, 900), (1900, 1080), (500, 900)])
def test_a_name_is_not_cut_if_there_is_room(size):
    for names in (("住宅", "食費"), ("家", "車"), NAMES[:7]):
        chart = CategoryChart("pie", "題", tuple((name, 9876) for name in names))
        assert {*names, "合計"} <= set(texts_of_a_pie(chart, size))


def test_a_pie_lists_amounts_without_a_slice():
    with_refund = CategoryChart("pie", "題", (("食費", 5), ("返金", -3), ("なし", 0)))
    texts = texts_of_a_pie(with_refund, (800, 600))
    assert texts[-8:] == ["食費", "5円", "250.0%", "返金", "-3円", "-150.0%", "合計", "2円"]
    assert "0円以下の2項目には扇形がありません（合計と割合には含みます）。扇形は1項目です" in texts


@pytest.mark.parametrize(
    ("chart", "reason"),
    [
        (CategoryChart("pie", "題", ()), "円グラフにできる支出がありません"),
        (CategoryChart("pie", "題", (("a", 0), ("b", -5))), "円グラフにできる支出がありません"),
        (CategoryChart("pie", "題", (("a", 5), ("b", -5))), "合計が0円以下"),
        (CategoryChart("bar", "題", (("a", 0), ("b", 0))), "棒グラフにできる金額がありません"),
        (
            TrendChart("line", "題", months(2), (Series("a", (None, None)),)),
            "月のデータがありません",
        ),
        (TrendChart("line", "題", months(2), ()), "月のデータがありません"),
        (TrendChart("line", "題", (), ()), "グラフの月がない"),
        (TrendChart("area", "題", months(2)[::-1], (Series("a", (1, 2)),)), "古い順"),
        (TrendChart("area", "題", months(2), (Series("a", (1,)),)), "一致しません"),
        (TrendChart("area", "題", ("2025/06",), (Series("a", (1,)),)), "「2025/06」"),
    ],
)
def test_impossible_charts_are_refused_in_japanese(chart, reason):
    with pytest.raises(ChartError, match=reason):
        draw(chart, (800, 600), "png")


def test_an_error_does_not_affect_the_next_chart():
    with pytest.raises(ChartError):
        draw(CategoryChart("pie", "題", ()), (800, 600), "png")
    assert draw(EVERY[0], (800, 600), "png").data


def test_a_configured_font_is_used(tmp_path):
    own = tmp_path / "own.ttf"
    own.write_bytes(typeface(None).path.read_bytes())
    assert draw(EVERY[0], (300, 200), "png", font_path=str(own)).data


def test_a_missing_or_non_japanese_font_is_refused(tmp_path):
    text = tmp_path / "text.ttf"
    text.write_text("no font", encoding="utf-8")
    latin = Path(mpl.get_data_path()) / "fonts" / "ttf" / "DejaVuSans.ttf"
    for path, reason in (
        (tmp_path / "none.ttf", "読み込めません"),
        (tmp_path, "読み込めません"),
        (text, "読み込めません"),
        (latin, "日本語の文字がありません"),
    ):
        with pytest.raises(FontUnusable, match=reason):
            draw(EVERY[0], (300, 200), "png", font_path=str(path))


@settings(max_examples=10, deadline=None)
@given(
    st.text(max_size=40),
    st.lists(st.tuples(st.text(max_size=30), st.integers(-(10**18), 10**18)), max_size=25),
    st.sampled_from(["pie", "bar"]),
    st.tuples(st.integers(200, 500), st.integers(150, 400)),
)
def test_any_texts_and_amounts_give_a_picture_or_a_reason(title, items, kind, size):
    try:
        drawn = draw(CategoryChart(kind, title, tuple(items)), size, "png")
    except ChartError:
        whole = sum(value for _, value in items)
        assert kind == "pie" or not any(value for _, value in items)
        assert whole <= 0
    else:
        assert Image.open(io.BytesIO(drawn.data)).size == size


@each_chart
def test_a_closed_page_frees_its_pixels_without_the_garbage_collector(chart):
    paint: Any = draw_trend
    if isinstance(chart, CategoryChart):
        paint = draw_pie if chart.kind == "pie" else draw_bars
    gc.disable()
    try:
        page = Page((800, 600), typeface(None))
        paint(page, chart)
        png(page)
        pixels = weakref.ref(vars(page.figure.canvas)["renderer"])
        page.close()
        assert pixels() is None
    finally:
        gc.enable()
