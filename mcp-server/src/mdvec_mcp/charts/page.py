"""An empty page measured in pixels from its upper left corner, and the marks made on it."""

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

from mdvec_mcp.charts.chart import Size
from mdvec_mcp.charts.fonts import Typeface
from mdvec_mcp.charts.styles import BACKGROUND, GRID, INK, PIXELS_PER_INCH, Style

Align = Literal["left", "center", "right"]
Point = tuple[float, float]
Points = Sequence[Point]


@dataclass(frozen=True, slots=True)
class Box:
    """A part of the page."""

    left: float
    top: float
    right: float
    bottom: float

    @property
    def width(self) -> float:
        """From side to side."""
        return self.right - self.left

    @property
    def height(self) -> float:
        """From top to bottom."""
        return self.bottom - self.top


class Page:
    """A picture in the making. Texts are on one line, never mathematics, in one Japanese font.

    Nothing here asks matplotlib's settings, so that a user's own do not change a chart.
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
        """Write a line around the height ``middle``, cut to ``width``; return its width."""
        shown = text if width is None else self.typeface.fit(text, pixels, width)
        # Centring every text on its own ink would make neighbours dance; 0.36 is half the height
        # of a Japanese letter above the baseline.
        written = self.figure.text(
            x,
            middle + 0.36 * pixels,
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

    def rectangle(self, box: Box, color: str) -> None:
        """Fill a box."""
        self._add(
            Rectangle((box.left, box.top), box.width, box.height, facecolor=color, edgecolor="none")
        )

    def wedge(self, center: Point, radius: float, turns: tuple[float, float],
              color: str) -> None:  # fmt: skip
        """Fill a slice; ``turns`` are its ends, 0 to 1 clockwise from the top."""
        angles = (360 * turn - 90 for turn in turns)
        whole = turns[1] - turns[0] >= 1
        self._add(
            Wedge(center, radius, *angles, facecolor=color,
                  edgecolor="none" if whole else BACKGROUND, linewidth=1.2)
        )  # fmt: skip

    def polygon(self, points: Points, color: str, alpha: float) -> None:
        """Fill a shape, letting what lies under it through."""
        self._add(Polygon(points, closed=True, facecolor=color, edgecolor="none", alpha=alpha))

    def line(self, points: Points, color: str, pixels: float, dashes: Sequence[float] = ()) -> None:
        """Draw a line through the points; ``dashes`` are inks and gaps in pixels."""
        xs, ys = zip(*points, strict=True)
        pattern = (0.0, [dash / pixels for dash in dashes]) if dashes else None
        self._add(
            Line2D(
                xs, ys, color=color, linestyle=pattern or "-",
                linewidth=pixels * 72 / PIXELS_PER_INCH,
                marker="None", solid_joinstyle="round", solid_capstyle="round",
                dash_joinstyle="round", dash_capstyle="butt", antialiased=True,
            )
        )  # fmt: skip

    def dot(self, center: Point, radius: float, color: str, rim: str) -> None:
        """Draw a point that can be seen."""
        self._add(Wedge(center, radius, 0, 360, facecolor=color, edgecolor=rim, linewidth=1))

    def guide(self, start: Point, end: Point, color: str = GRID) -> None:
        """Draw a thin upright or level line."""
        self.line((start, end), color, 1.0)

    def close(self) -> None:
        """Let go of the picture's megabytes at once, and not when cycles are next looked for."""
        for text in self.figure.texts:
            vars(text)["_renderer"] = None  # a text remembers what it was drawn on
        self.figure.clear()
        self.figure.set_canvas(FigureCanvasBase(None))

    def _next(self) -> int:
        """What is drawn later lies above."""
        self._marks += 1
        return self._marks

    def _add(self, artist: Artist) -> None:
        artist.set_transform(self._pixels)
        artist.set_clip_on(False)
        artist.set_zorder(self._next())
        self.figure.add_artist(artist)
