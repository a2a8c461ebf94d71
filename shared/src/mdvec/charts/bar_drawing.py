"""Draws horizontal bars below each other, each with its name on the left."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from matplotlib.axes import Axes

from mdvec.charts import units
from mdvec.charts.canvas import LABEL_GAP_EM, MAX_NAMES_SHARE, Box, Canvas
from mdvec.charts.chart import (
    CategoryChart,
    ChartError,
    colored,
    entries_of,
    members_note,
    merge_small,
)
from mdvec.charts.colors import OTHERS_COLOR
from mdvec.charts.plot import Plot, Series, Unit
from mdvec.charts.style import AXIS, INK, LOSS_INK, points, series_color

_MIN_ROW, _MAX_ROW_EM = 11.0, 4.5  # pixels; multiples of the letters' size
_LETTERS_SHARE, _BARS_SHARE, _TARGET_SHARE = 0.86, 0.72, 0.44  # of a row's height
_MAX_VALUES_SHARE = 0.36  # of the width
_GAP_EM, _AXIS_EM, _TICK_ROOM_EM = 0.6, 1.9, 5.5


@dataclass(frozen=True, slots=True)
class Bars:
    """Series of bars by name; a single series may have a colour for each bar, and targets."""

    names: Sequence[str]
    series: Sequence[Series]
    unit: Unit = ""
    colors: Sequence[str] = ()
    targets: Sequence[int] = ()


def draw_categories(canvas: Canvas, chart: CategoryChart) -> None:
    """Draw a bar for each amount: the largest on top, or in the given order, over their targets.

    Raises:
        ChartError: all amounts are zero.
    """
    if not any((*chart.targets, *(value for _, value in chart.items))):
        raise ChartError("棒グラフにできる金額がありません（すべて0円です）。")
    most = max(int((canvas.size[1] - 6 * canvas.measures.font) / _MIN_ROW) - 1, 2)
    entries = entries_of(chart)[:most] if chart.targets else merge_small(entries_of(chart), most)
    entries = colored(entries, chart.among)
    left_out = len(chart.items) - len(entries) if chart.targets else 0
    more = f"ほか{left_out}件は文章にあります" if left_out else ""
    frame = canvas.frame(chart.title, [members_note(entries), more, chart.note])
    if chart.targets:
        top = canvas.legend(frame, [("予算", OTHERS_COLOR)], lines=False)
        frame = Box(frame.left, top, frame.right, frame.bottom)
    bars = Bars(
        [entry.name for entry in entries],
        [Series(chart.title, tuple(entry.value for entry in entries))],
        "yen", [entry.color for entry in entries], chart.targets[:most],
    )  # fmt: skip
    draw_bars(canvas, frame, bars)


def has_room(canvas: Canvas, plot: Plot, frame: Box) -> bool:
    """Whether there is room to draw the bars of a plot below each other."""
    rows = (frame.height - 2 * canvas.measures.font) / _MIN_ROW
    return len(plot.names) * len(plot.series) <= rows


def draw_plot_bars(canvas: Canvas, plot: Plot, frame: Box) -> None:
    """Draw the bars of a plot below each other."""
    keys = [(one.name, one.color or series_color(at)) for at, one in enumerate(plot.series)]
    top = canvas.legend(frame, keys, lines=False)
    room = Box(frame.left, top, frame.right, frame.bottom)
    draw_bars(canvas, room, Bars(plot.names, plot.series, plot.unit))


def draw_bars(canvas: Canvas, frame: Box, bars: Bars) -> None:
    """Draw the bars (to the left of zero for values below it), with values beside them."""
    measures, rows = canvas.measures, len(bars.names)
    room = frame.height - _AXIS_EM * measures.small
    row = min(room / rows, _MAX_ROW_EM * measures.font * (1 + len(bars.series)) / 2)
    letters = min(measures.font, row * _LETTERS_SHARE)
    values = [value for one in bars.series for value in one.values if value is not None]
    low, high = min(0, *values, *bars.targets), max(0, *values, *bars.targets)
    texts = _value_texts(canvas, bars, high - low, letters, frame.width)
    top = frame.top + (room - row * rows) / 2
    names_width = min(canvas.widest(bars.names, letters), frame.width * MAX_NAMES_SHARE)
    box = Box(
        frame.left + names_width + LABEL_GAP_EM * canvas.measures.font,
        top,
        frame.right - canvas.widest(texts, letters) - (_GAP_EM * 2 if texts else 1) * letters,
        top + row * rows,
    )
    axes = canvas.axes(box, "x")
    axes.set_xlim(low, high if high > low else 1)
    axes.set_ylim(rows - 0.5, -0.5)
    shown = canvas.letters.fit_all(bars.names, letters, names_width)
    axes.set_yticks(range(rows), shown, **canvas.font(letters, INK))
    _draw_scale(canvas, axes, box.width, (low, high), bars.unit)
    _draw_bars(axes, bars)
    axes.axvline(0, color=AXIS, linewidth=points(1.2))
    for position, (text, value) in enumerate(zip(texts, bars.series[0].values, strict=False)):
        value = value or 0
        target = bars.targets[position] if bars.targets else 0
        is_bad = value > target if bars.targets else value < 0
        axes.annotate(
            text, (max(0, value, target), position), (points(_GAP_EM * letters), 0),
            textcoords="offset points", verticalalignment="center_baseline", annotation_clip=False,
            **canvas.font(letters, LOSS_INK if is_bad else INK),
        )  # fmt: skip


def _value_texts(
    canvas: Canvas, bars: Bars, span: float, letters: float, width: float
) -> list[str]:
    """The texts beside the bars: amounts in full if all fit, else shortened; [] for several series.

    Numbers without a unit are not shortened; those that do not fit are "".
    """
    if len(bars.series) > 1:
        return []
    values, room = bars.series[0].values, width * _MAX_VALUES_SHARE
    if not bars.unit:
        step = span / 200 or 1.0
        known = iter(units.labels([value for value in values if value is not None], step))
        texts = ["" if value is None else next(known) for value in values]
        return [text if canvas.widest([text], letters) <= room else "" for text in texts]
    for written in (units.amount, units.short):
        texts = [written(int(value or 0)) for value in values]
        if bars.targets:
            texts = [
                f"{text} / {written(target)}"
                for text, target in zip(texts, bars.targets, strict=True)
            ]
        if canvas.widest(texts, letters) <= room:
            break
    return texts


def _draw_scale(
    canvas: Canvas, axes: Axes, width: float, ends: tuple[float, float], unit: Unit
) -> None:
    """Draw vertical lines at round values, with as many labels as there is room for."""
    small = canvas.measures.small
    ticks = {
        value: text
        for value, text in units.value_labels(
            *ends, max(min(int(width / (_TICK_ROOM_EM * small)), 6), 1), unit
        ).items()
        if ends[0] <= value <= ends[1]
    }
    axes.set_xticks(list(ticks), list(ticks.values()), **canvas.font(small))


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
