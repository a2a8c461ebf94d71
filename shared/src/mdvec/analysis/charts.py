"""Charts of exports and DataFrames, as the server's tool ``plot`` draws them."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

from mdvec.analysis.chart_columns import check_numbers, chosen_columns, wanted_columns
from mdvec.analysis.chart_rows import ChartData, chart_rows
from mdvec.analysis.errors import ChartRefused, LibraryMissing
from mdvec.analysis.loading import INSTALL
from mdvec.charts.chart import ChartError, ImageFormat, Size, chosen_size
from mdvec.charts.plot import Plot, PlotKind
from mdvec.charts.plot_sql import PlotRefused
from mdvec.charts.plots import Plots
from mdvec.settings import load_settings

_NEEDED = ("matplotlib", "matplotlib_fontja", "PIL")
_FORMATS: dict[str, ImageFormat] = {
    ".png": "png", ".svg": "svg", ".jpg": "jpeg", ".jpeg": "jpeg",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class SafeChart:
    """A drawn chart: a notebook shows its picture, and its text is one line.

    Args:
        plot: what it shows.
        png: the picture, under 500 kB.
        size: its width and height in pixels.
        font_path: the file of its font; None is the one that comes with matplotlib-fontja.
    """

    plot: Plot
    png: bytes
    size: Size
    font_path: str | None = None

    @property
    def note(self) -> str:
        """What the picture leaves out or puts together, in Japanese; empty if it shows all."""
        return self.plot.note

    @property
    def points(self) -> int:
        """How many values are drawn: at most 2,000."""
        return self.plot.points

    def save(self, path: Path | str) -> Path:
        """Write the picture in the format of the file's ending: .png, .svg or .jpg.

        Raises:
            ChartRefused: the ending is another one.
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
            else _drawn(self.plot, self.size, image_format, self.font_path)
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
    x: str | None = None,
    y: str | Sequence[str] | None = None,
    *,
    color: str | None = None,
    title: str = "",
    size: str | None = None,
    folder: Path | str | None = None,
) -> SafeChart:
    """Draw an export or a DataFrame, with at most 2,000 points.

    Without ``x``, ``y`` and ``color`` the columns are taken in their order, as ``plot`` takes those
    of a query: x, then numbers, or the name of a series and a number.

    Args:
        data: the handle of an export, however many rows it has, or a DataFrame or Series of polars
            or pandas.
        kind: bar, line, area, scatter, histogram, box or heatmap.
        x: the column of the horizontal axis; of boxes, the one that names them.
        y: one column of numbers or several; of a heat map, the column that names its rows.
        color: the column whose values name the series; of a heat map, its numbers.
        title: written above the chart.
        size: width and height in pixels, by default 800x600.
        folder: the folder of exports; by default the one in the settings, as for the server.

    Raises:
        ChartRefused: the columns do not fit the kind of chart, or the size is out of bounds.
        LibraryMissing: matplotlib is not installed.
        NotAHandle, ExportMissing: see ``ExportFolder.path_of``.
        UnknownColumns: the data lack a column.
        UnsupportedFrame: the data are neither a handle nor a frame.
    """
    import duckdb

    _check_libraries()
    wanted = wanted_columns(kind, chosen_columns(x, y, color))
    settings = load_settings(os.environ)
    font_path = settings.charts.font_path
    try:
        pixels = chosen_size(size, settings.charts.max_size)
        with chart_rows(data, wanted, settings, folder) as rows:
            check_numbers(wanted, rows.shown)
            plot = Plots(rows).plot(rows.source, kind, title)
        return SafeChart(plot, _drawn(plot, pixels, "png", font_path), pixels, font_path)
    except (PlotRefused, ChartError) as error:
        raise ChartRefused(str(error)) from error
    except duckdb.Error as error:  # its message may hold values
        raise ChartRefused(
            f"the rows could not be read ({type(error).__name__}); give each column values of one "
            "type, or draw fewer columns"
        ) from error


def _drawn(plot: Plot, size: Size, image_format: ImageFormat, font_path: str | None) -> bytes:
    from mdvec.charts.figure import draw  # matplotlib: a second, at the first chart

    return draw(plot, size, image_format, font_path=font_path).data


def _check_libraries() -> None:
    missing = [name for name in _NEEDED if find_spec(name) is None]
    if missing:
        raise LibraryMissing(f"charts need {' and '.join(missing)}; {INSTALL}")
