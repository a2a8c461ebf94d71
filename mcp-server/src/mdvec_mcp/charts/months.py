"""The months under a trend: as many as can be read."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from mdvec_mcp.charts.page import Box, Page
from mdvec_mcp.charts.styles import AXIS, FAINT_INK

_EVERY = (1, 2, 3, 6, 12, 24, 60, 120, 240, 600, 1200)


def draw_months(page: Page, box: Box, numbers: Sequence[int], x: Callable[[int], float]) -> None:
    """Months with their year under the first and under each January, or years alone."""
    pixels = page.style.font
    first, last = numbers[0], numbers[-1]
    apart = x(first + 1) - x(first) if last > first else box.width
    month_wide = page.typeface.width("12月", pixels) * 1.25
    year_wide = page.typeface.width("2025年", pixels) * 1.15
    every = next(
        (
            step
            for step in _EVERY
            if apart * step >= (month_wide if step < 12 else year_wide)
            and apart * max(step, 12) >= year_wide
        ),
        _EVERY[-1],
    )
    ticks = [number for number in range(first, last + 1) if number % every == 0] or [first]
    level = box.bottom + 1.0 * pixels
    for number in ticks:
        page.guide((x(number), box.bottom), (x(number), box.bottom + 0.3 * pixels), AXIS)
        text = f"{number // 12}年" if every >= 12 else f"{number % 12 + 1}月"
        page.text(x(number), level, text, pixels, align="center", ink=FAINT_INK)
    if every < 12:
        _years(page, ticks, x, level + 1.25 * pixels, year_wide)


def _years(
    page: Page, ticks: Sequence[int], x: Callable[[int], float], level: float, wide: float
) -> None:
    starts = [
        number for at, number in enumerate(ticks) if at == 0 or number // 12 != ticks[at - 1] // 12
    ]
    if len(starts) > 1 and x(starts[1]) - x(starts[0]) < wide:
        del starts[0]
    for number in starts:
        page.text(
            x(number), level, f"{number // 12}年", page.style.font, align="center", ink=FAINT_INK
        )
