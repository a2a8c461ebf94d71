"""What the commands on tables share: their options, the request, and the forms of an answer."""

from __future__ import annotations

import csv
import json
import sys
from collections.abc import Mapping, Sequence
from enum import StrEnum
from pathlib import Path
from typing import IO, TYPE_CHECKING, Annotated, Any

import typer
from mdvec import manage

from mdvec_cli.commands.output import print_json, print_table, say

if TYPE_CHECKING:
    from mdvec.manage import Reply


class TableFormat(StrEnum):
    """The form in which a command on tables prints its result."""

    TABLE = "table"
    JSON = "json"
    CSV = "csv"


SourceArgument = Annotated[
    str,
    typer.Argument(metavar="QUERY", help="A table or one DuckDB SELECT.", show_default=False),
]
TableFormatOption = Annotated[
    TableFormat | None, typer.Option("--format", help="The output format.", show_default=False)
]
FromOption = Annotated[
    str | None,
    typer.Option("--from", help="The first day or time, such as 2025-06-01.", show_default=False),
]
ToOption = Annotated[
    str | None, typer.Option("--to", help="The last day or time, included.", show_default=False)
]
DateColumnOption = Annotated[
    str | None,
    typer.Option(help="The column for --from and --to, if several hold dates.", show_default=False),
]


def ask(
    request: Mapping[str, object],
    database: Path | None,
    config: Path | None,
    *,
    verbose: bool,
    file: IO[bytes] | None = None,
) -> Reply:
    """The reply to a request; its warnings go to stderr, its file into ``file``.

    Only the server runs SQL, so the server's program answers. It also reads the settings, so that
    this process need not.
    """
    with manage.table_server(database, config, verbose=verbose) as server:
        reply = server.ask(request)
        for warning in reply.warnings:
            say(f"warning: {warning}")
        if file is not None:
            reply.write_file(file)
    return reply


def chosen_form(flag: TableFormat | None, reply: Reply) -> TableFormat:
    """The format given as a flag, else the one in the settings."""
    return flag or TableFormat(reply.format)


def date_range(first: str | None, last: str | None) -> list[str] | None:
    """The range of --from and --to."""
    if (first is None) != (last is None):
        given, other = ("--to", "--from") if first is None else ("--from", "--to")
        raise typer.BadParameter(
            f"it needs the other end of the range; give {other} too", param_hint=given
        )
    return None if first is None or last is None else [first, last]


def print_answer(
    form: TableFormat,
    answer: Mapping[str, Any],
    title: str,
    columns: Sequence[str],
    rows: Sequence[Sequence[object]],
) -> None:
    """Print an answer as JSON, or these rows of it as a table or as CSV."""
    if form is TableFormat.JSON:
        print_json(dict(answer))
    elif form is TableFormat.CSV:
        writer = csv.writer(sys.stdout, lineterminator="\n")
        writer.writerow(columns)
        writer.writerows([["" if cell is None else _text(cell) for cell in row] for row in rows])
    else:
        print_table(
            title,
            columns,
            [["NULL" if cell is None else _text(cell) for cell in row] for row in rows],
            numbers=_numbers(rows, len(columns)),
        )


def _numbers(rows: Sequence[Sequence[object]], count: int) -> set[int]:
    """The places of the columns that hold numbers."""
    return {
        position
        for position in range(count)
        if (cells := [row[position] for row in rows if row[position] is not None])
        and all(isinstance(cell, int | float) and not isinstance(cell, bool) for cell in cells)
    }


def _text(cell: object) -> str:
    if isinstance(cell, bool):
        return str(cell).lower()
    if isinstance(cell, list | dict):
        return json.dumps(cell, ensure_ascii=False)
    return str(cell)
