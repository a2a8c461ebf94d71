"""`mdvec ui`: opens the local page in the browser."""

from __future__ import annotations

import signal
import webbrowser
from pathlib import Path
from types import FrameType
from typing import Annotated

import typer
from mdvec import manage

from mdvec_cli.commands.options import (
    ConfigOption,
    DatabaseOption,
    VerboseOption,
    settings_from,
)
from mdvec_cli.commands.output import print_line, say

_DEFAULT_ADDRESS = "127.0.0.1:8765"


def ui_command(
    http: Annotated[
        str,
        typer.Option(
            "--http", metavar="HOST:PORT", help="Where the server listens, or is to listen."
        ),
    ] = _DEFAULT_ADDRESS,
    browser: Annotated[
        bool,
        typer.Option("--browser/--no-browser", help="Open the browser, or only print the address."),
    ] = True,
    database: DatabaseOption = None,
    config: ConfigOption = None,
    verbose: VerboseOption = False,
) -> None:
    """Open the local page: search, money, duplicates, data and tools, in the browser.

    The page is served by a running server of this database, or by one that runs until Ctrl-C. The
    printed address opens it once, within two minutes; after that, a cookie in the browser gives
    access.
    """
    settings = settings_from(config, database, verbose=verbose)
    key = manage.page_key(settings.database_path)
    file = manage.opening_file(settings.database_path) if browser else None
    address = manage.running_page(http, key)
    if address is not None:
        _open(manage.one_time_address(address, key), file)
        return
    signal.signal(signal.SIGTERM, _interrupt)
    try:
        with manage.started_page(
            http, key, manage.server_arguments(settings.database_path, config)
        ) as server:
            _open(manage.one_time_address(server.address, key), file)
            say("the server runs until Ctrl-C; to have it always: mdvec service install")
            for line in server.warnings():
                say(line.rstrip())
    finally:
        if file is not None:
            file.unlink(missing_ok=True)


def _open(address: str, file: Path | None) -> None:
    """Print the address, and open it in the browser by way of the file, if there is one."""
    print_line(address)
    if file is None:
        return
    opened = address
    if manage.reads_files_of_this_system():
        manage.write_opening(file, address)
        opened = file.as_uri()
    if not webbrowser.open(opened):
        say("no browser could be opened here; open the address above in one, within two minutes")


def _interrupt(_number: int, _frame: FrameType | None) -> None:
    raise KeyboardInterrupt
