"""`mdvec get`: print a stored document."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path
from typing import Annotated

import typer
from mdvec import documents, manage

from mdvec_cli.commands.options import (
    ConfigOption,
    DatabaseOption,
    DisplayFormat,
    NameOption,
    VerboseOption,
    settings_from,
)
from mdvec_cli.commands.output import print_json, print_text, say


def get_command(
    file: Annotated[
        str, typer.Argument(help="The document, as search shows it.", show_default=False)
    ],
    name: NameOption,
    from_line: Annotated[
        int | None, typer.Option("--from", min=1, help="The first line.", show_default=False)
    ] = None,
    to_line: Annotated[
        int | None, typer.Option("--to", min=1, help="The last line.", show_default=False)
    ] = None,
    page: Annotated[
        int | None,
        typer.Option("--page", min=1, help="A page, slide or chapter.", show_default=False),
    ] = None,
    format_: Annotated[
        DisplayFormat, typer.Option("--format", help="The output format.")
    ] = DisplayFormat.TABLE,
    database: DatabaseOption = None,
    config: ConfigOption = None,
    verbose: VerboseOption = False,
) -> None:
    """Print a document as it was imported, some of its lines, or a page of it."""
    settings = settings_from(config, database, verbose=verbose)
    part = documents.DocumentPart(from_line, to_line, page=page)
    document = documents.read_document(settings.database_path, name, file, part, sys.maxsize)
    if format_ is DisplayFormat.JSON:
        print_json(document)
    else:
        print_text(document.with_pages)


def samples_command(
    folder: Annotated[Path, typer.Argument(help="The folder to write.", show_default=False)],
) -> None:
    """Write sample notes and the statement files of invented households into a folder."""
    copies = manage.copy_samples(folder.expanduser().absolute())
    for name, copy in copies.items():
        say(f"wrote {name}: {copy}")
    notes = shlex.quote(str(copies["notes"]))
    say(f'next: mdvec tool add -n notes -d "sample notes" -s {notes}')
