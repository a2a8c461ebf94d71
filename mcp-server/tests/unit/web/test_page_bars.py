"""The geometry of charts of months."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mdvec_mcp.web.page.bars import HEIGHT, WIDTH, chart_of_months

AMOUNTS = st.lists(st.none() | st.integers(-(10**12), 10**12), min_size=1, max_size=120)


@given(AMOUNTS)
def test_everything_lies_within_the_picture(amounts):
    months = [str(number) for number in range(len(amounts))]
    chart = chart_of_months(months, {"out": amounts}, {"mean": amounts})
    for bar in chart.bars:
        assert 0 <= bar.x <= bar.x + bar.width <= WIDTH
        assert 0 <= bar.y <= bar.y + bar.height + 0.2 <= HEIGHT
    assert len(chart.bars) == sum(amount is not None for amount in amounts)
    assert 2 <= len(chart.amounts) <= 8
    assert 1 <= len(chart.months) <= 14
    assert all(0 <= tick.at <= HEIGHT for tick in chart.amounts)


def test_two_months_make_no_giant_bars():
    chart = chart_of_months(["a", "b"], {"in": [1, 2], "out": [3, 4]}, {})
    assert all(bar.width <= 55 for bar in chart.bars)
    middles = [(chart.bars[at].x + chart.bars[at + 2].x + chart.bars[at + 2].width) / 2
               for at in (0, 1)]  # fmt: skip
    assert middles == pytest.approx([tick.at for tick in chart.months], abs=1)


def test_bars_stand_on_zero_and_are_as_high_as_their_amounts():
    chart = chart_of_months(["a", "b"], {"out": [100, -50]}, {})
    up, down = chart.bars
    assert (up.y + up.height, down.y) == (chart.zero, chart.zero)
    assert abs(up.height - 2 * down.height) < 0.2
    assert [tick.label for tick in chart.amounts] == ["-50", "0", "50", "100"]
