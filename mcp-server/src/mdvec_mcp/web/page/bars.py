"""The geometry of a chart of months in SVG units: grouped bars, and lines over them."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

WIDTH, HEIGHT = 800, 260
_LEFT, _RIGHT, _TOP, _BOTTOM = 64, 8, 12, 28
_MAX_LABELS = 14
_STEPS = (1, 2, 2.5, 5, 10)
_LINES = 4
_MAX_GROUP = 110
"""The maximum width of a month's bars, for charts of few months."""
Amounts = Sequence[int | None]


@dataclass(frozen=True, slots=True)
class Bar:
    """A rectangle for an amount of a month."""

    x: float
    y: float
    width: float
    height: float
    style: str
    month: str
    amount: int


@dataclass(frozen=True, slots=True)
class Tick:
    """A position on an axis, with its label."""

    at: float
    label: str


@dataclass(frozen=True, slots=True)
class Point:
    """An amount of a month on a line; as text, a point of an SVG polyline."""

    x: float
    y: float
    month: str
    amount: int

    def __str__(self) -> str:
        return f"{self.x},{self.y}"


@dataclass(frozen=True, slots=True)
class MonthChart:
    """Bars by month, lines over them by style, and the labels of both axes.

    ``running`` are the months that are not complete yet, ``empty`` the months without data; each
    month is ``slot`` SVG units wide. A line has None for a month without an amount.
    """

    bars: tuple[Bar, ...]
    lines: dict[str, list[Point | None]]
    months: tuple[Tick, ...]
    amounts: tuple[Tick, ...]
    zero: float
    slot: float
    running: tuple[Tick, ...]
    empty: tuple[Tick, ...]


def chart_of_months(
    months: Sequence[str],
    bars: Mapping[str, Amounts],
    lines: Mapping[str, Amounts],
    running: Collection[str] = (),
    empty: Collection[str] = (),
) -> MonthChart:
    """A chart of amounts by month; None leaves a gap. The keys are styles."""
    series = (*bars.values(), *lines.values())
    figures = [0, *(figure for amounts in series for figure in amounts if figure is not None)]
    step = _step(max(figures), min(figures))
    bottom = min(figures) // step * step
    top = max(-(-max(figures) // step) * step, bottom + step)

    def height_of(amount: float) -> float:
        return round(_TOP + (top - amount) / (top - bottom) * (HEIGHT - _TOP - _BOTTOM), 1)

    slot = (WIDTH - _LEFT - _RIGHT) / max(len(months), 1)
    every = max(-(-len(months) // _MAX_LABELS), 1)
    ticks = [
        Tick(round(_LEFT + slot * (number + 0.5), 1), month) for number, month in enumerate(months)
    ]
    return MonthChart(
        bars=tuple(_bars(months, bars, slot, height_of)),
        lines={
            style: [
                None if amount is None else Point(tick.at, height_of(amount), tick.label, amount)
                for tick, amount in zip(ticks, line, strict=True)
            ]
            for style, line in lines.items()
        },
        months=tuple(ticks[::every]),
        amounts=tuple(
            Tick(height_of(amount), f"{amount:,}") for amount in range(bottom, top + 1, step)
        ),
        zero=height_of(0),
        slot=round(slot, 1),
        running=tuple(tick for tick in ticks if tick.label in running),
        empty=tuple(tick for tick in ticks if tick.label in empty),
    )


def _bars(
    months: Sequence[str],
    series: Mapping[str, Amounts],
    slot: float,
    height_of: Callable[[float], float],
) -> Iterator[Bar]:
    width = min(slot * 0.8, _MAX_GROUP) / max(len(series), 1)
    margin = (slot - width * len(series)) / 2
    for position, (style, amounts) in enumerate(series.items()):
        for number, (month, amount) in enumerate(zip(months, amounts, strict=True)):
            if amount is None:
                continue
            x = _LEFT + slot * number + margin + width * position
            y, zero = height_of(amount), height_of(0)
            yield Bar(
                round(x, 1), min(y, zero), round(max(width - 1, 1), 1), round(abs(zero - y), 1),
                style, month, amount,
            )  # fmt: skip


def _step(most: int, least: int) -> int:
    """A round distance between grid lines with which there are about four of them."""
    raw = max((most - least) / _LINES, 1)
    size = 10 ** (len(str(int(raw))) - 1)
    return int(next(size * factor for factor in _STEPS if size * factor >= raw and
                    size * factor == int(size * factor)))  # fmt: skip
