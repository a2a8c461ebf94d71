"""Turns the result of a query into a chart of at most 2,000 points, aggregated in SQL."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from math import isqrt
from typing import Any

from mdvec.charts.plot import Axis, Plot, PlotKind, PlotNote, Series
from mdvec.datasets import Column, decimals, family, has_dates, is_measured, may_be_infinite
from mdvec.errors import MdvecError
from mdvec.text import cited, counted

MAX_POINTS, MAX_BINS = 2_000, 40
_MAX_NAMES, _MAX_BARS, _MAX_SERIES, _MAX_BOXES, _MAX_CELLS = 200, 60, 8, 30, 40
_PARTS = {"min": 0, "q1": 0.25, "median": 0.5, "q3": 0.75, "max": 1}
_DAY = 86_400.0
_PAIRS = '"mdvec pairs"'
"""SQL: a name that no table in a query is likely to have."""
_MAX_SIZE = "1e300"
"""The largest absolute value that is drawn: sums and distances of larger values would overflow."""
Row = list[Any]
"""Texts, numbers and None."""
Fetch = Callable[[str, int], tuple[list[Row], bool]]
"""Runs a SELECT over ``{source}``; returns its first rows (how many is the second argument), and
whether there are more."""
_NOTES = {
    "means": ("同じ位置にある行は平均で示しています",
              "rows at the same place are shown as their mean"),
    "largest": ("{of:,}系列のうち大きい{most}系列を示しています",
                "only the largest {most} of {of:,} series are shown"),
    "bins": ("{count:,}件を{bins}区間に分けています", "{english}"),
    "boxes": ("行の多い{most}件だけを示しています",
              "only the {most} groups with the most rows are shown"),
    "groups": ("{first} と {second} の{parts}です",
               "these are {kind} of {cited_first} and {cited_second}; for {kind} of "
               "{cited_second} for each {cited_first} make {cited_first} a text: {first}::VARCHAR"),
    "without x": ("{name} のない{count:,}行は示していません",
                  "{english} without a value of {cited_name} not shown"),
    "without y": ("NaN・無限大・±{most} を超える値 {count:,}件は示していません",
                  "{english} that no axis has (NaN, infinity, beyond ±{most}) not shown"),
    "first": ("{of}件のうち最初の{shown}件だけを示しています",
              "only the first {shown} of {of} are shown"),
    "first columns": ("{of:,}列のうち最初の{most}列だけを示しています",
                      "only the first {most} of {of:,} columns of numbers are shown"),
    "first rows": ("{of:,}行のうち最初の{shown}行だけを示しています",
                   "only the first {shown} of {of:,} rows are shown"),
    "repeated": ("{name} に同じ値があります（行ごとに1つ示しています）",
                 "values of {cited_name} repeat, and each row is shown; GROUP BY it for one value "
                 "of each"),
    "intervals": ("{rows:,}行を{intervals:,}区間ごとの平均で示しています",
                  "{rows:,} rows are shown as the means of {intervals:,} intervals"),
    "cells": ("{rows:,}行を{bins}×{bins}の区画ごとの平均で示しています",
              "{rows:,} rows are shown as the means of the cells of a {bins}×{bins} grid"),
}  # fmt: skip
"""The notes of charts on the rows behind them, in Japanese and in English."""


class PlotRefused(MdvecError):
    """A query's columns do not fit the kind of chart."""


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
        """The first ``most`` rows of a SELECT, and whether there are more."""
        return self.fetch(sql, most)

    def name(self, position: int) -> str:
        """The name of a column as a chart shows it."""
        return self.columns[position].name[:60]

    @property
    def from_(self) -> str:
        names = ", ".join(f"c{position}" for position in range(len(self.columns)))
        return f"FROM {{source}} AS t({names})"

    def number(self, position: int) -> str:
        """SQL: a column as a number for an axis, or NULL; a time is seconds since 1970."""
        if has_dates(self.columns[position]):
            time = f"CAST(c{position} AS TIMESTAMP)"
            return f"CASE WHEN isfinite({time}) THEN epoch({time}) END"
        value = f"CAST(c{position} AS DOUBLE)"
        return f"CASE WHEN isfinite({value}) AND abs({value}) <= {_MAX_SIZE} THEN {value} END"

    def label(self, position: int, key: str = "") -> str:
        """SQL: the label for a column's value, or for its text ``key``; midnight is just a day.

        The middle of a text over 60 characters is left out, since URLs and paths differ at their
        ends.
        """
        text = key or _key(position)
        if family(self.columns[position]) == "timestamp":
            text = rf"regexp_replace({text}, ' 00:00:00([+-][\d:]+)?$', '')"
        cut = f"left({text}, 30) || '…' || right({text}, 29)"
        return f"CASE WHEN length({text}) > 60 THEN {cut} ELSE coalesce({text}, '—') END"

    def bin(self, position: int, span: tuple[float, float], bins: int) -> str:
        """SQL: the number of a column value's bin, among ``bins`` of equal width over ``span``."""
        width = (span[1] - span[0]) / bins or 1.0
        value = f"floor(({self.number(position)} - {span[0]!r}) / {width!r})"
        return f"CAST(least(greatest({value}, 0), {bins - 1}) AS INTEGER)"

    def grain(self, position: int) -> float:
        """The smallest possible difference between a column's values; 0 if it may be any."""
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
            raise PlotRefused(f"the column {cited(self.name(position))} has no values to draw")
        return int(row[0]), (float(row[1]), float(row[2]))

    @property
    def of_largest(self) -> str:
        """SQL: the rows of those texts in the second column with the largest sums in the third.

        ``b.k`` is the text, ``b.place`` its rank from 0, and ``b.texts`` the number of texts.
        """
        sizes = f"(SELECT {_key(1)} AS k, sum(abs({self.number(2)})) AS s {self.from_} GROUP BY k)"
        largest = _places("k", sizes, "any_value(s) DESC NULLS LAST, k", _MAX_SERIES)
        return f"{self.from_} JOIN ({largest}) AS b ON b.k IS NOT DISTINCT FROM {_key(1)}"

    def cells(self, place: str) -> tuple[list[Row], bool]:
        """The mean of the third column for each place and each text of ``of_largest``.

        Each row is a place, the text's rank, the mean, the number of rows, the text, and the number
        of texts: all from one run, as another run may return other rows, or another order.
        """
        return self.of(
            f"SELECT {place}, b.place, avg({self.number(2)}), count(*), {self.label(1, 'b.k')}, "
            f"b.texts {self.of_largest} WHERE {place} IS NOT NULL GROUP BY ALL"
        )

    @property
    def in_order(self) -> bool:
        """Whether the first column has numbers or times, which can be placed on an axis."""
        return is_measured(self.columns[0]) or has_dates(self.columns[0])

    @property
    def axis(self) -> Axis:
        """The axis of the first column's values."""
        return "times" if has_dates(self.columns[0]) else "numbers"


def _key(position: int) -> str:
    """SQL: a column as the full text by which its rows are grouped."""
    return f"CAST(c{position} AS VARCHAR)"


def _places(key: str, of: str, rank: str, most: int) -> str:
    """SQL: the first texts ``key`` by ``rank``, their ``place`` from 0, the number of ``texts``."""
    return (
        f"SELECT {key}, count(*) OVER () AS texts, row_number() OVER (ORDER BY {rank}) - 1 "
        f"AS place FROM {of} GROUP BY {key} ORDER BY place LIMIT {most}"
    )


def _over_x(rows: _Rows, kind: PlotKind) -> Plot:
    """The chart of x and columns of numbers, or of x, a series' name and a number."""
    ys = [at for at, column in enumerate(rows.columns) if at and is_measured(column)]
    if not ys:
        raise PlotRefused(f"a {kind} chart needs x as the first column and numbers after it")
    is_placed = kind != "bar" and rows.in_order
    if len(rows.columns) == 3 and ys == [2] and (is_placed or kind != "scatter"):
        if kind == "scatter":
            return _clouds(rows)
        return _long_form_plot(rows, kind) if is_placed else _long_over_names(rows, kind)
    if kind == "scatter" and not is_placed:
        raise PlotRefused("a scatter chart needs numbers or dates as its first column")
    plot = (_over_scale if is_placed else _over_names)(rows, kind, ys[:_MAX_SERIES])
    notes = _note("first columns", when=len(ys) > _MAX_SERIES, most=_MAX_SERIES, of=len(ys))
    if ys == [1, 2] and len(rows.columns) == 3:
        notes += _groups_notes(rows, 1, "系列", "series")
    return replace(plot, notes=(*plot.notes, *notes))


def _over_names(rows: _Rows, kind: PlotKind, ys: list[int]) -> Plot:
    most = min(_MAX_BARS, 4 * _MAX_BARS // len(ys)) if kind == "bar" else _MAX_NAMES
    select = ", ".join([rows.label(0), *map(rows.number, ys), "hash(c0)"])
    shown, more = rows.of(f"SELECT {select} {rows.from_}", most)
    names, notes = [str(row[0]) for row in shown], []
    if more:
        ((count,), *_), _ = rows.of(f"SELECT count(*) {rows.from_}", 1)
        notes = _note("first rows", shown=len(shown), of=int(count))
    repeated = len({row[-1] for row in shown}) < len(shown)  # by hash, as labels may be cut
    notes += _note("repeated", when=repeated, name=rows.name(0))
    return _plot_over_names(kind, names, _series(rows, ys, shown), notes, rows)


def _plot_over_names(
    kind: PlotKind, names: Sequence[str], series: Sequence[Series], notes: Sequence[PlotNote],
    rows: _Rows,
) -> Plot:  # fmt: skip
    x = tuple(float(position) for position in range(len(names)))
    return Plot(
        kind, "", "names", x, tuple(series), tuple(names), notes=tuple(notes),
        in_order=kind != "box" and rows.in_order,
    )  # fmt: skip


def _over_scale(rows: _Rows, kind: PlotKind, ys: list[int]) -> Plot:
    """Every row as a point; if there are too many, means over intervals, or over cells."""
    most, x, numbers = MAX_POINTS // len(ys), rows.number(0), [*map(rows.number, ys)]
    count, xs = rows.span(0)
    means = ", ".join(f"avg({number})" for number in (x, *numbers))
    known = f"{rows.from_} WHERE {x} IS NOT NULL"
    if kind == "scatter" and len(ys) == 1 and count > most:
        keys = f"{rows.bin(0, xs, MAX_BINS)}, {rows.bin(ys[0], rows.span(ys[0])[1], MAX_BINS)}"
        # Ordered here, as an order by the means would depend on their rounding.
        shown, _ = rows.of(
            f"SELECT {means} {known} AND {numbers[0]} IS NOT NULL GROUP BY {keys} ORDER BY {keys}"
        )
        notes = _note("cells", rows=count, bins=MAX_BINS)
    else:
        shown, _ = rows.of(
            f"SELECT {', '.join([x, *numbers])} {known}" if count <= most
            else f"SELECT {means} {known} GROUP BY {rows.bin(0, xs, most)}"
        )  # fmt: skip
        shown.sort(key=lambda row: row[0])
        drawn = [(row[0], at) for row in shown for at, y in enumerate(row[1:]) if y is not None]
        repeated = count <= most and kind != "scatter" and len({*drawn}) < len(drawn)
        notes = _note("intervals", when=count > most, rows=count, intervals=len(shown))
        notes += _note("repeated", when=repeated, name=rows.name(0))
    places = tuple(float(row[0]) for row in shown)
    return Plot(kind, "", rows.axis, places, _series(rows, ys, shown), notes=tuple(notes))


def _long_form_plot(rows: _Rows, kind: PlotKind) -> Plot:
    """Rows of a place, the name of a series, and a value."""
    shown, more = rows.cells(rows.number(0))
    notes = _note("means", when=any(row[3] > 1 for row in shown))
    if more:
        count, (low, high) = rows.span(0)
        bins = MAX_POINTS // min(_MAX_SERIES, shown[0][-1])
        width = (high - low) / bins or 1.0
        number = f"CAST({rows.bin(0, (low, high), bins)} AS DOUBLE)"
        middle = f"{low!r} + ({number} + 0.5) * {width!r}"
        shown, _ = rows.cells(f"CASE WHEN {rows.number(0)} IS NOT NULL THEN {middle} END")
        notes = _note("intervals", rows=count, intervals=len({row[0] for row in shown}))
    return _by_name(rows, kind, shown, notes)


def _clouds(rows: _Rows) -> Plot:
    """Rows of a place, the name of a series, and a value, as points or means over cells."""
    x, y = rows.number(0), rows.number(2)
    text = f"{rows.label(1, 'b.k')}, b.texts"
    known = f"{rows.of_largest} WHERE {x} IS NOT NULL AND {y} IS NOT NULL"
    shown, more = rows.of(f"SELECT {x}, b.place, {y}, {text} {known}")
    notes: list[PlotNote] = []
    if more:
        count, xs = rows.span(0)
        bins = isqrt(MAX_POINTS // min(_MAX_SERIES, shown[0][-1]))
        keys = f"{rows.bin(0, xs, bins)}, b.place, {rows.bin(2, rows.span(2)[1], bins)}"
        shown, _ = rows.of(
            f"SELECT avg({x}), b.place, avg({y}), {text} {known} GROUP BY {keys}, {text} "
            f"ORDER BY {keys}"
        )
        notes = _note("cells", rows=count, bins=bins)
    return _by_name(rows, "scatter", shown, notes)


def _by_name(rows: _Rows, kind: PlotKind, shown: list[Row], notes: Sequence[PlotNote]) -> Plot:
    """A series for each text.

    A row begins with the x value, the text's rank and the y value, and ends with the text and the
    number of texts.
    """
    shown.sort(key=lambda row: row[0])
    own = [[row for row in shown if row[1] == at] for at in range(_MAX_SERIES)]
    series = tuple(
        Series(str(lines[0][-2]), tuple(row[2] for row in lines),
               places=tuple(float(row[0]) for row in lines))
        for lines in own if lines
    )  # fmt: skip
    xs = tuple(dict.fromkeys(float(row[0]) for row in shown))
    notes = (*_only_largest(shown[0][-1] if shown else 0), *notes)
    return Plot(kind, "", rows.axis, xs, series, notes=notes)


def _long_over_names(rows: _Rows, kind: PlotKind) -> Plot:
    most = _MAX_BARS if kind == "bar" else _MAX_NAMES
    by_size = "sum(size) DESC NULLS LAST, k"
    plot, (count, texts) = _grid(rows, kind, (most, "min(n)"), (_MAX_SERIES, by_size))
    notes = _only_largest(texts)
    notes += _note("first", when=count > most, shown=most, of=f"{count:,}")
    return replace(plot, notes=(*notes, *plot.notes))


def _only_largest(texts: int) -> list[PlotNote]:
    """A note if there are more series than are drawn."""
    return _note("largest", when=texts > _MAX_SERIES, most=_MAX_SERIES, of=texts)


def _histogram(rows: _Rows) -> Plot:
    if not rows.in_order:
        raise PlotRefused("a histogram needs numbers or dates as the first column")
    count, (low, high) = rows.span(0)
    bins, grain = max(1, min(MAX_BINS, round(count**0.5))), rows.grain(0)
    step, number = (high - low) / bins or 1.0, rows.bin(0, (low, high), bins)
    if grain:  # bins of whole steps, so that each has equally many possible values
        first, last = round(low / grain), round(high / grain)
        width = (last - first) // bins + 1
        bins = (last - first) // width + 1
        low, step = first * grain, width * grain
        steps = f"round({rows.number(0)} / {grain!r}) - {float(first)!r}"
        bin_number = f"least(floor(({steps}) / {float(width)!r}), {bins - 1})"
        number = f"CAST(greatest({bin_number}, 0) AS INTEGER)"
    known = f"{rows.from_} WHERE {rows.number(0)} IS NOT NULL"
    bin_rows, _ = rows.of(f"SELECT {number}, count(*) {known} GROUP BY 1", bins)
    counts = {int(row[0]): float(row[1]) for row in bin_rows}
    x = tuple(low + position * step for position in range(bins))
    series = Series("件数", tuple(counts.get(position, 0.0) for position in range(bins)))
    in_bins = f"{counted(count, 'value')} in {counted(bins, 'bin')}"
    notes = tuple(_note("bins", count=count, bins=bins, english=in_bins))
    return Plot("histogram", "", rows.axis, x, (series,), step=step, grain=grain, notes=notes)


def _boxes(rows: _Rows) -> Plot:
    """The quartiles of the second column for each name in the first, or of each column."""
    measured = [at for at, column in enumerate(rows.columns) if is_measured(column)]
    if not measured:
        raise PlotRefused("a box chart needs a column of numbers")
    boxes: list[Row] = []
    is_named = measured == [1]
    label, grouped = (rows.label(0), f"GROUP BY {_key(0)}") if is_named else ("''", "")
    for position in measured[:_MAX_BOXES]:
        value = rows.number(position)
        parts = ", ".join(f"quantile_cont({value}, {part})" for part in _PARTS.values())
        quarters, _ = rows.of(
            f"SELECT {label}, {parts}, min(n) FROM (SELECT *, row_number() OVER () AS n "
            f"{rows.from_}) {grouped} HAVING count({value}) > 0 "
            f"ORDER BY count({value}) DESC, min(n) LIMIT {_MAX_BOXES + 1}"
        )
        boxes += [[row[0] if is_named else rows.name(position), *row[1:]] for row in quarters]
    notes = _note("boxes", when=len(boxes) > _MAX_BOXES, most=_MAX_BOXES)
    notes += _note(
        "first columns", when=len(measured) > _MAX_BOXES, most=_MAX_BOXES, of=len(measured)
    )
    if measured == [0, 1] and len(rows.columns) == 2:
        notes += _groups_notes(rows, 0, "箱", "boxes")
    shown = boxes[:_MAX_BOXES]
    if is_named:
        shown.sort(key=lambda row: row[-1])
    series = [Series(part, tuple(row[at] for row in shown)) for at, part in enumerate(_PARTS, 1)]
    return _plot_over_names("box", [row[0] for row in shown], series, notes, rows)


def _groups_notes(rows: _Rows, at: int, parts: str, kind: str) -> list[PlotNote]:
    """A note if a drawn column of integers may have been meant to group the next column."""
    if family(rows.columns[at]) != "integer":
        return []
    ((counts,), _) = rows.of(f"SELECT count(DISTINCT c{at}), count(c{at}) {rows.from_}", 1)
    return _note(
        "groups", when=counts[0] <= _MAX_BOXES and 2 * counts[0] <= counts[1],
        first=rows.name(at), second=rows.name(at + 1), parts=parts, kind=kind,
    )  # fmt: skip


def _heat(rows: _Rows) -> Plot:
    if len(rows.columns) < 3 or not is_measured(rows.columns[2]):
        raise PlotRefused("a heat map needs three columns: x, y and a number")
    first = (_MAX_CELLS, "min(n)")
    plot, (columns, lines) = _grid(rows, "heatmap", first, first)
    shown = f"{len(plot.names)}×{len(plot.series)}"
    is_cut = max(columns, lines) > _MAX_CELLS
    notes = _note("first", when=is_cut, shown=shown, of=f"{columns:,}×{lines:,}")
    return replace(plot, notes=(*notes, *plot.notes))


def _grid(
    rows: _Rows, kind: PlotKind, across: tuple[int, str], down: tuple[int, str]
) -> tuple[Plot, tuple[int, int]]:
    """The means of the third column for texts of the first and of the second column.

    ``across`` and ``down`` are how many texts of each column to show, and the SQL that ranks them.
    Names, series and values are from one run of the source, as a second run may return other rows,
    or another order.

    Returns:
        The plot, and the number of all texts in the first and in the second column.
    """
    pairs = (
        f"SELECT p, k, avg(v) AS mean, count(*) AS rows, sum(abs(v)) AS size, min(n) AS n FROM "
        f"(SELECT {_key(0)} AS p, {_key(1)} AS k, {rows.number(2)} AS v, "
        f"row_number() OVER () AS n {rows.from_}) GROUP BY p, k"
    )
    cells, _ = rows.of(
        f"WITH {_PAIRS} AS MATERIALIZED ({pairs}) SELECT b.place, {rows.label(1, 'b.k')}, "
        f"{rows.label(0, 'a.p')}, mean, coalesce(rows, 0), a.texts, b.texts "
        f"FROM ({_places('p', _PAIRS, across[1], across[0])}) AS a "
        f"CROSS JOIN ({_places('k', _PAIRS, down[1], down[0])}) AS b LEFT JOIN {_PAIRS} AS c "
        "ON c.p IS NOT DISTINCT FROM a.p AND c.k IS NOT DISTINCT FROM b.k "
        "ORDER BY b.place, a.place"
    )
    lines = [[*line] for _, line in groupby(cells, key=lambda row: row[0])]
    names = [str(row[2]) for row in lines[0]] if lines else []
    series = [Series(str(line[0][1]), tuple(row[3] for row in line)) for line in lines]
    notes = _note("means", when=any(row[4] > 1 for row in cells))
    texts = (int(cells[0][5]), int(cells[0][6])) if cells else (0, 0)
    return _plot_over_names(kind, names, series, notes, rows), texts


def _series(rows: _Rows, ys: Sequence[int], shown: Sequence[Row]) -> tuple[Series, ...]:
    return tuple(
        Series(rows.name(y), tuple(row[position] for row in shown))
        for position, y in enumerate(ys, 1)
    )


def _not_drawn(rows: _Rows, kind: PlotKind) -> list[PlotNote]:
    """Notes on rows without a place on the x axis, and on values that cannot be drawn."""
    is_placed = rows.in_order and kind in ("line", "area", "scatter", "histogram")
    floats = [at for at, column in enumerate(rows.columns) if may_be_infinite(column)]
    placeless = f"count(*) - count({rows.number(0)})" if is_placed else "0"
    infinite = [f"count(c{at}) - count({rows.number(at)})" for at in floats if at or not is_placed]
    counts = f"SELECT {placeless}, {' + '.join(infinite) or '0'} {rows.from_}"
    ((row,), _) = rows.of(counts, 1)
    placeless_rows, undrawn = row
    return [
        *_note("without x", when=placeless_rows, name=rows.name(0), count=placeless_rows,
               english=counted(placeless_rows, "row")),
        *_note("without y", when=undrawn, most=_MAX_SIZE, count=undrawn,
               english=counted(undrawn, "value")),
    ]  # fmt: skip


def _note(key: str, *, when: object = True, **values: object) -> list[PlotNote]:
    """The note of ``_NOTES`` with these values, if it is needed."""
    if not when:
        return []
    quoted = {f"cited_{each}": cited(value) for each, value in values.items() if type(value) is str}
    return [PlotNote(*(text.format(**values, **quoted) for text in _NOTES[key]))]
