"""Which columns a chart shows, and as what, from the names that a notebook gives."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from mdvec.analysis.errors import ChartRefused
from mdvec.charts.plot import PLOT_KINDS
from mdvec.datasets.core.columns import Column
from mdvec.datasets.core.families import is_measured

ColumnRole = Literal["place", "name", "number"]
"""A place on an axis, a name whatever its type, or a number."""


@dataclass(frozen=True, slots=True)
class WantedColumn:
    """A column of a chart."""

    name: str
    role: ColumnRole


@dataclass(frozen=True, slots=True)
class ChosenColumns:
    """The columns that a notebook chose, by name; each may be left out."""

    x: str | None
    ys: tuple[str, ...]
    color: str | None

    @property
    def is_empty(self) -> bool:
        """Whether no column was named."""
        return self.x is None and not self.ys and self.color is None


def chosen_columns(
    x: str | None, y: str | Sequence[str] | None, color: str | None
) -> ChosenColumns:
    """The names, with one y or several as a tuple."""
    ys = (y,) if isinstance(y, str) else tuple(y or ())
    return ChosenColumns(x, ys, color)


def wanted_columns(kind: str, chosen: ChosenColumns) -> list[WantedColumn]:
    """The columns of the chart in the order in which ``Plots`` takes them; none for all columns.

    Raises:
        ChartRefused: there is no such kind, or it needs other columns.
    """
    if kind not in PLOT_KINDS:
        kinds = f"{', '.join(PLOT_KINDS[:-1])} or {PLOT_KINDS[-1]}"
        raise ChartRefused(f"there is no {str(kind)[:40]!r} chart; give {kinds}")
    if chosen.is_empty:
        return []
    if kind == "histogram":
        return _of_histogram(chosen)
    if kind == "box":
        return _of_boxes(chosen)
    return _of_plane(kind, chosen)


def check_numbers(wanted: Sequence[WantedColumn], shown: Sequence[Column]) -> None:
    """Refuse a column wanted as numbers that holds none; ``Plots`` would skip it.

    Raises:
        ChartRefused: there is one.
    """
    for column, one in zip(shown, wanted, strict=False):
        if one.role == "number" and not is_measured(column):
            raise ChartRefused(
                f"the column {column.name[:60]!r} holds {column.type[:60]}, not numbers"
            )


def _of_histogram(chosen: ChosenColumns) -> list[WantedColumn]:
    if chosen.x is None or chosen.ys or chosen.color is not None:
        raise ChartRefused("a histogram shows one column; give it as x alone")
    return [WantedColumn(chosen.x, "place")]


def _of_boxes(chosen: ChosenColumns) -> list[WantedColumn]:
    x, ys = chosen.x, chosen.ys
    if chosen.color is not None or (x is not None and len(ys) > 1):
        raise ChartRefused("a box chart shows one y by the names in x, or several columns as y")
    if x is None:
        return [WantedColumn(name, "number") for name in ys]
    return (
        [WantedColumn(x, "name"), WantedColumn(ys[0], "number")]
        if ys
        else [WantedColumn(x, "number")]
    )


def _of_plane(kind: str, chosen: ChosenColumns) -> list[WantedColumn]:
    x, ys, color = chosen.x, chosen.ys, chosen.color
    if x is None or not ys:
        raise ChartRefused(f"a {kind} chart needs x and y, the names of columns")
    if kind == "heatmap":
        if color is None or len(ys) != 1:
            raise ChartRefused("a heat map needs x, y and color, the column of its numbers")
        return [
            WantedColumn(x, "place"),
            WantedColumn(ys[0], "place"),
            WantedColumn(color, "number"),
        ]
    if color is None:
        return [WantedColumn(x, "place"), *(WantedColumn(y, "number") for y in ys)]
    if kind == "scatter":
        raise ChartRefused("a scatter chart has no color; give several columns as y")
    if len(ys) != 1:
        raise ChartRefused("color names the series of one y; leave it out, or give one y")
    return [WantedColumn(x, "place"), WantedColumn(color, "name"), WantedColumn(ys[0], "number")]
