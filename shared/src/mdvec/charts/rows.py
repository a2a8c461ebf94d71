"""Draws amounts and names below each other: a ring with its legend, bars, and a heat map's cells.

The ring's slices show the amounts above zero; its legend lists every amount, including those below
zero, with its share of the total, and so agrees with the answer's text.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import cos, pi, sin
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import LinearSegmentedColormap, to_hex
from matplotlib.patches import Rectangle

from mdvec.charts import units
from mdvec.charts.chart import (
    OTHERS_COLOR,
    PALETTE,
    CategoryChart,
    ChartError,
    Entry,
    colored,
    entries_of,
    members_note,
    merge_small,
)
from mdvec.charts.plane import name_labels
from mdvec.charts.plot import Plot, Series, Unit
from mdvec.charts.sheet import LABEL_GAP_EM, Box, Sheet
from mdvec.charts.style import (
    AXIS,
    COLD,
    HEAT,
    INK,
    LOSS_INK,
    PAPER,
    ink_on,
    points,
    series_color,
)

_MAX_SLICES, _MIN_SLICES = 8, 2  # more only if その他 were large
_MIN_SLICE_ONE_IN = 50  # a slice under one fiftieth cannot be seen
_MAX_ENTRIES_SHARE = 0.62  # the legend's share of a tall picture's height, below the circle
_ROW_EM, _SWATCH_EM, _NAME_GAP_EM, _COLUMN_GAP_EM = 1.6, 0.8, 0.5, 0.9
_WIDTH_EM = _SWATCH_EM + _NAME_GAP_EM + 2 * _COLUMN_GAP_EM  # all but the texts
_MIN_NAME_EM, _MAX_LEGEND_SHARE = 4, 0.6
_RING = 0.56  # of the radius
_LETTER_HEIGHT_EM = 1.2


def draw_pie(sheet: Sheet, chart: CategoryChart) -> None:
    """Draw the amounts above zero as slices, and list all amounts in the legend.

    Raises:
        ChartError: no amount is above zero, or their total is not.
    """
    items = [entry for entry in entries_of(chart) if entry.value > 0]
    if not items:
        raise ChartError("円グラフにできる支出がありません（0円より大きい項目がありません）。")
    refunds = _refunds([item for item in chart.items if item[1] < 0])
    drawn = sum(entry.value for entry in items)
    total = drawn + sum(entry.value for entry in refunds)
    if total <= 0:
        raise ChartError("円グラフにできる支出がありません（合計が0円以下です）。")
    lines = int(_legend_height(sheet) / (sheet.measures.font * _ROW_EM))
    room = min(lines - len(refunds) - 2, len(PALETTE))  # lines for その他 and 合計
    most = max(min(_MAX_SLICES, room), _MIN_SLICES)
    slices = colored(merge_small(items, most, -(-drawn // _MIN_SLICE_ONE_IN), room), chart.among)
    notes = [members_note(slices), members_note(refunds), _undrawn(chart, len(items)), chart.note]
    frame = sheet.frame(chart.title, [note for note in notes if note])
    columns = _column_widths(sheet, slices + refunds, total)
    circle, legend = _places(sheet, frame, sum(columns), len(slices + refunds) + 1)
    _draw_slices(sheet, circle, slices, total)
    _draw_legend(sheet, legend, slices + refunds, total)


def _legend_height(sheet: Sheet) -> float:
    """The height for a legend beside the circle: all but the title and two lines of notes."""
    (width, height), measures = sheet.size, sheet.measures
    if width <= height:
        return height * _MAX_ENTRIES_SHARE
    return height - 2 * measures.title - 4 * measures.gap - 2.8 * measures.small


def _refunds(items: Sequence[tuple[str, int]]) -> list[Entry]:
    """The legend's line for the amounts below zero, if there are any."""
    if len(items) < 2:
        return [Entry(name, value) for name, value in items]
    names = tuple(name for name, _ in items)
    return [Entry(f"マイナスの{len(items)}項目", sum(v for _, v in items), members=names)]


def _undrawn(chart: CategoryChart, slices: int) -> str:
    """The note on amounts without a slice: those below zero, and those of zero."""
    if slices == len(chart.items):
        return ""
    has_negative = any(value < 0 for _, value in chart.items)
    included = "（合計と割合には含みます）" if has_negative else ""
    without = len(chart.items) - slices
    return f"0円以下の{without}項目には扇形がありません{included}。扇形は{slices}項目です"


def _column_widths(sheet: Sheet, entries: list[Entry], total: int) -> tuple[float, float, float]:
    """The widths that names, amounts and percentages need."""
    pixels = sheet.measures.font
    return (
        sheet.widest(["合計", *(entry.name for entry in entries)], pixels),
        sheet.widest([units.amount(v) for v in (total, *(e.value for e in entries))], pixels),
        sheet.widest([units.share(entry.value, total) for entry in entries], pixels),
    )


def _places(sheet: Sheet, frame: Box, texts: float, rows: int) -> tuple[Box, Box]:
    """The boxes of circle and legend: side by side on a wide page, stacked on a tall one."""
    font, gap = sheet.measures.font, 2 * sheet.measures.gap
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


def _draw_slices(sheet: Sheet, box: Box, entries: list[Entry], total: int) -> None:
    """Draw the slices, with percentages unless refunds make the total less than the circle."""
    drawn, font = sum(entry.value for entry in entries), sheet.measures.font
    radius = min(box.width, box.height) / 2
    middle = (box.left + box.right) / 2, (box.top + box.bottom) / 2
    axes = sheet.axes(Box(middle[0] - radius, middle[1] - radius,
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
        width, height = sheet.letters.width(text, font), font * _LETTER_HEIGHT_EM
        along, across = abs(y) * width + abs(x) * height, abs(x) * width + abs(y) * height
        # The percentage is written into its slice if it fits along the rim and across.
        if (
            along <= 2 * pi * distance * radius * entry.value / drawn
            and across <= radius * _RING * 0.94
        ):
            axes.text(x * distance, y * distance, text, horizontalalignment="center",
                      verticalalignment="center_baseline",
                      **sheet.font(font, ink_on(entry.color)))  # fmt: skip


def _draw_legend(sheet: Sheet, box: Box, entries: list[Entry], total: int) -> None:
    """Write a line for each entry: swatch, name, amount if there is room for it, percentage."""
    font, (width, height) = sheet.measures.font, sheet.size
    row, swatch, gap = font * _ROW_EM, font * _SWATCH_EM, font * _COLUMN_GAP_EM
    left = box.left + swatch + font * _NAME_GAP_EM
    names, amounts, shares = _column_widths(sheet, entries, total)
    right = min(box.right, left + names + amounts + shares + 2 * gap)
    if box.right - left - shares - amounts - 2 * gap < min(names, _MIN_NAME_EM * font):
        amounts = 0.0
    top = box.top + max(box.height - (len(entries) + 1) * row, 0) / 2
    names_end = right - shares - (amounts + gap if amounts else 0) - gap
    for number, entry in enumerate([*entries, Entry("合計", total)]):
        middle = top + (number + 0.5) * row
        if entry.color:
            corner = box.left / width, 1 - (middle + swatch / 2) / height
            sheet.figure.add_artist(
                Rectangle(corner, swatch / width, swatch / height, color=entry.color, linewidth=0)
            )
        sheet.write(left, middle, entry.name, font, width=names_end - left)
        if amounts:
            sheet.write(
                right - shares - gap, middle, units.amount(entry.value), font, align="right"
            )
        if number < len(entries):
            sheet.write(right, middle, units.share(entry.value, total), font, align="right")
        elif not amounts:
            fits = sheet.widest([f"合計 {units.amount(total)}"], font) <= right - left
            text = units.amount(total) if fits else units.short(total)
            sheet.write(right, middle, text, font, align="right")


_MIN_ROW, _MAX_ROW_EM = 11.0, 4.5  # pixels; multiples of the letters' size
_LETTERS_SHARE, _BARS_SHARE, _TARGET_SHARE = 0.86, 0.72, 0.44  # of a row's height
_MAX_NAMES_SHARE, _MAX_VALUES_SHARE = 0.34, 0.36  # of the width
_GAP_EM, _AXIS_EM, _TICK_ROOM_EM = 0.6, 1.9, 5.5
_SCALE_EM, _SCALE_ROOM_EM = 0.7, 6.0


@dataclass(frozen=True, slots=True)
class Bars:
    """Series of bars by name; a single series may have a colour for each bar, and targets."""

    names: Sequence[str]
    series: Sequence[Series]
    unit: Unit = ""
    colors: Sequence[str] = ()
    targets: Sequence[int] = ()


def draw_categories(sheet: Sheet, chart: CategoryChart) -> None:
    """Draw every amount, the largest on top, or each over its target.

    Raises:
        ChartError: all amounts are zero.
    """
    if not any((*chart.targets, *(value for _, value in chart.items))):
        raise ChartError("棒グラフにできる金額がありません（すべて0円です）。")
    most = max(int(_rows_in(sheet.size[1] - 6 * sheet.measures.font)) - 1, 2)
    entries = entries_of(chart)[:most] if chart.targets else merge_small(entries_of(chart), most)
    entries = colored(entries, chart.among)
    left_out = len(chart.items) - len(entries) if chart.targets else 0
    more = f"ほか{left_out}件は文章にあります" if left_out else ""
    frame = sheet.frame(chart.title, [members_note(entries), more, chart.note])
    if chart.targets:
        top = sheet.legend(frame, [("予算", OTHERS_COLOR)], lines=False)
        frame = Box(frame.left, top, frame.right, frame.bottom)
    bars = Bars(
        [entry.name for entry in entries],
        [Series(chart.title, tuple(entry.value for entry in entries))],
        "yen", [entry.color for entry in entries], chart.targets[:most],
    )  # fmt: skip
    draw_bars(sheet, frame, bars)


def has_room(sheet: Sheet, plot: Plot, frame: Box) -> bool:
    """Whether there is room to draw the bars of a plot below each other."""
    return len(plot.names) * len(plot.series) <= _rows_in(frame.height - 2 * sheet.measures.font)


def draw_plot_bars(sheet: Sheet, plot: Plot, frame: Box) -> None:
    """Draw the bars of a plot below each other."""
    keys = [(one.name, one.color or series_color(at)) for at, one in enumerate(plot.series)]
    top = sheet.legend(frame, keys, lines=False)
    room = Box(frame.left, top, frame.right, frame.bottom)
    draw_bars(sheet, room, Bars(plot.names, plot.series, plot.unit))


def _rows_in(height: float) -> float:
    return height / _MIN_ROW


def draw_bars(sheet: Sheet, frame: Box, bars: Bars) -> None:
    """Draw the bars, those below zero to the left of it, with their values beside them."""
    measures, rows = sheet.measures, len(bars.names)
    room = frame.height - _AXIS_EM * measures.small
    row = min(room / rows, _MAX_ROW_EM * measures.font * (1 + len(bars.series)) / 2)
    letters = min(measures.font, row * _LETTERS_SHARE)
    values = [value for one in bars.series for value in one.values if value is not None]
    low, high = min(0, *values, *bars.targets), max(0, *values, *bars.targets)
    texts = _value_texts(sheet, bars, high - low, letters, frame.width)
    top = frame.top + (room - row * rows) / 2
    names_width = min(sheet.widest(bars.names, letters), frame.width * _MAX_NAMES_SHARE)
    box = Box(
        frame.left + names_width + LABEL_GAP_EM * sheet.measures.font,
        top,
        frame.right - sheet.widest(texts, letters) - (_GAP_EM * 2 if texts else 1) * letters,
        top + row * rows,
    )
    axes = sheet.axes(box, "x")
    axes.set_xlim(low, high if high > low else 1)
    axes.set_ylim(rows - 0.5, -0.5)
    shown = sheet.letters.fit_all(bars.names, letters, names_width)
    axes.set_yticks(range(rows), shown, **sheet.font(letters, INK))
    _draw_scale(sheet, axes, box.width, (low, high), bars.unit)
    _draw_bars(axes, bars)
    axes.axvline(0, color=AXIS, linewidth=points(1.2))
    for position, (text, value) in enumerate(zip(texts, bars.series[0].values, strict=False)):
        value = value or 0
        target = bars.targets[position] if bars.targets else 0
        is_bad = value > target if bars.targets else value < 0
        axes.annotate(
            text, (max(0, value, target), position), (points(_GAP_EM * letters), 0),
            textcoords="offset points", verticalalignment="center_baseline", annotation_clip=False,
            **sheet.font(letters, LOSS_INK if is_bad else INK),
        )  # fmt: skip


def _value_texts(sheet: Sheet, bars: Bars, span: float, letters: float, width: float) -> list[str]:
    """The values beside the bars: in full if all fit, else shortened; none for several series.

    Numbers without a unit are not shortened: those that do not fit are left out.
    """
    if len(bars.series) > 1:
        return []
    values, room = bars.series[0].values, width * _MAX_VALUES_SHARE
    if not bars.unit:
        step = span / 200 or 1.0
        known = iter(units.labels([value for value in values if value is not None], step))
        texts = ["" if value is None else next(known) for value in values]
        return [text if sheet.widest([text], letters) <= room else "" for text in texts]
    for written in (units.amount, units.short):
        texts = [written(int(value or 0)) for value in values]
        if bars.targets:
            texts = [
                f"{text} / {written(target)}"
                for text, target in zip(texts, bars.targets, strict=True)
            ]
        if sheet.widest(texts, letters) <= room:
            break
    return texts


def _draw_scale(
    sheet: Sheet, axes: Axes, width: float, ends: tuple[float, float], unit: Unit
) -> None:
    """Draw upright lines at round values, with as many labels as there is room for."""
    small = sheet.measures.small
    ticks = {
        value: text
        for value, text in units.value_labels(
            *ends, max(min(int(width / (_TICK_ROOM_EM * small)), 6), 1), unit
        ).items()
        if ends[0] <= value <= ends[1]
    }
    axes.set_xticks(list(ticks), list(ticks.values()), **sheet.font(small))


def _draw_bars(axes: Axes, bars: Bars) -> None:
    if bars.targets:
        axes.barh(range(len(bars.names)), bars.targets, _BARS_SHARE, color=OTHERS_COLOR,
                  label="予算")  # fmt: skip
    height = (_TARGET_SHARE if bars.targets else _BARS_SHARE) / len(bars.series)
    for number, one in enumerate(bars.series):
        middle = height * (number + 0.5 - len(bars.series) / 2)
        axes.barh(
            [position + middle for position in range(len(bars.names))],
            [float(value or 0) for value in one.values],
            height * (0.92 if len(bars.series) > 1 else 1),
            color=bars.colors or one.color or series_color(number), label=one.name,
        )  # fmt: skip


def draw_heat(sheet: Sheet, plot: Plot, frame: Box) -> None:
    """Draw the values as cells, those below zero in other colours, each with its number if it fits.

    The strip on the right is the scale.
    """
    font, names = sheet.measures.font, [one.name for one in plot.series]
    values = [value for one in plot.series for value in one.values if value is not None]
    low, high = min(values), max(values)
    width = min(sheet.widest(names, font), frame.width * _MAX_NAMES_SHARE)
    # Values that only differ by rounding get no further digits.
    step = max((high - low) / 50, abs(low) / 1e9, abs(high) / 1e9) or 1.0
    ends = units.numbers((low, high), step)
    scale = sheet.widest(ends, sheet.measures.small) + (_SCALE_EM + 1.6) * font
    left, right = frame.left + width + LABEL_GAP_EM * font, frame.right - scale
    labels = name_labels(
        sheet, plot.names, (right - left) / len(plot.names), frame.height, in_order=False
    )
    box = Box(left, frame.top, right, frame.bottom - labels.height)
    axes = sheet.axes(box)
    grid = [[float("nan") if value is None else value for value in one.values]
            for one in plot.series]  # fmt: skip
    down, across = box.height / len(names), box.width / len(plot.names)
    cells = axes.pcolormesh(
        grid, edgecolors=PAPER, linewidth=min(0.8, 0.1 * min(down, across)), **_ramp(low, high)
    )
    axes.set_xlim(0, len(plot.names))
    axes.set_ylim(len(names), 0)
    labels.write(sheet, axes, 0.5)
    every = max(1, -int(-font // down))
    axes.set_yticks(
        [at + 0.5 for at in range(0, len(names), every)],
        sheet.letters.fit_all(names[::every], font, width), **sheet.font(),
    )  # fmt: skip
    if low < high:
        top = min(box.height, 16 * font) + box.top
        strip = sheet.axes(Box(right + font, box.top, right + (1 + _SCALE_EM) * font, top))
        sheet.figure.colorbar(cells, cax=strip).outline.set_visible(False)
        strip.set_ylim(low, high)
        strip.set_yticks([low, high], ends, **sheet.font(sheet.measures.small, INK))
        lowest, highest = strip.get_yticklabels()
        lowest.set_verticalalignment("bottom")
        highest.set_verticalalignment("top")
    texts = [
        [units.number(value, step) if value == value else "" for value in line] for line in grid
    ]
    longest = sheet.widest([text for line in texts for text in line], sheet.measures.small)
    if down < 1.3 * sheet.measures.small or longest > across - 4:
        return
    shades: Any = cells.to_rgba(np.array(grid))
    for row, line in enumerate(texts):
        for column, text in enumerate(line):
            if text:
                ink = ink_on(to_hex(shades[row, column]))
                axes.text(column + 0.5, row + 0.5, text, horizontalalignment="center",
                          verticalalignment="center_baseline",
                          **sheet.font(sheet.measures.small, ink))  # fmt: skip


def _ramp(low: float, high: float) -> dict[str, Any]:
    """The colours of the values, and the values at the ends of the ramp."""
    if low < 0 < high:
        colors, reach = [*COLD, "#F4F4F4", *HEAT[1:]], max(-low, high)
        low, high = -reach, reach
    else:
        colors = list(HEAT) if low >= 0 else [*COLD, HEAT[0]]
        high = high if high > low else low + max(abs(low), 1)
    ramp = LinearSegmentedColormap.from_list("heat", colors)
    return {"cmap": ramp, "vmin": low, "vmax": high}
