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
def _chart_rows(
    data: ChartData, wanted: Sequence[WantedColumn], settings: Settings, folder: Path | str | None
) -> Iterator[ChartRows]:
    """The wanted columns of an export or a frame; all columns if none are wanted.

    Raises:
        ChartRefused: a column that is wanted as numbers has none; ``plot_of`` would skip it.
        NotAHandle, ExportMissing: see ``ExportFolder.path_of``.
        UnknownColumns: the data lack a wanted column.
        UnsupportedFrame: the data are neither a handle nor a frame that DuckDB can read.
    """
    names: Sequence[Hashable] | None = None
    file, types = None, None
    with TemporaryDirectory() as made:
        if isinstance(data, str):
            file, types = export_file(data, settings, folder)
        else:
            data = as_frame(
                data, "a chart is made of the handle of an export, or of", "make one of it"
            )
            if hasattr(data, "write_parquet"):
                names, file = data.columns, Path(made) / "rows.parquet"
                _write_polars(data, file)
        files = [] if file is None else [file]
        with export_connection(files, time_zone=settings.analytics.zone) as connection:
            if file is None:
                names = _register_pandas(connection, data)
            else:
                create_stored_rows(connection, export_scan(file, types), types)
            yield _chosen_columns(connection, names, wanted)


def _chosen_columns(
    connection: duckdb.DuckDBPyConnection,
    names: Sequence[Hashable] | None,
    wanted: Sequence[WantedColumn],
) -> ChartRows:
    """The wanted columns of ``STORED_ROWS``; ``names`` are those in the data, if these differ."""
    stored = [name for name, _ in column_types(connection)]
    names = stored if names is None else names
    chosen = [(at, role) for at, (_, role) in zip(
        column_places(names, [name for name, _ in wanted], "data"), wanted, strict=True
    )] or [(at, "place") for at in range(len(names))]  # fmt: skip
    columns = ", ".join(
        f"CAST({identifier(stored[at])} AS VARCHAR)" if role == "name" else identifier(stored[at])
        for at, role in chosen
    )
    source = f"(SELECT {columns} FROM {STORED_ROWS})"
    shown = []
    for (at, role), (_, kind) in zip(chosen, column_types(connection, source), strict=True):
        shown.append(Column(str(names[at]), kind))
        if role == "number" and not is_measured(shown[-1]):
            name = cited(str(names[at])[:60])
            raise ChartRefused(f"the column {name} holds {kind[:60]}, not numbers")

    def fetch(sql: str, most: int) -> tuple[list[list[Any]], bool]:
        cursor = connection.execute(sql.replace("{source}", source))
        fetched = [list(row) for row in cursor.fetchmany(most + 1)]
        return fetched[:most], len(fetched) > most

    return tuple(shown), fetch


def _register_pandas(connection: duckdb.DuckDBPyConnection, frame: Any) -> list[Hashable]:  # noqa: ANN401 - of pandas, which need not be installed
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


def _write_polars(frame: Any, file: Path) -> None:  # noqa: ANN401 - of polars, which need not be installed
    """Write the rows to a Parquet file, as DuckDB would need pyarrow to read a frame."""
    import polars as pl

    numbered = frame.rename({name: f"c{at}" for at, name in enumerate(frame.columns)})
    # Parquet would store durations as plain numbers.
    spans = [name for name, kind in numbered.schema.items() if kind == pl.Duration]
    try:
        numbered.with_columns(pl.col(spans).dt.to_string("iso")).write_parquet(file)
    except pl.exceptions.PolarsError as error:
        raise UnsupportedFrame(
            "the frame has columns of objects, which a chart cannot show; cast or drop them"
        ) from error


def _wanted_columns(
    kind: str, x: Hashable, ys: tuple[Hashable, ...], color: Hashable
) -> list[WantedColumn]:
    """The chart's columns in the order that ``plot_of`` expects; empty for all columns.

    Raises:
        ChartRefused: there is no such kind, or it needs other columns.
    """
    has_x, has_color = x is not None, color is not None
    if kind not in PLOT_KINDS:
        kinds = f"{', '.join(PLOT_KINDS[:-1])} or {PLOT_KINDS[-1]}"
        raise ChartRefused(f"there is no {str(kind)[:40]!r} chart; give {kinds}")
    if not (has_x or ys or has_color):
        return []
    if kind not in ("histogram", "box") and not (has_x and ys):
        raise ChartRefused(f"a {kind} chart needs x and y, the names of columns")
    fits, rule = {
        "histogram": (has_x and not ys and not has_color,
                      "a histogram shows one column; give it as x alone"),
        "box": (not has_color and not (has_x and len(ys) > 1),
                "a box chart shows one y by the names in x, or several columns as y"),
        "heatmap": (has_color and len(ys) == 1,
                    "a heat map needs x, y and color, the column of its numbers"),
    }.get(kind, (not has_color or len(ys) == 1,
                 "color names the series of one y; leave it out, or give one y"))  # fmt: skip
    if not fits:
        raise ChartRefused(rule)
    if kind == "heatmap":
        return [(x, "place"), (ys[0], "place"), (color, "number")]
    x_role: ColumnRole = "place" if kind != "box" else "name" if ys else "number"
    columns: list[WantedColumn] = [(x, x_role)] if has_x else []
    if has_color:
        columns.append((color, "name"))
    columns += [(y, "number") for y in ys]
    return columns


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
    wanted = _wanted_columns(kind, x, ys, color)
    settings = load_settings(os.environ)
    font_path = settings.charts.font_path
    try:
        pixels = chosen_size(size, settings.charts.max_size)
        with _chart_rows(data, wanted, settings, folder) as (columns, fetch):
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
