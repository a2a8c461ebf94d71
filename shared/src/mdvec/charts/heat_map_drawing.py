"""Draws a heat map: values as coloured cells, with a colour scale."""

from __future__ import annotations

from collections.abc import Sequence
from math import isnan, nan
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import QuadMesh
from matplotlib.colors import LinearSegmentedColormap, to_hex

from mdvec.charts import units
from mdvec.charts.canvas import LABEL_GAP_EM, MAX_NAMES_SHARE, Box, Canvas
from mdvec.charts.plot import Plot
from mdvec.charts.series_drawing import name_labels
from mdvec.charts.style import COLD, HEAT, INK, PAPER, ink_on

_SCALE_EM = 0.7


def draw_heat(canvas: Canvas, plot: Plot, frame: Box) -> None:
    """Draw the values as cells (below zero in other colours), each with its number if it fits.

    The strip on the right is the scale.
    """
    font, names = canvas.measures.font, [row.name for row in plot.series]
    values = [value for row in plot.series for value in row.values if value is not None]
    low, high = min(values), max(values)
    width = min(canvas.widest(names, font), frame.width * MAX_NAMES_SHARE)
    # Values that only differ by rounding errors get no additional digits.
    step = max((high - low) / 50, abs(low) / 1e9, abs(high) / 1e9) or 1.0
    ends = units.numbers((low, high), step)
    scale = canvas.widest(ends, canvas.measures.small) + (_SCALE_EM + 1.6) * font
    left, right = frame.left + width + LABEL_GAP_EM * font, frame.right - scale
    labels = name_labels(
        canvas, plot.names, (right - left) / len(plot.names), frame.height, in_order=False
    )
    box = Box(left, frame.top, right, frame.bottom - labels.height)
    axes = canvas.axes(box)
    grid = [[nan if value is None else value for value in row.values] for row in plot.series]
    down, across = box.height / len(names), box.width / len(plot.names)
    cells = axes.pcolormesh(
        grid, edgecolors=PAPER, linewidth=min(0.8, 0.1 * min(down, across)), **_ramp(low, high)
    )
    axes.set_xlim(0, len(plot.names))
    axes.set_ylim(len(names), 0)
    labels.write(canvas, axes, 0.5)
    every = max(1, -int(-font // down))
    axes.set_yticks(
        [at + 0.5 for at in range(0, len(names), every)],
        canvas.letters.fit_all(names[::every], font, width), **canvas.font(),
    )  # fmt: skip
    if low < high:
        _draw_scale(canvas, cells, box, {low: ends[0], high: ends[1]})
    texts = [["" if isnan(value) else units.number(value, step) for value in line] for line in grid]
    longest = canvas.widest([text for line in texts for text in line], canvas.measures.small)
    if down >= 1.3 * canvas.measures.small and longest <= across - 4:
        _write_numbers(canvas, axes, texts, cells.to_rgba(np.array(grid)))


def _draw_scale(canvas: Canvas, cells: QuadMesh, box: Box, ends: dict[float, str]) -> None:
    """Draw a strip of colours right of the cells, which fill ``box``, and name its ends."""
    font = canvas.measures.font
    bottom = box.top + min(box.height, 16 * font)
    strip = canvas.axes(Box(box.right + font, box.top, box.right + (1 + _SCALE_EM) * font, bottom))
    canvas.figure.colorbar(cells, cax=strip).outline.set_visible(False)
    strip.set_ylim(min(ends), max(ends))
    strip.set_yticks(list(ends), list(ends.values()), **canvas.font(canvas.measures.small, INK))
    lowest, highest = strip.get_yticklabels()
    lowest.set_verticalalignment("bottom")
    highest.set_verticalalignment("top")


def _write_numbers(
    canvas: Canvas,
    axes: Axes,
    texts: Sequence[Sequence[str]],
    shades: Any,  # noqa: ANN401 - an array
) -> None:
    """Write each text into its cell, in a colour that is legible there."""
    for row, line in enumerate(texts):
        for column, text in enumerate(line):
            if text:
                ink = ink_on(to_hex(shades[row, column]))
                axes.text(column + 0.5, row + 0.5, text, horizontalalignment="center",
                          verticalalignment="center_baseline",
                          **canvas.font(canvas.measures.small, ink))  # fmt: skip


def _ramp(low: float, high: float) -> dict[str, Any]:
    """The colours of the values, and the values at the ends of the ramp."""
    if low < 0 < high:
        colors, reach = [*COLD, "#F4F4F4", *HEAT[1:]], max(-low, high)
        low, high = -reach, reach
    else:
        colors = list(HEAT) if low >= 0 else [*COLD, HEAT[0]]
        high = high if high > low else low + max(abs(low), 1)
    ramp = LinearSegmentedColormap.from_list("heat", colors)
    return {"cmap": ramp, "vmin": low, "vmax": high}
