"""`mdvec plot`: a query as a picture."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from mdvec_cli.commands.options import ConfigOption, DatabaseOption, VerboseOption
from mdvec_cli.commands.table_requests import (
    SourceArgument,
    TableFormatOption,
    ask,
    chosen_form,
    print_answer,
)
from mdvec_cli.commands.tables import ReplaceOption, new_file

_FORMATS = {".png": "png", ".svg": "svg", ".jpg": "jpeg", ".jpeg": "jpeg"}


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
    request = {
        "do": "plot", "query": query, "kind": kind.value, "title": title, "size": size,
        "format": _format_of(output),
    }  # fmt: skip
    with new_file(output.expanduser(), replace=replace) as file:
        reply = ask(request, database, config, verbose=verbose, file=file)
    answer = {"file": str(output), **reply.answer}
    facts = [[key, value] for key, value in answer.items()]
    print_answer(chosen_form(format_, reply), answer, "plot", ["fact", "value"], facts)


def _format_of(output: Path) -> str:
    try:
        return _FORMATS[output.suffix.lower()]
    except KeyError:
        raise typer.BadParameter(
            f"{output.name} ends in none of .png, .svg and .jpg; name it so",
            param_hint="--output",
        ) from None
