"""Marks on the month axis: months without data, and months that are not complete yet."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from mdvec.charts.chart import TrendChart, month_number
from mdvec.charts.page import Box, Page
from mdvec.charts.styles import EMPTY_BAND, FAINT_INK

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
    for first, last in _stretches(map(month_number, chart.empty)):
        left, right = max(x(first) - half, box.left), min(x(last) + half, box.right)
        band = Box(left, box.top, right, box.bottom)
        page.rectangle(band, EMPTY_BAND)
        words.append((((band.left + band.right) / 2), _EMPTY))
    words += [
        ((x(first) + x(last)) / 2, _RUNNING)
        for first, last in _stretches(map(month_number, chart.running))
    ]
    free_until = page.size[0] - page.style.gap
    for center, word in sorted(words, reverse=True):  # the running month, the last, first of all
        width = page.typeface.width(word, small)
        right = min(center + width / 2, free_until)
        if right - width < page.style.gap or right < center:
            continue
        page.text(right - width, middle, word, small, ink=FAINT_INK)
        free_until = right - width - _GAP_EM * small


def _stretches(numbers: Iterable[int]) -> list[tuple[int, int]]:
    """Consecutive months, each stretch with its first and last."""
    found: list[tuple[int, int]] = []
    for number in sorted(numbers):
        if found and number == found[-1][1] + 1:
            found[-1] = (found[-1][0], number)
        else:
            found.append((number, number))
    return found
