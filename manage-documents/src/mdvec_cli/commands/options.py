"""Options that several commands share, and the settings that result from them."""

from __future__ import annotations

import logging
import os
import sys
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from mdvec import __version__, log, manage
from mdvec.errors import MdvecError

from mdvec_cli.commands.output import say

if TYPE_CHECKING:
    from mdvec.settings import Loaded, Settings


def complete_tool_names(ctx: typer.Context, incomplete: str) -> list[str]:
    """The names with this beginning; none if the database cannot be read."""
    from mdvec.settings import load_settings

    config, database = (ctx.params.get(name) for name in ("config", "database"))
    path = None if database is None else str(Path(database).expanduser().absolute())
    try:
        settings = load_settings(
            os.environ,
            config=None if config is None else Path(config),
            project_folder=Path.cwd(),
            flags={"database": {"path": path}},
        )
        tools = manage.list_tools(settings.database_path, active_only=False)
    except MdvecError:
        return []
    return [tool.name for tool in tools if tool.name.startswith(incomplete)]


class DisplayFormat(StrEnum):
    """The form in which a command prints its result."""

    TABLE = "table"
    JSON = "json"


NameOption = Annotated[
    str,
    typer.Option("--name", "-n", help="The tool's name.", autocompletion=complete_tool_names),
]
DatabaseOption = Annotated[
    Path | None, typer.Option("--database", help="The database file.", show_default=False)
]
ConfigOption = Annotated[
    Path | None, typer.Option("--config", help="The settings file.", show_default=False)
]
VerboseOption = Annotated[
    bool, typer.Option("--verbose", "-v", help="Log steps and timings to stderr.")
]
_FLAGS = {
    ("database", "path"): "--database",
    ("model", "name"): "--model",
    ("chunking", "strategy"): "--chunk-strategy",
    ("chunking", "size"): "--chunk-size",
    ("chunking", "overlap"): "--chunk-overlap",
    ("search", "k"): "'--k' / '-k'",
    ("search", "mode"): "'--mode' / '-m'",
}
"""The flags that are settings, by section and key."""
FormatOption = Annotated[
    DisplayFormat | None, typer.Option("--format", help="The output format.", show_default=False)
]


def settings_from(
    config: Path | None,
    database: Path | None,
    *,
    verbose: bool,
    **sections: dict[str, Any],
) -> Settings:
    """Load the settings; flags override the environment, which overrides the file."""
    return loaded_settings(config, database, verbose=verbose, **sections).settings


def loaded_settings(
    config: Path | None,
    database: Path | None,
    *,
    verbose: bool,
    **sections: dict[str, Any],
) -> Loaded:
    """The settings with their origins; opens the log."""
    from mdvec.settings import FlagRefused, load_with_origins, unknown_variables, unread_file

    if verbose:
        _log_to_stderr()
    for warning in [*unknown_variables(os.environ), *unread_file(os.environ, config, Path.cwd())]:
        say(f"warning: {warning}")
    path = None if database is None else str(database.expanduser().absolute())
    try:
        loaded = load_with_origins(
            os.environ,
            config=config,
            project_folder=Path.cwd(),
            flags={"database": {"path": path}, **sections},
        )
    except FlagRefused as error:
        raise typer.BadParameter(f"it {error.reason}", param_hint=_FLAGS[error.place]) from error
    settings = loaded.settings
    log.open_log(settings.log.options(), lambda warning: say(f"warning: {warning}"))
    log.record("start", program="mdvec", version=__version__, database=str(settings.database_path))
    return loaded


def _log_to_stderr() -> None:
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(logging.Formatter("%(levelname)s %(message)s"))
    logger = logging.getLogger("mdvec")
    logger.handlers[:] = [handler]
    logger.setLevel(logging.DEBUG)


def chosen_format(flag: DisplayFormat | None, settings: Settings) -> DisplayFormat:
    """The format given as a flag, else the one in the settings."""
    return flag or DisplayFormat(settings.display.default_format)
