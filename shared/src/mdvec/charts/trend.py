"""Draws series over months as lines, areas or bars, with the axis of months and its marks."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

from mdvec.charts import framing
from mdvec.charts.chart import ChartError, Series, TrendChart, month_number
from mdvec.charts.framing import draw_frame, draw_legend, draw_line
from mdvec.charts.page import Box, Page, Point
from mdvec.charts.styles import AXIS, BACKGROUND, EMPTY_BAND, FAINT_INK, GRID, darker, lighter

_RUNNING, _EMPTY = "途中", "明細なし"
_WORD_EM = 0.95  # from the plot up to the middle of a word
_GAP_EM = 0.5


def marks_note(chart: TrendChart) -> str:
    """What the marks mean; "" without any."""
    if not chart.empty:
        return "薄い月は途中（明細がまだ揃っていません）" if chart.running else ""
    return f"{'薄い月は途中、' if chart.running else ''}灰色の月は明細なし（0円ではありません）"


def draw_marks(
    page: Page, chart: TrendChart, box: Box, x: Callable[[float], float], month_width: float
) -> None:
    """Draw a band behind each stretch of empty months, and a word above what is marked.

    A word that has no room is left out; the note says what the bands are.
    """
    half, small = month_width / 2, page.style.small
    middle = box.top - _WORD_EM * page.style.font
    words = []
    for first, last in _month_stretches(map(month_number, chart.empty)):
        left, right = max(x(first) - half, box.left), min(x(last) + half, box.right)
        band = Box(left, box.top, right, box.bottom)
        page.rectangle(band, EMPTY_BAND)
        words.append((((band.left + band.right) / 2), _EMPTY))
    words += [
        ((x(first) + x(last)) / 2, _RUNNING)
        for first, last in _month_stretches(map(month_number, chart.running))
    ]
    free_until = page.size[0] - page.style.gap
    for center, word in sorted(words, reverse=True):  # the running month, the last, first of all
        width = page.typeface.width(word, small)
        right = min(center + width / 2, free_until)
        if right - width < page.style.gap or right < center:
            continue
        page.text(right - width, middle, word, small, ink=FAINT_INK)
        free_until = right - width - _GAP_EM * small


def _month_stretches(numbers: Iterable[int]) -> list[tuple[int, int]]:
    """Consecutive months, each stretch with its first and last."""
    stretches: list[tuple[int, int]] = []
    for number in sorted(numbers):
        if stretches and number == stretches[-1][1] + 1:
            stretches[-1] = (stretches[-1][0], number)
        else:
            stretches.append((number, number))
    return stretches


_STEPS = (1, 2, 3, 6, 12, 24, 60, 120, 240, 600, 1200)  # months from label to label
_MONTH_ROOM, _YEAR_ROOM = 1.25, 1.15  # widths of a label that each label gets

# Multiples of the font size.
_MONTH_TICK_EM = 0.3
_LABELS_EM = 1.0  # from the axis to the middle of the labels
_YEARS_EM = 1.25  # from the months to the years


def draw_months(page: Page, box: Box, numbers: Sequence[int], x: Callable[[int], float]) -> None:
    """Label the months, with the year under the first and each January, or the years alone."""
    font = page.style.font
    first, last = numbers[0], numbers[-1]
    month_width = x(first + 1) - x(first) if last > first else box.width
    month_label = page.typeface.width("12月", font) * _MONTH_ROOM
    year_label = page.typeface.width("2025年", font) * _YEAR_ROOM
    step = next(
        (
            step
            for step in _STEPS
            if month_width * step >= (month_label if step < 12 else year_label)
            and month_width * max(step, 12) >= year_label
        ),
        _STEPS[-1],
    )
    ticks = [number for number in range(first, last + 1) if number % step == 0] or [first]
    middle = box.bottom + _LABELS_EM * font
    for number in ticks:
        page.guide((x(number), box.bottom), (x(number), box.bottom + _MONTH_TICK_EM * font), AXIS)
        text = f"{number // 12}年" if step >= 12 else f"{number % 12 + 1}月"
        page.text(x(number), middle, text, font, align="center", ink=FAINT_INK)
    if step < 12:
        _draw_years(page, ticks, x, middle + _YEARS_EM * font, year_label)


def _draw_years(
    page: Page, ticks: Sequence[int], x: Callable[[int], float], middle: float, label_width: float
) -> None:
    """Write the year under the first tick and under the first tick of each later year."""
    starts = [
        number for at, number in enumerate(ticks) if at == 0 or number // 12 != ticks[at - 1] // 12
    ]
    if len(starts) > 1 and x(starts[1]) - x(starts[0]) < label_width:
        del starts[0]
    for number in starts:
        page.text(
            x(number), middle, f"{number // 12}年", page.style.font, align="center", ink=FAINT_INK
        )


# The plot. Measures called …_EM are multiples of the font size, shares are of the room there is.
_MONTHS_EM = 2.9  # the months and years under the plot
_TICK_EM = 2.0  # the least distance of two values on the axis
_MIN_TICKS, _MAX_TICKS = 2, 8
_MAX_LABEL_SHARE = 0.4
_LABEL_EM, _LABEL_GAP_EM = 0.8, 0.6  # from the left of the plot to a label's box, to its text
_TOP_EM, _RIGHT_EM = 0.6, 1.2  # free above the plot, and to its right
_WORDS_EM = 1.6  # above the plot, for the words on months that are marked

# Lines, areas and bars.
_MAX_DOTTED_MONTHS = 24
_DOT_RADIUS = 1.5  # line widths
_MAX_LINE_SHARE, _MIN_LINE = 0.35, 1.5  # of the distance of two months; pixels
_ALPHA_ALONE, _ALPHA_AMONG_OTHERS = 0.55, 0.38
_RUNNING_ALPHA_SHARE = 0.4
_RUNNING_DASHES = (4, 4)
_BARS_SHARE = 0.8  # of a month's width
_ZERO_BAR = 1.5  # pixels


@dataclass(frozen=True, slots=True)
class _Plane:
    """Turns a month and an amount into a point of the page; ``margin`` is in months."""

    box: Box
    numbers: tuple[int, ...]
    ticks: range
    margin: float
    running: frozenset[int]

    @property
    def month_width(self) -> float:
        months = self.numbers[-1] - self.numbers[0] + 2 * self.margin
        return self.box.width / max(months, 1)

    def x(self, number: float) -> float:
        first, last = self.numbers[0], self.numbers[-1]
        if first == last:
            return self.box.left + self.box.width / 2
        return self.box.left + self.month_width * (number - first + self.margin)

    def y(self, value: int) -> float:
        low, high = self.ticks[0], self.ticks[-1]
        return self.box.bottom - self.box.height * ((value - low) / (high - low))


def draw_trend(page: Page, chart: TrendChart) -> None:
    """Draw every series; a line is interrupted where a month has no value.

    Raises:
        ChartError: there are no values, or the months are not ascending.
    """
    numbers = _month_numbers(chart)
    values = [value for line in chart.series for value in line.values if value is not None]
    if not values:
        raise ChartError("グラフにできる月のデータがありません。")
    font = page.style.font
    frame = draw_frame(page, chart.title, [marks_note(chart), chart.note])
    series = chart.colored
    top = draw_legend(page, frame, [(line.name, line.color) for line in series])
    top += font * (_TOP_EM + (_WORDS_EM if chart.running or chart.empty else 0))
    bottom = frame.bottom - font * _MONTHS_EM
    max_ticks = max(min(int((bottom - top) / font / _TICK_EM), _MAX_TICKS), _MIN_TICKS)
    ticks = framing.steps(min(0, *values), max(0, *values), max_ticks)
    labels = {
        value: framing.percentage(value) if chart.percent else framing.tick(value, ticks.step)
        for value in ticks
    }
    label_width = min(
        max(page.typeface.width(text, font) for text in labels.values()),
        frame.width * _MAX_LABEL_SHARE,
    )
    left = frame.left + label_width + _LABEL_EM * font
    box = Box(left, top, frame.right - _RIGHT_EM * font, bottom)
    running = frozenset(map(month_number, chart.running))
    plane = _Plane(box, numbers, ticks, 0.5 if chart.kind == "bar" else 0.0, running)
    draw_marks(page, chart, box, plane.x, plane.month_width)
    _draw_values(page, plane, labels, label_width)
    draw_months(page, box, numbers, plane.x)
    _DRAWN[chart.kind](page, series, plane)


def _month_numbers(chart: TrendChart) -> tuple[int, ...]:
    numbers = tuple(month_number(month) for month in chart.months)
    if not numbers or any(
        later <= sooner for sooner, later in zip(numbers, numbers[1:], strict=False)
    ):
        raise ChartError("グラフの月がないか、古い順に並んでいません。")
    if any(len(series.values) != len(numbers) for series in chart.series):
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


def _draw_bars(page: Page, series: Sequence[Series], plane: _Plane) -> None:
    """Draw the series side by side in each month, those of running months lighter."""
    width = min(plane.month_width, plane.box.width) * _BARS_SHARE / max(len(series), 1)
    zero = plane.y(0)
    for position, bars in enumerate(series):
        for number, value in zip(plane.numbers, bars.values, strict=True):
            if value is None:
                continue
            left = plane.x(number) + width * (position - len(series) / 2)
            y = plane.y(value) if value else zero - _ZERO_BAR
            is_running = number in plane.running
            page.rectangle(
                Box(left, min(y, zero), left + width, max(y, zero)),
                lighter(bars.color) if is_running else bars.color,
                rim=bars.color if is_running else None,
            )


def _draw_areas(page: Page, series: Sequence[Series], plane: _Plane) -> None:
    """Fill the areas below the lines; the largest first, so that it lies under the others."""
    alpha = _ALPHA_ALONE if len(series) == 1 else _ALPHA_AMONG_OTHERS
    zero = plane.y(0)
    for area in sorted(series, key=lambda area: -_total(area)):
        for run, is_running in _stretches(area, plane):
            if len(run) == 1:
                (x, y), half = run[0], page.style.line
                run = [(x - half, y), (x + half, y)]
            page.polygon(
                [(run[0][0], zero), *run, (run[-1][0], zero)],
                area.color, alpha * (_RUNNING_ALPHA_SHARE if is_running else 1),
            )  # fmt: skip
    _draw_lines(page, series, plane)


def _draw_lines(page: Page, series: Sequence[Series], plane: _Plane) -> None:
    """Draw the lines with a dot for each month; towards a running month they are dashed."""
    radius = page.style.line * _DOT_RADIUS
    width = min(page.style.line, max(plane.month_width * _MAX_LINE_SHARE, _MIN_LINE))
    for line in reversed(series):
        lone = set()
        for run, is_running in _stretches(line, plane):
            if len(run) == 1:
                lone.add(run[0])
            elif is_running:
                page.line(run, darker(line.color), width, _RUNNING_DASHES)
            else:
                draw_line(page, run, line.color, width)
        for number, value in zip(plane.numbers, line.values, strict=True):
            if value is None:
                continue
            point, is_running = (plane.x(number), plane.y(value)), number in plane.running
            if is_running or point in lone or len(plane.numbers) <= _MAX_DOTTED_MONTHS:
                fill = BACKGROUND if is_running else line.color
                page.dot(point, radius, fill, darker(line.color))


def _total(series: Series) -> int:
    return sum(value for value in series.values if value is not None)


def _stretches(series: Series, plane: _Plane) -> Iterator[tuple[list[Point], bool]]:
    """The points of consecutive months with values, and whether they lead to a running month.

    Two stretches that touch share a point.
    """
    stretch: list[Point] = []
    before, leads_to_running = None, False
    for number, value in zip(plane.numbers, series.values, strict=True):
        is_apart = value is None or (before is not None and before != number - 1)
        is_running = number in plane.running
        if stretch and (is_apart or is_running != leads_to_running):
            yield stretch, leads_to_running
            stretch = [] if is_apart else stretch[-1:]
        if value is not None:
            stretch.append((plane.x(number), plane.y(value)))
        before, leads_to_running = number, is_running
    if stretch:
        yield stretch, leads_to_running


_DRAWN: dict[str, Callable[[Page, Sequence[Series], _Plane], None]] = {
    "line": _draw_lines, "area": _draw_areas, "bar": _draw_bars,
}  # fmt: skip
