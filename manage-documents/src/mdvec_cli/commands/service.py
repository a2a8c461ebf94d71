"""`mdvec service …`: one server for all clients, started with the user's session."""

from __future__ import annotations

import os
import sys
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
    settings_from,
)
from mdvec_cli.commands.output import print_facts, print_json, print_line, say

if TYPE_CHECKING:
    from mdvec.manage import Service

app = typer.Typer(
    help="Run one server for all clients, started with your session.",
    no_args_is_help=True,
    rich_markup_mode=None,
)


@app.command("install")
def install_command(
    http: Annotated[
        str, typer.Option("--http", metavar="HOST:PORT", help="Where the server listens.")
    ] = "127.0.0.1:8765",
    token_file: Annotated[
        Path | None,
        typer.Option("--token-file", help="The file of the token.", show_default=False),
    ] = None,
    print_: Annotated[
        bool, typer.Option("--print", help="Print the service's file and install nothing.")
    ] = False,
    database: DatabaseOption = None,
    config: ConfigOption = None,
    verbose: VerboseOption = False,
) -> None:
    """Install the server as a service of systemd or launchd, and start it."""
    settings = settings_from(config, database, verbose=verbose)
    configured = settings.server.token_file
    manage.read_token(
        None, token_file or (None if configured is None else Path(configured))
    )  # or its start fails
    more = ["--database", str(settings.database_path)]
    for option, path in (("--config", config), ("--token-file", token_file)):
        more += [] if path is None else [option, str(path.expanduser().absolute())]
    service = _service([manage.server_program(), "--http", http, *more])
    if print_:
        print_line(service.text.rstrip("\n"))
        return
    manage.install(service)
    say(f"installed {service.path}; clients reach the server at http://{http}/mcp")


@app.command("uninstall")
def uninstall_command() -> None:
    """Stop the service and remove its file."""
    service = _service([])
    was_there = manage.uninstall(service)
    say(f"removed {service.path}" if was_there else f"there is no service at {service.path}")


@app.command("status")
def status_command(
    format_: FormatOption = None,
    database: DatabaseOption = None,
    config: ConfigOption = None,
    verbose: VerboseOption = False,
) -> None:
    """Show whether the service is installed, and whether its server answers."""
    settings = settings_from(config, database, verbose=verbose)
    service = manage.service_status(_service([]))
    if chosen_format(format_, settings) is DisplayFormat.JSON:
        print_json(service)
        return
    print_facts(
        "Service",
        [
            ("file", service.path),
            ("installed", service.installed),
            ("address", service.address),
            ("answers", service.answers),
            ("version", service.version),
        ],
    )


def _service(command: list[str]) -> Service:
    config_home = os.environ.get("XDG_CONFIG_HOME")
    home = Path.home()
    return manage.service_of(
        sys.platform, home, Path(config_home) if config_home else home / ".config", command
    )
