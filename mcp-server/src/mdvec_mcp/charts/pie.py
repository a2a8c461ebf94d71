"""Amounts by category as a pie with its legend.

The legend says what the answer in words does: every amount, also those below zero, which have no
slice, and of each its share of them all. Slices are as large as the amounts above zero.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import cos, pi, sin

from mdvec_mcp.charts import yen
from mdvec_mcp.charts.categories import Entry, joined, members_note
from mdvec_mcp.charts.chart import CategoryChart, ChartError
from mdvec_mcp.charts.framing import framed, sliceless_note
from mdvec_mcp.charts.page import Box, Page

_MOST_SLICES = 8  # one colour each
_SMALLEST_SHARE = 50  # a slice under one fiftieth cannot be seen


def draw_pie(page: Page, chart: CategoryChart) -> None:
    """Draw the positive amounts as slices, and say all of them in the legend."""
    items = tuple(item for item in chart.items if item[1] > 0)
    if not items:
        raise ChartError("円グラフにできる支出がありません（0円より大きい項目がありません）。")
    below = _below_zero([item for item in chart.items if item[1] < 0])
    drawn = sum(value for _, value in items)
    total = drawn + sum(entry.value for entry in below)
    if total <= 0:
        raise ChartError("円グラフにできる支出がありません（合計が0円以下です）。")
    fits = int(page.size[1] * 0.62 / _row(page)) - len(below)
    slices = joined(items, max(min(_MOST_SLICES, fits - 2), 2), -(-drawn // _SMALLEST_SHARE))
    negative = sum(value < 0 for _, value in chart.items)
    notes = [
        members_note(slices),
        members_note(below),
        sliceless_note(len(items), negative, len(chart.items) - len(items) - negative),
        chart.note,
    ]
    entries = slices + below
    around = framed(page, chart.title, notes)
    circle, legend = _places(page, around, entries, total)
    _slices(page, circle, slices, total)
    _legend(page, legend, entries, total)


def _below_zero(items: Sequence[tuple[str, int]]) -> list[Entry]:
    """A line of the legend for refunds that are more than what was spent."""
    if len(items) < 2:
        return [Entry(name, value, "") for name, value in items]
    names = tuple(name for name, _ in items)
    return [Entry(f"マイナスの{len(items)}項目", sum(value for _, value in items), "", names)]


def _row(page: Page) -> float:
    return page.style.font * 1.5


def _places(page: Page, around: Box, entries: list[Entry], total: int) -> tuple[Box, Box]:
    """Side by side on a wide page, one above the other on a tall one."""
    gap = page.style.gap
    wanted = sum(_columns(page, entries, total)) + 3.1 * page.style.font
    if around.width >= around.height:
        left = min(around.height, around.width - min(wanted, around.width * 0.6) - gap)
        spare = max(around.width - left - gap - wanted, 0)
        middle = around.left + spare / 3 + left
        return (
            Box(around.left + spare / 3, around.top, middle, around.bottom),
            Box(middle + spare / 3 + gap, around.top, around.right, around.bottom),
        )
    rows = (len(entries) + 1) * _row(page)
    high = min(around.width, around.height - rows - 2 * gap)
    top = around.top + (around.height - high - rows - 2 * gap) / 2
    side = max(around.width - wanted, 0) / 2
    return (
        Box(around.left, top, around.right, top + high),
        Box(around.left + side, top + high + 2 * gap, around.right, top + high + 2 * gap + rows),
    )


def _columns(page: Page, entries: list[Entry], total: int) -> tuple[float, float, float]:
    """The widths that names, amounts and percentages want."""
    width, pixels = page.typeface.width, page.style.font
    return (
        max(width(name, pixels) for name in ("合計", *(entry.name for entry in entries))),
        max(width(yen.amount(value), pixels) for value in (total, *(e.value for e in entries))),
        max(width(yen.share(entry.value, total), pixels) for entry in entries),
    )


def _slices(page: Page, box: Box, entries: list[Entry], total: int) -> None:
    """All slices are the whole circle; where they are more than the total, none is labelled."""
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
        _percentage(page, center, radius, turn, entry.value / drawn, yen.share(entry.value, total))
        before += entry.value


def _percentage(
    page: Page, center: tuple[float, float], radius: float, turn: float, share: float, text: str
) -> None:
    """Write a percentage into its slice if it has the room, along the rim and towards it."""
    pixels = page.style.font
    wide, high = page.typeface.width(text, pixels), pixels * 1.2
    across, upright = sin(2 * pi * turn), cos(2 * pi * turn)
    reach = radius * 0.68
    along = abs(upright) * wide + abs(across) * high
    outward = abs(across) * wide + abs(upright) * high
    if along <= 2 * pi * reach * share and outward <= radius * 0.6:
        page.text(center[0] + reach * across, center[1] - reach * upright, text, pixels,
                  align="center")  # fmt: skip


def _legend(page: Page, box: Box, entries: list[Entry], total: int) -> None:
    """Swatch, name, amount and percentage; the amount goes where there is no room for it."""
    pixels, row = page.style.font, _row(page)
    swatch = pixels * 0.9
    names, amounts, shares = _columns(page, entries, total)
    room = box.width - swatch - pixels / 2
    right = min(box.right, box.left + swatch + pixels / 2 + names + amounts + shares + 1.6 * pixels)
    if room - shares - amounts - 1.6 * pixels < min(names, 4 * pixels):
        amounts = 0.0
    rows = len(entries) + 1
    top = box.top + max(box.height - rows * row, 0) / 2
    column = right - shares - (amounts + 0.8 * pixels if amounts else 0) - 0.8 * pixels
    for number, entry in enumerate([*entries, Entry("合計", total, "")]):
        middle = top + (number + 0.5) * row
        if entry.color:
            page.rectangle(
                Box(box.left, middle - swatch / 2, box.left + swatch, middle + swatch / 2),
                entry.color,
            )
        left = box.left + swatch + pixels / 2
        page.text(left, middle, entry.name, pixels, width=column - left)
        if amounts:
            page.text(right - shares - 0.8 * pixels, middle, yen.amount(entry.value), pixels,
                      align="right")  # fmt: skip
        if number < len(entries):
            page.text(right, middle, yen.share(entry.value, total), pixels, align="right")
        elif not amounts:
            page.text(right, middle, _sum(page, total, right - left), pixels, align="right")


def _sum(page: Page, total: int, room: float) -> str:
    """The total beside its word, in full if there is room."""
    pixels = page.style.font
    full = yen.amount(total)
    fits = page.typeface.width(full, pixels) + page.typeface.width("合計 ", pixels) <= room
    return full if fits else yen.short(total)
