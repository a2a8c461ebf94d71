"""Draws amounts as a ring, with a legend.

The slices show the amounts above zero. The legend lists every amount, including those below zero,
with its share of the total, as the text of the answer does.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import cos, pi, sin

from matplotlib.patches import Rectangle

from mdvec.charts import units
from mdvec.charts.canvas import Box, Canvas
from mdvec.charts.chart import (
    CategoryChart,
    ChartError,
    Entry,
    colored,
    entries_of,
    members_note,
    merge_small,
)
from mdvec.charts.colors import PALETTE
from mdvec.charts.style import PAPER, ink_on

_MAX_SLICES, _MIN_SLICES = 8, 2  # more slices only if その他 would be large
_MIN_SLICE_ONE_IN = 50  # a slice under one fiftieth can hardly be seen
_MAX_ENTRIES_SHARE = 0.62  # the legend's share of a tall picture's height, below the circle
_ROW_EM, _SWATCH_EM, _NAME_GAP_EM, _COLUMN_GAP_EM = 1.6, 0.8, 0.5, 0.9
_WIDTH_EM = _SWATCH_EM + _NAME_GAP_EM + 2 * _COLUMN_GAP_EM  # all but the texts
_MIN_NAME_EM, _MAX_LEGEND_SHARE = 4, 0.6
_RING = 0.56  # the ring's width as a fraction of the radius
_LETTER_HEIGHT_EM = 1.2


def draw_pie(canvas: Canvas, chart: CategoryChart) -> None:
    """Draw the amounts above zero as slices, and list all amounts in the legend.

    Raises:
        ChartError: no amount is above zero, or the total is not.
    """
    items = [entry for entry in entries_of(chart) if entry.value > 0]
    if not items:
        raise ChartError("円グラフにできる支出がありません（0円より大きい項目がありません）。")
    refunds = _refunds([item for item in chart.items if item[1] < 0])
    drawn = sum(entry.value for entry in items)
    total = drawn + sum(entry.value for entry in refunds)
    if total <= 0:
        raise ChartError("円グラフにできる支出がありません（合計が0円以下です）。")
    lines = int(_legend_height(canvas) / (canvas.measures.font * _ROW_EM))
    room = min(lines - len(refunds) - 2, len(PALETTE))  # lines for その他 and 合計
    most = max(min(_MAX_SLICES, room), _MIN_SLICES)
    slices = colored(merge_small(items, most, -(-drawn // _MIN_SLICE_ONE_IN), room), chart.among)
    notes = [members_note(slices), members_note(refunds), _undrawn(chart, len(items)), chart.note]
    frame = canvas.frame(chart.title, [note for note in notes if note])
    columns = _column_widths(canvas, slices + refunds, total)
    circle, legend = _places(canvas, frame, sum(columns), len(slices + refunds) + 1)
    _draw_slices(canvas, circle, slices, total)
    _draw_legend(canvas, legend, slices + refunds, total)


def _legend_height(canvas: Canvas) -> float:
    """The height for a legend beside the circle: all but the title and two lines of notes."""
    (width, height), measures = canvas.size, canvas.measures
    if width <= height:
        return height * _MAX_ENTRIES_SHARE
    return height - 2 * measures.title - 4 * measures.gap - 2.8 * measures.small


def _refunds(items: Sequence[tuple[str, int]]) -> list[Entry]:
    """The legend's entry for the amounts below zero, which are added up; empty without any."""
    if len(items) < 2:
        return [Entry(name, value) for name, value in items]
    names = tuple(name for name, _ in items)
    return [Entry(f"マイナスの{len(items)}項目", sum(v for _, v in items), members=names)]


def _undrawn(chart: CategoryChart, slices: int) -> str:
    """A note on amounts without a slice, as they are zero or below; "" if all have slices."""
    if slices == len(chart.items):
        return ""
    has_negative = any(value < 0 for _, value in chart.items)
    included = "（合計と割合には含みます）" if has_negative else ""
    without = len(chart.items) - slices
    return f"0円以下の{without}項目には扇形がありません{included}。扇形は{slices}項目です"


def _column_widths(canvas: Canvas, entries: list[Entry], total: int) -> tuple[float, float, float]:
    """The widths that names, amounts and percentages need."""
    pixels = canvas.measures.font
    return (
        canvas.widest(["合計", *(entry.name for entry in entries)], pixels),
        canvas.widest([units.amount(v) for v in (total, *(e.value for e in entries))], pixels),
        canvas.widest([units.share(entry.value, total) for entry in entries], pixels),
    )


def _places(canvas: Canvas, frame: Box, texts: float, rows: int) -> tuple[Box, Box]:
    """The boxes of circle and legend: side by side on a wide page, stacked on a tall one."""
    font, gap = canvas.measures.font, 2 * canvas.measures.gap
    width, height = texts + _WIDTH_EM * font, rows * _ROW_EM * font
    if frame.width < frame.height:
        circle = min(frame.width, frame.height - height - gap)
        top = frame.top + (frame.height - circle - height - gap) / 2
        left = frame.left + max(frame.width - width, 0) / 2
        below = top + circle + gap
        return (
            Box(frame.left, top, frame.right, top + circle),
            Box(left, below, frame.right, below + height),
        )
    circle = min(frame.height, frame.width - min(width, frame.width * _MAX_LEGEND_SHARE) - gap)
    spare = max(frame.width - circle - gap - width, 0) / 3
    left, right = frame.left + spare, frame.left + spare + circle
    return (
        Box(left, frame.top, right, frame.bottom),
        Box(right + spare + gap, frame.top, frame.right, frame.bottom),
    )


def _draw_slices(canvas: Canvas, box: Box, entries: list[Entry], total: int) -> None:
    """Draw the slices, with percentages unless refunds make the total less than the circle."""
    drawn, font = sum(entry.value for entry in entries), canvas.measures.font
    radius = min(box.width, box.height) / 2
    middle = (box.left + box.right) / 2, (box.top + box.bottom) / 2
    axes = canvas.axes(Box(middle[0] - radius, middle[1] - radius,
                          middle[0] + radius, middle[1] + radius))  # fmt: skip
    edge = PAPER if len(entries) > 1 else "none"
    axes.pie(
        [float(entry.value) for entry in entries], colors=[entry.color for entry in entries],
        startangle=90, counterclock=False,
        wedgeprops={"width": _RING, "edgecolor": edge, "linewidth": 1.2},
    )  # fmt: skip
    axes.set_xlim(-1, 1)
    axes.set_ylim(-1, 1)
    before, distance = 0, 1 - _RING / 2
    for entry in entries if drawn == total else ():
        turn = 2 * pi * (2 * before + entry.value) / (2 * drawn)
        before += entry.value
        text, x, y = units.share(entry.value, drawn), sin(turn), cos(turn)
        width, height = canvas.letters.width(text, font), font * _LETTER_HEIGHT_EM
        along, across = abs(y) * width + abs(x) * height, abs(x) * width + abs(y) * height
        # The percentage is written into its slice if it fits along the rim and across.
        if (
            along <= 2 * pi * distance * radius * entry.value / drawn
            and across <= radius * _RING * 0.94
        ):
            axes.text(x * distance, y * distance, text, horizontalalignment="center",
                      verticalalignment="center_baseline",
                      **canvas.font(font, ink_on(entry.color)))  # fmt: skip


def _draw_legend(canvas: Canvas, box: Box, entries: list[Entry], total: int) -> None:
    """Write a line for each entry: swatch, name, amount if there is room for it, percentage."""
    font, (width, height) = canvas.measures.font, canvas.size
    row, swatch, gap = font * _ROW_EM, font * _SWATCH_EM, font * _COLUMN_GAP_EM
    left = box.left + swatch + font * _NAME_GAP_EM
    names, amounts, shares = _column_widths(canvas, entries, total)
    right = min(box.right, left + names + amounts + shares + 2 * gap)
    if box.right - left - shares - amounts - 2 * gap < min(names, _MIN_NAME_EM * font):
        amounts = 0.0
    top = box.top + max(box.height - (len(entries) + 1) * row, 0) / 2
    names_end = right - shares - (amounts + gap if amounts else 0) - gap
    for number, entry in enumerate([*entries, Entry("合計", total)]):
        middle = top + (number + 0.5) * row
        if entry.color:
            corner = box.left / width, 1 - (middle + swatch / 2) / height
            canvas.figure.add_artist(
                Rectangle(corner, swatch / width, swatch / height, color=entry.color, linewidth=0)
            )
        canvas.write(left, middle, entry.name, font, width=names_end - left)
        if amounts:
            canvas.write(
                right - shares - gap, middle, units.amount(entry.value), font, align="right"
            )
        if number < len(entries):
            canvas.write(right, middle, units.share(entry.value, total), font, align="right")
        elif not amounts:
            fits = canvas.widest([f"合計 {units.amount(total)}"], font) <= right - left
            text = units.amount(total) if fits else units.short(total)
            canvas.write(right, middle, text, font, align="right")
