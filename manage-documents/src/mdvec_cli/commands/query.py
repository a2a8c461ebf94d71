"""`mdvec query`: the rows of a SELECT over the database's tables, and saved questions."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from mdvec_cli.commands.options import ConfigOption, DatabaseOption, VerboseOption
from mdvec_cli.commands.output import print_line, say
from mdvec_cli.commands.table_requests import (
    TableFormat,
    TableFormatOption,
    ask,
    chosen_form,
    print_answer,
)

_ROWS = 100
_MAX_ROWS = 10_000
_LISTED = ("name", "parameters", "description")


def query_command(
    query: Annotated[
        str | None,
        typer.Argument(help="A table or one DuckDB SELECT; with --saved, a question's name.",
                       show_default=False),
    ] = None,
    rows: Annotated[
        int | None,
        typer.Option(min=1, max=_MAX_ROWS, show_default=False,
                     help=f"How many rows table and json print (default: {_ROWS})."),
    ] = None,
    saved: Annotated[
        bool, typer.Option("--saved", help="Run a saved or ready-made question, or list them.")
    ] = False,
    parameter: Annotated[
        list[str] | None,
        typer.Option("--param", "-p", metavar="NAME=VALUE", show_default=False,
                     help="With --saved: the value of a parameter; may be repeated."),
    ] = None,
    save: Annotated[
        str | None,
        typer.Option("--save", metavar="NAME", show_default=False,
                     help="Save the SELECT, with its $parameters, as a question."),
    ] = None,
    description: Annotated[
        str, typer.Option(help="With --save: what the question answers.", show_default=False)
    ] = "",
    replace: Annotated[
        bool, typer.Option("--replace", help="With --save: replace the question of that name.")
    ] = False,
    delete: Annotated[
        str | None,
        typer.Option("--delete", metavar="NAME", show_default=False,
                     help="Delete a saved question."),
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
    values = _values(parameter or [])
    if save is not None or delete is not None:
        mode = "delete" if save is None else "replace" if replace else "create"
        if (query is None) != (save is None) or (save is not None and delete is not None):
            raise typer.BadParameter(
                "--save takes a SELECT and a name, --delete only a name", param_hint="--save"
            )
        request = {
            "do": "save", "name": save or delete, "query": query, "description": description,
            "mode": mode,
        }  # fmt: skip
        _print_saved(ask(request, database, config, verbose=verbose).answer)
    elif query is None:
        if not saved:
            raise typer.BadParameter("give a table or a SELECT, or --saved", param_hint="QUERY")
        reply = ask({"do": "questions"}, database, config, verbose=verbose)
        listed = [[question[key] for key in _LISTED] for question in reply.answer["questions"]]
        print_answer(chosen_form(format_, reply), reply.answer, "questions", _LISTED, listed)
    else:
        if values and not saved:
            raise typer.BadParameter("parameters belong to --saved", param_hint="--param")
        source: dict[str, Any] = (
            {"question": query, "parameters": values} if saved else {"query": query}
        )
        _print_rows(source, rows, format_, database, config, verbose=verbose)


def _print_rows(
    source: dict[str, Any],
    rows: int | None,
    form: TableFormat | None,
    database: Path | None,
    config: Path | None,
    *,
    verbose: bool,
) -> None:
    if form is not TableFormat.CSV:
        reply = ask(
            {"do": "rows", "max_rows": rows or _ROWS, **source}, database, config, verbose=verbose
        )
        _print_table(chosen_form(form, reply), reply.answer, rows or _ROWS)
        return
    if rows is not None:
        raise typer.BadParameter("csv prints all rows; use LIMIT in the query", param_hint="--rows")
    sys.stdout.flush()
    request = {"do": "file", "format": "csv", "max_rows": None, **source}
    reply = ask(request, database, config, verbose=verbose, file=sys.stdout.buffer)
    sys.stdout.buffer.flush()
    if not reply.size:
        _print_table(TableFormat.CSV, reply.answer, _MAX_ROWS)


def _print_table(form: TableFormat, answer: dict[str, Any], most: int) -> None:
    shown, total = answer["rows"][:most], answer["total_rows"]
    count = f"{total:,} rows" if len(shown) == total else f"{len(shown):,} of {total:,} rows"
    print_answer(form, {**answer, "rows": shown}, count, answer["columns"], shown)
    if len(shown) < total:
        say(f"{count}; all of them: --format csv, or mdvec export")


def _print_saved(answer: dict[str, Any]) -> None:
    if "deleted" in answer:
        print_line(f"deleted {answer['deleted']}")
        return
    types = answer["parameters"]
    print_line(f"saved {answer['saved']}")
    given = "".join(f" -p {name}=<{kind}>" for name, kind in types.items())
    say(f"run it with: mdvec query --saved {answer['saved']}{given}")


def _values(given: list[str]) -> dict[str, str]:
    """The values of parameters, by their names."""
    values = {}
    for argument in given:
        name, equals, value = argument.partition("=")
        if not equals or not name:
            raise typer.BadParameter(f"{argument!r} is not NAME=VALUE", param_hint="--param")
        values[name] = value
    return values
