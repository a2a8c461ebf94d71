"""Formats numbers, yen, shares and times for a chart, and finds round values for its axes."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from datetime import UTC, datetime, time, timedelta

from matplotlib.dates import AutoDateLocator, num2date
from matplotlib.ticker import MaxNLocator

from mdvec.charts.plot import Unit

_UNITS = ((10**12, "兆"), (10**8, "億"), (10**4, "万"))
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_YEAR = 31_556_952.0  # seconds
_CALENDAR = (-1900 * _YEAR, 8000 * _YEAR)
"""The range of Python's dates with some margin, in seconds since 1970."""
_MONTH_STEPS = (1, 2, 3, 6, 12, 24, 60, 120, 240, 600, 1200)
Label = tuple[float, str, str]
"""A place on an axis, its label, and the line below that, which is shown where it changes."""


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
    """Tenths of a percent as text: 125 is ``12.5%``."""
    return f"{'-' if tenths < 0 else ''}{abs(tenths) // 10}.{abs(tenths) % 10}%"


def tick(value: int, step: int) -> str:
    """An axis value in yen, in 万, 億 or 兆 if the step is a multiple of that."""
    for size, unit in _UNITS:
        if step % size == 0 and value:
            return f"{value // size:,}{unit}円"
    return amount(value)


def number(value: float, step: float) -> str:
    """A number with enough digits to differ from one ``step`` away; ``0`` only for zero."""
    value += 0.0  # -0.0 is 0, too
    place = math.floor(math.log10(step))
    if max(abs(value), step) < 1e12 and step >= 1e-6:
        text = f"{value:,.{max(0, 1 - place)}f}"
        text = text.rstrip("0").rstrip(".") if "." in text else text
        if text not in ("0", "-0") or not value:
            return text
    digits = math.floor(math.log10(abs(value) or 1)) - place + 2
    return f"{value:,.{min(max(digits, 2), 17)}g}"


def numbers(values: Sequence[float], step: float) -> list[str]:
    """Numbers with enough digits to distinguish those that differ in their first ten digits."""
    distinct = len({f"{value + 0.0:.10g}" for value in values})
    texts = [number(value, step) for value in values]
    while len({*texts}) < distinct:
        step /= 10
        texts = [number(value, step) for value in values]
    return texts


def labels(values: Sequence[float], step: float) -> list[str]:
    """Numbers with all of their digits if ten are enough, else rounded with ``~`` before them."""
    return [
        next((text for text in (near, f"{value:,.10g}") if _is_exact(text, value)), f"~{near}")
        for value, near in zip(values, numbers(values, step), strict=True)
    ]


def _is_exact(text: str, value: float) -> bool:
    """Whether a text is a number exactly, apart from rounding errors of floating point."""
    return math.isclose(float(text.replace(",", "")), value, rel_tol=1e-12)


def value_labels(
    low: float, high: float, most: int, unit: Unit, *, are_whole: bool = False
) -> dict[float, str]:
    """Round axis values that cover the range, each with its label in the unit."""
    locator = (
        MaxNLocator(nbins=most, steps=[1, 2, 5, 10], integer=True, min_n_ticks=1)
        if unit
        else MaxNLocator(nbins=most, steps=[1, 2, 2.5, 5, 10], integer=are_whole)
    )
    places = [float(value) for value in locator.tick_values(low, high)]
    step = abs(places[1] - places[0]) if len(places) > 1 else abs(low) or 1.0
    if unit == "percent":
        return {value: percentage(int(value)) for value in places}
    if unit:
        return {value: tick(int(value), int(step)) for value in places}
    near_zero = step / 1e6  # a rounding error at zero
    return {value: number(value if abs(value) > near_zero else 0.0, step) for value in places}


def month_labels(first: int, last: int, fits: Callable[[int], bool]) -> list[Label]:
    """Labels at months, as close as ``fits`` allows, or at years."""
    step = next(filter(fits, _MONTH_STEPS), _MONTH_STEPS[-1])
    ticks = [month for month in range(first, last + 1) if month % step == 0] or [first]
    if step >= 12:
        return [(month, f"{month // 12}年", "") for month in ticks]
    return [(month, f"{month % 12 + 1}月", f"{month // 12}年") for month in ticks]


def time_labels(low: float, high: float, most: int) -> list[Label]:
    """Labels at whole years, months, days, hours, minutes or seconds, with days or years below."""
    if not _CALENDAR[0] <= low <= high <= _CALENDAR[1]:  # DuckDB's dates have a wider range
        years = value_labels(1970 + low / _YEAR, 1970 + high / _YEAR, most, "")
        return [((year - 1970) * _YEAR, f"{text}年", "") for year, text in years.items()]
    begin, end = (_EPOCH + timedelta(seconds=seconds) for seconds in (low, max(high, low + 1)))
    locator = AutoDateLocator(minticks=2, maxticks=most)  # type: ignore[no-untyped-call]
    places: list[datetime] = num2date(locator.tick_values(begin, end))  # type: ignore[no-untyped-call]
    inside = [t for t in places if begin <= t <= end and not t.microsecond]
    times = inside if inside and low < high else [begin]
    upper, lower = _time_formats(times)
    return [((at - _EPOCH).total_seconds(), upper.format(at), lower.format(at)) for at in times]


def _time_formats(times: Sequence[datetime]) -> tuple[str, str]:
    if len(times) == 1 and times[0].time() == time():
        return "{0.year}/{0.month}/{0.day}", ""
    if any(at.second for at in times) or len(times) == 1:
        return "{0:%H:%M:%S}", "{0.year}/{0.month}/{0.day}"
    if any(at.hour or at.minute for at in times):
        return "{0:%H:%M}", "{0.year}/{0.month}/{0.day}"
    if any(at.day != 1 for at in times):
        return "{0.month}/{0.day}", "{0.year}年"
    if any(at.month != 1 for at in times):
        return "{0.month}月", "{0.year}年"
    return "{0.year}年", ""
