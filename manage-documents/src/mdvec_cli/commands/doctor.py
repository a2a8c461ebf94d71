"""`mdvec doctor`: check the installation, and fix what can be fixed without a loss."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer
from mdvec import manage
from mdvec.text import on_one_line

from mdvec_cli.commands.options import (
    ConfigOption,
    DatabaseOption,
    DisplayFormat,
    FormatOption,
    VerboseOption,
    chosen_format,
    loaded_settings,
)
from mdvec_cli.commands.output import print_json, print_line, say

if TYPE_CHECKING:
    from mdvec.manage import Finding


def doctor_command(
    fix: Annotated[
        bool,
        typer.Option(
            "--fix",
            help="Fix what can be fixed without a loss: rebuild search indexes from stored "
            "vectors, drop what killed imports left, make the database private.",
        ),
    ] = False,
    format_: FormatOption = None,
    database: DatabaseOption = None,
    config: ConfigOption = None,
    verbose: VerboseOption = False,
) -> None:
    """Check everything mdvec needs, and say what fixes it; the exit code is 1 on trouble."""
    loaded = loaded_settings(config, database, verbose=verbose)
    installation = manage.Installation(loaded.settings, loaded.origins, loaded.file)
    examination = manage.examine(installation, fix=fix)
    if chosen_format(format_, loaded.settings) is DisplayFormat.JSON:
        print_json(examination.json_fields())
    else:
        for finding in examination.findings:
            _print(finding)
        for sentence in examination.fixed:
            say(f"fixed: {on_one_line(sentence)}")
    if examination.has_trouble:
        raise typer.Exit(1)


def _print(finding: Finding) -> None:
    print_line(f"{finding.level:<7}  {finding.check}: {on_one_line(finding.sentence)}")
    if finding.command is not None:
        print_line(f"         → {finding.command}")
