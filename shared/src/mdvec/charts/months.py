"""The month axis: a label under every month, or under as many as there is room for."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from mdvec.charts.page import Box, Page
from mdvec.charts.styles import AXIS, FAINT_INK

_STEPS = (1, 2, 3, 6, 12, 24, 60, 120, 240, 600, 1200)  # months from label to label
_MONTH_ROOM, _YEAR_ROOM = 1.25, 1.15  # widths of a label that each label gets

# Multiples of the font size.
_TICK_EM = 0.3
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
        page.guide((x(number), box.bottom), (x(number), box.bottom + _TICK_EM * font), AXIS)
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
