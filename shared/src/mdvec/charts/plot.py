"""The chart of any table of numbers: its series, its axis and its form."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Literal, get_args

PlotKind = Literal["bar", "line", "area", "scatter", "histogram", "box", "heatmap"]
PLOT_KINDS: tuple[PlotKind, ...] = get_args(PlotKind)
Axis = Literal["names", "numbers", "times"]
_MAX_DESCRIBED = 8


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

    def in_words(self) -> str:
        """What it shows, for those who do not see it: its kind, its span, and each series' values.

        Of more than eight series, the first eight are described.
        """
        title = f" {self.title!r}" if self.title else ""
        if self.names:
            span = f"{len(self.names)} names, {self.names[0]!r} to {self.names[-1]!r}"
        elif self.x:
            first, last = (self._place(value) for value in (self.x[0], self.x[-1]))
            span = f"{first} to {last}"
        else:
            span = "nothing"
        described = [_values_in_words(series) for series in self.series[:_MAX_DESCRIBED]]
        more = len(self.series) - len(described)
        rest = [f"{more} more series"] if more else []
        return "; ".join([f"{self.kind} chart{title} of {span}", *described, *rest])

    def _place(self, value: float) -> str:
        if self.axis != "times":
            return f"{value:g}"
        return datetime.fromtimestamp(value, UTC).strftime("%Y-%m-%d %H:%M").removesuffix(" 00:00")


def _values_in_words(series: PlotSeries) -> str:
    values = [value for value in series.values if value is not None]
    if not values:
        return f"{series.name!r} without values"
    return f"{series.name!r} from {min(values):g} to {max(values):g}, last {values[-1]:g}"
