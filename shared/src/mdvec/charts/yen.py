"""The numbers on a chart: amounts in yen, shares and axis ticks, all in integers."""

from __future__ import annotations

_UNITS = ((10**12, "兆"), (10**8, "億"), (10**4, "万"))


def amount(value: int) -> str:
    """An amount in full: ``12,345円``."""
    return f"{value:,}円"


def short(value: int) -> str:
    """An amount in its largest unit, with one decimal, rounded half up: ``1.2万円``."""
    for size, unit in _UNITS:
        if abs(value) >= size:
            tenths = (abs(value) * 20 + size) // (size * 2)
            return f"{'-' if value < 0 else ''}{tenths // 10:,}.{tenths % 10}{unit}円"
    return amount(value)


def share(part: int, whole: int) -> str:
    """A part in percent with one decimal, rounded half away from zero; ``whole`` is above 0."""
    return percentage((-1 if part < 0 else 1) * ((abs(part) * 2000 + whole) // (whole * 2)))


def percentage(tenths: int) -> str:
    """Tenths of a per cent as text: 125 is ``12.5%``."""
    return f"{'-' if tenths < 0 else ''}{abs(tenths) // 10}.{abs(tenths) % 10}%"


def steps(low: int, high: int, max_steps: int) -> range:
    """Round axis values that cover ``low`` to ``high`` in about ``max_steps`` steps or fewer."""
    high = max(high, low + 1)
    span = high - low
    step = 1
    while span > step * max_steps:
        # 1, 2, 5, 10, 20, 50, …
        step = step * 5 // 2 if str(step)[0] == "2" else step * 2
    return range(low // step * step, -(-high // step) * step + 1, step)


def tick(value: int, step: int) -> str:
    """An axis value, in 万, 億 or 兆 if the step is a multiple of that."""
    for size, unit in _UNITS:
        if step % size == 0 and value:
            return f"{value // size:,}{unit}円"
    return amount(value)
