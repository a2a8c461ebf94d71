"""Yen on a chart: amounts, shares and the steps of an axis, all in integers."""

from __future__ import annotations

_UNITS = ((10**12, "兆"), (10**8, "億"), (10**4, "万"))


def amount(value: int) -> str:
    """An amount in full: ``12,345円``."""
    return f"{value:,}円"


def short(value: int) -> str:
    """An amount in its largest unit with one decimal, rounded half up: ``1.2万円``."""
    for size, unit in _UNITS:
        if abs(value) >= size:
            tenths = (abs(value) * 20 + size) // (size * 2)
            return f"{'-' if value < 0 else ''}{tenths // 10:,}.{tenths % 10}{unit}円"
    return amount(value)


def share(part: int, whole: int) -> str:
    """A part in percent with one decimal, rounded half away from zero; ``whole`` is above 0."""
    return percentage((-1 if part < 0 else 1) * ((abs(part) * 2000 + whole) // (whole * 2)))


def percentage(tenths: int) -> str:
    """So many tenths of a per cent: ``12.5%``."""
    return f"{'-' if tenths < 0 else ''}{abs(tenths) // 10}.{abs(tenths) % 10}%"


def steps(low: int, high: int, most: int) -> range:
    """At most about ``most`` round values, from ``low`` or under it to ``high`` or over it."""
    high = max(high, low + 1)
    span = high - low
    step = 1
    while span > step * most:
        # 1, 2, 5, 10, 20, 50, …
        step = step * 5 // 2 if str(step)[0] == "2" else step * 2
    return range(low // step * step, -(-high // step) * step + 1, step)


def tick(value: int, step: int) -> str:
    """A value of an axis, in 万, 億 or 兆 where its step is that large."""
    for size, unit in _UNITS:
        if step % size == 0 and value:
            return f"{value // size:,}{unit}円"
    return amount(value)
