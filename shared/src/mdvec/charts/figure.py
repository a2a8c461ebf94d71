"""Draws a chart as a picture."""

from __future__ import annotations

import io
import logging
import re
import threading
from collections.abc import Callable
from dataclasses import replace

import numpy as np
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.backends.backend_svg import FigureCanvasSVG
from numpy.typing import NDArray
from PIL import Image

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
from mdvec.charts.colors import PALETTE
from mdvec.charts.fonts import Typeface, typeface
from mdvec.charts.page import Page
from mdvec.charts.pie import draw_pie
from mdvec.charts.plot import Plot
from mdvec.charts.plotting import draw_plot
from mdvec.charts.styles import BACKGROUND, EMPTY_BAND, INK, OTHERS_COLOR
from mdvec.charts.trend import draw_trend

MAX_PICTURE_BYTES = 500_000
"""Of a PNG or JPEG."""
_PNG_COLORS = (256, 64, 24)
_COMPRESSION = 6
_QUALITIES = (92, 80, 60, 40)
_STYLE_COLORS = tuple(
    tuple(bytes.fromhex(color[1:]))
    for color in (BACKGROUND, INK, OTHERS_COLOR, EMPTY_BAND, *PALETTE)
)
_ID = re.compile(r'\bid="([a-z]+[0-9a-f]{10})"')
_REMOVED = re.compile(r"<!--.*?-->\s*|<!DOCTYPE[^>]*>\s*", re.DOTALL)


def png(page: Page) -> bytes:
    """The page as a PNG of 256 colours, or of fewer if it would exceed MAX_PICTURE_BYTES."""
    pixels = _pixels(page)
    for colors in _PNG_COLORS:
        data = _indexed(pixels, colors)
        if len(data) < MAX_PICTURE_BYTES:
            break
    return data


def jpeg(page: Page) -> bytes:
    """The page as a JPEG, coarser above MAX_PICTURE_BYTES; its colours are not halved."""
    picture = Image.fromarray(np.ascontiguousarray(_pixels(page)))
    for quality in _QUALITIES:
        buffer = io.BytesIO()
        picture.save(buffer, "JPEG", quality=quality, subsampling=0, optimize=True)
        if buffer.tell() < MAX_PICTURE_BYTES:
            break
    return buffer.getvalue()


def _pixels(page: Page) -> NDArray[np.uint8]:
    canvas = FigureCanvasAgg(page.figure)
    canvas.draw()  # type: ignore[no-untyped-call]
    return np.asarray(canvas.renderer.buffer_rgba())[:, :, :3]


def _indexed(pixels: NDArray[np.uint8], colors: int) -> bytes:
    """A PNG with a palette of the most frequent colours; the styles' own colours stay exact.

    Full colour would take three times the bytes without a visible difference. Colours are told
    apart by the upper five bits of each channel.
    """
    bins = (pixels >> 3).astype(np.uint16)
    names = (bins[:, :, 0] << 10) | (bins[:, :, 1] << 5) | bins[:, :, 2]
    counts = np.bincount(names.ravel(), minlength=1 << 15)
    exact = [(r >> 3) << 10 | (g >> 3) << 5 | b >> 3 for r, g, b in _STYLE_COLORS]
    counts[exact] += np.where(counts[exact] > 0, pixels.size, 0)
    used = np.flatnonzero(counts)
    chosen = used[np.argsort(-counts[used], kind="stable")][:colors]
    nearest = np.zeros(1 << 15, dtype=np.uint8)
    apart = np.abs(_channels(used)[:, None, :] - _channels(chosen)[None, :, :]).sum(axis=2)
    nearest[used] = apart.argmin(axis=1)
    # 31 of 31 is 255 of 255, and 0 is 0.
    palette = (_channels(chosen) << 3) | (_channels(chosen) >> 2)
    for name, color in zip(exact, _STYLE_COLORS, strict=True):
        palette[chosen == name] = color
    picture = Image.fromarray(nearest[names])
    picture.putpalette(palette.astype(np.uint8).tobytes())
    buffer = io.BytesIO()
    picture.save(buffer, "PNG", compress_level=_COMPRESSION)
    return buffer.getvalue()


def _channels(names: NDArray[np.intp]) -> NDArray[np.int16]:
    return np.stack([names >> 10, names >> 5 & 31, names & 31], axis=1).astype(np.int16)


def svg(page: Page) -> bytes:
    """The page as an SVG; letters are shapes, so viewers need no Japanese font."""
    buffer = io.StringIO()
    FigureCanvasSVG(page.figure).print_svg(  # type: ignore[no-untyped-call]
        buffer, metadata={"Date": None, "Creator": None, "Format": None, "Type": None}
    )
    # Comments repeat the texts, the doctype names a web page, and the ids of clips are random.
    text = _REMOVED.sub("", buffer.getvalue())
    for number, name in enumerate(dict.fromkeys(_ID.findall(text))):
        text = text.replace(name, f"shape{number}")
    width, height = page.size
    text = re.sub(r'width="[^"]*pt"', f'width="{width}"', text, count=1)
    text = re.sub(r'height="[^"]*pt"', f'height="{height}"', text, count=1)
    return text.encode()


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
        lines = tuple(replace(one, name=text(one.name)) for one in chart.series)
        names = tuple(map(text, chart.names))
        notes = tuple(replace(one, japanese=text(one.japanese)) for one in chart.notes)
        return replace(chart, title=title, notes=notes, series=lines, names=names), missing
    series = tuple(replace(one, name=text(one.name)) for one in chart.colored)
    return replace(chart, title=title, note=note, series=series), missing
