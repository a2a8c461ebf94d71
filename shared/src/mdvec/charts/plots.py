"""Turns the result of a query into a chart of at most 2,000 points."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from mdvec.charts import plot_sql
from mdvec.charts.plot import Axis, Plot, PlotKind, PlotNote, Series
from mdvec.charts.plot_sql import MAX_BINS, MAX_POINTS, PlotRefused, is_scale
from mdvec.datasets import Column, has_dates, is_measured

_MAX_NAMES, _MAX_BARS, _MAX_SERIES, _MAX_BOXES, _MAX_CELLS = 200, 60, 8, 30, 40
_MAX_BYTES = 4_000_000
_MEANS_NOTE = PlotNote(
    "同じ位置にある行は平均で示しています", "rows at the same place are shown as their mean"
)
_PARTS = ("min", "q1", "median", "q3", "max")
Row = list[Any]
"""Texts, numbers and None."""


class FoundRows(Protocol):
    """The first rows of a result; ``more`` tells whether it has others."""

    @property
    def rows(self) -> list[Row]: ...  # noqa: D102 - see the class
    @property
    def more(self) -> bool: ...  # noqa: D102


class Queries(Protocol):
    """Runs our SQL, with ``{source}`` where a table's name could stand, over a user's source."""

    def columns(self, source: str, /) -> Sequence[Column]:
        """The columns of the source."""
        ...

    def rows(self, source: str, sql: str, /, *, max_rows: int, max_bytes: int) -> FoundRows:
        """The first rows of a SELECT over the source."""
        ...


@dataclass(frozen=True, slots=True)
class Plots:
    """Charts of queries over any table."""

    queries: Queries

    def plot(self, source: str, kind: PlotKind, title: str) -> Plot:
        """The chart of a query: its first column is x, the others are series of numbers.

        A histogram shows the first column; boxes show one column by the names before it, or all
        columns; a heat map needs x, y and a value.

        Raises:
            QueryError: the query failed.
            PlotRefused: its columns do not fit the kind of chart.
        """
        plot = self._plotted(source, self.queries.columns(source), kind, title)
        if not plot.points:
            raise PlotRefused("the result has no values to draw")
        return plot

    def _plotted(self, source: str, columns: Sequence[Column], kind: PlotKind, title: str) -> Plot:
        if kind == "histogram":
            return self._histogram(source, columns, title)
        if kind == "box":
            return self._boxes(source, columns, title)
        if kind == "heatmap":
            return self._heat(source, columns, title)
        ys = [
            position for position, column in enumerate(columns) if position and is_measured(column)
        ]
        if not ys:
            raise PlotRefused(
                f"a {kind} chart needs x as the first column and numbers after it: "
                "SELECT x, y FROM …"
            )
        is_long = len(columns) == 3 and ys == [2] and kind != "scatter"
        if is_long:
            return self._long(source, kind, columns, title)
        if kind != "bar" and is_scale(columns[0]):
            return self._over_scale(source, kind, columns, ys[:_MAX_SERIES], title)
        if kind == "scatter":
            raise PlotRefused("a scatter chart needs numbers or dates as its first column")
        return self._over_names(source, kind, columns, ys[:_MAX_SERIES], title)

    def _rows(self, source: str, sql: str, most: int) -> tuple[list[Row], bool]:
        fetched = self.queries.rows(source, sql, max_rows=most, max_bytes=_MAX_BYTES)
        return fetched.rows, fetched.more

    def _over_names(
        self, source: str, kind: PlotKind, columns: Sequence[Column], ys: list[int], title: str
    ) -> Plot:
        most = (_MAX_BARS if kind == "bar" else _MAX_NAMES) // (len(ys) if kind == "bar" else 1)
        rows, more = self._rows(source, plot_sql.rows_sql(columns, plot_sql.text(0), ys), most)
        notes = (_only_first(len(rows)),) if more else ()
        x = tuple(float(position) for position in range(len(rows)))
        names = tuple(str(row[0]) for row in rows)
        return Plot(
            kind, title, "names", x, _series(columns, ys, rows), names, notes=notes,
            in_order=is_scale(columns[0]),
        )  # fmt: skip

    def _over_scale(
        self, source: str, kind: PlotKind, columns: Sequence[Column], ys: list[int], title: str
    ) -> Plot:
        most = MAX_POINTS // len(ys)
        count, low, high = self._span(source, columns, 0)
        notes: tuple[PlotNote, ...] = ()
        is_cloud = kind == "scatter" and len(ys) == 1 and count > most
        if count <= most:
            sql = plot_sql.rows_sql(columns, plot_sql.number_sql(columns, 0), ys)
        elif is_cloud:
            _, least, greatest = self._span(source, columns, ys[0])
            chosen = [columns[0], columns[ys[0]]]
            if ys[0] != 1:
                raise PlotRefused("a scatter chart of many rows needs x and y as first columns")
            sql = plot_sql.cells_sql(columns, (low, high), (least, greatest), MAX_BINS)
            notes = (_means(count, f"{MAX_BINS}×{MAX_BINS}", "の区画", "cells"),)
            columns = [*chosen, *columns[2:]]
        else:
            sql = plot_sql.means_sql(columns, ys, low, high, most)
            notes = (_means(count, most, "区間", "intervals"),)
        rows, _ = self._rows(source, sql, MAX_POINTS)
        if not is_cloud:  # whose cells are in an order that does not depend on rounding
            rows.sort(key=lambda row: row[0])
        x = tuple(float(row[0]) for row in rows)
        return Plot(kind, title, _axis(columns[0]), x, _series(columns, ys, rows), notes=notes)

    def _long(self, source: str, kind: PlotKind, columns: Sequence[Column], title: str) -> Plot:
        """Rows of x, the name of a series, and a value."""
        largest, _ = self._rows(source, plot_sql.largest_sql(columns, _MAX_SERIES), _MAX_SERIES)
        names = [str(name) for name, _ in largest]
        notes: list[PlotNote] = []
        if largest and largest[0][1] > _MAX_SERIES:
            notes.append(
                PlotNote(
                    f"{largest[0][1]}系列のうち大きい{_MAX_SERIES}系列を示しています",
                    f"only the largest {_MAX_SERIES} of {largest[0][1]} series are shown",
                )
            )
        if kind == "bar" or not is_scale(columns[0]):
            return self._long_over_names(source, kind, columns, title, names, notes)
        first = plot_sql.number_sql(columns, 0)
        sql = plot_sql.cells_of_names_sql(columns, first, _MAX_SERIES)
        rows, more = self._rows(source, sql, MAX_POINTS)
        if more:
            count, low, high = self._span(source, columns, 0)
            bins = MAX_POINTS // len(names)
            sql = plot_sql.means_of_names_sql(columns, low, high, bins, _MAX_SERIES)
            rows, _ = self._rows(source, sql, MAX_POINTS)
            notes.append(_means(count, bins, "区間", "intervals"))
        elif _has_means(rows):
            notes.append(_MEANS_NOTE)
        rows.sort(key=lambda row: row[0])
        series = tuple(
            Series(
                name,
                tuple(row[2] for row in own),
                places=tuple(float(row[0]) for row in own),
            )
            for name in names
            if (own := [row for row in rows if row[1] == name])
        )
        xs = tuple(dict.fromkeys(float(row[0]) for row in rows))
        return Plot(kind, title, _axis(columns[0]), xs, series, notes=tuple(notes))

    def _long_over_names(
        self,
        source: str,
        kind: PlotKind,
        columns: Sequence[Column],
        title: str,
        names: Sequence[str],
        notes: list[PlotNote],
    ) -> Plot:
        sql = plot_sql.cells_of_names_sql(columns, plot_sql.text(0), _MAX_SERIES)
        rows, more = self._rows(source, sql, MAX_POINTS)
        xs = list(dict.fromkeys(row[0] for row in rows))
        most = _MAX_BARS if kind == "bar" else _MAX_NAMES
        if more or len(xs) > most:
            notes.append(_only_first(min(most, len(xs))))
            xs = xs[:most]
        if _has_means(rows):
            notes.append(_MEANS_NOTE)
        values = {(row[0], row[1]): row[2] for row in rows}
        series = tuple(Series(name, tuple(values.get((x, name)) for x in xs)) for name in names)
        places = tuple(float(position) for position in range(len(xs)))
        return Plot(
            kind, title, "names", places, series, tuple(xs), notes=tuple(notes),
            in_order=is_scale(columns[0]),
        )  # fmt: skip

    def _histogram(self, source: str, columns: Sequence[Column], title: str) -> Plot:
        if not is_scale(columns[0]):
            raise PlotRefused("a histogram needs numbers or dates as the first column")
        count, low, high = self._span(source, columns, 0)
        bins = max(1, min(MAX_BINS, round(count**0.5)))
        rows, _ = self._rows(source, plot_sql.counts_sql(columns, low, high, bins), bins)
        step = (high - low) / bins or 1.0
        counts = {int(row[0]): float(row[1]) for row in rows}
        x = tuple(low + position * step for position in range(bins))
        series = Series("件数", tuple(counts.get(position, 0.0) for position in range(bins)))
        note = PlotNote(
            f"{count:,}件を{bins}区間に分けています", f"{count:,} values in {bins} bins"
        )
        return Plot("histogram", title, _axis(columns[0]), x, (series,), step=step, notes=(note,))

    def _boxes(self, source: str, columns: Sequence[Column], title: str) -> Plot:
        measured = [position for position, column in enumerate(columns) if is_measured(column)][
            :_MAX_BOXES
        ]
        if not measured:
            raise PlotRefused("a box chart needs a column of numbers")
        if measured == [1]:
            sql = plot_sql.quarters_sql(columns, 1, plot_sql.text(0), _MAX_BOXES + 1)
            rows, _ = self._rows(source, sql, _MAX_BOXES + 1)
        else:
            rows = []
            for position in measured:
                quarters, _ = self._rows(
                    source, plot_sql.quarters_sql(columns, position, "''", 1), 1
                )
                rows += [[columns[position].name[:60], *row[1:]] for row in quarters]
        note = PlotNote(
            f"行の多い{_MAX_BOXES}件だけを示しています",
            f"only the {_MAX_BOXES} groups with the most rows are shown",
        )
        notes = (note,) if len(rows) > _MAX_BOXES else ()
        rows = rows[:_MAX_BOXES]
        series = tuple(
            Series(part, tuple(row[position] for row in rows))
            for position, part in enumerate(_PARTS, 1)
        )
        x = tuple(float(position) for position in range(len(rows)))
        return Plot("box", title, "names", x, series, tuple(row[0] for row in rows), notes=notes)

    def _heat(self, source: str, columns: Sequence[Column], title: str) -> Plot:
        if len(columns) < 3 or not is_measured(columns[2]):
            raise PlotRefused("a heat map needs three columns: x, y and a number")
        sql = plot_sql.cells_of_names_sql(columns, plot_sql.text(0))
        rows, more = self._rows(source, sql, MAX_POINTS)
        xs = list(dict.fromkeys(row[0] for row in rows))
        ys = list(dict.fromkeys(row[1] for row in rows))
        cut = more or max(len(xs), len(ys)) > _MAX_CELLS
        xs, ys = xs[:_MAX_CELLS], ys[:_MAX_CELLS]
        values = {(row[0], row[1]): row[2] for row in rows}
        series = tuple(Series(y, tuple(values.get((x, y)) for x in xs)) for y in ys)
        x = tuple(float(position) for position in range(len(xs)))
        shown = f"{len(xs)}×{len(ys)}"
        note = PlotNote(f"最初の{shown}だけを示しています", f"only the first {shown} are shown")
        notes = [note] if cut else []
        notes += [_MEANS_NOTE] if _has_means(rows) else []
        return Plot("heatmap", title, "names", x, series, tuple(xs), notes=tuple(notes))

    def _span(
        self, source: str, columns: Sequence[Column], position: int
    ) -> tuple[int, float, float]:
        (row,), _ = self._rows(source, plot_sql.span_sql(columns, position), 1)
        if not row[0]:
            raise PlotRefused(f"the column {columns[position].name[:60]!r} has no values to draw")
        return int(row[0]), float(row[1]), float(row[2])


def _series(
    columns: Sequence[Column], ys: Sequence[int], rows: Sequence[Row]
) -> tuple[Series, ...]:
    return tuple(
        Series(columns[y].name[:60], tuple(row[position] for row in rows))
        for position, y in enumerate(ys, 1)
    )


def _only_first(number: int) -> PlotNote:
    return PlotNote(f"最初の{number}件だけを示しています", f"only the first {number} are shown")


def _means(rows: int, number: int | str, parts: str, in_english: str) -> PlotNote:
    return PlotNote(
        f"{rows:,}行を{number}{parts}ごとの平均で示しています",
        f"{rows:,} rows are shown as the means of {number} {in_english}",
    )


def _has_means(rows: Sequence[Row]) -> bool:
    """Whether some values, each followed by its number of rows, are of several rows."""
    return any(row[-1] > 1 for row in rows)


def _axis(column: Column) -> Axis:
    return "times" if has_dates(column) else "numbers"
