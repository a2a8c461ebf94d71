"""A chart of any table of numbers: its kind, axis and series."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Literal, get_args

from mdvec.text import cited

PlotKind = Literal["bar", "line", "area", "scatter", "histogram", "box", "heatmap"]
PLOT_KINDS: tuple[PlotKind, ...] = get_args(PlotKind)
Axis = Literal["names", "numbers", "times", "months"]
Unit = Literal["", "yen", "percent"]
"""The unit of the values; percentages are in tenths of a per cent."""
_MAX_DESCRIBED = 8
_DIGITS = 10
_YEARS = 1900, 2100


@dataclass(frozen=True, slots=True)
class PlotNote:
    """What a chart leaves out or aggregates, for its picture and for its text."""

    japanese: str
    english: str


@dataclass(frozen=True, slots=True)
class Series:
    """A value, or None, for each x value: of the plot, or the series' own ``places`` if given.

    Args:
        color: "" for a colour that follows from the name, or in a query's plot from the position.
        band: the lower and upper bound of each value, if known.
    """

    name: str
    values: tuple[float | None, ...]
    color: str = ""
    places: tuple[float, ...] = ()
    band: tuple[tuple[float | None, float | None], ...] = ()


@dataclass(frozen=True, slots=True)
class Plot:
    """Series over names, numbers, times (seconds since 1970, UTC) or months (since year 0).

    The five series of a ``box`` chart are minimum, quartiles and maximum at each name; the series
    of a ``heatmap`` are its rows. The ``x`` of a ``histogram`` are the beginnings of its bins.

    Args:
        names: the names at the x values, if the axis has names.
        step: the width of a bin.
        grain: the smallest difference between values of a histogram; 0 if there is no smallest.
        in_order: whether the names are dates or numbers; bars of other names may be horizontal.
        running: the x values whose y values are not complete yet, such as the running month.
        empty: the x values without data.
    """

    kind: PlotKind
    title: str
    axis: Axis
    x: tuple[float, ...]
    series: tuple[Series, ...]
    names: tuple[str, ...] = ()
    step: float = 0.0
    grain: float = 0.0
    notes: tuple[PlotNote, ...] = ()
    unit: Unit = ""
    in_order: bool = False
    running: tuple[float, ...] = ()
    empty: tuple[float, ...] = ()

    @property
    def points(self) -> int:
        """How many values the plot shows."""
        return sum(value is not None for series in self.series for value in series.values)

    @property
    def note(self) -> str:
        """The note in the picture below its title, in Japanese."""
        return "。".join(note.japanese for note in self.notes)

    def in_words(self) -> str:
        """A description for readers without the picture: kind, span and extremes.

        At most the first eight series are described.
        """
        title = f" {cited(self.title)}" if self.title else ""
        described = {"histogram": self._bins, "box": self._boxes, "heatmap": self._cells}
        kind = {"histogram": "histogram", "heatmap": "heat map"}.get(
            self.kind, f"{self.kind} chart"
        )
        return f"{kind}{title} of {'; '.join(described.get(self.kind, self._lines)())}"

    def _lines(self) -> list[str]:
        has_order = self.axis != "names" and self.kind != "scatter"
        described = [
            f"{cited(series.name)} {self._extremes(series, with_last=has_order)}"
            for series in self.series[:_MAX_DESCRIBED]
        ]
        more = len(self.series) - len(described)
        span = f"{self._place(self.x[0])} to {self._place(self.x[-1])}"
        span = self._named_span("name") if self.axis == "names" else span
        return [span, *described, *([f"{more} more series"] if more else [])]

    def _bins(self) -> list[str]:
        (counts,) = self.series
        most, position = max(
            (value or 0.0, position) for position, value in enumerate(counts.values)
        )
        begins = [self._place(begin) for begin in self.x]
        # The last possible value of a bin, which may differ from the first of the next bin.
        ends = [self._place(begin + self.step - self.grain) for begin in self.x]
        begin, end = begins[position], ends[position]
        return [
            f"{begins[0]} to {ends[-1]} in {_counted(len(self.x), 'bin')}",
            f"most, {_number(most)}, {f'at {begin}' if begin == end else f'from {begin} to {end}'}",
        ]

    def _boxes(self) -> list[str]:
        low, _, median, _, high = self.series
        least = min(value for value in low.values if value is not None)
        greatest = max(value for value in high.values if value is not None)
        return [
            self._named_span("group"),
            f"medians: {self._extremes(median, with_last=False)}",
            f"all values: {_number(least)} to {_number(greatest)}",
        ]

    def _cells(self) -> list[str]:
        rows = self.series
        cells = [
            (value, f"{cited(name)}, {cited(row.name)}")
            for row in rows
            for name, value in zip(self.names, row.values, strict=True)
            if value is not None
        ]
        named = f"{_counted(len(rows), 'row')}, {cited(rows[0].name)} to {cited(rows[-1].name)}"
        return [f"{self._named_span('column')}, and {named}", _extremes(cells)]

    def _named_span(self, noun: str) -> str:
        names = self.names
        noun = noun if len({*names}) == len(names) else "row"
        until = f" to {cited(names[-1])}" if len(names) > 1 else ""
        return f"{_counted(len(names), noun)}, {cited(names[0])}{until}"

    def _extremes(self, series: Series, *, with_last: bool) -> str:
        xs = series.places or self.x
        cells = [
            (
                value,
                repr(self.names[position]) if self.axis == "names" else self._place(xs[position]),
            )
            for position, value in enumerate(series.values)
            if value is not None
        ]
        if not cells:
            return "without values"
        last = f", last {_number(cells[-1][0])}" if with_last else ""
        if last and series.values[-1] is None:  # then the last value is not at the last place
            last += f" ({cells[-1][1]})"
        return f"{_extremes(cells)}{last}"

    @property
    def are_whole(self) -> bool:
        """Whether the x values are whole numbers."""
        return self.axis == "numbers" and all(at.is_integer() for at in (*self.x, self.step))

    @property
    def are_years(self) -> bool:
        """Whether the x values may be years, which are written without separators."""
        return self.are_whole and _YEARS[0] <= min(self.x) <= max(self.x) + self.step <= _YEARS[1]

    def _place(self, value: float) -> str:
        if self.are_years:
            return f"{value:.0f}"
        if self.axis != "times":
            return _number(value)
        return datetime.fromtimestamp(value, UTC).strftime("%Y-%m-%d %H:%M").removesuffix(" 00:00")


def _extremes(cells: list[tuple[float, str]]) -> str:
    """The least and the greatest value, each with its place."""
    (least, at), (greatest, there) = min(cells), max(cells, key=lambda cell: cell[0])
    if least == greatest:
        return f"always {_number(least)}"
    return f"least {_number(least)} ({at}), greatest {_number(greatest)} ({there})"


def _counted(number: float, noun: str) -> str:
    return f"{_number(number)} {noun}{'' if number == 1 else 's'}"


def _number(value: float) -> str:
    whole = len(f"{abs(value):.0f}") if abs(value) < 1e15 else 0
    return f"{value:,.{max(_DIGITS, whole)}g}"
