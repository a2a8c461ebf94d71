"""Colours of categories: steady, apart, and visible on both papers and to all eyes."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mdvec.charts.colors import FIRST, PALETTE, colors_of

NAMES = st.lists(st.text(max_size=4), unique=True, min_size=1)
KNOWN = ("食費", "住宅", "水道・光熱費", "通信費", "日用品", "交通費", "収入", "支出", "未分類")


@given(NAMES.filter(lambda names: len(names) <= len(PALETTE)), st.data())
def test_a_category_has_its_own_colour_whatever_else_a_chart_shows(ledger, data):
    everywhere = dict(zip(ledger, colors_of(ledger), strict=True))
    assert len(set(everywhere.values())) == len(ledger)
    shown = data.draw(st.lists(st.sampled_from(ledger), unique=True))
    assert colors_of(shown, ledger) == tuple(everywhere[name] for name in shown)


@given(st.permutations(KNOWN), NAMES)
def test_known_categories_never_change_their_colours(shown, others):
    alone = [colors_of((name,))[0] for name in shown]
    assert list(colors_of(shown, others)) == alone


def test_colours_are_the_same_in_every_run():
    assert colors_of(("推し活", "食費 > 外食", "食費")) == ("#B46C48", "#786000", "#F06C84")


@given(NAMES)
def test_a_chart_of_up_to_twenty_never_repeats_a_colour(names):
    colors = colors_of(names[:20], names)
    assert len(set(colors)) == len(names[:20])


def linear(color):
    parts = np.array([int(color[at : at + 2], 16) for at in (1, 3, 5)]) / 255
    return np.where(parts <= 0.04045, parts / 12.92, ((parts + 0.055) / 1.055) ** 2.4)


def oklab(rgb):
    to_lms = [[0.4122, 0.5363, 0.0514], [0.2119, 0.6807, 0.1074], [0.0883, 0.2817, 0.6300]]
    to_lab = [[0.2105, 0.7936, -0.0041], [1.9780, -2.4286, 0.4506], [0.0259, 0.7828, -0.8087]]
    return np.array(to_lab) @ np.cbrt(np.array(to_lms) @ np.clip(rgb, 0, 1))


# Machado, Oliveira and Fernandes 2009: what eyes without one kind of cone make of linear RGB.
EYES = {
    "all cones": np.eye(3),
    "protanopia": [[0.1523, 1.0526, -0.2049], [0.1145, 0.7863, 0.0992], [-0.0039, -0.0481, 1.052]],
    "deuteranopia": [[0.3673, 0.8606, -0.228], [0.2801, 0.6725, 0.0474], [-0.0118, 0.0429, 0.9689]],
}


@pytest.mark.parametrize("eyes", EYES.values(), ids=EYES)
def test_colours_are_apart_for_all_eyes(eyes):
    seen = [oklab(np.array(eyes) @ linear(color)) for color in PALETTE]
    nearest = [
        min(np.linalg.norm(one - other) for one, other in combinations(seen[:count], 2))
        for count in (FIRST, len(PALETTE))
    ]
    assert nearest[0] > 0.08
    assert nearest[1] > 0.04


@pytest.mark.parametrize("paper", ["#ffffff", "#14181d"], ids=["light", "dark"])
def test_colours_stand_out_on_the_light_and_the_dark_page(paper):
    def luminance(color):
        return linear(color) @ [0.2126, 0.7152, 0.0722]

    for color in PALETTE:
        low, high = sorted((luminance(color), luminance(paper)))
        assert (high + 0.05) / (low + 0.05) > 2.8, color
