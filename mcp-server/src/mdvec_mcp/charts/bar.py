"""Amounts by category as level bars, the largest on top."""

from __future__ import annotations

from dataclasses import dataclass

from mdvec_mcp.charts import yen
from mdvec_mcp.charts.categories import Entry, joined, members_note
from mdvec_mcp.charts.chart import CategoryChart, ChartError
from mdvec_mcp.charts.framing import framed
from mdvec_mcp.charts.page import Box, Page
from mdvec_mcp.charts.styles import AXIS, FAINT_INK, INK, LOSS_INK

_LOWEST_ROW = 13.0
_NAMES_SHARE = 0.34
_VALUES_SHARE = 0.36


@dataclass(frozen=True, slots=True)
class _Scale:
    """Where an amount lies from left to right."""

    box: Box
    low: int
    high: int

    def __call__(self, value: int) -> float:
        share = (value - self.low) / (self.high - self.low)
        return self.box.left + self.box.width * share


@dataclass(frozen=True, slots=True)
class _Line:
    """Where a bar with its texts lies, and how high its letters are."""

    middle: float
    height: float
    letters: float


def draw_bars(page: Page, chart: CategoryChart) -> None:
    """Draw every amount, the negative ones to the left of zero."""
    if not any(value for _, value in chart.items):
        raise ChartError("棒グラフにできる金額がありません（すべて0円です）。")
    style = page.style
    rows = int((page.size[1] - 2 * style.title - 5 * style.gap - style.small) / _LOWEST_ROW)
    entries = joined(chart.items, max(rows - 1, 2))
    around = framed(page, chart.title, [members_note(entries), chart.note])
    foot = 1.6 * style.small
    row = min((around.height - foot) / len(entries), 4.5 * style.font)
    top = around.top + (around.height - foot - row * len(entries)) / 2
    letters = min(style.font, row * 0.86)
    names = min(
        max(page.typeface.width(entry.name, letters) for entry in entries),
        around.width * _NAMES_SHARE,
    )
    labels = [yen.amount(entry.value) for entry in entries]
    if max(page.typeface.width(label, letters) for label in labels) > around.width * _VALUES_SHARE:
        labels = [yen.short(entry.value) for entry in entries]
    values = max(page.typeface.width(label, letters) for label in labels) + 0.8 * letters
    box = Box(
        around.left + names + 0.6 * letters,
        top,
        around.right - values,
        top + row * len(entries),
    )
    amounts = [entry.value for entry in entries]
    scale = _Scale(box, min(0, *amounts), max(0, *amounts))
    _grid(page, scale)
    for number, (entry, label) in enumerate(zip(entries, labels, strict=True)):
        _bar(page, entry, label, scale, _Line(box.top + (number + 0.5) * row, row, letters))


def _grid(page: Page, scale: _Scale) -> None:
    box, pixels = scale.box, page.style.small
    most = max(min(int(box.width / (6 * pixels)), 6), 1)
    ticks = yen.steps(scale.low, scale.high, most)
    free = 0.0
    for value in ticks:
        if not scale.low <= value <= scale.high:
            continue
        x, text = scale(value), yen.tick(value, ticks.step)
        page.guide((x, box.top), (x, box.bottom))
        half = page.typeface.width(text, pixels) / 2
        if x - half >= free:
            page.text(x, box.bottom + 0.9 * pixels, text, pixels, align="center", ink=FAINT_INK)
            free = x + half + pixels / 2


def _bar(page: Page, entry: Entry, label: str, scale: _Scale, line: _Line) -> None:
    zero, end = scale(0), scale(entry.value)
    middle, letters, half = line.middle, line.letters, line.height * 0.35
    page.rectangle(Box(min(zero, end), middle - half, max(zero, end), middle + half), entry.color)
    page.guide((zero, middle - line.height / 2), (zero, middle + line.height / 2), AXIS)
    name_end = scale.box.left - 0.6 * letters
    page.text(name_end, middle, entry.name, letters, align="right", width=name_end - page.style.gap)
    ink = LOSS_INK if entry.value < 0 else INK
    page.text(max(zero, end) + 0.4 * letters, middle, label, letters, ink=ink)
