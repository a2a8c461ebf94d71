"""`mdvec compact`: rewrite the database file without unused space."""

from __future__ import annotations

import typer
from mdvec import manage, text

from mdvec_cli.commands.options import (
    ConfigOption,
    DatabaseOption,
    DisplayFormat,
    FormatOption,
    VerboseOption,
    chosen_format,
    settings_from,
)
from mdvec_cli.commands.output import STOPPED, print_json, print_line, say


def compact_command(
    format_: FormatOption = None,
    database: DatabaseOption = None,
    config: ConfigOption = None,
    verbose: VerboseOption = False,
) -> None:
    """Rewrite the database file without deleted data, and free that disk space."""
    settings = settings_from(config, database, verbose=verbose)
    try:
        done = manage.compact(settings.database_path, on_notice=say)
    except KeyboardInterrupt as error:
        say("stopped; the database is unchanged, and mdvec compact can be repeated")
        raise typer.Exit(STOPPED) from error
    if chosen_format(format_, settings) is DisplayFormat.JSON:
        print_json(done)
    else:
        print_line(
            f"{done.database}: {done.bytes_given_back:,} bytes freed "
            f"({text.file_size(done.size_before)} before, {text.file_size(done.size_after)} now)"
        )
    if not done.is_complete:
        say(
            "a running search still uses the old data; repeat mdvec compact when it has ended, to "
            "free the rest"
        )
