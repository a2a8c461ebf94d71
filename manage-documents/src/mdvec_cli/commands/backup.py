"""`mdvec backup` and `mdvec restore`: the database and the settings in one file, and back."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import typer
from mdvec import manage, settings, text

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


def backup_command(
    file: Annotated[Path, typer.Argument(help="The file to write, such as mdvec-backup.zip.")],
    format_: FormatOption = None,
    database: DatabaseOption = None,
    config: ConfigOption = None,
    verbose: VerboseOption = False,
) -> None:
    """Write the database and the settings into one file: all that you decided is in it."""
    loaded = loaded_settings(config, database, verbose=verbose)
    with _copying("backing up") as on_copied:
        made = manage.back_up(loaded.settings.database_path, loaded.file, file, on_copied)
    if chosen_format(format_, loaded.settings) is DisplayFormat.JSON:
        print_json(made)
        return
    print_line(f"{made.file}: {text.counted(len(made.tools), 'tool')}, {text.file_size(made.size)}")
    if made.settings is None:
        say("there is no settings file; only the database is in it")


def restore_command(
    file: Annotated[Path, typer.Argument(help="A file that mdvec backup wrote.")],
    yes: Annotated[
        bool, typer.Option("--yes", "-y", help="Replace a database that has tools already.")
    ] = False,
    format_: FormatOption = None,
    database: DatabaseOption = None,
    config: ConfigOption = None,
    verbose: VerboseOption = False,
) -> None:
    """Give the database and the settings the content of a backup; what was there is kept."""
    loaded = loaded_settings(config, database, verbose=verbose)
    path, target = loaded.settings.database_path, loaded.file or settings.users_file()
    with _copying("restoring") as on_copied:
        done = manage.restore(file, path, target, replaces=yes, on_notice=say, on_copied=on_copied)
    for kept in done.replaced:
        say(f"kept what was there: {kept}")
    if done.settings is not None:
        now = loaded_settings(done.settings, None, verbose=False).settings.database_path
        if now != path:
            say(f"{done.settings} names another database, {now}; change it there, or keep that one")
    if chosen_format(format_, loaded.settings) is DisplayFormat.JSON:
        print_json(done)
        return
    print_line(f"{done.database} has {text.counted(len(done.tools), 'tool')} now")
    if done.settings is not None:
        print_line(f"{done.settings} has the settings of the backup")


@contextmanager
def _copying(action: str) -> Iterator[Callable[[int, int], None]]:
    """A progress bar of bytes on a terminal, nothing elsewhere."""
    if not sys.stderr.isatty():
        yield lambda *_: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn

    columns = (TextColumn("{task.description}"), BarColumn(), DownloadColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(action, total=None)
        yield lambda copied, size: bar.update(task, completed=copied, total=size)
