"""`mdvec profile`, `histogram`, `export` and `plot`: summaries, files and pictures of tables."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import IO, TYPE_CHECKING, Annotated, Any, Literal

import typer
from mdvec import charts, household, sql
from mdvec.errors import MdvecError, not_usable

from mdvec_cli.commands.query import (
    DateColumnOption,
    FromOption,
    OpenTables,
    SourceArgument,
    TableFormat,
    TableFormatOption,
    ToOption,
    date_range,
    open_tables,
    print_answer,
)
from mdvec_cli.commands.terminal import (
    GivenPath,
    SettingsOptions,
    heading_language,
    in_own_language,
    is_japanese,
    say,
    with_settings_options,
)

if TYPE_CHECKING:
    from mdvec.analysis import ExportFormat
    from mdvec.charts import ImageFormat, PlotKind

_BAR_CELLS = 30
ReplaceOption = Annotated[
    bool, typer.Option("--replace", help="Replace the file, if there is one.")
]

FileFormat = Literal["parquet", "csv"]
_FORMATS: dict[str, ImageFormat] = {".png": "png", ".svg": "svg", ".jpg": "jpeg", ".jpeg": "jpeg"}
ChartKind = Literal["bar", "line", "area", "scatter", "histogram", "box", "heatmap"]


@with_settings_options
def profile_command(
    options: SettingsOptions,
    query: SourceArgument,
    column: Annotated[
        list[str] | None, typer.Option(help="A column; may be repeated. Default: all.")
    ] = None,
    first: FromOption = None,
    last: ToOption = None,
    date_column: DateColumnOption = None,
    exact: Annotated[
        bool, typer.Option("--exact", help="Estimate nothing, even if that is slow.")
    ] = False,
    format_: TableFormatOption = None,
) -> None:
    """Print the row count and period of a table or query, and statistics of each column."""
    period = date_range(first, last)
    with open_tables(options) as tables:
        profile = partial(
            tables.analytics.summaries.profile, query, period, date_column, column or None,
            exact=exact,
        )  # fmt: skip
        _print_profile(tables.form(format_), tables.answer(profile, query))


def _print_profile(form: TableFormat, answer: dict[str, Any]) -> None:
    columns = answer["columns"]
    figures = list(dict.fromkeys(name for column in columns.values() for name in column))
    rows = [[name, *(column.get(key) for key in figures)] for name, column in columns.items()]
    period = answer["date_range"]
    title = f"{answer['row_count']:,} rows" + (f", {period[0]} to {period[1]}" if period else "")
    print_answer(form, answer, in_own_language(title), ["column", *figures], rows)
    if form == "table":
        say(title)
        for figure, bound in answer.get("approximate", {}).items():
            say(f"approximate: {figure} {bound}")


@with_settings_options
def histogram_command(
    options: SettingsOptions,
    query: SourceArgument,
    column: Annotated[str, typer.Argument(help="The column.")],
    bins: Annotated[int, typer.Option(min=1, max=100, help="The maximum number of bins.")] = 20,
    first: FromOption = None,
    last: ToOption = None,
    date_column: DateColumnOption = None,
    format_: TableFormatOption = None,
) -> None:
    """Print the distribution of one column: bins, or the most frequent values."""
    period = date_range(first, last)
    with open_tables(options) as tables:
        histogram = partial(
            tables.analytics.summaries.histogram, query, column, bins, period, date_column
        )
        _print_histogram(tables.form(format_), tables.answer(histogram, query))


def _print_histogram(form: TableFormat, answer: dict[str, Any]) -> None:
    bins = answer["bins"]
    keys = ["value", "count"] if bins and "value" in bins[0] else ["min", "max", "count"]
    rows = [[bin_.get(key) for key in keys] for bin_ in bins]
    if form == "table":
        most = max((bin_["count"] for bin_ in bins), default=0) or 1
        rows = [
            [*row, "█" * round(_BAR_CELLS * bin_["count"] / most)]
            for row, bin_ in zip(rows, bins, strict=True)
        ]
        keys = [*keys, ""]
    print_answer(form, answer, answer["column"], keys, rows)
    if form != "json":
        rest = ("null_count", "not_finite_count", "other_count")
        more = [f"{answer[key]:,} {key.removesuffix('_count')}" for key in rest if answer.get(key)]
        details = f" ({', '.join(more).replace('_', ' ')})" if more else ""
        say(f"{answer['total_count']:,} rows{details}")


@with_settings_options
def export_command(
    options: SettingsOptions,
    query: SourceArgument,
    output: Annotated[
        GivenPath | None,
        typer.Option("--output", "-o", metavar="FILE",
                     help="Write the rows here, as .parquet or .csv (UTF-8; Excel: Data, "
                     "From Text/CSV), instead of under a handle."),
    ] = None,
    replace: ReplaceOption = False,
    file_format: Annotated[
        FileFormat | None,
        typer.Option(help="The file's format; default: as FILE ends, else parquet."),
    ] = None,
    max_rows: Annotated[
        int | None,
        typer.Option(min=1, max=5_000_000,
                     help="More rows than this are an error; default: [analytics] max_rows."),
    ] = None,
    format_: TableFormatOption = None,
) -> None:  # fmt: skip
    """Write all rows of a query to a file: to yours, or to one that Python loads by its handle."""
    kind: ExportFormat = file_format or _format_of(output)
    with open_tables(options) as tables:
        if output is None:
            export = partial(tables.analytics.exporter.export, query, kind, max_rows)
            answer = tables.answer(export, query)
        else:
            with new_file(output, replace=replace) as file:
                write = partial(_write_rows, tables.analytics, query, kind, max_rows, output, file)
                answer = {"file": str(output), **tables.answer(write, query)}
        _print_facts(tables.form(format_), answer, "export")


def _write_rows(
    analytics: sql.Analytics,
    query: str,
    fmt: ExportFormat,
    max_rows: int | None,
    output: Path,
    file: IO[bytes],
) -> sql.JsonAnswer:
    """Write all rows of a query into an open file, the content of ``output``."""
    written = analytics.questions.file(sql.Prepared(query), fmt, max_rows)
    try:
        with written.path.open("rb") as rows, _writing(output):
            shutil.copyfileobj(rows, file)
    finally:
        written.path.unlink()
    answer: sql.JsonAnswer = {
        "rows": written.rows,
        "columns": [column.name for column in written.columns],
    }
    return sql.with_warnings(answer, analytics.queries.take_warnings())


def _print_facts(form: TableFormat, answer: sql.JsonAnswer, title: str) -> None:
    own = heading_language() if form == "table" else str
    facts = [
        [own(key), ", ".join(map(str, value)) if isinstance(value, list) else value]
        for key, value in answer.items()
    ]
    print_answer(form, answer, title, [own("fact"), own("value")], facts)


def _format_of(output: Path | None) -> FileFormat:
    """The format that a file's ending means."""
    if output is None or output.suffix.lower() == ".parquet":
        return "parquet"
    if output.suffix.lower() == ".csv":
        return "csv"
    raise typer.BadParameter(
        f"{output.name} ends neither in .parquet nor in .csv; name it so, or give --file-format",
        param_hint="--output",
    )


class FileNotWritten(MdvecError):
    """A file that the user asked for cannot be written, such as for lack of space."""


@contextmanager
def _writing(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise FileNotWritten(not_usable(path, error)) from error


@contextmanager
def new_file(path: Path, *, replace: bool) -> Iterator[IO[bytes]]:
    """A file that appears at ``path`` once it is complete; an incomplete one is removed.

    Raises:
        FileNotWritten: writing the file failed; nothing of it is left.
    """
    if os.path.lexists(path) and not replace:  # even a broken link
        raise typer.BadParameter(
            f"{path} exists; give another name, or --replace", param_hint="--output"
        )
    if not path.parent.is_dir():
        raise typer.BadParameter(f"there is no folder {path.parent}", param_hint="--output")
    try:
        incomplete = tempfile.NamedTemporaryFile(  # noqa: SIM115 - closed below
            dir=path.parent, prefix=f".{path.name}.", delete=False
        )
    except OSError as error:
        reason = f"{path} cannot be written ({error.strerror}); name another file"
        raise typer.BadParameter(reason, param_hint="--output") from error
    part = Path(incomplete.name)
    try:
        yield incomplete
        with _writing(path):
            incomplete.close()  # Windows cannot move an open file
            umask = os.umask(0)
            os.umask(umask)
            part.chmod(0o666 & ~umask)
            part.replace(path)
    finally:
        with suppress(OSError):  # the disk may be full
            incomplete.close()
        part.unlink(missing_ok=True)


@with_settings_options
def plot_command(
    options: SettingsOptions,
    query: SourceArgument,
    output: Annotated[
        GivenPath,
        typer.Option("--output", "-o", metavar="FILE",
                     help="Write the picture here, as .png, .svg or .jpg."),
    ],
    kind: Annotated[ChartKind, typer.Option(help="The kind of chart.")] = "line",
    title: Annotated[str, typer.Option(help="The title above the chart.", show_default=False)] = "",
    size: Annotated[
        str | None,
        typer.Option(metavar="WxH", help="Pixels, 200x150 to 1920x1080; default: 800x600."),
    ] = None,
    replace: ReplaceOption = False,
    format_: TableFormatOption = None,
) -> None:  # fmt: skip
    """Draw a query into a picture file.

    Its first column is x; then come numbers, or a series' name and a number.

    histogram: one column; box: a name and a number; heatmap: x, y, number.
    """
    image_format = _image_format_of(output)
    with open_tables(options) as tables, new_file(output, replace=replace) as file:
        form = tables.form(format_)
        in_japanese = is_japanese() and form != "json"
        draw = partial(
            _draw, tables, query, kind, title, size, image_format, output, file, in_japanese
        )
        answer = {"file": str(output), **tables.answer(draw, query)}
    _print_facts(form, answer, "plot")


def _draw(
    tables: OpenTables,
    query: str,
    kind: PlotKind,
    title: str,
    size: str | None,
    image_format: ImageFormat,
    output: Path,
    file: IO[bytes],
    in_japanese: bool,
) -> sql.JsonAnswer:
    """Draw a query's result into an open file, by default in the configured size.

    Returns the chart's kind and number of points, and a note on what it leaves out, if anything.
    """
    settings = tables.settings.charts
    try:
        pixels = charts.chosen_size(size, settings.max_size)
        chart = tables.analytics.questions.plot(sql.Prepared(query), kind, title)
        picture = charts.draw(chart, pixels, image_format, font_path=settings.font_path)
    except charts.ChartError as error:  # its message may be Japanese in household answers
        if is_japanese():
            raise
        raise charts.ChartError(household.in_english(str(error))) from error
    with _writing(output):
        file.write(picture.data)
    answer: sql.JsonAnswer = {"kind": chart.kind, "points": chart.points}
    if chart.notes:
        english = "; ".join(note.english for note in chart.notes)
        answer["note"] = chart.note if in_japanese else english
    return sql.with_warnings(answer, tables.analytics.queries.take_warnings())


def _image_format_of(output: Path) -> ImageFormat:
    try:
        return _FORMATS[output.suffix.lower()]
    except KeyError:
        raise typer.BadParameter(
            f"{output.name} ends in none of .png, .svg, .jpg; name it so", param_hint="--output"
        ) from None
