"""Turns the result of a query into a chart of at most 2,000 points, aggregated in SQL."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from math import isqrt
from typing import Any

from mdvec.charts.plot import Axis, Plot, PlotKind, PlotNote, Series
from mdvec.datasets import Column, decimals, family, has_dates, is_measured, may_be_infinite
from mdvec.errors import MdvecError
from mdvec.text import counted

MAX_POINTS, MAX_BINS = 2_000, 40
_MAX_NAMES, _MAX_BARS, _MAX_SERIES, _MAX_BOXES, _MAX_CELLS = 200, 60, 8, 30, 40
_PARTS = {"min": 0, "q1": 0.25, "median": 0.5, "q3": 0.75, "max": 1}
_MEANS_NOTE = PlotNote(
    "同じ位置にある行は平均で示しています", "rows at the same place are shown as their mean"
)
_DAY = 86_400.0
Row = list[Any]
"""Texts, numbers and None."""


class PlotRefused(MdvecError):
    """A query whose columns the kind of chart cannot show."""


Fetch = Callable[[str, int], tuple[list[Row], bool]]
"""Runs our SELECT over ``{source}``: at most that many rows, and whether there are more."""


def plot_of(columns: Sequence[Column], fetch: Fetch, kind: PlotKind, title: str) -> Plot:
    """The chart of a source: its first column is x, the others are series of numbers.

    A histogram shows the first column; boxes show one column by the names before it, or all
    columns; a heat map needs x, y and a value.

    Raises:
        PlotRefused: the columns do not fit the kind of chart.
    """
    rows = _Rows(columns, fetch)
    made = {"histogram": _histogram, "box": _boxes, "heatmap": _heat}.get(kind)
    plot = replace(made(rows) if made else _over_x(rows, kind), title=title)
    if not plot.points:
        raise PlotRefused("the result has no values to draw")
    return replace(plot, notes=(*plot.notes, *_not_drawn(rows, kind)))


@dataclass(frozen=True, slots=True)
class _Rows:
    """The rows of a source, whose columns SQL calls c0, c1, …."""

    columns: Sequence[Column]
    fetch: Fetch

    def of(self, sql: str, most: int = MAX_POINTS) -> tuple[list[Row], bool]:
        """The first rows of a SELECT, and whether there are more."""
        return self.fetch(sql, most)

    @property
    def from_(self) -> str:
        names = ", ".join(f"c{position}" for position in range(len(self.columns)))
        return f"FROM {{source}} AS t({names})"

    def number(self, position: int) -> str:
        """SQL: a column as a finite number or NULL; a time as its seconds since 1970."""
        if has_dates(self.columns[position]):
            time = f"CAST(c{position} AS TIMESTAMP)"
            return f"CASE WHEN isfinite({time}) THEN epoch({time}) END"
        value = f"CAST(c{position} AS DOUBLE)"
        return f"CASE WHEN isfinite({value}) THEN {value} END"

    def bin(self, position: int, span: tuple[float, float], bins: int) -> str:
        """SQL: the number of the bin of equal width that a column's value is in."""
        width = (span[1] - span[0]) / bins or 1.0
        value = f"floor(({self.number(position)} - {span[0]!r}) / {width!r})"
        return f"CAST(least(greatest({value}, 0), {bins - 1}) AS INTEGER)"

    def grain(self, position: int) -> float:
        """How far apart a column's values are at least; 0 where they may be arbitrarily near."""
        column = self.columns[position]
        if family(column) == "date":
            return _DAY
        is_exact = is_measured(column) and not may_be_infinite(column)
        return 10.0 ** -decimals(column) if is_exact else 0.0

    def span(self, position: int) -> tuple[int, tuple[float, float]]:
        """The number of values of a column, the least and the greatest."""
        value = self.number(position)
        ((row,), _) = self.of(f"SELECT count({value}), min({value}), max({value}) {self.from_}", 1)
        if not row[0]:
            name = self.columns[position].name[:60]
            raise PlotRefused(f"the column {name!r} has no values to draw")
        return int(row[0]), (float(row[1]), float(row[2]))

    def cells(self, first: str, largest: bool = True) -> tuple[list[Row], bool]:  # noqa: FBT001, FBT002
        """The mean of the third column for each ``first`` and text of the second, and its rows.

        They are in the order in which the rows have them; only those of the largest series.
        """
        is_large = f"AND k1 IN (SELECT k1 FROM {self.largest})" if largest else ""
        return self.of(
            f"SELECT k0, k1, avg(v), count(*) FROM (SELECT {first} AS k0, {_text(1)} AS k1, "
            f"{self.number(2)} AS v, row_number() OVER () AS n {self.from_}) "
            f"WHERE k0 IS NOT NULL {is_large} GROUP BY k0, k1 ORDER BY min(n)"
        )

    @property
    def largest(self) -> str:
        """SQL: the texts of the second column with the largest sums in the third, and how many."""
        return (
            f"(SELECT {_text(1)} AS k1, count(*) OVER () AS texts {self.from_} GROUP BY 1 "
            f"ORDER BY sum(abs({self.number(2)})) DESC NULLS LAST, 1 LIMIT {_MAX_SERIES})"
        )

    @property
    def in_order(self) -> bool:
        """Whether the first column's values, numbers or times, can be placed on an axis."""
        return is_measured(self.columns[0]) or has_dates(self.columns[0])

    @property
    def axis(self) -> Axis:
        """The axis of the first column's values."""
        return "times" if has_dates(self.columns[0]) else "numbers"


def _text(position: int) -> str:
    """SQL: a column as a label of at most 60 characters."""
    return f"left(coalesce(CAST(c{position} AS VARCHAR), '—'), 60)"


def _over_x(rows: _Rows, kind: PlotKind) -> Plot:
    """The chart of an x and columns of numbers, or of an x, a series' name and a number."""
    ys = [at for at, column in enumerate(rows.columns) if at and is_measured(column)]
    if not ys:
        raise PlotRefused(
            f"a {kind} chart needs x as the first column and numbers after it: SELECT x, y FROM …"
        )
    is_placed = kind != "bar" and rows.in_order
    if len(rows.columns) == 3 and ys == [2] and (is_placed or kind != "scatter"):
        if kind == "scatter":
            return _clouds(rows)
        return _long(rows, kind) if is_placed else _long_over_names(rows, kind)
    if is_placed:
        return _over_scale(rows, kind, ys[:_MAX_SERIES])
    if kind == "scatter":
        raise PlotRefused("a scatter chart needs numbers or dates as its first column")
    return _over_names(rows, kind, ys[:_MAX_SERIES])


def _over_names(rows: _Rows, kind: PlotKind, ys: list[int]) -> Plot:
    most = min(_MAX_BARS, 4 * _MAX_BARS // len(ys)) if kind == "bar" else _MAX_NAMES
    select = ", ".join([_text(0), *map(rows.number, ys)])
    shown, more = rows.of(f"SELECT {select} {rows.from_}", most)
    names, notes = [str(row[0]) for row in shown], []
    if more:
        ((count,), *_), _ = rows.of(f"SELECT count(*) {rows.from_}", 1)
        notes = [_only_first_rows(len(shown), int(count))]
    if len({*names}) < len(names):
        notes.append(_repeated(rows.columns[0].name[:60]))
    return _named(kind, names, _series(rows, ys, shown), notes, rows)


def _named(
    kind: PlotKind, names: Sequence[str], series: Sequence[Series], notes: Sequence[PlotNote],
    rows: _Rows,
) -> Plot:  # fmt: skip
    x = tuple(float(position) for position in range(len(names)))
    return Plot(
        kind, "", "names", x, tuple(series), tuple(names), notes=tuple(notes),
        in_order=kind != "box" and rows.in_order,
    )  # fmt: skip


def _over_scale(rows: _Rows, kind: PlotKind, ys: list[int]) -> Plot:
    """Every row, or the means of intervals, or of a cloud those of cells."""
    most, x = MAX_POINTS // len(ys), rows.number(0)
    count, xs = rows.span(0)
    means = ", ".join(f"avg({number})" for number in (x, *map(rows.number, ys)))
    known = f"{rows.from_} WHERE {x} IS NOT NULL"
    parts: tuple[str, str] | None = None
    is_cloud = kind == "scatter" and len(ys) == 1 and count > most
    if count <= most:
        sql = f"SELECT {', '.join([x, *map(rows.number, ys)])} {known}"
    elif is_cloud:
        keys = f"{rows.bin(0, xs, MAX_BINS)}, {rows.bin(ys[0], rows.span(ys[0])[1], MAX_BINS)}"
        has_y = f"AND {rows.number(ys[0])} IS NOT NULL"
        sql = f"SELECT {means} {known} {has_y} GROUP BY {keys} ORDER BY {keys}"
        parts = _CELLS
    else:
        sql = f"SELECT {means} {known} GROUP BY {rows.bin(0, xs, most)}"
        parts = _INTERVALS
    shown, _ = rows.of(sql)
    notes = (_means(count, len(shown), parts),) if parts else ()
    if not is_cloud:  # whose cells are in an order that does not depend on rounding
        shown.sort(key=lambda row: row[0])
    places = tuple(float(row[0]) for row in shown)
    return Plot(kind, "", rows.axis, places, _series(rows, ys, shown), notes=notes)


def _long(rows: _Rows, kind: PlotKind) -> Plot:
    """Rows of a place, the name of a series, and a value."""
    names, notes = _largest(rows)
    shown, more = rows.cells(rows.number(0))
    if more:
        count, (low, high) = rows.span(0)
        bins = MAX_POINTS // len(names)
        width = (high - low) / bins or 1.0
        number = f"CAST({rows.bin(0, (low, high), bins)} AS DOUBLE)"
        middle = f"{low!r} + ({number} + 0.5) * {width!r}"
        shown, _ = rows.cells(f"CASE WHEN {rows.number(0)} IS NOT NULL THEN {middle} END")
        notes.append(_means(count, len({row[0] for row in shown}), _INTERVALS))
    else:
        notes += _means_notes(shown)
    return _by_name(rows, kind, names, shown, notes)


def _clouds(rows: _Rows) -> Plot:
    """Rows of a place, the name of a series, and a value: each a point, or the means of cells."""
    names, notes = _largest(rows)
    known = (
        f"{rows.from_} WHERE {rows.number(0)} IS NOT NULL AND {rows.number(2)} IS NOT NULL "
        f"AND {_text(1)} IN (SELECT k1 FROM {rows.largest})"
    )
    shown, more = rows.of(f"SELECT {rows.number(0)}, {_text(1)}, {rows.number(2)} {known}")
    if more:
        count, xs = rows.span(0)
        bins = isqrt(MAX_POINTS // len(names))
        keys = f"{rows.bin(0, xs, bins)}, {_text(1)}, {rows.bin(2, rows.span(2)[1], bins)}"
        shown, _ = rows.of(
            f"SELECT avg({rows.number(0)}), {_text(1)}, avg({rows.number(2)}) {known} "
            f"GROUP BY {keys} ORDER BY {keys}"
        )
        notes.append(_means(count, len(shown), _CELLS))
    return _by_name(rows, "scatter", names, shown, notes)


def _by_name(
    rows: _Rows, kind: PlotKind, names: Sequence[str], shown: list[Row], notes: Sequence[PlotNote]
) -> Plot:
    """A series for each name, of rows of a place, a name and a value."""
    shown.sort(key=lambda row: row[0])
    own = {name: [row for row in shown if row[1] == name] for name in names}
    series = tuple(
        Series(name, tuple(row[2] for row in lines), places=tuple(float(row[0]) for row in lines))
        for name, lines in own.items()
        if lines
    )
    xs = tuple(dict.fromkeys(float(row[0]) for row in shown))
    return Plot(kind, "", rows.axis, xs, series, notes=tuple(notes))


def _long_over_names(rows: _Rows, kind: PlotKind) -> Plot:
    names, notes = _largest(rows)
    shown, more = rows.cells(_text(0))
    xs, most = (
        list(dict.fromkeys(row[0] for row in shown)),
        _MAX_BARS if kind == "bar" else _MAX_NAMES,
    )
    if more or len(xs) > most:
        xs = xs[:most]
        notes.append(_only_first(len(xs)))
    return _named(kind, xs, _grid(shown, xs, names), notes + _means_notes(shown), rows)


def _largest(rows: _Rows) -> tuple[list[str], list[PlotNote]]:
    """The names of the largest series, and a note if there are others."""
    largest, _ = rows.of(f"SELECT k1, texts FROM {rows.largest}", _MAX_SERIES)
    names = [str(name) for name, _ in largest]
    if not largest or largest[0][1] <= _MAX_SERIES:
        return names, []
    return names, [
        PlotNote(
            f"{largest[0][1]}系列のうち大きい{_MAX_SERIES}系列を示しています",
            f"only the largest {_MAX_SERIES} of {largest[0][1]} series are shown",
        )
    ]


def _histogram(rows: _Rows) -> Plot:
    if not rows.in_order:
        raise PlotRefused("a histogram needs numbers or dates as the first column")
    count, (low, high) = rows.span(0)
    bins, grain = max(1, min(MAX_BINS, round(count**0.5))), rows.grain(0)
    step, number = (high - low) / bins or 1.0, rows.bin(0, (low, high), bins)
    if grain:  # bins of whole steps, so that each can hold equally many values
        first, last = round(low / grain), round(high / grain)
        width = (last - first) // bins + 1
        bins = (last - first) // width + 1
        low, step = first * grain, width * grain
        steps = f"round({rows.number(0)} / {grain!r}) - {float(first)!r}"
        place = f"least(floor(({steps}) / {float(width)!r}), {bins - 1})"
        number = f"CAST(greatest({place}, 0) AS INTEGER)"
    known = f"{rows.from_} WHERE {rows.number(0)} IS NOT NULL"
    found, _ = rows.of(f"SELECT {number}, count(*) {known} GROUP BY 1", bins)
    counts = {int(row[0]): float(row[1]) for row in found}
    x = tuple(low + position * step for position in range(bins))
    series = Series("件数", tuple(counts.get(position, 0.0) for position in range(bins)))
    in_bins = f"{counted(count, 'value')} in {counted(bins, 'bin')}"
    note = PlotNote(f"{count:,}件を{bins}区間に分けています", in_bins)
    return Plot("histogram", "", rows.axis, x, (series,), step=step, grain=grain, notes=(note,))


def _boxes(rows: _Rows) -> Plot:
    """The quartiles of one column by the names before it, the largest groups first, or of all."""
    measured = [at for at, column in enumerate(rows.columns) if is_measured(column)][:_MAX_BOXES]
    if not measured:
        raise PlotRefused("a box chart needs a column of numbers")
    found: list[Row] = []
    for position in measured:
        value = rows.number(position)
        parts = ", ".join(f"quantile_cont({value}, {part})" for part in _PARTS.values())
        name = _text(0) if measured == [1] else "''"
        quarters, _ = rows.of(
            f"SELECT {name}, {parts} {rows.from_} GROUP BY 1 HAVING count({value}) > 0 "
            f"ORDER BY count({value}) DESC, 1 LIMIT {_MAX_BOXES + 1}"
        )
        own_name = [] if measured == [1] else [rows.columns[position].name[:60]]
        found += [[*(own_name or row[:1]), *row[1:]] for row in quarters]
    note = PlotNote(
        f"行の多い{_MAX_BOXES}件だけを示しています",
        f"only the {_MAX_BOXES} groups with the most rows are shown",
    )
    notes = [note] * (len(found) > _MAX_BOXES)
    if measured == [0, 1] and len(rows.columns) == 2 and _may_be_groups(rows):
        notes.append(_groups(*(column.name[:60] for column in rows.columns)))
    shown = found[:_MAX_BOXES]
    series = [Series(part, tuple(row[at] for row in shown)) for at, part in enumerate(_PARTS, 1)]
    return _named("box", [row[0] for row in shown], series, notes, rows)


def _may_be_groups(rows: _Rows) -> bool:
    """Whether the first column, of numbers, may be meant to name the boxes of the second."""
    if family(rows.columns[0]) != "integer":
        return False
    ((counts,), _) = rows.of(f"SELECT count(DISTINCT c0), count(c0) {rows.from_}", 1)
    return bool(counts[0] <= _MAX_BOXES and 2 * counts[0] <= counts[1])


def _groups(first: str, second: str) -> PlotNote:
    return PlotNote(
        f"{first} と {second} の箱です",
        f"these are boxes of {first!r} and {second!r}; for a box of {second!r} for each {first!r} "
        f"make the first a text: {first}::VARCHAR",
    )


def _heat(rows: _Rows) -> Plot:
    if len(rows.columns) < 3 or not is_measured(rows.columns[2]):
        raise PlotRefused("a heat map needs three columns: x, y and a number")
    found, more = rows.cells(_text(0), largest=False)
    xs, ys = (list(dict.fromkeys(row[at] for row in found)) for at in (0, 1))
    is_cut = more or max(len(xs), len(ys)) > _MAX_CELLS
    xs, ys = xs[:_MAX_CELLS], ys[:_MAX_CELLS]
    shown = f"{len(xs)}×{len(ys)}"
    note = PlotNote(f"最初の{shown}だけを示しています", f"only the first {shown} are shown")
    notes = [note] * is_cut + _means_notes(found)
    return _named("heatmap", xs, _grid(found, xs, ys), notes, rows)


def _grid(cells: Sequence[Row], xs: Sequence[str], names: Sequence[str]) -> list[Series]:
    values = {(row[0], row[1]): row[2] for row in cells}
    return [Series(name, tuple(values.get((x, name)) for x in xs)) for name in names]


def _series(rows: _Rows, ys: Sequence[int], shown: Sequence[Row]) -> tuple[Series, ...]:
    return tuple(
        Series(rows.columns[y].name[:60], tuple(row[position] for row in shown))
        for position, y in enumerate(ys, 1)
    )


def _not_drawn(rows: _Rows, kind: PlotKind) -> list[PlotNote]:
    """How many rows have no place on the x axis, and how many values no height."""
    is_placed = rows.in_order and kind in ("line", "area", "scatter", "histogram")
    floats = [at for at, column in enumerate(rows.columns) if may_be_infinite(column)]
    placeless = f"count(*) - count({rows.number(0)})" if is_placed else "0"
    infinite = [f"count(c{at}) - count({rows.number(at)})" for at in floats if at or not is_placed]
    counts = f"SELECT {placeless}, {' + '.join(infinite) or '0'} {rows.from_}"
    ((row,), _) = rows.of(counts, 1)
    name = rows.columns[0].name[:60]
    return [
        note
        for count, note in (
            (row[0], PlotNote(
                f"{name} のない{row[0]:,}行は示していません",
                f"{counted(row[0], 'row')} without a value of {name!r} not shown",
            )),
            (row[1], PlotNote(
                f"NaN・無限大の値 {row[1]:,}件は示していません",
                f"{counted(row[1], 'value')} that no axis has (NaN, infinity) not shown",
            )),
        )
        if count
    ]  # fmt: skip


def _only_first(number: int) -> PlotNote:
    return PlotNote(f"最初の{number}件だけを示しています", f"only the first {number} are shown")


def _only_first_rows(number: int, rows: int) -> PlotNote:
    return PlotNote(
        f"{rows:,}行のうち最初の{number}行だけを示しています",
        f"only the first {number} of {rows:,} rows are shown",
    )


def _repeated(name: str) -> PlotNote:
    return PlotNote(
        f"{name} に同じ名前があります（行ごとに1つ示しています）",
        f"names in {name!r} repeat, and each row is shown; GROUP BY it for one value of each",
    )


_INTERVALS = "区間", "intervals"
_CELLS = "の区画", "cells"


def _means(rows: int, number: int, parts: tuple[str, str]) -> PlotNote:
    """A note that rows are shown as ``number`` means, each of a part that has some."""
    return PlotNote(
        f"{rows:,}行を{number:,}{parts[0]}ごとの平均で示しています",
        f"{rows:,} rows are shown as the means of {number:,} {parts[1]}",
    )


def _means_notes(rows: Sequence[Row]) -> list[PlotNote]:
    """A note if some values, each followed by its number of rows, are of several rows."""
    return [_MEANS_NOTE] * any(row[-1] > 1 for row in rows)
