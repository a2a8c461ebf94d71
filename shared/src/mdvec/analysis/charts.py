"""Draws charts of exports and DataFrames, as the server draws those of queries."""

from __future__ import annotations

import os
from collections.abc import Hashable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, Literal

from mdvec import charts, household
from mdvec.analysis.errors import ChartRefused, LibraryMissing, UnsupportedFrame
from mdvec.analysis.loading import (
    INSTALL,
    STORED_ROWS,
    column_types,
    create_stored_rows,
    export_connection,
    export_file,
)
from mdvec.analysis.tables import as_frame, column_places, has_plain_index
from mdvec.charts import (
    PLOT_KINDS,
    ChartError,
    Fetch,
    ImageFormat,
    Plot,
    PlotKind,
    PlotRefused,
    Size,
    chosen_size,
    plot_of,
)
from mdvec.datasets import Column, export_scan, is_measured
from mdvec.settings import Settings, load_settings
from mdvec.text import cited, identifier

if TYPE_CHECKING:
    import duckdb


ChartData = Any
"""An export's handle, or a DataFrame or Series of polars or pandas."""


ChartRows = tuple[tuple[Column, ...], Fetch]
"""A chart's columns, named as in the data, and a function that runs SQL over them."""
ColumnRole = Literal["place", "name", "number"]
"""A position on an axis, a name of any type, or a number."""
WantedColumn = tuple[Hashable, ColumnRole]
"""A column by its name, which may be a number in pandas."""
_NEEDED = ("matplotlib", "matplotlib_fontja", "PIL")
_FORMATS: dict[str, ImageFormat] = {
    ".png": "png", ".svg": "svg", ".jpg": "jpeg", ".jpeg": "jpeg",
}  # fmt: skip


@contextmanager
def chart_rows(
    data: ChartData, wanted: Sequence[WantedColumn], settings: Settings, folder: Path | str | None
) -> Iterator[ChartRows]:
    """The wanted columns of an export or a frame; all columns if none are wanted.

    Raises:
        NotAHandle, ExportMissing: see ``ExportFolder.path_of``.
        UnknownColumns: the data lack a wanted column.
        UnsupportedFrame: the data are neither a handle nor a frame that DuckDB can read.
    """
    zone = settings.analytics.zone
    if isinstance(data, str):
        path, types = export_file(data, settings, folder)
        with export_connection([path], time_zone=zone) as connection:
            create_stored_rows(connection, export_scan(path, types), types)
            yield _chosen_columns(
                connection, [name for name, _ in column_types(connection)], wanted
            )
        return
    frame = as_frame(data, "a chart is made of the handle of an export, or of", "make one of it")
    with TemporaryDirectory() as made:
        is_polars = hasattr(frame, "write_parquet")
        file = Path(made) / "rows.parquet"
        with export_connection([file] if is_polars else [], time_zone=zone) as connection:
            if is_polars:
                names: Sequence[Hashable] = _store_polars(connection, frame, file)
            else:
                names = _store_pandas(connection, frame)
            yield _chosen_columns(connection, names, wanted)


def _chosen_columns(
    connection: duckdb.DuckDBPyConnection, names: Sequence[Hashable], wanted: Sequence[WantedColumn]
) -> ChartRows:
    """The wanted columns of ``STORED_ROWS``; ``names`` are the names of all columns in the data."""
    stored = [identifier(name) for name, _ in column_types(connection)]
    places = column_places(names, [name for name, _ in wanted], "data")
    texts = [role == "name" for _, role in wanted]
    if not wanted:
        places, texts = list(range(len(names))), [False] * len(names)
    columns = ", ".join(
        f"CAST({stored[position]} AS VARCHAR)" if is_text else stored[position]
        for position, is_text in zip(places, texts, strict=True)
    )
    source = f"(SELECT {columns} FROM {STORED_ROWS})"
    kinds = [kind for _, kind in column_types(connection, source)]

    def fetch(sql: str, most: int) -> tuple[list[list[Any]], bool]:
        cursor = connection.execute(sql.replace("{source}", source))
        fetched = [list(row) for row in cursor.fetchmany(most + 1)]
        return fetched[:most], len(fetched) > most

    shown = zip(places, kinds, strict=True)
    return tuple(Column(str(names[at]), kind) for at, kind in shown), fetch


def _store_pandas(connection: duckdb.DuckDBPyConnection, frame: Any) -> list[Hashable]:  # noqa: ANN401 - of pandas, which need not be installed
    """Register a frame in DuckDB as the view ``STORED_ROWS``; returns the names of its columns.

    Columns of types that DuckDB lacks, such as periods, are registered as text.
    """
    if not has_plain_index(frame):
        indexes = [name if name is not None else "index" for name in frame.index.names]
        frame = frame.reset_index(names=indexes, allow_duplicates=True)
    # DuckDB refuses names that differ only in case.
    numbered = frame.set_axis([f"c{position}" for position in range(frame.shape[1])], axis=1)
    unread = [name for name in numbered if not _is_read(connection, numbered[[name]])]
    connection.register(STORED_ROWS, numbered.astype(dict.fromkeys(unread, "string")))
    return list(frame.columns)


def _is_read(connection: duckdb.DuckDBPyConnection, column: Any) -> bool:  # noqa: ANN401 - as above
    """Whether DuckDB supports the type of this one-column pandas frame."""
    import duckdb

    try:
        connection.register(STORED_ROWS, column)
    except duckdb.NotImplementedException:
        return False
    return True


def _store_polars(
    connection: duckdb.DuckDBPyConnection,
    frame: Any,  # noqa: ANN401 - of polars, which need not be installed
    file: Path,
) -> list[str]:
    """Store the rows through a Parquet file, without pyarrow; returns the names of its columns."""
    import polars as pl

    names = [str(name) for name in frame.columns]
    numbered = frame.rename({name: f"c{position}" for position, name in enumerate(names)})
    # Parquet would store durations as plain numbers.
    spans = [name for name, kind in numbered.schema.items() if kind == pl.Duration]
    try:
        numbered.with_columns(pl.col(spans).dt.to_string("iso")).write_parquet(file)
    except pl.exceptions.PolarsError as error:
        raise UnsupportedFrame(
            "the frame has columns of objects, which a chart cannot show; cast or drop them"
        ) from error
    create_stored_rows(connection, export_scan(file, None), None)
    return names


def wanted_columns(
    kind: str, x: Hashable, ys: tuple[Hashable, ...], color: Hashable
) -> list[WantedColumn]:
    """The chart's columns in the order that ``plot_of`` expects; empty for all columns.

    Raises:
        ChartRefused: there is no such kind, or it needs other columns.
    """
    if kind not in PLOT_KINDS:
        kinds = f"{', '.join(PLOT_KINDS[:-1])} or {PLOT_KINDS[-1]}"
        raise ChartRefused(f"there is no {str(kind)[:40]!r} chart; give {kinds}")
    if x is None and not ys and color is None:
        return []
    for is_wrong, sentence in _rules(kind, x, ys, color):
        if is_wrong:
            raise ChartRefused(sentence)
    places: list[WantedColumn] = []
    if x is not None:
        places.append((x, "name" if kind == "box" else "place"))
    names: list[WantedColumn] = [(color, "name")] if color is not None else []
    numbers: list[WantedColumn] = [(y, "number") for y in ys]
    if kind == "heatmap":
        return [*places, (ys[0], "place"), (color, "number")]
    if kind == "box" and x is not None and not ys:
        return [(x, "number")]
    return [*places, *names, *numbers]


def _rules(
    kind: str, x: Hashable, ys: tuple[Hashable, ...], color: Hashable
) -> list[tuple[bool, str]]:
    """For a kind of chart: whether the columns break a rule, and the message for that."""
    has_x, has_color = x is not None, color is not None
    plane = (not (has_x and ys), f"a {kind} chart needs x and y, the names of columns")
    rules = {
        "histogram": [(not has_x or bool(ys) or has_color,
                       "a histogram shows one column; give it as x alone")],
        "box": [(has_color or (has_x and len(ys) > 1),
                 "a box chart shows one y by the names in x, or several columns as y")],
        "heatmap": [plane, (not has_color or len(ys) != 1,
                    "a heat map needs x, y and color, the column of its numbers")],
    }  # fmt: skip
    one_y = "color names the series of one y; leave it out, or give one y"
    return rules.get(kind, [plane, (has_color and len(ys) != 1, one_y)])


def check_numbers(wanted: Sequence[WantedColumn], shown: Sequence[Column]) -> None:
    """Check that columns wanted as numbers hold numbers; ``plot_of`` would skip others.

    Raises:
        ChartRefused: there is such a column.
    """
    for column, (_, role) in zip(shown, wanted, strict=False):
        if role == "number" and not is_measured(column):
            raise ChartRefused(
                f"the column {cited(column.name[:60])} holds {column.type[:60]}, not numbers"
            )


@dataclass(frozen=True, slots=True)
class SafeChart:
    """A drawn chart: a notebook shows its picture, and its text is one line.

    Args:
        plot: what it shows.
        png: the picture, under 500 kB.
        size: its width and height in pixels.
        font_path: the file of its font; None for the font that comes with matplotlib-fontja.
    """

    plot: Plot
    png: bytes
    size: Size
    font_path: str | None = None

    @property
    def note(self) -> str:
        """What the picture omits or combines, in Japanese; empty if it shows everything."""
        return self.plot.note

    @property
    def points(self) -> int:
        """How many values are drawn: at most 2,000."""
        return self.plot.points

    def save(self, path: Path | str) -> Path:
        """Write the picture in the format that the file's ending names: .png, .svg or .jpg.

        Raises:
            ChartRefused: the file has another ending.
            OSError: the file cannot be written.
        """
        file = Path(path)
        image_format = _FORMATS.get(file.suffix.lower())
        if image_format is None:
            raise ChartRefused(
                f"a chart is saved as .png, .svg or .jpg, not as {file.suffix[:20] or 'a file'!r}"
            )
        file.write_bytes(
            self.png
            if image_format == "png"
            else _picture(self.plot, self.size, image_format, self.font_path)
        )
        return file

    def __repr__(self) -> str:
        """One line without data."""
        note = f": {self.note}" if self.note else ""
        return f"<{self.plot.kind} chart of {self.points:,} points{note}>"

    def _repr_png_(self) -> bytes:
        return self.png


def safe_chart(
    data: ChartData,
    kind: PlotKind,
    x: Hashable = None,
    y: Hashable | Sequence[Hashable] = None,
    *,
    color: Hashable = None,
    title: str = "",
    size: str | None = None,
    folder: Path | str | None = None,
) -> SafeChart:
    """Draw an export or a DataFrame, with at most 2,000 points.

    Without ``x``, ``y`` and ``color`` the columns are used in order, as by the tool ``plot``: x,
    then numbers, or x, the name of a series and a number.

    Args:
        data: the handle of an export, however many rows it has, or a DataFrame or Series of polars
            or pandas.
        kind: bar, line, area, scatter, histogram, box or heatmap.
        x: the column of the horizontal axis; for boxes, the column that names them.
        y: one or more columns of numbers; for a heat map, the column that names its rows.
        color: the column whose values name the series; for a heat map, the column of numbers.
        title: written above the chart.
        size: width and height in pixels, by default 800x600.
        folder: the folder of exports; by default the folder in the settings, as for the server.

    Raises:
        ChartRefused: the columns do not fit the kind of chart, or the size is out of bounds.
        LibraryMissing: matplotlib is not installed.
        NotAHandle, ExportMissing: see ``ExportFolder.path_of``.
        UnknownColumns: the data lack a column.
        UnsupportedFrame: the data are neither a handle nor a frame.
    """
    import duckdb

    if missing := [name for name in _NEEDED if find_spec(name) is None]:
        raise LibraryMissing(f"charts need {' and '.join(missing)}; {INSTALL}")
    several = () if y is None else y
    ys = tuple(several) if isinstance(several, Iterable) and not isinstance(y, str) else (y,)
    wanted = wanted_columns(kind, x, ys, color)
    settings = load_settings(os.environ)
    font_path = settings.charts.font_path
    try:
        pixels = chosen_size(size, settings.charts.max_size)
        with chart_rows(data, wanted, settings, folder) as (columns, fetch):
            check_numbers(wanted, columns)
            plot = plot_of(columns, fetch, kind, title)
        return SafeChart(plot, _picture(plot, pixels, "png", font_path), pixels, font_path)
    except PlotRefused as error:
        raise ChartRefused(str(error)) from error
    except ChartError as error:
        raise ChartRefused(household.in_english(str(error))) from error
    except duckdb.Error as error:  # its message may hold values
        raise ChartRefused(
            f"the rows could not be read ({type(error).__name__}); give each column values of one "
            "type, or draw fewer columns"
        ) from error


def _picture(plot: Plot, size: Size, image_format: ImageFormat, font_path: str | None) -> bytes:
    return charts.draw(plot, size, image_format, font_path=font_path).data
