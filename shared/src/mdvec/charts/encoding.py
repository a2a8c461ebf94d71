"""Encodes a page as PNG, JPEG or SVG; equal pages give equal bytes."""

from __future__ import annotations

import io
import re

import numpy as np
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.backends.backend_svg import FigureCanvasSVG
from numpy.typing import NDArray
from PIL import Image

from mdvec.charts.colors import PALETTE
from mdvec.charts.page import Page
from mdvec.charts.styles import BACKGROUND, EMPTY_BAND, INK, OTHERS_COLOR

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
