"""Draws plots over a horizontal axis: bars, lines, areas, dots, bins and boxes, and heat maps."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from math import ceil, isnan, nan
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import QuadMesh
from matplotlib.colors import LinearSegmentedColormap, to_hex
from numpy.typing import NDArray

from mdvec.charts import units
from mdvec.charts.canvas import LABEL_GAP_EM, MAX_NAMES_SHARE, Box, Canvas
from mdvec.charts.plot import Plot, Series
from mdvec.charts.style import (
    AXIS,
    COLD,
    EMPTY_BAND,
    FAINT_INK,
    HEAT,
    INK,
    PAPER,
    dashes,
    ink_on,
    lighter,
    points,
)

_FROM_ZERO = ("bar", "area", "histogram")
_RUNNING, _EMPTY = "途中", "明細なし"
_MIN_SLOTS = 6  # so that a single month is not a giant bar
_BARS_SHARE, _BOX_SHARE = 0.8, 0.5
_MAX_DOTTED, _HALF_DAY = 24, 43_200
_ALPHA_ALONE, _ALPHA_AMONG_OTHERS = 0.4, 0.25
# Multiples of the font size, and shares of the available room.
_TICK_EM, _PLACE_EM, _RIGHT_EM, _TOP_EM, _WORDS_EM = 2.2, 5.0, 1.0, 0.8, 1.5
_ROW_EM, _MAX_LABEL_SHARE, _MAX_NAME_SHARE = 1.25, 0.35, 0.3
_WRAPPED_EM, _MIN_UPRIGHT = 3.5, 9.0  # pixels
_SCALE_EM = 0.7
XLabels = tuple[float, dict[str, Any]]
"""The height in pixels of the labels below Axes, and the arguments of ``set_xticks`` for them."""


def draw_series(canvas: Canvas, plot: Plot, frame: Box) -> None:
    """Draw a plot into the frame."""
    font, whole = canvas.measures.font, frame.height
    if plot.kind not in ("histogram", "box"):
        frame = canvas.legend(frame, plot.series, lines=plot.kind == "line")
    top = frame.top + font * (_TOP_EM + (_WORDS_EM if plot.running or plot.empty else 0))
    low, high = _range(plot)
    most = max(min(int((frame.bottom - top) / font / _TICK_EM), 8), 2)
    values = units.value_labels(low, high, most, plot.unit, are_whole=plot.kind == "histogram")
    room = frame.width * _MAX_LABEL_SHARE
    width = min(canvas.widest(list(values.values()), font), room)
    left, right = frame.left + width + LABEL_GAP_EM * font, frame.right - _RIGHT_EM * font
    xs = _x_range(plot)
    height, labels = _x_labels(canvas, plot, xs, right - left, whole)
    box = Box(left, top, right, frame.bottom - height)
    axes = canvas.axes(box, "y")
    axes.set_xlim(*xs)
    axes.set_ylim(min(low, *values), max(high, *values))
    texts = [canvas.letters.fit(text, font, room) for text in values.values()]
    axes.set_yticks(list(values), texts, **canvas.font())
    axes.set_xticks(**labels)
    if min(values) <= 0 <= max(values):
        axes.axhline(0, color=AXIS, linewidth=points(1.2), zorder=1.5, clip_on=False)
    _mark(canvas, plot, axes, box)
    _DRAWN[plot.kind](axes, plot, canvas)


def _range(plot: Plot) -> tuple[float, float]:
    """The least and the greatest value; zero counts as a value if the axis must have it."""
    values = [value for one in plot.series for value in one.values if value is not None]
    values += [end for one in plot.series for ends in one.band for end in ends if end is not None]
    if plot.kind in _FROM_ZERO or plot.unit:
        values.append(0)
    if min(values) == max(values):
        values.append(0 if values[0] else 1)
    return min(values), max(values)


def _x_range(plot: Plot) -> tuple[float, float]:
    """The ends of the horizontal axis: its first and last place, with room for bars or dots."""
    first, last = min(plot.x), max(plot.x) + plot.step
    slot = plot.step or (1.0 if plot.axis in ("names", "months") else 0.0)
    is_time = plot.axis == "times"
    alone = max(abs(first) * (1e-6 if is_time else 0.05), _HALF_DAY if is_time else 1.0)
    pads = [(last - first) * 0.02, slot, alone]
    if plot.kind in ("bar", "box", "histogram"):
        pad = 0 if plot.kind == "histogram" else slot / 2
        lacking = (_MIN_SLOTS - (last - first + 2 * pad) / slot) / 2 * slot
        pads.insert(0, pad + max(lacking, 0))
        if first < last and not pads[0]:
            return first, last
    return next((first - pad, last + pad) for pad in pads if pad > 0 and first - pad < last + pad)


def _x_labels(
    canvas: Canvas, plot: Plot, xs: tuple[float, float], width: float, height: float
) -> XLabels:
    """The labels below axes of this width, in a frame of this height."""
    font = canvas.measures.font
    if plot.axis == "names":
        return _name_labels(
            canvas, plot.names, width / (xs[1] - xs[0]), height, in_order=plot.in_order
        )

    places = _labels_in_order(canvas, plot, xs, width)
    texts = _texts_with_room(
        canvas,
        [((at - xs[0]) / (xs[1] - xs[0]) * width, upper, lower) for at, upper, lower in places],
        width,
    )
    height = ((1 + any("\n" in text for text in texts)) * _ROW_EM + 0.4) * font
    return height, {"ticks": [label[0] for label in places], "labels": texts, **canvas.font()}


def _labels_in_order(
    canvas: Canvas, plot: Plot, xs: tuple[float, float], width: float
) -> Sequence[units.Label]:
    """The labels of an axis of numbers, months or times."""
    font = canvas.measures.font
    if plot.axis == "numbers":
        most = max(2, min(8, int(width / font / _PLACE_EM)))
        labels = units.value_labels(*xs, most, "", are_whole=plot.are_whole)
        return [(at, f"{at:.0f}" if plot.are_years else text, "") for at, text in labels.items()
                if xs[0] <= at <= xs[1]]  # fmt: skip
    if plot.axis == "times":
        ends = (plot.x[0], plot.x[0]) if min(plot.x) == max(plot.x) + plot.step else xs
        return units.time_labels(*ends, max(4, min(10, int(width / font / _PLACE_EM))))
    year, month = (canvas.letters.width(text, font) * 1.15 for text in ("2025年", "12月"))

    def fits(step: int) -> bool:
        distance = step / (xs[1] - xs[0]) * width
        years = distance if step >= 12 else distance * 12 / step
        return distance >= (year if step >= 12 else month) and years >= year

    return units.month_labels(int(plot.x[0]), int(plot.x[-1]), fits)


def _texts_with_room(canvas: Canvas, labels: Sequence[units.Label], width: float) -> list[str]:
    """The texts of labels, "" if there is no room; the lower line is only where it changes."""
    font, texts, taken, below_taken = canvas.measures.font, [], -width, 0.0
    changes = [at for at, label in enumerate(labels)
               if label[2] and (at == 0 or label[2] != labels[at - 1][2])]  # fmt: skip
    for number, (at, upper, lower) in enumerate(labels):
        half = canvas.letters.width(upper, font) / 2
        if at - half < taken or at + half > width + _RIGHT_EM * font:
            upper = ""  # it would overlap the previous label, or leave the picture
        else:
            taken = at + half + font / 3
        if number in changes:
            needed = canvas.letters.width(lower, font) * 1.1
            later = [labels[change][0] for change in changes if change > number]
            if at >= below_taken and not (later and later[0] - at < needed):
                upper, below_taken = f"{upper}\n{lower}", at + needed
        texts.append(upper)
    return texts


def _name_labels(
    canvas: Canvas, names: Sequence[str], each: float, height: float, *, in_order: bool
) -> XLabels:
    """The labels for names below an axis; each name has ``each`` pixels of room.

    If they are too wide, names ``in_order``, such as months, are thinned out; other names are
    wrapped, or turned upright.
    """
    font, widest = canvas.measures.font, canvas.widest(names, canvas.measures.font)
    places, row = list(range(len(names))), _ROW_EM * font
    if widest + font / 2 <= each or in_order:
        skip = max(1, ceil((widest + font / 2) / each))
        return row + 0.4 * font, {"ticks": places[::skip], "labels": names[::skip], **canvas.font()}
    if each >= _WRAPPED_EM * font:
        lines = [canvas.letters.wrap(name, font, each - font / 2, 2) for name in names]
        texts = ["\n".join(each) for each in lines]
        height = max(map(len, lines)) * row + 0.4 * font
        return height, {"ticks": places, "labels": texts, **canvas.font()}
    letters, room = min(font, max(each * 0.95, _MIN_UPRIGHT)), height * _MAX_NAME_SHARE
    skip, widest = max(1, ceil(letters / each)), canvas.widest(names, letters)
    texts = canvas.letters.fit_all(names[::skip], letters, room)
    return min(widest, room) + 0.9 * font, {
        "ticks": places[::skip], "labels": texts, "rotation": 90, **canvas.font(letters)
    }  # fmt: skip


def _mark(canvas: Canvas, plot: Plot, axes: Axes, box: Box) -> None:
    """Draw a band behind each run of empty places, and a word above each empty or running one.

    A word without room is left out; the note explains the bands.
    """
    small, (first, last) = canvas.measures.small, axes.get_xlim()
    words = []
    for left, right in _stretches(plot.empty):
        axes.axvspan(max(left - 0.5, first), min(right + 0.5, last), color=EMPTY_BAND, zorder=0)
        words.append(((left + right) / 2, _EMPTY))
    words += [((left + right) / 2, _RUNNING) for left, right in _stretches(plot.running)]
    free_until = canvas.size[0] - canvas.measures.gap
    for x, word in sorted(words, reverse=True):  # the last (running) month first
        center = box.left + (x - first) / (last - first) * box.width
        width = canvas.letters.width(word, small)
        right = min(center + width / 2, free_until)
        if right - width >= canvas.measures.gap and right >= center:
            canvas.write(right - width, box.top - small, word, small, ink=FAINT_INK)
            free_until = right - width - 0.5 * small


def _stretches(places: Iterable[float]) -> list[tuple[float, float]]:
    """The runs of consecutive x values, each as its first and its last value."""
    stretches: list[tuple[float, float]] = []
    for x in sorted(places):
        if stretches and x == stretches[-1][1] + 1:
            stretches[-1] = (stretches[-1][0], x)
        else:
            stretches.append((x, x))
    return stretches


def _draw_bars(axes: Axes, plot: Plot, canvas: Canvas) -> None:
    """Draw the series side by side at each x, with lighter bars for incomplete values."""
    width = _BARS_SHARE / len(plot.series)
    for number, one in enumerate(plot.series):
        shown = [
            (x, value) for x, value in zip(plot.x, one.values, strict=True) if value is not None
        ]
        xs = [x + width * (number + 0.5 - len(plot.series) / 2) for x, _ in shown]
        axes.bar(
            xs, [float(value) for _, value in shown], width * (0.92 if len(plot.series) > 1 else 1),
            color=[lighter(one.color) if x in plot.running else one.color for x, _ in shown],
            edgecolor=one.color, linewidth=points(1),
        )  # fmt: skip
        for x, (least, most) in zip(plot.x, one.band, strict=False):
            if least is not None and most is not None:
                line = points(canvas.measures.line * 0.7)
                axes.plot(
                    [x, x], [least, most], color=INK, linewidth=line, marker="_",
                    markersize=points(canvas.measures.font * 0.7), markeredgewidth=line,
                )  # fmt: skip


def _draw_bins(axes: Axes, plot: Plot, _canvas: Canvas) -> None:
    (counts,) = plot.series
    heights = [float(value or 0) for value in counts.values]
    axes.bar(plot.x, heights, plot.step, align="edge", color=counts.color, edgecolor=PAPER,
             linewidth=0.6)  # fmt: skip


def _draw_lines(axes: Axes, plot: Plot, canvas: Canvas) -> None:
    """Draw lines (dashed towards incomplete values), and dots if values are few or isolated.

    The dots of incomplete values, such as that of the running month, are hollow.
    """
    line = points(canvas.measures.line)
    for one in reversed(plot.series):
        color = one.color
        xs, values = _points_of(plot, one)
        running, known = np.isin(xs, plot.running), ~np.isnan(values)
        style: dict[str, Any] = {"color": color, "linewidth": line, "clip_on": False}
        axes.plot(xs, np.where(running, nan, values), linestyle=dashes(color), **style)
        if plot.running:
            ahead = running | _beside(running)
            axes.plot(xs, np.where(ahead, values, nan), linestyle=(0, (2, 1.6)), **style)
        dotted = known if len(xs) <= _MAX_DOTTED else known & ~_beside(known)
        for marked, fill in ((dotted & ~running, color), (dotted & running, PAPER)):
            if marked.any():
                axes.plot(xs, np.where(marked, values, nan), linestyle="none", marker="o",
                          color=color, markersize=line * 2.4, markerfacecolor=fill,
                          clip_on=False)  # fmt: skip


def _draw_areas(axes: Axes, plot: Plot, canvas: Canvas) -> None:
    """Fill the areas below the lines, the largest first, so that it is behind the others."""
    alpha = _ALPHA_ALONE if len(plot.series) == 1 else _ALPHA_AMONG_OTHERS
    for one in sorted(plot.series, key=lambda each: -sum(v or 0 for v in each.values)):
        xs, values = _points_of(plot, one)
        running = np.isin(xs, plot.running)
        for opacity, shown in ((alpha, ~running), (alpha * 0.4, running | _beside(running))):
            if shown.any():
                filled = np.where(shown, values, nan)
                axes.fill_between(xs, filled, 0, color=one.color, alpha=opacity, linewidth=0)
    _draw_lines(axes, plot, canvas)


def _points_of(plot: Plot, series: Series) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """The x values and the values of a series, with nan for a gap."""
    return np.array(series.places or plot.x, float), np.array(series.values, float)


def _beside(chosen: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Which values are next to one that is chosen."""
    padded = np.pad(chosen, 1)
    return padded[:-2] | padded[2:]


def _draw_dots(axes: Axes, plot: Plot, canvas: Canvas) -> None:
    size = canvas.measures.line * (2.8 if len(plot.x) < 300 else 1.7)
    for one in plot.series:
        xs, values = _points_of(plot, one)
        axes.scatter(xs, values, s=points(size) ** 2, color=one.color, alpha=0.75, linewidth=0,
                     clip_on=False)  # fmt: skip


def _draw_boxes(axes: Axes, plot: Plot, canvas: Canvas) -> None:
    parts = zip(*(one.values for one in plot.series), strict=True)
    keys = ("whislo", "q1", "med", "q3", "whishi")
    line, color = points(canvas.measures.line * 0.6), plot.series[0].color
    axes.bxp(
        [dict(zip(keys, five, strict=True)) for five in parts], plot.x, widths=_BOX_SHARE,
        showfliers=False, patch_artist=True, manage_ticks=False,
        boxprops={"facecolor": lighter(color), "edgecolor": color, "linewidth": line},
        medianprops={"color": INK, "linewidth": line * 1.6},
        whiskerprops={"color": color, "linewidth": line, "clip_on": False},
        capprops={"color": color, "linewidth": line, "clip_on": False},
    )  # fmt: skip


_DRAWN: dict[str, Callable[[Axes, Plot, Canvas], None]] = {
    "bar": _draw_bars, "line": _draw_lines, "area": _draw_areas, "scatter": _draw_dots,
    "histogram": _draw_bins, "box": _draw_boxes,
}  # fmt: skip


def draw_heat(canvas: Canvas, plot: Plot, frame: Box) -> None:
    """Draw the values as cells (below zero in other colours), each with its number if it fits.

    The strip on the right is the scale.
    """
    font, names = canvas.measures.font, [row.name for row in plot.series]
    values = [value for row in plot.series for value in row.values if value is not None]
    low, high = min(values), max(values)
    width = min(canvas.widest(names, font), frame.width * MAX_NAMES_SHARE)
    # Values that only differ by rounding errors get no additional digits.
    step = max((high - low) / 50, abs(low) / 1e9, abs(high) / 1e9) or 1.0
    ends = units.numbers((low, high), step)
    scale = canvas.widest(ends, canvas.measures.small) + (_SCALE_EM + 1.6) * font
    left, right = frame.left + width + LABEL_GAP_EM * font, frame.right - scale
    height, labels = _name_labels(
        canvas, plot.names, (right - left) / len(plot.names), frame.height, in_order=False
    )
    box = Box(left, frame.top, right, frame.bottom - height)
    axes = canvas.axes(box)
    grid = [[nan if value is None else value for value in row.values] for row in plot.series]
    down, across = box.height / len(names), box.width / len(plot.names)
    cells = axes.pcolormesh(
        np.arange(len(plot.names) + 1) - 0.5, np.arange(len(names) + 1) - 0.5, grid,
        edgecolors=PAPER, linewidth=min(0.8, 0.1 * min(down, across)), **_ramp(low, high),
    )  # fmt: skip
    axes.set_xlim(-0.5, len(plot.names) - 0.5)
    axes.set_ylim(len(names) - 0.5, -0.5)
    axes.set_xticks(**labels)
    every = max(1, -int(-font // down))
    axes.set_yticks(
        range(0, len(names), every),
        canvas.letters.fit_all(names[::every], font, width), **canvas.font(),
    )  # fmt: skip
    if low < high:
        _draw_scale(canvas, cells, box, {low: ends[0], high: ends[1]})
    texts = [["" if isnan(value) else units.number(value, step) for value in line] for line in grid]
    longest = canvas.widest([text for line in texts for text in line], canvas.measures.small)
    if down < 1.3 * canvas.measures.small or longest > across - 4:
        return
    shades = cells.to_rgba(np.array(grid))
    for (row, column), text in np.ndenumerate(texts):
        if text:
            ink = ink_on(to_hex(tuple(shades[row, column])))
            axes.text(column, row, str(text), horizontalalignment="center",
                      verticalalignment="center_baseline",
                      **canvas.font(canvas.measures.small, ink))  # fmt: skip


def _draw_scale(canvas: Canvas, cells: QuadMesh, box: Box, ends: dict[float, str]) -> None:
    """Draw a strip of colours right of the cells, which fill ``box``, and name its ends."""
    font = canvas.measures.font
    bottom = box.top + min(box.height, 16 * font)
    strip = canvas.axes(Box(box.right + font, box.top, box.right + (1 + _SCALE_EM) * font, bottom))
    canvas.figure.colorbar(cells, cax=strip).outline.set_visible(False)
    strip.set_ylim(min(ends), max(ends))
    strip.set_yticks(list(ends), list(ends.values()), **canvas.font(canvas.measures.small, INK))
    lowest, highest = strip.get_yticklabels()
    lowest.set_verticalalignment("bottom")
    highest.set_verticalalignment("top")


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
