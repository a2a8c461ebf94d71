"""Colours and sizes of the charts."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from mdvec.charts.chart import Size
from mdvec.charts.colors import PALETTE

OTHERS_COLOR = "#B8BCC2"
BACKGROUND = "#FFFFFF"
INK = "#333333"
FAINT_INK = "#666666"
LOSS_INK = "#B3261E"
GRID = "#E3E5E8"
AXIS = "#9AA0A6"
EMPTY_BAND = "#EDEFF2"

TITLE_POINTS, FONT_POINTS, SMALL_POINTS = 16, 12, 10
PIXELS_PER_INCH, POINTS_PER_INCH = 96, 72
_DESIGNED_FOR = (800, 600)
_SCALE_EXPONENT, _MIN_SCALE = 0.7, 0.62
_SMALL_RATIO, _SMALL_TITLE = 0.5, 0.85  # pictures of at most half the size have smaller titles
_GAP, _LINE = 12, 3.0  # pixels at the designed size
_MIN_SMALL, _MIN_GAP, _MIN_LINE = 9.0, 5.0, 2.0  # pixels
_DARKER, _LIGHTER = 0.72, 0.45
_BRIGHT = 0.25


@dataclass(frozen=True, slots=True)
class Style:
    """Letter heights, gaps and line widths, in pixels, for one size of picture."""

    title: float
    font: float
    small: float
    gap: float
    line: float

    @classmethod
    def of(cls, size: Size) -> Style:
        """The measures for a size: those designed for 800x600, scaled by less than the sides.

        So small pictures stay legible, and large ones are not filled with letters.
        """
        ratio = min(size[0] / _DESIGNED_FOR[0], size[1] / _DESIGNED_FOR[1])
        scale = max(float(ratio**_SCALE_EXPONENT), _MIN_SCALE)
        pixels = scale * PIXELS_PER_INCH / POINTS_PER_INCH
        is_small = ratio <= _SMALL_RATIO
        return cls(
            title=TITLE_POINTS * pixels * (_SMALL_TITLE if is_small else 1),
            font=FONT_POINTS * pixels,
            small=max(SMALL_POINTS * pixels, _MIN_SMALL),
            gap=_MIN_GAP if is_small else max(_GAP * scale, _MIN_GAP),
            line=max(_LINE * scale, _MIN_LINE),
        )


def color(index: int) -> str:
    """The colour of a series without a name, such as a query's column; the palette repeats."""
    return PALETTE[index % len(PALETTE)]


def darker(value: str) -> str:
    """A darker shade of a colour, which stands out on a white page."""
    return _hex(part * _DARKER for part in _parts(value))


def lighter(value: str) -> str:
    """A lighter shade of a colour: what is not complete yet."""
    return _hex(255 - (255 - part) * _LIGHTER for part in _parts(value))


def ink_on(value: str) -> str:
    """The ink that is easier to read on a colour: the dark one or white."""
    red, green, blue = ((part / 255) ** 2.2 for part in _parts(value))
    return INK if 0.2126 * red + 0.7152 * green + 0.0722 * blue > _BRIGHT else BACKGROUND


def _parts(value: str) -> list[int]:
    return [int(value[at : at + 2], 16) for at in (1, 3, 5)]


def _hex(parts: Iterable[float]) -> str:
    return "#" + "".join(f"{round(part):02X}" for part in parts)
