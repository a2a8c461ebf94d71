"""Amounts by category as horizontal bars, the largest on top."""

from __future__ import annotations

from dataclasses import dataclass

from mdvec.charts import framing
from mdvec.charts.categories import CategoryEntry, colored, entries_of, members_note, merge_small
from mdvec.charts.chart import CategoryChart, ChartError
from mdvec.charts.framing import draw_frame
from mdvec.charts.page import Box, Page
from mdvec.charts.styles import AXIS, FAINT_INK, INK, LOSS_INK, OTHERS_COLOR

# Rows. Measures called …_EM are multiples of the letters' size.
_MIN_ROW = 13.0  # pixels
_MAX_ROW_EM = 4.5
_GAPS = 5  # of the page's style, between the frame's parts
_LETTERS_SHARE, _BAR_SHARE = 0.86, 0.7  # of a row's height

# Columns: at most these shares of the width, with gaps between them.
_MAX_NAMES_SHARE, _MAX_VALUES_SHARE = 0.34, 0.36
_NAME_GAP_EM, _VALUE_GAP_EM, _VALUES_EM = 0.6, 0.4, 0.8

# The value axis, in multiples of the small letters' size.
_AXIS_EM, _TICK_LABEL_EM, _TICK_GAP_EM = 1.6, 0.9, 0.5
_TICK_ROOM_EM, _MAX_TICKS = 6, 6


@dataclass(frozen=True, slots=True)
class _Scale:
    """Turns an amount into a place between left and right."""

    box: Box
    low: int
    high: int

    def __call__(self, value: int) -> float:
        share = (value - self.low) / (self.high - self.low)
        return self.box.left + self.box.width * share


@dataclass(frozen=True, slots=True)
class _Row:
    """The place of a bar with its texts, and the size of their letters."""

    middle: float
    height: float
    letters: float


def draw_bars(page: Page, chart: CategoryChart) -> None:
    """Draw every amount, the negative ones to the left of zero.

    Raises:
        ChartError: all amounts are zero.
    """
    if not any(value for _, value in chart.items):
        raise ChartError("棒グラフにできる金額がありません（すべて0円です）。")
    entries = _entries(chart, max(_max_rows(page) - 1, 2))
    frame = draw_frame(page, chart.title, [members_note(entries), chart.note])
    room = frame.height - _AXIS_EM * page.style.small
    row = min(room / len(entries), _MAX_ROW_EM * page.style.font)
    letters = min(page.style.font, row * _LETTERS_SHARE)
    labels = _labels(page, entries, letters, frame.width * _MAX_VALUES_SHARE)
    names_width = min(
        max(page.typeface.width(entry.name, letters) for entry in entries),
        frame.width * _MAX_NAMES_SHARE,
    )
    values_width = max(page.typeface.width(label, letters) for label in labels)
    top = frame.top + (room - row * len(entries)) / 2
    box = Box(
        frame.left + names_width + _NAME_GAP_EM * letters,
        top,
        frame.right - (values_width + _VALUES_EM * letters),
        top + row * len(entries),
    )
    amounts = [entry.value for entry in entries]
    scale = _Scale(box, min(0, *amounts), max(0, *amounts))
    _draw_axis(page, scale)
    for number, (entry, label) in enumerate(zip(entries, labels, strict=True)):
        _draw_bar(page, entry, label, scale, _Row(box.top + (number + 0.5) * row, row, letters))


def _entries(chart: CategoryChart, most: int) -> list[CategoryEntry]:
    """The bars from top to bottom; those of targets are grey."""
    if not chart.targets:
        return colored(merge_small(entries_of(chart), most), chart.among)
    spent = colored(entries_of(chart)[: most // 2], chart.among)
    targets = [CategoryEntry(*target, color=OTHERS_COLOR) for target in chart.targets]
    return [entry for pair in zip(spent, targets, strict=False) for entry in pair]


def _max_rows(page: Page) -> int:
    style = page.style
    return int((page.size[1] - 2 * style.title - _GAPS * style.gap - style.small) / _MIN_ROW)


def _labels(
    page: Page, entries: list[CategoryEntry], letters: float, max_width: float
) -> list[str]:
    """The amounts in full if all of them fit, else shortened."""
    labels = [framing.amount(entry.value) for entry in entries]
    if max(page.typeface.width(label, letters) for label in labels) > max_width:
        return [framing.short(entry.value) for entry in entries]
    return labels


def _draw_axis(page: Page, scale: _Scale) -> None:
    """Draw upright lines at round amounts, with as many labels as there is room for."""
    box, small = scale.box, page.style.small
    max_ticks = max(min(int(box.width / (_TICK_ROOM_EM * small)), _MAX_TICKS), 1)
    ticks = framing.steps(scale.low, scale.high, max_ticks)
    free_from = 0.0
    for value in ticks:
        if not scale.low <= value <= scale.high:
            continue
        x, text = scale(value), framing.tick(value, ticks.step)
        page.guide((x, box.top), (x, box.bottom))
        half = page.typeface.width(text, small) / 2
        if x - half >= free_from:
            y = box.bottom + _TICK_LABEL_EM * small
            page.text(x, y, text, small, align="center", ink=FAINT_INK)
            free_from = x + half + _TICK_GAP_EM * small


def _draw_bar(page: Page, entry: CategoryEntry, label: str, scale: _Scale, row: _Row) -> None:
    zero, end = scale(0), scale(entry.value)
    middle, letters, half = row.middle, row.letters, row.height * _BAR_SHARE / 2
    page.rectangle(Box(min(zero, end), middle - half, max(zero, end), middle + half), entry.color)
    page.guide((zero, middle - row.height / 2), (zero, middle + row.height / 2), AXIS)
    name_end = scale.box.left - _NAME_GAP_EM * letters
    page.text(name_end, middle, entry.name, letters, align="right", width=name_end - page.style.gap)
    ink = LOSS_INK if entry.value < 0 else INK
    page.text(max(zero, end) + _VALUE_GAP_EM * letters, middle, label, letters, ink=ink)
