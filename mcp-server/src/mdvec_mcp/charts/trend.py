"""Series over months as lines or as areas."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from mdvec_mcp.charts import yen
from mdvec_mcp.charts.chart import ChartError, Series, TrendChart, month_number
from mdvec_mcp.charts.framing import framed
from mdvec_mcp.charts.months import draw_months
from mdvec_mcp.charts.page import Box, Page, Points
from mdvec_mcp.charts.styles import AXIS, CATEGORY_COLORS, FAINT_INK, GRID, color, darker

_DASHES = ((), (12, 5), (4, 4), (12, 4, 4, 4))
_DOTTED_MONTHS = 24


@dataclass(frozen=True, slots=True)
class _Plane:
    """Where a month and an amount lie."""

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
    """Draw every series; where a month has no value, the line breaks."""
    numbers = _checked(chart)
    values = [value for one in chart.series for value in one.values if value is not None]
    if not values:
        raise ChartError("グラフにできる月のデータがありません。")
    style = page.style
    around = framed(page, chart.title, [chart.note])
    top = _legend(page, around, chart.series)
    foot = style.font * 2.9
    height = around.bottom - foot - top
    ticks = yen.steps(
        min(0, *values), max(0, *values), max(min(int(height / style.font / 2), 8), 2)
    )
    pixels = style.font
    labels = {
        value: yen.percentage(value) if chart.percent else yen.tick(value, ticks.step)
        for value in ticks
    }
    wide = max(page.typeface.width(text, pixels) for text in labels.values())
    wide = min(wide, around.width * 0.4)
    left = around.left + wide + 0.8 * pixels
    box = Box(left, top + pixels * 0.6, around.right - 1.2 * pixels, around.bottom - foot)
    plane = _Plane(box, numbers, ticks)
    for value, text in labels.items():
        y = plane.y(value)
        page.guide((box.left, y), (box.right, y), AXIS if value == 0 else GRID)
        page.text(
            left - 0.6 * pixels, y, text, pixels, align="right", ink=FAINT_INK, width=wide + 1
        )
    draw_months(page, box, numbers, plane.x)
    _draw_series(page, chart, plane)


def _checked(chart: TrendChart) -> tuple[int, ...]:
    numbers = tuple(month_number(month) for month in chart.months)
    if not numbers or any(
        later <= sooner for sooner, later in zip(numbers, numbers[1:], strict=False)
    ):
        raise ChartError("グラフの月がないか、古い順に並んでいません。")
    if any(len(one.values) != len(numbers) for one in chart.series):
        raise ChartError("グラフの月と値の数が一致しません。")
    return numbers


def _legend(page: Page, box: Box, series: Sequence[Series]) -> float:
    """Name the series from left to right, line by line; return where the plot may begin."""
    pixels, gap = page.style.font, page.style.font * 1.2
    swatch, row = pixels * 1.6, pixels * 1.5
    lines = max(int(box.height * 0.22 / row), 1)
    x, line = box.left, 0
    for number, one in enumerate(series):
        wide = min(page.typeface.width(one.name, pixels) + 1, box.width - swatch - pixels / 2)
        more = f"ほか{len(series) - number}系列"
        last = line + 1 >= lines and number + 1 < len(series)
        reserve = gap + page.typeface.width(more, pixels) if last else 0.0
        if x > box.left and x + swatch + pixels / 2 + wide + reserve > box.right:
            if line + 1 >= lines:
                page.text(x, box.top + (line + 0.5) * row, more, pixels, ink=FAINT_INK)
                break
            x, line = box.left, line + 1
        middle = box.top + (line + 0.5) * row
        _stroke(page, [(x, middle), (x + swatch, middle)], number, page.style.line)
        x += swatch + pixels / 2
        x += page.text(x, middle, one.name, pixels, width=wide) + gap
    return box.top + (line + 1) * row


def _draw_series(page: Page, chart: TrendChart, plane: _Plane) -> None:
    numbered = list(enumerate(chart.series))
    if chart.kind == "area":
        # The largest first, so that it lies under the others.
        for number, one in sorted(numbered, key=lambda pair: -_weight(pair[1])):
            for run in _runs(one, plane):
                _fill(page, run, plane, number, 0.55 if len(chart.series) == 1 else 0.38)
    radius = page.style.line * 1.5
    apart = plane.box.width / max(plane.numbers[-1] - plane.numbers[0], 1)
    thick = min(page.style.line, max(apart * 0.35, 1.5))
    for number, one in reversed(numbered):
        for run in _runs(one, plane):
            if len(run) > 1:
                _stroke(page, run, number, thick)
            if len(run) == 1 or len(plane.numbers) <= _DOTTED_MONTHS:
                for point in run:
                    page.dot(point, radius, color(number), darker(color(number)))


def _weight(series: Series) -> int:
    return sum(value for value in series.values if value is not None)


def _runs(series: Series, plane: _Plane) -> Iterator[list[tuple[float, float]]]:
    """The stretches of neighbouring months that have values."""
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


def _fill(page: Page, run: Points, plane: _Plane, number: int, alpha: float) -> None:
    zero = plane.y(0)
    if len(run) == 1:
        (x, y), half = run[0], page.style.line
        run = [(x - half, y), (x + half, y)]
    page.polygon([(run[0][0], zero), *run, (run[-1][0], zero)], color(number), alpha)


def _stroke(page: Page, points: Points, number: int, thick: float) -> None:
    """A line with a dark rim: half of the palette is too pale for thin lines on white."""
    dashes = _DASHES[number // len(CATEGORY_COLORS) % len(_DASHES)]
    page.line(points, darker(color(number)), thick + 1.6, dashes)
    page.line(points, color(number), thick, dashes)
