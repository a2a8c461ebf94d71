"""Options that several commands share, and the settings that they add up to."""

from __future__ import annotations

import logging
import os
import sys
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from mdvec.settings import Settings


class Format(StrEnum):
    """How a command prints what it found."""

    TABLE = "table"
    JSON = "json"


NameOption = Annotated[str, typer.Option("--name", "-n", help="The tool's name.")]
DatabaseOption = Annotated[
    Path | None, typer.Option("--database", help="The database file.", show_default=False)
]
ConfigOption = Annotated[
    Path | None, typer.Option("--config", help="The settings file.", show_default=False)
]
VerboseOption = Annotated[
    bool, typer.Option("--verbose", "-v", help="Say on stderr what happens and how long it takes.")
]
FormatOption = Annotated[
    Format | None, typer.Option("--format", help="How to print.", show_default=False)
]


def settings_from(
    config: Path | None,
    database: Path | None,
    *,
    verbose: bool,
    **sections: dict[str, Any],
) -> Settings:
    """The settings of one command: its flags over the environment over the file."""
    from mdvec.settings import load_settings

    if verbose:
        _log_everything()
    path = None if database is None else str(database.expanduser().absolute())
    return load_settings(
        os.environ,
        config=config,
        project_folder=Path.cwd(),
        flags={"database": {"path": path}, **sections},
    )


def _log_everything() -> None:
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(logging.Formatter("%(levelname)s %(message)s"))
    logger = logging.getLogger("mdvec")
    logger.handlers[:] = [handler]
    logger.setLevel(logging.DEBUG)


def chosen_format(asked: Format | None, settings: Settings) -> Format:
    """The flag, else the setting."""
    return asked or Format(settings.display.default_format)
