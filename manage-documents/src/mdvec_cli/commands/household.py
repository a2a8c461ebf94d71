"""`mdvec household …`: how a household's files are read."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from mdvec import manage

from mdvec_cli.commands.options import (
    ConfigOption,
    DatabaseOption,
    DisplayFormat,
    FormatOption,
    VerboseOption,
    chosen_format,
    complete_tool_names,
    settings_from,
)
from mdvec_cli.commands.output import print_json, print_table, print_text, say

if TYPE_CHECKING:
    from mdvec.household import StatementPreview

app = typer.Typer(
    help="Show how a household's files are read.",
    no_args_is_help=True,
    rich_markup_mode=None,
)

_MAX_NAMED = 5


@app.callback()
def _household() -> None:
    """Show how a household's files are read."""


@app.command("map")
def map_(
    file: Annotated[Path, typer.Argument(help="A bank's or card's CSV.", show_default=False)],
    name: Annotated[
        str | None,
        typer.Option("--name", "-n",
                     help="The household; may be left out if there is one, or the file is in its "
                     "folder.",
                     autocompletion=complete_tool_names, show_default=False),
    ] = None,
    account: Annotated[
        str, typer.Option(help="The account's name in answers.", show_default=False)
    ] = "",
    save: Annotated[
        bool, typer.Option("--save", help="Keep the mapping in the household's folder.")
    ] = False,
    format_: FormatOption = None,
    database: DatabaseOption = None,
    config: ConfigOption = None,
    verbose: VerboseOption = False,
) -> None:  # fmt: skip
    """Show how a bank's or card's CSV is read: the mapping of its columns, and five rows.

    For an unknown kind of file a mapping is proposed; --save keeps it as TOML in the household's
    folder, where it can be changed, and every import reads files of that kind with it.
    """
    settings = settings_from(config, database, verbose=verbose)
    shown = manage.map_statement(
        settings.database_path, file.expanduser(), name, account=account, save=save
    )
    if chosen_format(format_, settings) is DisplayFormat.JSON:
        print_json(shown)
    else:
        _print(shown)
    _say_next(shown)


def _print(shown: StatementPreview) -> None:
    if shown.toml:
        print_text(shown.toml)
        print_text("\n")
    print_table(
        f"{shown.kind} ({shown.origin})",
        ("line", "date", "yen", "description", "account", "category", "counts"),
        [
            (
                row.line,
                row.date,
                "-" if row.amount is None else f"{row.amount:,}",
                row.description,
                row.account,
                row.category,
                "振替" if row.is_transfer else row.is_target,
            )
            for row in shown.rows
        ],
    )


def _say_next(shown: StatementPreview) -> None:
    say(f"{shown.rows_read} rows read as {shown.kind} ({shown.origin})")
    if shown.balances_compared:
        fitting = shown.balances_compared - len(shown.misfits)
        where = ", ".join(map(str, shown.misfits[:_MAX_NAMED]))
        misfits = f"; look at line {where}" if shown.misfits else ""
        say(f"balance: {fitting} of {shown.balances_compared} fit the row beside them{misfits}")
    for check in shown.checks:
        say(f"check: {check}")
    for line, reason in shown.bad[:_MAX_NAMED]:
        say(f"failed: line {line}: {reason}")
    if len(shown.bad) > _MAX_NAMED:
        say(f"… and {len(shown.bad) - _MAX_NAMED} more; --format json lists them all")
    if shown.saved:
        say(f"saved: {shown.saved}")
        say(f"next: mdvec import -n {shown.household} --mode update")
    elif shown.origin == "proposed":
        say("next: the same command with --save, if the rows are right")
