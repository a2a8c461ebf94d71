"""`mdvec query`: the rows of a SELECT over the database's tables."""

from __future__ import annotations

import sys
from typing import Annotated, Any

import typer

from mdvec_cli.commands.options import ConfigOption, DatabaseOption, VerboseOption
from mdvec_cli.commands.output import say
from mdvec_cli.commands.table_requests import (
    SourceArgument,
    TableFormat,
    TableFormatOption,
    ask,
    chosen_form,
    print_answer,
)

_ROWS = 100
_MAX_ROWS = 10_000


def query_command(
    query: SourceArgument,
    rows: Annotated[
        int | None,
        typer.Option(
            min=1, max=_MAX_ROWS, show_default=False,
            help=f"How many rows table and json print (default: {_ROWS}).",
        ),
    ] = None,
    format_: TableFormatOption = None,
    database: DatabaseOption = None,
    config: ConfigOption = None,
    verbose: VerboseOption = False,
) -> None:  # fmt: skip
    """Print the rows of a table or of one SELECT, run as the server runs it.

    With --format csv all rows are printed, up to [analytics] max_rows; else the first ones, and
    their exact number.
    """
    if format_ is TableFormat.CSV:
        if rows is not None:
            raise typer.BadParameter(
                "csv prints all rows; use LIMIT in the query", param_hint="--rows"
            )
        all_rows = {"do": "file", "query": query, "format": "csv", "max_rows": None}
        sys.stdout.flush()
        ask(all_rows, database, config, verbose=verbose, file=sys.stdout.buffer)
        sys.stdout.buffer.flush()
    else:
        request = {"do": "rows", "query": query, "max_rows": rows or _ROWS}
        reply = ask(request, database, config, verbose=verbose)
        _print_rows(chosen_form(format_, reply), reply.answer)


def _print_rows(form: TableFormat, answer: dict[str, Any]) -> None:
    shown, total = answer["rows"], answer["total_rows"]
    count = f"{total:,} rows" if len(shown) == total else f"{len(shown):,} of {total:,} rows"
    print_answer(form, answer, count, answer["columns"], shown)
    if len(shown) < total:
        say(f"{count}; all of them: --format csv, or mdvec export")
