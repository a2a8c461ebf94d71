"""Draws a chart as a picture."""

from __future__ import annotations

import io
import logging
import re
import threading
from collections.abc import Callable
from dataclasses import replace
from functools import lru_cache
from typing import Any

import matplotlib.style
import numpy as np
from matplotlib.backends.backend_agg import RendererAgg
from matplotlib.backends.backend_svg import FigureCanvasSVG
from matplotlib.figure import Figure
from matplotlib.text import Text
from numpy.typing import NDArray
from PIL import Image

from mdvec.charts.canvas import Canvas
from mdvec.charts.category_drawing import draw_bars, draw_categories, draw_pie, has_room
from mdvec.charts.plot import MEDIA_TYPES, ChartError, ImageFormat, Picture, Plot, PlotNote, Size
from mdvec.charts.plot_drawing import draw_heat, draw_series
from mdvec.charts.style import PIXELS_PER_INCH, SETTINGS, Typeface, series_color, typeface

logger = logging.getLogger("mdvec")

MAX_PICTURE_BYTES = 500_000
"""PNGs and JPEGs stay below this size."""
_PRECISIONS = ((256, 92), (64, 80), (24, 60), (16, 40))
"""The number of colours of a PNG and the quality of a JPEG, to be tried in this order."""
_REMOVED = re.compile(r"<!--.*?-->\s*|<!DOCTYPE[^>]*>\s*", re.DOTALL)

# Fonts and the settings of matplotlib are not thread-safe.
_drawing = threading.Lock()


def draw(
    chart: Plot, size: Size, image_format: ImageFormat, *, font_path: str | None = None,
    words: Callable[[str], str] | None = None,
) -> Picture:  # fmt: skip
    """Draw a chart in exactly this size; thread-safe.

    Args:
        chart: the amounts or series.
        size: width and height in pixels, 200x150 to 1920x1080 as ``parse_size`` checks.
        image_format: ``png`` or ``jpeg`` (under 500 kB), or ``svg`` (letters as shapes).
        font_path: the file of a Japanese font; None for the font in matplotlib-fontja.
        words: translates each text of the picture into English.

    Raises:
        ChartError: the chart is empty, or the font is unusable.
    """
    with _drawing, matplotlib.style.context(SETTINGS, after_reset=True):
        letters = typeface(font_path)
        legible, missing = _legible(chart, letters, words)
        if missing:
            note = f"{letters.replacement} はフォントにない文字です"
            note = words(note) if words else note
            legible = replace(legible, notes=(*legible.notes, PlotNote(note, "")))
        figure = figure_of(legible, size, letters)
        if words is not None:
            _reword(figure, words)
        data = _svg(figure, size) if image_format == "svg" else _pixels(figure, size, image_format)
    if missing:
        logger.warning("a chart shows %d characters as 〓: its font lacks them", len(missing))
    return Picture(data, MEDIA_TYPES[image_format])


def figure_of(chart: Plot, size: Size, letters: Typeface) -> Figure:
    """The figure of a chart whose characters the font all has; made without pyplot.

    Raises:
        ChartError: the chart is empty.
    """
    canvas = Canvas.blank(size, letters)
    if chart.kind == "pie":
        draw_pie(canvas, chart)
    elif chart.keys is not None:
        draw_categories(canvas, chart)
    elif not chart.points:
        what = "月のデータ" if chart.axis == "months" else "値"
        raise ChartError(f"グラフにできる{what}がありません。")
    else:
        _draw_series(canvas, chart)
    return canvas.figure


def _draw_series(canvas: Canvas, chart: Plot) -> None:
    series = enumerate(chart.series)
    named = tuple(replace(one, color=one.color or series_color(at)) for at, one in series)
    chart = replace(chart, series=named)
    frame = canvas.frame(chart.title, [chart.note])
    lies_down = chart.kind == "bar" and chart.axis == "names" and not chart.in_order
    if chart.kind == "heatmap":
        draw_heat(canvas, chart, frame)
    elif lies_down and has_room(canvas, chart, frame):
        draw_bars(canvas, chart, canvas.legend(frame, chart.series, lines=False))
    else:
        draw_series(canvas, chart, frame)


def _reword(figure: Figure, words: Callable[[str], str]) -> None:
    """Translate the texts; tick labels are set first, as matplotlib would regenerate them."""
    for axes in figure.axes:
        for axis in (axes.xaxis, axes.yaxis):
            texts = [label.get_text() for label in axis.get_ticklabels()]
            if any(texts):
                axis.set_ticks(axis.get_ticklocs(), list(map(words, texts)))
    for text in figure.findobj(Text):
        text.set_text(words(text.get_text()))


def _legible(
    chart: Plot, letters: Typeface, words: Callable[[str], str] | None
) -> tuple[Plot, list[str]]:
    """The chart with 〓 for each character that the font lacks, and those characters.

    Titles, notes and the names of series are translated here, before they are cut to their room.
    """
    missing: list[str] = []
    say = words or str

    def text(given: str) -> str:
        shown, lacking = letters.legible(given)
        missing.extend(lacking)
        return shown

    notes = [(words and note.english) or say(note.japanese) for note in chart.notes]
    return replace(
        chart, title=text(say(chart.title)), names=tuple(map(text, chart.names)),
        series=tuple(replace(one, name=text(say(one.name))) for one in chart.series),
        notes=tuple(PlotNote(text(note), "") for note in notes),
    ), missing  # fmt: skip


@lru_cache(maxsize=1)
def _renderer(size: Size) -> RendererAgg:
    """A renderer for pictures of this size, shared: a figure's own is only freed by the GC."""
    return RendererAgg(*size, PIXELS_PER_INCH)  # type: ignore[no-untyped-call]


def _pixels(figure: Figure, size: Size, image_format: ImageFormat) -> bytes:
    """The figure as a PNG of its most frequent colours or a JPEG, in the best quality that fits."""
    renderer = _renderer(size)
    renderer.clear()  # type: ignore[no-untyped-call]
    figure.draw(renderer)
    pixels = renderer.buffer_rgba()  # type: ignore[no-untyped-call]
    for colors, quality in _PRECISIONS:
        buffer = io.BytesIO()
        if image_format == "jpeg":
            picture = Image.frombuffer("RGBA", size, pixels).convert("RGB")
            picture.save(buffer, "JPEG", quality=quality, subsampling=0, optimize=True)
        else:
            exact = np.frombuffer(pixels, "<u4").reshape(size[::-1])
            _with_palette(exact, colors).save(buffer, "PNG")
        if buffer.tell() < MAX_PICTURE_BYTES:
            break
    return buffer.getvalue()


def _with_palette(exact: NDArray[np.uint32], colors: int) -> Image.Image:
    """A picture with a palette of the most frequent colours, which stay exact.

    Full colour would take three times as many bytes. Colours count as equal if the highest five
    bits of each channel are.
    """
    values, counts = np.unique(exact, return_counts=True)
    values = values[np.argsort(-counts, kind="stable")]
    used, first = np.unique(_cells(values), return_index=True)
    palette = _channels(values[np.sort(first)[:colors]])
    distances = np.abs(_channels(values[first])[:, None] - palette).sum(axis=2)
    nearest = np.zeros(1 << 15, np.uint8)
    nearest[used] = distances.argmin(axis=1)
    picture = Image.fromarray(nearest[_cells(exact)])
    picture.putpalette(palette.astype(np.uint8).tobytes())
    return picture


def _cells(colors: NDArray[np.uint32]) -> NDArray[Any]:
    return colors >> 3 & 0x1F | colors >> 6 & 0x3E0 | colors >> 9 & 0x7C00


def _channels(colors: NDArray[np.uint32]) -> NDArray[np.int32]:
    return np.stack([colors & 255, colors >> 8 & 255, colors >> 16 & 255], axis=1).astype(np.int32)


def _svg(figure: Figure, size: Size) -> bytes:
    """The figure as an SVG; letters are shapes, so viewers need no Japanese font."""
    buffer = io.StringIO()
    FigureCanvasSVG(figure).print_svg(  # type: ignore[no-untyped-call]
        buffer, metadata={"Date": None, "Creator": None, "Format": None, "Type": None}
    )
    text = _REMOVED.sub("", buffer.getvalue())  # comments repeat the texts
    for name, pixels in zip(("width", "height"), size, strict=True):
        text = re.sub(rf'{name}="[^"]*pt"', f'{name}="{pixels}"', text, count=1)
    return text.encode()
