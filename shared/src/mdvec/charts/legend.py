"""The legend above a chart, and the lines that it explains."""

from __future__ import annotations

from collections.abc import Sequence

from mdvec.charts.colors import FIRST, PALETTE
from mdvec.charts.page import Box, Page, Points
from mdvec.charts.styles import FAINT_INK, darker

_SWATCH_EM, _ROW_EM, _GAP_EM, _NAME_GAP_EM = 1.6, 1.5, 1.2, 0.5  # multiples of the font size
_MAX_SHARE = 0.22  # of the height
_DASHES = (12, 5)
_RIM = 1.6  # pixels that the dark rim adds to a line's width


def draw_legend(page: Page, box: Box, keys: Sequence[tuple[str, str]]) -> float:
    """Name the series, given as names and colours, line by line; return where the legend ends."""
    font = page.style.font
    gap, swatch, row, name_gap = (
        font * ems for ems in (_GAP_EM, _SWATCH_EM, _ROW_EM, _NAME_GAP_EM)
    )
    max_lines = max(int(box.height * _MAX_SHARE / row), 1)
    x, line = box.left, 0
    for number, (name, color) in enumerate(keys):
        name_width = min(page.typeface.width(name, font) + 1, box.width - swatch - name_gap)
        more = f"ほか{len(keys) - number}系列"
        needs_room_for_more = line + 1 >= max_lines and number + 1 < len(keys)
        reserve = gap + page.typeface.width(more, font) if needs_room_for_more else 0.0
        if x > box.left and x + swatch + name_gap + name_width + reserve > box.right:
            if line + 1 >= max_lines:
                page.text(x, box.top + (line + 0.5) * row, more, font, ink=FAINT_INK)
                break
            x, line = box.left, line + 1
        middle = box.top + (line + 0.5) * row
        draw_line(page, [(x, middle), (x + swatch, middle)], color, page.style.line)
        x += swatch + name_gap
        x += page.text(x, middle, name, font, width=name_width) + gap
    return box.top + (line + 1) * row


def draw_line(page: Page, points: Points, color: str, width: float) -> None:
    """Draw a line with a dark rim; colours that come close to another one are dashed."""
    dashes = _DASHES if color in PALETTE[FIRST:] else ()
    page.line(points, darker(color), width + _RIM, dashes)
    page.line(points, color, width, dashes)
