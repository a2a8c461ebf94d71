"""Bars with targets: each item above its target, in the given order."""

from mdvec.charts.bar import _entries
from mdvec.charts.chart import CategoryChart
from mdvec.charts.colors import colors_of
from mdvec.charts.styles import OTHERS_COLOR


def test_bars_keep_their_order_each_above_its_grey_target():
    chart = CategoryChart(
        "bar", "予算", (("食費（毎月）", 10), ("服（毎年）", 90)), keys=("食費", "服"),
        targets=(("予算", 50), ("予算", 60)),
    )  # fmt: skip
    entries = _entries(chart, 10)
    assert [(one.name, one.value) for one in entries] == [
        ("食費（毎月）", 10), ("予算", 50), ("服（毎年）", 90), ("予算", 60),
    ]  # fmt: skip
    food, clothes = colors_of(("食費", "服"))
    assert [one.color for one in entries] == [food, OTHERS_COLOR, clothes, OTHERS_COLOR]
