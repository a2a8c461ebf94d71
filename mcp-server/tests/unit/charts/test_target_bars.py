"""Bars with targets: each item above its target, in the given order."""

from mdvec_mcp.charts.bar import _entries
from mdvec_mcp.charts.chart import CategoryChart
from mdvec_mcp.charts.styles import OTHERS_COLOR


def test_bars_keep_their_order_each_above_its_grey_target():
    chart = CategoryChart(
        "bar", "予算", (("食費", 10), ("服", 90)), targets=(("予算", 50), ("予算", 60))
    )
    entries = _entries(chart, 10)
    assert [(one.name, one.value) for one in entries] == [
        ("食費", 10), ("予算", 50), ("服", 90), ("予算", 60),
    ]  # fmt: skip
    assert [one.color == OTHERS_COLOR for one in entries] == [False, True, False, True]
