"""`mdvec rules …`: the rules for a model that analyses data, in its instructions."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated

import typer
from mdvec import manage

from mdvec_cli.commands.terminal import say

app = typer.Typer(
    help="Give a model the rules of data analysis.",
    no_args_is_help=True,
    rich_markup_mode=None,
)

PathOption = Annotated[
    Path | None,
    typer.Option("--path", show_default=False,
                 help="The file of instructions; by default CLAUDE.md in this folder."),
]  # fmt: skip
IPythonOption = Annotated[
    bool,
    typer.Option("--ipython", help="IPython's start-up script, which limits what cells print; "
                 "without --path, only the script."),
]  # fmt: skip


@app.command("install")
def install_command(path: PathOption = None, ipython: IPythonOption = False) -> None:
    """Write the rules into a marked section of CLAUDE.md, or replace those that are there."""
    file = _instructions(path, ipython=ipython)
    if file is not None:
        written = manage.install_section(file)
        say(f"wrote the rules into {file}" if written else f"{file} has the rules already")
    if ipython:
        script = manage.startup_script(Path.home(), os.environ)
        written = manage.install_script(script)
        say(f"wrote {script}" if written else f"{script} is there already")


@app.command("uninstall")
def uninstall_command(path: PathOption = None, ipython: IPythonOption = False) -> None:
    """Remove the section, or the start-up script."""
    file = _instructions(path, ipython=ipython)
    if file is not None:
        removed = manage.uninstall_section(file)
        say(f"removed the rules from {file}" if removed else f"{file} has no rules of mdvec")
    if ipython:
        script = manage.startup_script(Path.home(), os.environ)
        removed = manage.uninstall_script(script)
        say(f"removed {script}" if removed else f"there is no {script}")


def _instructions(path: Path | None, *, ipython: bool) -> Path | None:
    """The file of instructions; None if only the script is meant."""
    if path is None and ipython:
        return None
    return (path or Path("CLAUDE.md")).expanduser().absolute()
