"""The canvas of a chart: its letters, title, notes and legend, and Axes in it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

from mdvec.charts.plot import Series, Size
from mdvec.charts.style import (
    FAINT_INK,
    INK,
    PAPER,
    PIXELS_PER_INCH,
    Measures,
    Typeface,
    dashes,
    points,
)

Align = Literal["left", "center", "right"]
LABEL_GAP_EM = 0.6
"""The gap between the Axes and their labels."""
MAX_NAMES_SHARE = 0.34
"""The largest share of the width for the names of rows."""
_HALF_LETTER_EM = 0.36  # from the baseline to the middle of a Japanese letter
_TWO_LINES_FROM = 350  # pixels of height from which each note may have two lines
_NOTE_LINE_EM, _TITLE_EM = 1.4, 1.25
_MAX_LEGEND_SHARE = 0.24  # of the height
_LEGEND_ROW_EM, _SWATCH_EM, _NAME_GAP_EM, _COLUMN_GAP_EM = 1.6, 1.4, 0.5, 1.3


@dataclass(frozen=True, slots=True)
class Box:
    """A rectangle of the picture, in pixels from its upper left corner."""

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


@dataclass(frozen=True, slots=True)
class Canvas:
    """A figure, the font of its letters, and their sizes."""

    figure: Figure
    size: Size
    letters: Typeface
    measures: Measures

    @classmethod
    def blank(cls, size: Size, letters: Typeface) -> Canvas:
        """A canvas on which nothing is drawn."""
        inches = size[0] / PIXELS_PER_INCH, size[1] / PIXELS_PER_INCH
        figure = Figure(figsize=inches, dpi=PIXELS_PER_INCH, facecolor=PAPER, edgecolor=PAPER)
        return cls(figure, size, letters, Measures.of(size))

    def axes(self, box: Box, grid: Literal["x", "y"] | None = None) -> Axes:
        """Axes that fill a box, without ticks and spines; ``grid`` is the axis with grid lines."""
        width, height = self.size
        axes = self.figure.add_axes(
            (box.left / width, 1 - box.bottom / height, box.width / width, box.height / height),
            facecolor="none",
        )
        axes.spines[:].set_visible(False)
        # Set before ticks exist, as changing existing ticks is slower.
        axes.tick_params(length=0, pad=points(LABEL_GAP_EM * self.measures.font))
        axes.set_xticks([])
        axes.set_yticks([])
        if grid:
            axes.grid(axis=grid)
        return axes

    def font(self, pixels: float | None = None, ink: str = FAINT_INK) -> dict[str, Any]:
        """The properties of a text in matplotlib."""
        properties = self.letters.properties(pixels or self.measures.font)
        return {"fontproperties": properties, "color": ink}

    def write(
        self, x: float, middle: float, text: str, pixels: float, *,
        align: Align = "left", ink: str = INK, width: float | None = None,
    ) -> None:  # fmt: skip
        """Write a line of text, centred vertically on ``middle`` and cut to ``width`` (pixels)."""
        shown = text if width is None else self.letters.fit(text, pixels, width)
        # Centring each text by its own ink would give neighbours different baselines.
        self.figure.text(
            x / self.size[0], 1 - (middle + _HALF_LETTER_EM * pixels) / self.size[1], shown,
            horizontalalignment=align, verticalalignment="baseline", **self.font(pixels, ink),
        )  # fmt: skip

    def widest(self, texts: Sequence[str], pixels: float) -> float:
        """The width of the longest text."""
        return max((self.letters.width(text, pixels) for text in texts), default=0.0)

    def frame(self, title: str, notes: Sequence[str]) -> Box:
        """Write the title and the notes; returns the box between them."""
        measures, (width, height) = self.measures, self.size
        margin = measures.gap
        room, pixels = width - 2 * margin, measures.title
        while pixels > measures.font and self.letters.width(title, pixels) > room:
            pixels -= 1
        self.write(margin, margin + measures.title * 0.6, title, pixels, width=room)
        bottom, max_lines = height - margin, 2 if height > _TWO_LINES_FROM else 1
        written = [
            line
            for note in notes
            for line in self.letters.wrap(note, measures.small, room, max_lines)
        ]
        for line in reversed(written):
            self.write(margin, bottom - measures.small / 2, line, measures.small, ink=FAINT_INK)
            bottom -= measures.small * _NOTE_LINE_EM
        top = margin + (measures.title * _TITLE_EM + margin if title else 0)
        return Box(margin, top, width - margin, bottom)

    def legend(self, box: Box, series: Sequence[Series], *, lines: bool) -> Box:
        """Draw a legend of the series at the top of the box; returns the box below it."""
        font = self.measures.font
        row, swatch = _LEGEND_ROW_EM * font, (_SWATCH_EM + _NAME_GAP_EM + _COLUMN_GAP_EM) * font
        most = max(int(box.height * _MAX_LEGEND_SHARE / row), 1)
        names = self.letters.fit_all([one.name for one in series], font, box.width - swatch)
        colors = [one.color for one in series]
        for shown in range(len(series), -1, -1):
            more = [f"ほか{len(series) - shown}系列"] if shown < len(series) else []
            named = list(zip([*names[:shown], *more], [*colors[:shown], ""], strict=False))
            columns = self._columns([name for name, _ in named], box.width, swatch)
            rows = -(-len(named) // columns)
            if rows <= most:
                break
        # Matplotlib fills columns first, but people read rows first.
        ordered = [
            named[at] for column in range(columns) for at in range(column, len(named), columns)
        ]
        self.figure.legend(
            [_key(color, self.measures.line, lines=lines) for _, color in ordered],
            [name for name, _ in ordered],
            loc="upper left", bbox_to_anchor=(box.left / self.size[0], 1 - box.top / self.size[1]),
            ncols=columns, prop=self.letters.properties(font), labelcolor=INK, frameon=False,
            borderpad=0, borderaxespad=0, handlelength=_SWATCH_EM, handletextpad=_NAME_GAP_EM,
            columnspacing=_COLUMN_GAP_EM, labelspacing=0.45,
        )  # fmt: skip
        return replace(box, top=box.top + rows * row)

    def _columns(self, names: Sequence[str], room: float, swatch: float) -> int:
        """The largest number of columns in which the names fit."""
        for columns in range(len(names), 1, -1):
            widths = (
                self.widest(names[column::columns], self.measures.font) for column in range(columns)
            )
            if sum(widths) + columns * swatch <= room:
                return columns
        return 1


def _key(color: str, line: float, *, lines: bool) -> Line2D | Patch:
    if lines and color:
        return Line2D([], [], color=color, linestyle=dashes(color), linewidth=points(line))
    return Patch(facecolor=color or "none", edgecolor="none")
