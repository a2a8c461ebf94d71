"""The frame of every chart: a title above, notes below."""

from __future__ import annotations

from collections.abc import Sequence

from mdvec.charts.page import Box, Page
from mdvec.charts.styles import FAINT_INK

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
