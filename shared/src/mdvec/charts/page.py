"""A page to draw on, measured in pixels from its upper left corner."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from matplotlib.artist import Artist
from matplotlib.backend_bases import FigureCanvasBase
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Polygon, Rectangle, Wedge
from matplotlib.transforms import Affine2D

from mdvec.charts.chart import Size
from mdvec.charts.fonts import Typeface
from mdvec.charts.styles import BACKGROUND, GRID, INK, PIXELS_PER_INCH, POINTS_PER_INCH, Style

Align = Literal["left", "center", "right"]
Point = tuple[float, float]
Points = Sequence[Point]

_HALF_LETTER_EM = 0.36  # half the height of a Japanese letter above the baseline, in font sizes


@dataclass(frozen=True, slots=True)
class Box:
    """A rectangle of the page."""

    left: float
    top: float
    right: float
    bottom: float

    @property
    def width(self) -> float:
        """From the left to the right side."""
        return self.right - self.left

    @property
    def height(self) -> float:
        """From the top to the bottom."""
        return self.bottom - self.top


class Page:
    """A picture being drawn; each mark lies above the earlier ones.

    Texts are single lines in one Japanese font, and never parsed as mathematics. No default of
    matplotlib is used, so the user's own settings do not change a chart.
    """

    def __init__(self, size: Size, typeface: Typeface) -> None:
        self.size = size
        self.typeface = typeface
        self.style = Style.of(size)
        self.figure = Figure(
            figsize=(size[0] / PIXELS_PER_INCH, size[1] / PIXELS_PER_INCH),
            dpi=PIXELS_PER_INCH,
            facecolor=BACKGROUND,
            edgecolor=BACKGROUND,
        )
        scale = Affine2D().scale(1 / size[0], -1 / size[1]).translate(0, 1)
        self._pixels = scale + self.figure.transFigure
        self._marks = 0

    def text(
        self,
        x: float,
        middle: float,
        text: str,
        pixels: float,
        *,
        align: Align = "left",
        ink: str = INK,
        width: float | None = None,
    ) -> float:
        """Write a line of text at the height ``middle``, cut to ``width``; return its width."""
        shown = text if width is None else self.typeface.fit(text, pixels, width)
        # Centring each text on its own ink would put neighbours on different baselines.
        written = self.figure.text(
            x,
            middle + _HALF_LETTER_EM * pixels,
            shown,
            horizontalalignment=align,
            verticalalignment="baseline",
            fontproperties=self.typeface.properties(pixels),
            color=ink,
            parse_math=False,
            usetex=False,
        )
        written.set_transform(self._pixels)
        written.set_zorder(self._next())
        return self.typeface.width(shown, pixels)

    def rectangle(self, box: Box, color: str, rim: str | None = None) -> None:
        """Fill a box, and outline it with a ``rim``."""
        self._add(
            Rectangle((box.left, box.top), box.width, box.height,
                      facecolor=color, edgecolor=rim or "none", linewidth=1)
        )  # fmt: skip

    def wedge(self, center: Point, radius: float, turns: tuple[float, float],
              color: str) -> None:  # fmt: skip
        """Fill a slice of a circle between two ``turns``, 0 to 1 clockwise from the top."""
        angles = (360 * turn - 90 for turn in turns)
        whole = turns[1] - turns[0] >= 1
        self._add(
            Wedge(center, radius, *angles, facecolor=color,
                  edgecolor="none" if whole else BACKGROUND, linewidth=1.2)
        )  # fmt: skip

    def polygon(self, points: Points, color: str, alpha: float) -> None:
        """Fill a shape; ``alpha`` is its opacity, 0 to 1."""
        self._add(Polygon(points, closed=True, facecolor=color, edgecolor="none", alpha=alpha))

    def line(self, points: Points, color: str, pixels: float, dashes: Sequence[float] = ()) -> None:
        """Draw a line; ``dashes`` are the lengths of dashes and gaps in turn, in pixels."""
        xs, ys = zip(*points, strict=True)
        pattern = (0.0, [dash / pixels for dash in dashes]) if dashes else None
        self._add(
            Line2D(
                xs, ys, color=color, linestyle=pattern or "-",
                linewidth=pixels * POINTS_PER_INCH / PIXELS_PER_INCH,
                marker="None", solid_joinstyle="round", solid_capstyle="round",
                dash_joinstyle="round", dash_capstyle="butt", antialiased=True,
            )
        )  # fmt: skip

    def dot(self, center: Point, radius: float, color: str, rim: str) -> None:
        """Draw a filled circle with a rim."""
        self._add(Wedge(center, radius, 0, 360, facecolor=color, edgecolor=rim, linewidth=1))

    def guide(self, start: Point, end: Point, color: str = GRID) -> None:
        """Draw a thin straight line."""
        self.line((start, end), color, 1.0)

    def close(self) -> None:
        """Free the picture's memory at once, not at the next garbage collection."""
        # A text in a figure is part of a reference cycle, and it holds the picture's pixels.
        for text in tuple(self.figure.texts):
            text.remove()
        self.figure.clear()
        self.figure.set_canvas(FigureCanvasBase(None))

    def _next(self) -> int:
        """The place of the next mark in the stack, above all earlier ones."""
        self._marks += 1
        return self._marks

    def _add(self, artist: Artist) -> None:
        artist.set_transform(self._pixels)
        artist.set_clip_on(False)
        artist.set_zorder(self._next())
        self.figure.add_artist(artist)
