"""The one style of the charts: inks, the sizes of letters, and the settings of matplotlib."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

from mdvec.charts.chart import Size
from mdvec.charts.colors import FIRST, PALETTE

PAPER, INK, FAINT_INK, LOSS_INK = "#FFFFFF", "#2B2F36", "#6A707A", "#B3261E"
GRID, AXIS, EMPTY_BAND = "#E8EAED", "#9AA0A6", "#F1F2F4"
HEAT = ("#EEF3F8", "#8FB4D6", "#3D6FA8", "#173B66")
COLD = ("#7A3B05", "#D08A3C", "#F6E3C8")
"""The colours of values below zero, from the lowest up; colour-blind eyes tell them from HEAT."""

PIXELS_PER_INCH, POINTS_PER_INCH = 96, 72
SETTINGS = {
    "text.parse_math": False, "text.usetex": False, "text.hinting": "none",
    "svg.fonttype": "path", "path.sketch": None,
    "svg.hashsalt": "mdvec", "axes.unicode_minus": False, "lines.solid_capstyle": "round",
    "lines.solid_joinstyle": "round", "hatch.linewidth": 0.8,
    "axes.edgecolor": AXIS, "axes.axisbelow": True, "grid.color": GRID, "grid.linewidth": 0.8,
    "xtick.color": FAINT_INK, "ytick.color": FAINT_INK, "text.color": INK,
}  # fmt: skip
"""Matplotlib's settings, over its defaults: the user's own settings do not change a chart."""

_DESIGNED_FOR = (800, 600)
_SCALE_EXPONENT, _MIN_SCALE = 0.7, 0.62
_TITLE, _FONT, _SMALL, _GAP, _LINE = 20.0, 15.0, 13.0, 14.0, 2.4  # pixels at the designed size
_MIN_SMALL, _MIN_GAP, _MIN_LINE = 9.0, 5.0, 1.6
_LIGHTER = 0.4
_SERIES = (2, 3, 8, 0, 1, 4, 5, 7, 6, 9, *range(FIRST, len(PALETTE)))


@dataclass(frozen=True, slots=True)
class Measures:
    """Letter heights, gaps and line widths, in pixels, for one size of picture."""

    title: float
    font: float
    small: float
    gap: float
    line: float

    @classmethod
    def of(cls, size: Size) -> Measures:
        """The measures for a size: those designed for 800x600, scaled by less than the sides.

        So small pictures stay legible, and large ones are not filled with letters.
        """
        ratio = min(size[0] / _DESIGNED_FOR[0], size[1] / _DESIGNED_FOR[1])
        scale = max(float(ratio**_SCALE_EXPONENT), _MIN_SCALE)
        return cls(
            title=_TITLE * scale,
            font=_FONT * scale,
            small=max(_SMALL * scale, _MIN_SMALL),
            gap=max(_GAP * min(scale, ratio * 1.2), _MIN_GAP),
            line=max(_LINE * scale, _MIN_LINE),
        )


def points(pixels: float) -> float:
    """Pixels as matplotlib's points."""
    return pixels * POINTS_PER_INCH / PIXELS_PER_INCH


def series_color(number: int) -> str:
    """The colour of a series without a name of its own, such as a query's column."""
    return PALETTE[_SERIES[number % len(_SERIES)]]


def dashes(color: str) -> Literal["-"] | tuple[float, tuple[float, float]]:
    """The line style of a colour: those that come close to another one are dashed."""
    return (0, (4, 1.6)) if color in PALETTE[FIRST:] else "-"


@lru_cache(maxsize=1_024)
def lighter(color: str) -> str:
    """A lighter shade of a colour: what is not complete yet."""
    return "#" + "".join(f"{round(255 - (255 - part) * _LIGHTER):02X}" for part in _parts(color))


@lru_cache(maxsize=1_024)
def ink_on(color: str) -> str:
    """The ink that is easier to read on a colour: the dark one or white."""
    red, green, blue = ((part / 255) ** 2.2 for part in _parts(color))
    return INK if 0.2126 * red + 0.7152 * green + 0.0722 * blue > 0.28 else PAPER


def _parts(color: str) -> bytes:
    return bytes.fromhex(color[1:])
