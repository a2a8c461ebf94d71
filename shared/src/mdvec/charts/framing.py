"""A chart's title, notes and legend, the note on undrawn amounts, and lines with a dark rim."""

from __future__ import annotations

from collections.abc import Sequence

from mdvec.charts.colors import FIRST, PALETTE
from mdvec.charts.page import Box, Page, Points
from mdvec.charts.styles import FAINT_INK, darker

_MIN_HEIGHT_FOR_TWO_LINES = 350  # pixels of a picture whose notes may have two lines each
_NOTE_LINE_EM = 1.35  # multiples of the small letters' size
_TITLE_EM = 1.15  # multiples of the title's size


def draw_frame(page: Page, title: str, notes: Sequence[str]) -> Box:
    """Write the title and the notes; return the box between them."""
    style = page.style
    width, height = page.size
    margin = style.gap
    room = width - 2 * margin
    pixels = style.title
    while pixels > style.font and page.typeface.width(title, pixels) > room:
        pixels -= 1
    page.text(width / 2, margin + style.title / 2, title, pixels, align="center", width=room)
    bottom = height - margin
    max_lines = 2 if height > _MIN_HEIGHT_FOR_TWO_LINES else 1
    written = [
        line for note in notes for line in page.typeface.wrap(note, style.small, room, max_lines)
    ]
    for line in reversed(written):
        page.text(margin, bottom - style.small / 2, line, style.small, ink=FAINT_INK)
        bottom -= style.small * _NOTE_LINE_EM
    return Box(margin, margin + style.title * _TITLE_EM + margin, width - margin, bottom)


def undrawn_note(slices: int, negative: int, zero: int) -> str:
    """The note on amounts without a slice in a pie: those below zero, and those of zero."""
    if not negative + zero:
        return ""
    included = "（合計と割合には含みます）" if negative else ""
    return f"0円以下の{negative + zero}項目には扇形がありません{included}。扇形は{slices}項目です"


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
