"""Charts of a household's categories and months, and what is found in their pictures."""

from __future__ import annotations

import io

import numpy as np
from matplotlib.text import Text
from mdvec.charts.figure import draw, figure_of
from mdvec.charts.plot import Series, category_plot, month_plot
from mdvec.charts.style import typeface
from mdvec.dates import Month
from PIL import Image

NAMES = (
    "食費", "日用品", "水道・光熱費", "通信費", "住宅", "交通費", "教養・教育", "趣味・娯楽",
    "衣服・美容", "健康・医療", "交際費", "特別な支出", "自動車", "保険", "税・社会保障",
    "現金・カード", "その他", "未分類", "旅行・レジャー費用の積立", "ペット",
)  # fmt: skip  # fmt: skip
ITEMS = tuple((name, 150_000 // (at + 1)) for at, name in enumerate(NAMES))


def months(count):
    return tuple(map(Month(2024, 4).plus, range(count)))


def trend(kind="line", count=12, series=3, title="カテゴリ別の推移"):
    values = [
        tuple(60_000 // (k + 1) + m * 977 % 9000 for m in range(count)) for k in range(series)
    ]
    named = tuple(Series(NAMES[k], values[k]) for k in range(series))
    return month_plot(kind, title, months(count), named)


def category(kind="bar", count=8, title="2025年6月の支出"):
    return category_plot(kind, title, ITEMS[:count])


EVERY = [category("pie"), category("bar"), trend("line"), trend("area"), trend("bar")]


def pixels(chart, size=(800, 600)):
    return np.asarray(Image.open(io.BytesIO(draw(chart, size, "png").data)).convert("RGB"))


def figure(chart, size=(800, 600)):
    return figure_of(chart, size, typeface(None))


def texts(drawn):
    """Every text of a figure, in the order in which they were written."""
    return [text.get_text() for text in drawn.findobj(Text) if text.get_text()]


def written(chart):
    """Every text that is translated when a chart is drawn; the last ones stand in the picture."""
    said: list[str] = []

    def translate(text: str) -> str:
        said.append(text)
        return text

    draw(chart, (800, 600), "png", words=translate)
    return said


def labels(ticks):
    return [tick.get_text() for tick in ticks if tick.get_text()]


def title_of(text, size=(800, 600)):
    """The rows of a chart in which its title stands."""
    return pixels(category("bar", 1, text), size)[: size[1] // 15]
