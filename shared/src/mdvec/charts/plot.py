"""What a chart shows: its kind, axis, series and notes; its size; and what it says in words."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Literal, get_args

from mdvec.charts.colors import colors_of
from mdvec.dates import Month
from mdvec.errors import MdvecError
from mdvec.text import cited, counted

CategoryKind = Literal["pie", "bar"]
TrendKind = Literal["line", "area", "bar"]
PlotKind = Literal["bar", "line", "area", "scatter", "histogram", "box", "heatmap"]
CATEGORY_KINDS: tuple[CategoryKind, ...] = get_args(CategoryKind)
TREND_KINDS: tuple[TrendKind, ...] = get_args(TrendKind)
PLOT_KINDS: tuple[PlotKind, ...] = get_args(PlotKind)
Axis = Literal["names", "numbers", "times", "months"]
Unit = Literal["", "yen", "percent"]
"""The unit of the values; percentages are in tenths of a per cent."""
ImageFormat = Literal["png", "jpeg", "svg"]
MEDIA_TYPES: dict[ImageFormat, str] = {
    "png": "image/png", "jpeg": "image/jpeg", "svg": "image/svg+xml",
}  # fmt: skip
Size = tuple[int, int]
MIN_SIZE: Size = (200, 150)
MAX_SIZE: Size = (1920, 1080)
_DEFAULT_SIZE: Size = (800, 600)
_MAX_DESCRIBED = 8
_DIGITS = 10
_YEARS = 1900, 2100


class ChartError(MdvecError):
    """A chart that cannot be drawn; the message says why, in Japanese."""


@dataclass(frozen=True, slots=True)
class Picture:
    """The bytes of a picture."""

    data: bytes
    media_type: str


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
    of a ``heatmap`` are its rows. The ``x`` of a ``histogram`` are the beginnings of its bins. With
    ``keys``, the one series has amounts in yen by category, each in the category's colour.

    Args:
        names: the names at the x values, if the axis has names.
        step: the width of a bin.
        grain: the smallest difference between values of a histogram; 0 if there is no smallest.
        in_order: whether the names are dates or numbers; bars of other names may be horizontal.
        running: the x values whose y values are not complete yet, such as the running month.
        empty: the x values without data.
        keys: the categories of the names, which determine their colours; None for other plots.
        among: the names of all categories, so that a colour is the same in every chart.
        targets: the amount that each category may reach; its bar is drawn over this one.
    """

    kind: PlotKind | CategoryKind
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
    keys: tuple[str, ...] | None = None
    among: tuple[str, ...] = ()
    targets: tuple[int, ...] = ()

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
            f"{begins[0]} to {ends[-1]} in {counted(len(self.x), 'bin')}",
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
        named = f"{counted(len(rows), 'row')}, {cited(rows[0].name)} to {cited(rows[-1].name)}"
        return [f"{self._named_span('column')}, and {named}", _extremes(cells)]

    def _named_span(self, noun: str) -> str:
        names = self.names
        noun = noun if len({*names}) == len(names) else "row"
        until = f" to {cited(names[-1])}" if len(names) > 1 else ""
        return f"{counted(len(names), noun)}, {cited(names[0])}{until}"

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


def _number(value: float) -> str:
    whole = len(f"{abs(value):.0f}") if abs(value) < 1e15 else 0
    return f"{value:,.{max(_DIGITS, whole)}g}"


def category_plot(
    kind: CategoryKind, title: str, items: Sequence[tuple[str, int]], note: str = "", *,
    targets: Sequence[int] = (), among: Sequence[str] = (), keys: Sequence[str] = (),
) -> Plot:  # fmt: skip
    """Amounts in yen by category, in any order, as a pie or as bars.

    With ``targets``, one for each item, bars keep their order and are drawn over their targets.
    ``among`` are the names of all categories, which determine the colours. ``keys`` are the
    categories of the items, if these have other names.
    """
    names = tuple(name for name, _ in items)
    return Plot(
        kind, title, "names", tuple(map(float, range(len(items)))),
        (Series("", tuple(amount for _, amount in items)),), names, notes=noted(note), unit="yen",
        keys=tuple(keys) or names, among=tuple(among), targets=tuple(targets),
    )  # fmt: skip


def noted(japanese: str) -> tuple[PlotNote, ...]:
    """A note of a household's chart, which is translated as it is drawn; () for no text."""
    return (PlotNote(japanese, ""),) if japanese else ()


def month_plot(
    kind: TrendKind, title: str, months: Sequence[Month], series: Sequence[Series], *,
    percent: bool = False, running: Sequence[Month] = (), empty: Sequence[Month] = (),
    among: Sequence[str] = (),
) -> Plot:  # fmt: skip
    """Series with a value for each of ascending months, as lines, areas or bars.

    Values are in yen, or with ``percent`` in tenths of a percent. ``running`` months are not
    complete yet, ``empty`` ones have no data; both are marked. A month that is not listed is a gap.
    """
    x = tuple(map(_month_number, months))
    shown = tuple(range(x[0], x[-1] + 1)) if x else ()
    colors = colors_of([line.name for line in series], among)
    marks = ""
    if empty:
        marks = "薄い月は途中、" if running else ""
        marks += "灰色の月は明細なし（0円ではありません）"
    elif running:
        marks = "薄い月は途中（明細がまだ揃っていません）"
    return Plot(
        kind, title, "months", shown,
        tuple(
            replace(
                line, values=tuple(map(dict(zip(x, line.values, strict=True)).get, shown)),
                color=line.color or color,
            )
            for line, color in zip(series, colors, strict=True)
        ),
        notes=noted(marks),
        unit="percent" if percent else "yen",
        running=tuple(map(_month_number, running)), empty=tuple(map(_month_number, empty)),
    )  # fmt: skip


def _month_number(month: Month) -> int:
    """The month as a number counted from year 0, so that consecutive months differ by 1."""
    return month.year * 12 + month.month - 1


def parse_size(text: str, max_size: Size = MAX_SIZE) -> Size:
    """Read ``800x600`` as width and height in pixels.

    Raises:
        ChartError: it is not a size, or a size under 200x150 or over ``max_size``.
    """
    plain = unicodedata.normalize("NFKC", text).replace("×", "x").casefold().strip()
    read = re.fullmatch(r"([0-9]{1,5}) ?x ?([0-9]{1,5})", plain)
    if read is None:
        raise ChartError(
            f"画像サイズ「{text:.50}」を読み取れません。「800x600」のように幅x高さ（ピクセル）で"
            "指定してください。"
        )
    size = int(read[1]), int(read[2])
    if not all(
        low <= side <= high for low, side, high in zip(MIN_SIZE, size, max_size, strict=True)
    ):
        raise ChartError(
            f"画像サイズ {size[0]}x{size[1]} は使えません。{MIN_SIZE[0]}x{MIN_SIZE[1]} から "
            f"{max_size[0]}x{max_size[1]} までで指定してください。"
        )
    return size


def chosen_size(requested: str | None, max_size: str) -> Size:
    """The requested size, or the default one, which is never over ``max_size``.

    Raises:
        ChartError: see ``parse_size``.
    """
    most = parse_size(max_size)
    if requested:
        return parse_size(requested, most)
    return min(_DEFAULT_SIZE[0], most[0]), min(_DEFAULT_SIZE[1], most[1])
