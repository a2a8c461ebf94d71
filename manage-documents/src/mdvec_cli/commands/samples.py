"""`mdvec samples`: something to try mdvec with."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Annotated

import typer

from mdvec_cli.commands.output import say


def samples_command(
    folder: Annotated[Path, typer.Argument(help="The folder to write.", show_default=False)],
) -> None:
    """Write sample notes and the statement files of invented households into a folder."""
    from mdvec.manage.samples import copy_samples

    copies = copy_samples(folder.expanduser().absolute())
    for name, copy in copies.items():
        say(f"wrote {name}: {copy}")
    notes = shlex.quote(str(copies["notes"]))
    say(f'next: mdvec tool add -n notes -d "sample notes" -s {notes}')
