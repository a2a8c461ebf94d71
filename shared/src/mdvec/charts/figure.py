"""Draws a chart as a picture."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from dataclasses import replace

from mdvec.charts.bar import draw_bars
from mdvec.charts.chart import (
    MEDIA_TYPES,
    CategoryChart,
    Chart,
    ImageFormat,
    Picture,
    Size,
    check_size,
)
from mdvec.charts.encoding import jpeg, png, svg
from mdvec.charts.fonts import Typeface, typeface
from mdvec.charts.page import Page
from mdvec.charts.pie import draw_pie
from mdvec.charts.plot import Plot
from mdvec.charts.plotting import draw_plot
from mdvec.charts.trend import draw_trend

logger = logging.getLogger("mdvec")

# Fonts are not thread-safe, and drawing two pictures at once would take twice the memory.
_drawing = threading.Lock()
_ENCODERS: dict[ImageFormat, Callable[[Page], bytes]] = {"png": png, "jpeg": jpeg, "svg": svg}


def draw(
    chart: Chart | Plot, size: Size, image_format: ImageFormat, *, font_path: str | None = None
) -> Picture:
    """Draw a chart in exactly this size; thread-safe.

    Args:
        chart: the amounts or series.
        size: width and height in pixels, 200x150 to 1920x1080.
        image_format: ``png`` or ``jpeg`` (under 500 kB), or ``svg`` (letters as shapes).
        font_path: the file of a Japanese font; None takes the one in matplotlib-fontja.

    Raises:
        ChartError: the chart is empty, the size is out of bounds, or the font is unusable.
    """
    check_size(size)
    with _drawing:
        letters = typeface(font_path)
        legible, missing = _legible(chart, letters)
        page = Page(size, letters)
        try:
            if isinstance(legible, CategoryChart):
                (draw_pie if legible.kind == "pie" else draw_bars)(page, legible)
            elif isinstance(legible, Plot):
                draw_plot(page, legible)
            else:
                draw_trend(page, legible)
            data = _ENCODERS[image_format](page)
        finally:
            page.close()
    if missing:
        logger.warning("a chart shows %d characters as 〓: its font lacks them", len(missing))
    return Picture(data, MEDIA_TYPES[image_format], tuple(dict.fromkeys(missing)))


def _legible(chart: Chart | Plot, letters: Typeface) -> tuple[Chart | Plot, list[str]]:
    """The chart with 〓 for each character that the font lacks, and those characters."""
    missing: list[str] = []

    def text(given: str) -> str:
        shown, lacking = letters.legible(given)
        missing.extend(lacking)
        return shown

    title, note = text(chart.title), text(chart.note)
    if isinstance(chart, CategoryChart):
        items = tuple((text(name), value) for name, value in chart.items)
        keys = chart.keys or tuple(name for name, _ in chart.items)
        return replace(chart, title=title, note=note, items=items, keys=keys), missing
    if isinstance(chart, Plot):
        lines = tuple(replace(line, name=text(line.name)) for line in chart.series)
        names = tuple(map(text, chart.names))
        notes = tuple(replace(remark, japanese=text(remark.japanese)) for remark in chart.notes)
        return replace(chart, title=title, notes=notes, series=lines, names=names), missing
    series = tuple(replace(line, name=text(line.name)) for line in chart.colored)
    return replace(chart, title=title, note=note, series=series), missing
