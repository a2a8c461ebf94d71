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


_UNITS = ((10**12, "兆"), (10**8, "億"), (10**4, "万"))


def amount(value: int) -> str:
    """An amount in full: ``12,345円``."""
    return f"{value:,}円"


def short(value: int) -> str:
    """An amount in its largest unit, with one decimal, rounded half up: ``1.2万円``."""
    for size, unit in _UNITS:
        if abs(value) >= size:
            tenths = (abs(value) * 20 + size) // (size * 2)
            return f"{'-' if value < 0 else ''}{tenths // 10:,}.{tenths % 10}{unit}円"
    return amount(value)


def share(part: int, whole: int) -> str:
    """A part in percent with one decimal, rounded half away from zero; ``whole`` is above 0."""
    return percentage((-1 if part < 0 else 1) * ((abs(part) * 2000 + whole) // (whole * 2)))


def percentage(tenths: int) -> str:
    """Tenths of a per cent as text: 125 is ``12.5%``."""
    return f"{'-' if tenths < 0 else ''}{abs(tenths) // 10}.{abs(tenths) % 10}%"


def steps(low: int, high: int, max_steps: int) -> range:
    """Round axis values that cover ``low`` to ``high`` in about ``max_steps`` steps or fewer."""
    high = max(high, low + 1)
    span = high - low
    step = 1
    while span > step * max_steps:
        # 1, 2, 5, 10, 20, 50, …
        step = step * 5 // 2 if str(step)[0] == "2" else step * 2
    return range(low // step * step, -(-high // step) * step + 1, step)


def tick(value: int, step: int) -> str:
    """An axis value, in 万, 億 or 兆 if the step is a multiple of that."""
    for size, unit in _UNITS:
        if step % size == 0 and value:
            return f"{value // size:,}{unit}円"
    return amount(value)
