"""Series over months, drawn as lines or as areas."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

from mdvec_mcp.charts import yen
from mdvec_mcp.charts.chart import ChartError, Series, TrendChart, month_number
from mdvec_mcp.charts.framing import draw_frame
from mdvec_mcp.charts.months import draw_months
from mdvec_mcp.charts.page import Box, Page, Points
from mdvec_mcp.charts.styles import AXIS, CATEGORY_COLORS, FAINT_INK, GRID, color, darker

# The plot. Measures called …_EM are multiples of the font size, shares are of the room there is.
_MONTHS_EM = 2.9  # the months and years under the plot
_TICK_EM = 2.0  # the least distance of two values on the axis
_MIN_TICKS, _MAX_TICKS = 2, 8
_MAX_LABEL_SHARE = 0.4
_LABEL_EM, _LABEL_GAP_EM = 0.8, 0.6  # from the left of the plot to a label's box, to its text
_TOP_EM, _RIGHT_EM = 0.6, 1.2  # free above the plot, and to its right

# The legend.
_SWATCH_EM, _ROW_EM, _GAP_EM, _NAME_GAP_EM = 1.6, 1.5, 1.2, 0.5
_MAX_LEGEND_SHARE = 0.22

# Lines and areas.
_DASHES = ((), (12, 5), (4, 4), (12, 4, 4, 4))  # one for each round through the palette
_MAX_DOTTED_MONTHS = 24
_DOT_RADIUS = 1.5  # line widths
_MAX_LINE_SHARE, _MIN_LINE = 0.35, 1.5  # of the distance of two months; pixels
_RIM = 1.6  # pixels that the dark rim adds to a line's width
_ALPHA_ALONE, _ALPHA_AMONG_OTHERS = 0.55, 0.38


class Named(Protocol):
    """A series of any chart."""

    @property
    def name(self) -> str:
        """What the legend calls it."""


@dataclass(frozen=True, slots=True)
class _Plane:
    """Turns a month and an amount into a point of the page."""

    box: Box
    numbers: tuple[int, ...]
    ticks: range

    def x(self, number: int) -> float:
        first, last = self.numbers[0], self.numbers[-1]
        share = (number - first) / (last - first) if last > first else 0.5
        return self.box.left + self.box.width * share

    def y(self, value: int) -> float:
        low, high = self.ticks[0], self.ticks[-1]
        return self.box.bottom - self.box.height * ((value - low) / (high - low))


def draw_trend(page: Page, chart: TrendChart) -> None:
    """Draw every series; a line is interrupted where a month has no value.

    Raises:
        ChartError: there are no values, or the months are not ascending.
    """
    numbers = _month_numbers(chart)
    values = [value for one in chart.series for value in one.values if value is not None]
    if not values:
        raise ChartError("グラフにできる月のデータがありません。")
    font = page.style.font
    frame = draw_frame(page, chart.title, [chart.note])
    top = draw_legend(page, frame, chart.series)
    bottom = frame.bottom - font * _MONTHS_EM
    max_ticks = max(min(int((bottom - top) / font / _TICK_EM), _MAX_TICKS), _MIN_TICKS)
    ticks = yen.steps(min(0, *values), max(0, *values), max_ticks)
    labels = {
        value: yen.percentage(value) if chart.percent else yen.tick(value, ticks.step)
        for value in ticks
    }
    label_width = min(
        max(page.typeface.width(text, font) for text in labels.values()),
        frame.width * _MAX_LABEL_SHARE,
    )
    left = frame.left + label_width + _LABEL_EM * font
    box = Box(left, top + font * _TOP_EM, frame.right - _RIGHT_EM * font, bottom)
    plane = _Plane(box, numbers, ticks)
    _draw_values(page, plane, labels, label_width)
    draw_months(page, box, numbers, plane.x)
    _draw_series(page, chart, plane)


def _month_numbers(chart: TrendChart) -> tuple[int, ...]:
    numbers = tuple(month_number(month) for month in chart.months)
    if not numbers or any(
        later <= sooner for sooner, later in zip(numbers, numbers[1:], strict=False)
    ):
        raise ChartError("グラフの月がないか、古い順に並んでいません。")
    if any(len(one.values) != len(numbers) for one in chart.series):
        raise ChartError("グラフの月と値の数が一致しません。")
    return numbers


def _draw_values(page: Page, plane: _Plane, labels: dict[int, str], width: float) -> None:
    """Draw the value axis: a level line with a label for each tick."""
    box, font = plane.box, page.style.font
    for value, text in labels.items():
        y = plane.y(value)
        page.guide((box.left, y), (box.right, y), AXIS if value == 0 else GRID)
        right = box.left - _LABEL_GAP_EM * font
        page.text(right, y, text, font, align="right", ink=FAINT_INK, width=width + 1)


def draw_legend(page: Page, box: Box, series: Sequence[Named]) -> float:
    """Name the series from left to right, line by line; return where the legend ends."""
    font = page.style.font
    gap, swatch, row, name_gap = (
        font * ems for ems in (_GAP_EM, _SWATCH_EM, _ROW_EM, _NAME_GAP_EM)
    )
    max_lines = max(int(box.height * _MAX_LEGEND_SHARE / row), 1)
    x, line = box.left, 0
    for number, one in enumerate(series):
        name_width = min(page.typeface.width(one.name, font) + 1, box.width - swatch - name_gap)
        more = f"ほか{len(series) - number}系列"
        needs_room_for_more = line + 1 >= max_lines and number + 1 < len(series)
        reserve = gap + page.typeface.width(more, font) if needs_room_for_more else 0.0
        if x > box.left and x + swatch + name_gap + name_width + reserve > box.right:
            if line + 1 >= max_lines:
                page.text(x, box.top + (line + 0.5) * row, more, font, ink=FAINT_INK)
                break
            x, line = box.left, line + 1
        middle = box.top + (line + 0.5) * row
        draw_line(page, [(x, middle), (x + swatch, middle)], number, page.style.line)
        x += swatch + name_gap
        x += page.text(x, middle, one.name, font, width=name_width) + gap
    return box.top + (line + 1) * row


def _draw_series(page: Page, chart: TrendChart, plane: _Plane) -> None:
    numbered = list(enumerate(chart.series))
    if chart.kind == "area":
        alpha = _ALPHA_ALONE if len(chart.series) == 1 else _ALPHA_AMONG_OTHERS
        # The largest first, so that it lies under the others.
        for number, one in sorted(numbered, key=lambda pair: -_total(pair[1])):
            for run in _runs(one, plane):
                _fill_area(page, run, plane, number, alpha)
    radius = page.style.line * _DOT_RADIUS
    month_width = plane.box.width / max(plane.numbers[-1] - plane.numbers[0], 1)
    line_width = min(page.style.line, max(month_width * _MAX_LINE_SHARE, _MIN_LINE))
    for number, one in reversed(numbered):
        for run in _runs(one, plane):
            if len(run) > 1:
                draw_line(page, run, number, line_width)
            if len(run) == 1 or len(plane.numbers) <= _MAX_DOTTED_MONTHS:
                for point in run:
                    page.dot(point, radius, color(number), darker(color(number)))


def _total(series: Series) -> int:
    return sum(value for value in series.values if value is not None)


def _runs(series: Series, plane: _Plane) -> Iterator[list[tuple[float, float]]]:
    """The points of each run of consecutive months with values."""
    run: list[tuple[float, float]] = []
    before = None
    for number, value in zip(plane.numbers, series.values, strict=True):
        if run and (value is None or before != number - 1):
            yield run
            run = []
        if value is not None:
            run.append((plane.x(number), plane.y(value)))
        before = number
    if run:
        yield run


def _fill_area(page: Page, run: Points, plane: _Plane, number: int, alpha: float) -> None:
    zero = plane.y(0)
    if len(run) == 1:
        (x, y), half = run[0], page.style.line
        run = [(x - half, y), (x + half, y)]
    page.polygon([(run[0][0], zero), *run, (run[-1][0], zero)], color(number), alpha)


def draw_line(page: Page, points: Points, number: int, width: float) -> None:
    """Draw a line with a dark rim: half of the palette is too pale for thin lines on white."""
    dashes = _DASHES[number // len(CATEGORY_COLORS) % len(_DASHES)]
    page.line(points, darker(color(number)), width + _RIM, dashes)
    page.line(points, color(number), width, dashes)
