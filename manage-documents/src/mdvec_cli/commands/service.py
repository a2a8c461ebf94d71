"""`mdvec ui` and `mdvec service …`: the page in a browser, and a single server for all clients."""

from __future__ import annotations

import webbrowser
from pathlib import Path
from typing import Annotated

import typer
from mdvec import manage
from mdvec.settings import load_settings

from mdvec_cli.commands.terminal import (
    FormatOption,
    GivenPath,
    SettingsOptions,
    command_group,
    print_facts,
    print_json,
    print_line,
    say,
    wants_json,
    with_settings_options,
)

app = command_group("Run one server for all clients, started with your session.")
_DEFAULT_ADDRESS = "127.0.0.1:8765"


@app.command("install")
@with_settings_options
def install_command(
    options: SettingsOptions,
    http: Annotated[
        str, typer.Option(metavar="HOST:PORT", help="Where the server listens.")
    ] = _DEFAULT_ADDRESS,
    token_file: Annotated[GivenPath | None, typer.Option(help="The file of the token.")] = None,
    print_: Annotated[
        bool, typer.Option("--print", help="Print the service's file and install nothing.")
    ] = False,
) -> None:
    """Install the server as a service of systemd or launchd, and start it."""
    settings = options.settings()
    address = manage.parse_address(http)
    # What the server refuses at its start. It has neither this terminal's variables nor its folder.
    served = load_settings({}, config=options.config).server
    token, kept_file = served.token, served.token_file
    value = manage.read_token(
        None if token is None or token_file is not None else token.get_secret_value(),
        token_file or (None if kept_file is None else Path(kept_file)),
    )
    manage.check_token(value, is_reachable=not address.is_loopback)
    more = manage.server_arguments(settings.database_path, options.config)
    if token_file is not None:
        more += ["--token-file", str(token_file.absolute())]
    command = [manage.kept_server_program(), "--http", http, *more]
    service = manage.service_of(manage.this_machine(), command)
    if print_:
        print_line(service.text.rstrip("\n"))
        return
    manage.install(service)
    say(f"installed {service.path}; clients reach the server at {address.url}")


@app.command("uninstall")
def uninstall_command() -> None:
    """Stop the service and remove its file."""
    service = manage.service_of(manage.this_machine(), [])
    was_there = manage.uninstall(service)
    say(f"removed {service.path}" if was_there else f"there is no service at {service.path}")


@app.command("status")
@with_settings_options
def status_command(options: SettingsOptions, format_: FormatOption = None) -> None:
    """Show whether the service is installed, and whether its server answers."""
    settings = options.settings()
    service = manage.service_status(manage.service_of(manage.this_machine(), []))
    if wants_json(format_, settings):
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


@with_settings_options
def ui_command(
    options: SettingsOptions,
    http: Annotated[
        str, typer.Option(metavar="HOST:PORT", help="Where the server listens, or is to listen.")
    ] = _DEFAULT_ADDRESS,
    browser: Annotated[
        bool,
        typer.Option("--browser/--no-browser", help="Open the browser, or only print the address."),
    ] = True,
) -> None:
    """Open the local page: search, money, duplicates, data and tools, in the browser.

    The page is served by a running server of this database, or by one that runs until Ctrl-C. The
    printed address opens it once, within two minutes; after that, a cookie in the browser gives
    access.
    """
    settings = options.settings()
    key = manage.page_key(settings.database_path)
    file = manage.opening_file(settings.database_path) if browser else None
    address = manage.running_page(http, key)
    if address is not None:
        _open(manage.one_time_address(address, key), file)
        return
    try:
        with manage.started_page(
            http, key, manage.server_arguments(settings.database_path, options.config)
        ) as server:
            if not server.is_where_asked:
                say(f"another server listens at {http}; the page is at {server.address}")
            _open(manage.one_time_address(server.address, key), file)
            say("the server runs until Ctrl-C; to have it always: mdvec service install")
            for line in server.messages():
                say(line.rstrip())
    finally:
        if file is not None:
            file.unlink(missing_ok=True)


def _open(address: str, file: Path | None) -> None:
    """Print the address; if ``file`` is given, open the address in the browser through it."""
    print_line(address)
    if file is None:
        return
    opened = address
    if manage.reads_files_of_this_system():
        manage.write_opening(file, address)
        opened = file.as_uri()
    if not webbrowser.open(opened):
        say("no browser could be opened here; open the address above in one, within two minutes")
