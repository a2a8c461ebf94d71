"""Draws names one below another: bars by category, budgets, and the cells of a heat map."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from matplotlib.axes import Axes
from matplotlib.colors import LinearSegmentedColormap, to_hex
from matplotlib.patches import Rectangle

from mdvec.charts import units
from mdvec.charts.amounts import colored, entries_of, members_note, merge_small
from mdvec.charts.chart import CategoryChart, ChartError
from mdvec.charts.colors import OTHERS_COLOR
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
    """Draw every amount, the largest on top, or each on its target.

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
    """Whether the bars of a plot can lie one below another."""
    return len(plot.names) * len(plot.series) <= _rows_in(frame.height - 2 * sheet.measures.font)


def draw_plot_bars(sheet: Sheet, plot: Plot, frame: Box) -> None:
    """Draw the bars of a plot one below another."""
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
    """The values beside the bars: in full if all of them fit, else shortened; none for several."""
    if len(bars.series) > 1:
        return []
    values = bars.series[0].values
    if not bars.unit:
        step = span / 200 or 1.0
        return ["" if value is None else units.number(value, step) for value in values]
    for written in (units.amount, units.short):
        texts = [written(int(value or 0)) for value in values]
        if bars.targets:
            texts = [
                f"{text} / {written(target)}"
                for text, target in zip(texts, bars.targets, strict=True)
            ]
        if sheet.widest(texts, letters) <= width * _MAX_VALUES_SHARE:
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
    step = (high - low) / 50 or abs(high) or 1.0
    ends = [units.number(value, step) for value in (low, high)]
    scale = sheet.widest(ends, sheet.measures.small) + (_SCALE_EM + 1.6) * font
    left, right = frame.left + width + LABEL_GAP_EM * font, frame.right - scale
    labels = name_labels(
        sheet, plot.names, (right - left) / len(plot.names), frame.height, in_order=False
    )
    box = Box(left, frame.top, right, frame.bottom - labels.height)
    axes = sheet.axes(box)
    ramp, bounds = _ramp(low, high)
    grid = [[float("nan") if value is None else value for value in one.values]
            for one in plot.series]  # fmt: skip
    down, across = box.height / len(names), box.width / len(plot.names)
    axes.pcolormesh(grid, cmap=ramp, vmin=bounds[0], vmax=bounds[1], edgecolors=PAPER,
                    linewidth=min(0.8, 0.1 * min(down, across)))  # fmt: skip
    axes.set_xlim(0, len(plot.names))
    axes.set_ylim(len(names), 0)
    labels.write(sheet, axes, 0.5)
    every = max(1, -int(-font // down))
    axes.set_yticks(
        [at + 0.5 for at in range(0, len(names), every)],
        sheet.letters.fit_all(names[::every], font, width), **sheet.font(),
    )  # fmt: skip
    if low < high:
        _draw_scale_strip(sheet, box, (low, high), ends, (ramp, bounds))
    texts = [
        [units.number(value, step) if value == value else "" for value in line] for line in grid
    ]
    longest = sheet.widest([text for line in texts for text in line], sheet.measures.small)
    if down < 1.3 * sheet.measures.small or longest > across - 4:
        return
    for row, line in enumerate(texts):
        for column, text in enumerate(line):
            share = (grid[row][column] - bounds[0]) / (bounds[1] - bounds[0])
            if text:
                ink = ink_on(_hex(ramp, share))
                axes.text(column + 0.5, row + 0.5, text, horizontalalignment="center",
                          verticalalignment="center_baseline",
                          **sheet.font(sheet.measures.small, ink))  # fmt: skip


def _ramp(low: float, high: float) -> tuple[LinearSegmentedColormap, tuple[float, float]]:
    """The colours of the values, and what the ends of the ramp stand for."""
    if low >= 0 or high <= 0:
        colors = HEAT if low >= 0 else (*COLD, HEAT[0])
        return LinearSegmentedColormap.from_list("heat", colors), (
            low,
            high if high > low else low + max(abs(low), 1),
        )
    reach = max(-low, high)
    return LinearSegmentedColormap.from_list("heat", (*COLD, "#F4F4F4", *HEAT[1:])), (-reach, reach)


def _hex(ramp: LinearSegmentedColormap, share: float) -> str:
    return to_hex(ramp(share))


def _draw_scale_strip(
    sheet: Sheet, box: Box, span: tuple[float, float], ends: Sequence[str],
    colors: tuple[LinearSegmentedColormap, tuple[float, float]],
) -> None:  # fmt: skip
    font, (ramp, bounds) = sheet.measures.font, colors
    height = min(box.height, 16 * font)
    left = box.right + font
    axes = sheet.axes(Box(left, box.top, left + _SCALE_EM * font, box.top + height))
    axes.set_ylim(0, 1)
    for step in range(64):
        value = span[0] + (span[1] - span[0]) * step / 63
        share = (value - bounds[0]) / (bounds[1] - bounds[0])
        axes.add_patch(Rectangle((0, step / 64), 1, 1 / 64, color=_hex(ramp, share), linewidth=0.4))
    small = sheet.measures.small
    for text, middle in ((ends[1], box.top + small / 2), (ends[0], box.top + height - small / 2)):
        sheet.write(left + (_SCALE_EM + 0.4) * font, middle, text, small)
