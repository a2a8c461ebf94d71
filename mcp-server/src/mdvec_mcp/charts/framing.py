"""What every chart has around it: a title above, notes below."""

from __future__ import annotations

from collections.abc import Sequence

from mdvec_mcp.charts.page import Box, Page
from mdvec_mcp.charts.styles import FAINT_INK

_TWO_LINES_FROM = 350


def framed(page: Page, title: str, notes: Sequence[str]) -> Box:
    """Write title and notes; return the room that is left between them."""
    style = page.style
    width, height = page.size
    margin = style.gap
    room = width - 2 * margin
    pixels = style.title
    while pixels > style.font and page.typeface.width(title, pixels) > room:
        pixels -= 1
    page.text(width / 2, margin + style.title / 2, title, pixels, align="center", width=room)
    bottom = height - margin
    lines = 2 if height > _TWO_LINES_FROM else 1
    written = [
        line for note in notes for line in page.typeface.wrap(note, style.small, room, lines)
    ]
    for line in reversed(written):
        page.text(margin, bottom - style.small / 2, line, style.small, ink=FAINT_INK)
        bottom -= style.small * 1.35
    return Box(margin, margin + style.title * 1.15 + margin, width - margin, bottom)


def sliceless_note(used: int, below: int, zero: int) -> str:
    """The sentence on amounts that have no slice in a pie: those below zero, and those of zero."""
    if not below + zero:
        return ""
    named = "（合計と割合には含みます）" if below else ""
    return f"0円以下の{below + zero}項目には扇形がありません{named}。扇形は{used}項目です"
