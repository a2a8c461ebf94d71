"""Draws the chart of any table of numbers."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from matplotlib.ticker import MaxNLocator

from mdvec.charts.chart import ChartError
from mdvec.charts.framing import draw_frame, draw_legend, draw_line
from mdvec.charts.page import Box, Page
from mdvec.charts.plot import Plot, PlotSeries
from mdvec.charts.styles import AXIS, BACKGROUND, FAINT_INK, GRID, INK, color, darker

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_DAY = 86_400
_FROM_ZERO = ("bar", "area", "histogram")
_WITH_LEGEND = ("bar", "line", "area", "scatter")
_BOX_PARTS = 5

# Multiples of the font size, and shares of the room there is.
_X_LABELS_EM, _LABEL_EM, _TOP_EM, _RIGHT_EM, _TICK_EM = 1.8, 0.8, 0.6, 1.6, 2.2
_NAME_EM, _X_TICK_EM = 3.0, 7.0
_MAX_LABEL_SHARE, _BAR_SHARE, _BOX_SHARE = 0.35, 0.8, 0.5
_ALPHA = 0.5
_LOW_HEAT, _HIGH_HEAT = (0xEA, 0xF4, 0xF7), (0x1B, 0x5E, 0x7A)
_DARK_HEAT = 0.55


@dataclass(frozen=True, slots=True)
class _Plane:
    """Turns values into points of the page."""

    box: Box
    xs: tuple[float, float]
    ys: tuple[float, float]

    def x(self, value: float) -> float:
        return self.box.left + self.box.width * _share(value, *self.xs)

    def y(self, value: float) -> float:
        return self.box.bottom - self.box.height * _share(value, *self.ys)


def draw_plot(page: Page, plot: Plot) -> None:
    """Draw a plot.

    Raises:
        ChartError: it has no values.
    """
    values = [value for series in plot.series for value in series.values if value is not None]
    if not values:
        raise ChartError("グラフにできる値がありません。")
    frame = draw_frame(page, plot.title, [plot.note])
    top = frame.top
    if plot.kind in _WITH_LEGEND and len(plot.series) > 1:
        top = draw_legend(
            page, frame, [(series.name, color(n)) for n, series in enumerate(plot.series)]
        )
    font = page.style.font
    bottom = frame.bottom - _X_LABELS_EM * font
    if plot.kind == "heatmap":
        _draw_heat(page, plot, Box(frame.left, top, frame.right, bottom), values)
        return
    low, high = min(values), max(values)
    if plot.kind in _FROM_ZERO:
        low, high = min(low, 0.0), max(high, 0.0)
    ticks = _ticks(low, high, max(2, min(8, int((bottom - top) / font / _TICK_EM))))
    labels = [_number(tick, ticks) for tick in ticks]
    width = min(max(page.typeface.width(caption, font) for caption in labels),
                frame.width * _MAX_LABEL_SHARE)  # fmt: skip
    box = Box(frame.left + width + _LABEL_EM * font, top + font * _TOP_EM,
              frame.right - _RIGHT_EM * font, bottom)  # fmt: skip
    plane = _Plane(box, _x_range(plot), (min(low, ticks[0]), max(high, ticks[-1])))
    for tick, label in zip(ticks, labels, strict=True):
        y = plane.y(tick)
        page.guide((box.left, y), (box.right, y), AXIS if tick == 0 else GRID)
        page.text(box.left - 0.6 * font, y, label, font, align="right", ink=FAINT_INK,
                  width=width + 1)  # fmt: skip
    _draw_x_axis(page, plot, plane)
    _DRAWN[plot.kind](page, plot, plane)


def _share(value: float, low: float, high: float) -> float:
    return (value - low) / (high - low) if high > low else 0.5


def _ticks(low: float, high: float, most: int) -> list[float]:
    """Round values that cover the range."""
    ticks = MaxNLocator(nbins=most, steps=[1, 2, 2.5, 5, 10]).tick_values(low, high)
    return [float(value) for value in ticks]


def _times(low: float, high: float, most: int) -> list[float]:
    """Times at whole days, hours, minutes or seconds."""
    unit = next((unit for unit in (_DAY, 3_600, 60) if high - low > 2 * unit), 1)
    places = MaxNLocator(nbins=most, integer=True).tick_values(low / unit, high / unit)
    return [float(position) * unit for position in places]


def _number(value: float, ticks: Sequence[float]) -> str:
    step = abs(ticks[1] - ticks[0]) if len(ticks) > 1 else abs(value) or 1.0
    if max(abs(value), step) >= 1e12 or step < 1e-6:
        return f"{value:.4g}"
    places = max(0, 1 - math.floor(math.log10(step)))
    text = f"{value:,.{places}f}"
    text = text.rstrip("0").rstrip(".") if "." in text else text
    return "0" if text == "-0" else text


def _x_range(plot: Plot) -> tuple[float, float]:
    if plot.axis == "names":
        return -0.5, len(plot.names) - 0.5
    return min(plot.x), max(plot.x) + plot.step


def _draw_x_axis(page: Page, plot: Plot, plane: _Plane) -> None:
    font, box = page.style.font, plane.box
    middle = box.bottom + _X_LABELS_EM / 1.8 * font
    if plot.axis == "names":
        _draw_names(page, plot.names, plane.x, box, middle)
        return
    most = max(2, min(8, int(box.width / font / _X_TICK_EM)))
    span = plane.xs[1] - plane.xs[0]
    is_time = plot.axis == "times"
    ticks = _times(*plane.xs, most) if is_time else _ticks(*plane.xs, most)
    for tick in ticks:
        if not plane.xs[0] <= tick <= plane.xs[1]:
            continue
        text = _time(tick, span) if is_time else _number(tick, ticks)
        x = plane.x(tick)
        page.guide((x, box.bottom), (x, box.bottom + 0.3 * font), AXIS)
        page.text(x, middle, text, font, align="center", ink=FAINT_INK)


def _draw_names(
    page: Page, names: Sequence[str], x: Callable[[float], float], box: Box, middle: float
) -> None:
    """Write as many of the names as there is room for."""
    font = page.style.font
    each = box.width / len(names)
    longest = max(page.typeface.width(name, font) for name in names) + font / 2
    skip = max(1, math.ceil(min(longest, _NAME_EM * font) / each))
    for position in range(0, len(names), skip):
        page.text(x(position), middle, names[position], font, align="center", ink=FAINT_INK,
                  width=each * skip)  # fmt: skip


def _time(seconds: float, span: float) -> str:
    moment = _EPOCH + timedelta(seconds=seconds)
    if span > 2 * _DAY:
        return f"{moment:%Y-%m-%d}"
    return f"{moment:%H:%M}" if span > 300 else f"{moment:%H:%M:%S}"


def _draw_bars(page: Page, plot: Plot, plane: _Plane) -> None:
    width = _BAR_SHARE / len(plot.series)
    for number, series in enumerate(plot.series):
        for position, value in enumerate(series.values):
            if value is not None:
                left = position - _BAR_SHARE / 2 + number * width
                _draw_bar(page, plane, (left, left + width), value, color(number))


def _draw_bins(page: Page, plot: Plot, plane: _Plane) -> None:
    for start, value in zip(plot.x, plot.series[0].values, strict=True):
        if value:
            _draw_bar(page, plane, (start, start + plot.step), value, color(0))


def _draw_bar(page: Page, plane: _Plane, xs: tuple[float, float], value: float, ink: str) -> None:
    left, right = plane.x(xs[0]), plane.x(xs[1])
    top, bottom = sorted((plane.y(value), plane.y(0)))
    gap = min(1.0, (right - left) * 0.1)
    page.rectangle(Box(left + gap, top, right - gap, bottom), ink)


def _runs(plot: Plot, series: PlotSeries, plane: _Plane) -> Iterator[list[tuple[float, float]]]:
    """The points of a series between its gaps."""
    run: list[tuple[float, float]] = []
    for x, value in zip(series.places or plot.x, series.values, strict=True):
        if value is not None:
            run.append((plane.x(x), plane.y(value)))
        elif run:
            yield run
            run = []
    if run:
        yield run


def _draw_lines(page: Page, plot: Plot, plane: _Plane) -> None:
    for number, series in reversed(list(enumerate(plot.series))):
        for run in _runs(plot, series, plane):
            if plot.kind == "area":
                zero = plane.y(0)
                edge = [(run[0][0], zero), *run, (run[-1][0], zero)]
                page.polygon(edge, color(number), _ALPHA)
            if len(run) > 1:
                draw_line(page, run, color(number), min(page.style.line, 2.5))
            else:
                page.dot(run[0], page.style.line * 1.5, color(number), darker(color(number)))


def _draw_dots(page: Page, plot: Plot, plane: _Plane) -> None:
    radius = page.style.line * (1.2 if len(plot.x) < 300 else 0.7)
    for number, series in enumerate(plot.series):
        for x, value in zip(plot.x, series.values, strict=True):
            if value is not None:
                point = plane.x(x), plane.y(value)
                page.dot(point, radius, color(number), darker(color(number)))


def _draw_boxes(page: Page, plot: Plot, plane: _Plane) -> None:
    for position in range(len(plot.names)):
        quartiles = [series.values[position] for series in plot.series]
        parts = [value for value in quartiles if value is not None]
        if len(parts) != _BOX_PARTS:
            continue
        low, first, middle, third, high = (plane.y(value) for value in parts)
        x, half = plane.x(position), (plane.x(1) - plane.x(0)) * _BOX_SHARE / 2
        page.line([(x, low), (x, high)], INK, 1.2)
        page.rectangle(Box(x - half, third, x + half, first), color(2))
        for y, ink, reach in ((low, INK, 0.5), (high, INK, 0.5), (middle, INK, 1.0)):
            page.line([(x - half * reach, y), (x + half * reach, y)], ink, 1.8)


def _draw_heat(page: Page, plot: Plot, frame: Box, values: Sequence[float]) -> None:
    font = page.style.font
    names = [series.name for series in plot.series]
    width = min(max(page.typeface.width(name, font) for name in names),
                frame.width * _MAX_LABEL_SHARE)  # fmt: skip
    box = Box(frame.left + width + _LABEL_EM * font, frame.top, frame.right, frame.bottom)
    low, high = min(values), max(values)
    across, down = box.width / len(plot.names), box.height / len(names)
    texts = _ticks(low, high, 50)
    for row, series in enumerate(plot.series):
        top = box.top + row * down
        if down >= font or row % math.ceil(font / down) == 0:
            page.text(box.left - 0.6 * font, top + down / 2, series.name, font, align="right",
                      ink=FAINT_INK, width=width + 1)  # fmt: skip
        for column, value in enumerate(series.values):
            if value is None:
                continue
            left, share = box.left + column * across, _share(value, low, high)
            page.rectangle(Box(left, top, left + across - 1, top + down - 1), _heat(share))
            text = _number(value, texts)
            if down > 1.3 * font and page.typeface.width(text, font) < across - 4:
                ink = BACKGROUND if share > _DARK_HEAT else INK
                page.text(left + across / 2, top + down / 2, text, font, align="center", ink=ink)
    plane = _Plane(box, (-0.5, len(plot.names) - 0.5), (0, 1))
    _draw_names(page, plot.names, plane.x, box, box.bottom + font)


def _heat(share: float) -> str:
    pairs = zip(_LOW_HEAT, _HIGH_HEAT, strict=True)
    return "#" + "".join(f"{round(low + (high - low) * share):02X}" for low, high in pairs)


_DRAWN: dict[str, Callable[[Page, Plot, _Plane], None]] = {
    "bar": _draw_bars, "line": _draw_lines, "area": _draw_lines, "scatter": _draw_dots,
    "histogram": _draw_bins, "box": _draw_boxes,
}  # fmt: skip
