"""`mdvec plot`: a query as a picture."""

from __future__ import annotations

from enum import StrEnum
from functools import partial
from pathlib import Path
from typing import IO, TYPE_CHECKING, Annotated

import typer
from mdvec import charts, sql

from mdvec_cli.commands.options import ConfigOption, DatabaseOption, VerboseOption
from mdvec_cli.commands.table_answers import (
    OpenTables,
    SourceArgument,
    TableFormatOption,
    open_tables,
    print_answer,
)
from mdvec_cli.commands.tables import ReplaceOption, new_file

if TYPE_CHECKING:
    from mdvec.charts import ImageFormat, PlotKind

_FORMATS: dict[str, ImageFormat] = {".png": "png", ".svg": "svg", ".jpg": "jpeg", ".jpeg": "jpeg"}


class ChartKind(StrEnum):
    """The kinds of charts."""

    BAR = "bar"
    LINE = "line"
    AREA = "area"
    SCATTER = "scatter"
    HISTOGRAM = "histogram"
    BOX = "box"
    HEATMAP = "heatmap"


def plot_command(
    query: SourceArgument,
    output: Annotated[
        Path,
        typer.Option("--output", "-o", metavar="FILE", show_default=False,
                     help="Write the picture here, as .png, .svg or .jpg."),
    ],
    kind: Annotated[ChartKind, typer.Option("--kind", help="The kind of chart.")] = ChartKind.LINE,
    title: Annotated[str, typer.Option(help="The title above the chart.", show_default=False)] = "",
    size: Annotated[
        str | None,
        typer.Option(metavar="WxH", help="Pixels, 200x150 to 1920x1080; default: 800x600.",
                     show_default=False),
    ] = None,
    replace: ReplaceOption = False,
    format_: TableFormatOption = None,
    database: DatabaseOption = None,
    config: ConfigOption = None,
    verbose: VerboseOption = False,
) -> None:  # fmt: skip
    """Draw a query into a picture file.

    Its first column is x; then come numbers, or a series' name and a number.

    histogram: one column; box: a name and a number; heatmap: x, y, number.
    """
    image_format = _format_of(output)
    with (
        open_tables(database, config, verbose=verbose) as tables,
        new_file(output.expanduser(), replace=replace) as file,
    ):
        draw = partial(_drawn, tables, query, kind.value, title, size, image_format, file)
        answer = {"file": str(output), **tables.answer(draw, query)}
    facts = [[key, value] for key, value in answer.items()]
    print_answer(tables.form(format_), answer, "plot", ["fact", "value"], facts)


def _drawn(
    tables: OpenTables,
    query: str,
    kind: PlotKind,
    title: str,
    size: str | None,
    image_format: ImageFormat,
    file: IO[bytes],
) -> sql.JsonAnswer:
    """Draw a query into an open file, by default in the settings' size."""
    settings = tables.settings.charts
    pixels = charts.chosen_size(size, settings.max_size)
    chart = tables.analytics.questions.plot(sql.Prepared.plain(query), kind, title)
    picture = charts.draw(chart, pixels, image_format, font_path=settings.font_path)
    file.write(picture.data)
    answer: sql.JsonAnswer = {"kind": chart.kind, "points": chart.points}
    if chart.notes:
        answer["note"] = "; ".join(note.english for note in chart.notes)
    return sql.with_warnings(answer, tables.analytics.queries.take_warnings())


def _format_of(output: Path) -> ImageFormat:
    try:
        return _FORMATS[output.suffix.lower()]
    except KeyError:
        raise typer.BadParameter(
            f"{output.name} ends in none of .png, .svg and .jpg; name it so",
            param_hint="--output",
        ) from None
