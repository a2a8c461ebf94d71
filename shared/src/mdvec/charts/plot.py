"""The chart of any table of numbers: its series, its axis and its form."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

PlotKind = Literal["bar", "line", "area", "scatter", "histogram", "box", "heatmap"]
PLOT_KINDS: tuple[PlotKind, ...] = get_args(PlotKind)
Axis = Literal["names", "numbers", "times"]


@dataclass(frozen=True, slots=True)
class PlotSeries:
    """One value for each place of the x axis, or None; or for each of its own places."""

    name: str
    values: tuple[float | None, ...]
    places: tuple[float, ...] = ()


@dataclass(frozen=True, slots=True)
class Plot:
    """Series over an axis of names, numbers or times (seconds since 1970, UTC).

    The series of ``box`` are the minimum, the quartiles and the maximum at each name; those of
    ``heatmap`` are its rows. In a ``histogram`` ``x`` holds the beginnings of the bins.

    Args:
        names: the names of the places, where the axis has names.
        step: the width of a bin.
    """

    kind: PlotKind
    title: str
    axis: Axis
    x: tuple[float, ...]
    series: tuple[PlotSeries, ...]
    names: tuple[str, ...] = ()
    step: float = 0.0
    note: str = ""

    @property
    def points(self) -> int:
        """How many values it shows."""
        return sum(value is not None for one in self.series for value in one.values)
