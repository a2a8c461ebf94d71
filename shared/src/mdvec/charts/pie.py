"""Amounts by category as a pie with a legend.

The slices show the amounts above zero. The legend lists every amount, those below zero included,
with its share of the total, and so agrees with the answer's text.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import cos, pi, sin

from mdvec.charts import framing
from mdvec.charts.categories import CategoryEntry, colored, entries_of, members_note, merge_small
from mdvec.charts.chart import CategoryChart, ChartError
from mdvec.charts.colors import PALETTE
from mdvec.charts.framing import draw_frame, undrawn_note
from mdvec.charts.page import Box, Page
from mdvec.charts.styles import ink_on

_MAX_SLICES = 8  # more only if その他 were large
_MIN_SLICES = 2
_MIN_SLICE_ONE_IN = 50  # a slice under one fiftieth cannot be seen
_MAX_ENTRIES_SHARE = 0.62  # of the picture's height; of a wide one, whose circle is beside them:
_MAX_ENTRIES_SHARE_WIDE = 0.78
_EXTRA_ENTRIES = 2  # the legend's lines for その他 and 合計

# The legend, in multiples of the font size.
_ROW_EM, _SWATCH_EM, _NAME_GAP_EM, _COLUMN_GAP_EM = 1.5, 0.9, 0.5, 0.8
_WIDTH_EM = 3.1  # all but the texts
_MIN_NAME_EM = 4
_MAX_LEGEND_SHARE = 0.6  # of the width

# A percentage in its slice: how far out, and how much of the radius it may cover.
_PERCENTAGE_AT, _MAX_PERCENTAGE_SHARE = 0.68, 0.6
_LETTER_HEIGHT_EM = 1.2


def draw_pie(page: Page, chart: CategoryChart) -> None:
    """Draw the amounts above zero as slices, and list all amounts in the legend.

    Raises:
        ChartError: no amount is above zero, or their total is not.
    """
    items = [entry for entry in entries_of(chart) if entry.value > 0]
    if not items:
        raise ChartError("円グラフにできる支出がありません（0円より大きい項目がありません）。")
    negative = [item for item in chart.items if item[1] < 0]
    refunds = _negative_entry(negative)
    drawn = sum(entry.value for entry in items)
    total = drawn + sum(entry.value for entry in refunds)
    if total <= 0:
        raise ChartError("円グラフにできる支出がありません（合計が0円以下です）。")
    room = min(_room(page) - len(refunds) - _EXTRA_ENTRIES, len(PALETTE))
    max_slices = max(min(_MAX_SLICES, room), _MIN_SLICES)
    slices = merge_small(items, max_slices, -(-drawn // _MIN_SLICE_ONE_IN), room)
    slices = colored(slices, chart.among)
    zeros = len(chart.items) - len(items) - len(negative)
    notes = [
        members_note(slices),
        members_note(refunds),
        undrawn_note(len(items), len(negative), zeros),
        chart.note,
    ]
    entries = slices + refunds
    frame = draw_frame(page, chart.title, notes)
    circle, legend = _places(page, frame, entries, total)
    _draw_slices(page, circle, slices, total)
    _draw_legend(page, legend, entries, total)


def _negative_entry(items: Sequence[tuple[str, int]]) -> list[CategoryEntry]:
    """The legend's line for the amounts below zero, if there are any; they are refunds."""
    if len(items) < 2:
        return [CategoryEntry(name, value) for name, value in items]
    names = tuple(name for name, _ in items)
    return [
        CategoryEntry(
            f"マイナスの{len(items)}項目", sum(value for _, value in items), members=names
        )
    ]


def _room(page: Page) -> int:
    """How many lines a legend may have."""
    width, height = page.size
    share = _MAX_ENTRIES_SHARE_WIDE if width > height else _MAX_ENTRIES_SHARE
    return int(height * share / _row_height(page))


def _row_height(page: Page) -> float:
    return page.style.font * _ROW_EM


def _places(page: Page, frame: Box, entries: list[CategoryEntry], total: int) -> tuple[Box, Box]:
    """The boxes of circle and legend: side by side on a wide page, stacked on a tall one."""
    width = sum(_column_widths(page, entries, total)) + _WIDTH_EM * page.style.font
    if frame.width >= frame.height:
        return _side_by_side(frame, page.style.gap, width)
    return _stacked(frame, 2 * page.style.gap, width, (len(entries) + 1) * _row_height(page))


def _side_by_side(frame: Box, gap: float, legend_width: float) -> tuple[Box, Box]:
    """Spare room is split equally before, between and after them."""
    circle = min(
        frame.height, frame.width - min(legend_width, frame.width * _MAX_LEGEND_SHARE) - gap
    )
    spare = max(frame.width - circle - gap - legend_width, 0) / 3
    left, right = frame.left + spare, frame.left + spare + circle
    return (
        Box(left, frame.top, right, frame.bottom),
        Box(right + spare + gap, frame.top, frame.right, frame.bottom),
    )


def _stacked(frame: Box, gap: float, legend_width: float, legend_height: float) -> tuple[Box, Box]:
    """Both in the middle of the page, the circle above."""
    circle = min(frame.width, frame.height - legend_height - gap)
    top = frame.top + (frame.height - circle - legend_height - gap) / 2
    left = frame.left + max(frame.width - legend_width, 0) / 2
    bottom = top + circle
    return (
        Box(frame.left, top, frame.right, bottom),
        Box(left, bottom + gap, frame.right, bottom + gap + legend_height),
    )


def _column_widths(
    page: Page, entries: list[CategoryEntry], total: int
) -> tuple[float, float, float]:
    """The widths that names, amounts and percentages need."""
    width, pixels = page.typeface.width, page.style.font
    return (
        max(width(name, pixels) for name in ("合計", *(entry.name for entry in entries))),
        max(width(framing.amount(value), pixels) for value in (total, *(e.value for e in entries))),
        max(width(framing.share(entry.value, total), pixels) for entry in entries),
    )


def _draw_slices(page: Page, box: Box, entries: list[CategoryEntry], total: int) -> None:
    """Draw the slices, with percentages unless refunds make the total less than the circle."""
    drawn = sum(entry.value for entry in entries)
    radius = min(box.width, box.height) / 2
    center = (box.left + box.right) / 2, (box.top + box.bottom) / 2
    before = 0
    for entry in entries:
        turns = before / drawn, (before + entry.value) / drawn
        page.wedge(center, radius, turns, entry.color)
        before += entry.value
    before = 0
    for entry in entries if drawn == total else ():
        turn = (2 * before + entry.value) / (2 * drawn)
        _draw_percentage(page, center, radius, turn, entry, drawn)
        before += entry.value


def _draw_percentage(
    page: Page,
    center: tuple[float, float],
    radius: float,
    turn: float,
    entry: CategoryEntry,
    drawn: int,
) -> None:
    """Write a percentage into its slice if it fits there, both along the rim and across."""
    font, text = page.style.font, framing.share(entry.value, drawn)
    width, height = page.typeface.width(text, font), font * _LETTER_HEIGHT_EM
    x, y = sin(2 * pi * turn), cos(2 * pi * turn)
    distance = radius * _PERCENTAGE_AT
    along = abs(y) * width + abs(x) * height
    across = abs(x) * width + abs(y) * height
    if (
        along <= 2 * pi * distance * entry.value / drawn
        and across <= radius * _MAX_PERCENTAGE_SHARE
    ):
        position = center[0] + distance * x, center[1] - distance * y
        page.text(*position, text, font, align="center", ink=ink_on(entry.color))


def _draw_legend(page: Page, box: Box, entries: list[CategoryEntry], total: int) -> None:
    """Write a line for each entry: swatch, name, amount if there is room for it, percentage."""
    font, row = page.style.font, _row_height(page)
    swatch, gap = font * _SWATCH_EM, font * _COLUMN_GAP_EM
    left = box.left + swatch + font * _NAME_GAP_EM
    names, amounts, shares = _column_widths(page, entries, total)
    right = min(box.right, left + names + amounts + shares + 2 * gap)
    if box.right - left - shares - amounts - 2 * gap < min(names, _MIN_NAME_EM * font):
        amounts = 0.0
    rows = len(entries) + 1
    top = box.top + max(box.height - rows * row, 0) / 2
    names_end = right - shares - (amounts + gap if amounts else 0) - gap
    for number, entry in enumerate([*entries, CategoryEntry("合計", total)]):
        middle = top + (number + 0.5) * row
        if entry.color:
            page.rectangle(
                Box(box.left, middle - swatch / 2, box.left + swatch, middle + swatch / 2),
                entry.color,
            )
        page.text(left, middle, entry.name, font, width=names_end - left)
        if amounts:
            amount = framing.amount(entry.value)
            page.text(right - shares - gap, middle, amount, font, align="right")
        if number < len(entries):
            page.text(right, middle, framing.share(entry.value, total), font, align="right")
        elif not amounts:
            page.text(right, middle, _total_text(page, total, right - left), font, align="right")


def _total_text(page: Page, total: int, width: float) -> str:
    """The total in full if it fits beside 合計, else shortened."""
    font = page.style.font
    full = framing.amount(total)
    fits = page.typeface.width(full, font) + page.typeface.width("合計 ", font) <= width
    return full if fits else framing.short(total)
