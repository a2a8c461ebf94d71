"""`mdvec register` and `mdvec rules`: add the server and rules for analysis to other programs."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path
from typing import Annotated, Literal
from urllib.parse import urlsplit

import typer
from mdvec import manage

from mdvec_cli.commands.terminal import (
    GivenPath,
    SettingsOptions,
    command_group,
    print_line,
    say,
    with_settings_options,
)

ClientName = Literal["claude-desktop", "claude-code", "cursor", "vscode", "copilot-cli", "codex"]
"""The keys of ``mdvec.manage.clients.clients.CLIENTS``."""

ClientArgument = Annotated[ClientName, typer.Argument(help="The client.")]
rules = command_group("Give a model the rules of data analysis.")
PathOption = Annotated[
    GivenPath | None,
    typer.Option("--path", help="The file of instructions; by default CLAUDE.md in this folder."),
]
IPythonOption = Annotated[
    bool,
    typer.Option("--ipython", help="IPython's start-up script, which limits what cells print; "
                 "without --path, only the script."),
]  # fmt: skip


def _checked_url(url: str | None) -> str | None:
    if url is not None:
        parts = urlsplit(url)
        if parts.scheme not in {"http", "https"} or not parts.hostname:
            raise typer.BadParameter(f"{url!r} is not a URL such as http://127.0.0.1:8765/mcp")
    return url


def _served_folder(folder: Path) -> str:
    """The absolute path of a folder, since clients start the server in another one."""
    path = folder.absolute()
    if not path.is_dir():
        raise typer.BadParameter(f"there is no folder {folder}", param_hint="'--docs-dir'")
    return str(path)


@with_settings_options
def register_command(
    options: SettingsOptions,
    client: ClientArgument,
    http: Annotated[
        str | None,
        typer.Option(metavar="URL", callback=_checked_url,
                     help="Register the server that runs at this URL (mdvec-mcp --http)."),
    ] = None,
    docs_dir: Annotated[
        GivenPath | None,
        typer.Option(metavar="FOLDER",
                     help="Register a server of this folder, as mdvec serve starts it."),
    ] = None,
    print_: Annotated[
        bool, typer.Option("--print", help="Print the entry and its file; write nothing.")
    ] = False,
) -> None:  # fmt: skip
    """Write the server into a client's settings, with absolute paths.

    What you added to a previous entry stays. The previous file is kept beside the new one.
    Restart the client afterwards.
    """
    server = _server(options, http, docs_dir)
    chosen, machine = manage.CLIENTS[client], manage.this_machine()
    entry = manage.snippet(chosen, chosen.entry(server)).rstrip("\n")
    if print_:
        print_line(entry)
        say(f"it belongs in {chosen.file(machine)}")
        return
    try:
        change = manage.register(chosen, machine, server, datetime.now().astimezone())
    except manage.NotRegistered:
        print_line(entry)
        raise
    _report(change, f"registered in {chosen.title}", "mdvec is registered already")
    if change.kept:
        say(f"kept from the previous entry: {', '.join(change.kept)} "
            f"(to start anew: mdvec unregister {client})")  # fmt: skip
    if change.dropped:
        say(f"not kept, as it does not go with this entry: {', '.join(change.dropped)}")
    if change.changed:
        say(f"next: restart {chosen.title}")


def _server(options: SettingsOptions, http: str | None, docs_dir: Path | None) -> manage.Server:
    """The server that the options of `mdvec register` describe."""
    if http is not None and docs_dir is not None:
        raise typer.BadParameter(
            "the server at the URL of --http has its own documents; give one of the two",
            param_hint="'--docs-dir'",
        )
    arguments = manage.server_arguments(options.settings().database_path, options.config)
    if docs_dir is not None:
        arguments += ["--docs-dir", _served_folder(docs_dir)]
    is_chosen = options.database is not None
    program = manage.kept_server_program()
    return manage.Server(program, tuple(arguments), http, is_database_chosen=is_chosen)


def unregister_command(client: ClientArgument) -> None:
    """Remove the server from a client's settings."""
    chosen = manage.CLIENTS[client]
    change = manage.unregister(chosen, manage.this_machine(), datetime.now().astimezone())
    _report(change, f"removed from {chosen.title}", "mdvec is not registered")


def _report(change: manage.FileChange, done: str, nothing_to_do: str) -> None:
    if not change.changed:
        say(f"{nothing_to_do} in {change.file}")
        return
    note = "" if change.backup is None else f" (the previous file: {change.backup.name})"
    say(f"{done}: {change.file}{note}")


@rules.command("install")
def install_command(path: PathOption = None, ipython: IPythonOption = False) -> None:
    """Write the rules into a marked section of CLAUDE.md, or replace those that are there."""
    file = _instructions(path, ipython=ipython)
    if file is not None:
        written = manage.install_section(file)
        say(f"wrote the rules into {file}" if written else f"{file} has the rules already")
    if ipython:
        script = manage.startup_script(manage.this_machine())
        written = manage.install_script(script)
        say(f"wrote {script}" if written else f"{script} is there already")


@rules.command("uninstall")
def uninstall_command(path: PathOption = None, ipython: IPythonOption = False) -> None:
    """Remove the section, or the start-up script."""
    file = _instructions(path, ipython=ipython)
    if file is not None:
        removed = manage.uninstall_section(file)
        rest = "" if file.exists() else ", and the file, as nothing else was in it"
        say(f"removed the rules from {file}{rest}" if removed else f"{file} has no rules of mdvec")
    if ipython:
        script = manage.startup_script(manage.this_machine())
        removed = manage.uninstall_script(script)
        say(f"removed {script}" if removed else f"there is no {script}")


def _instructions(path: Path | None, *, ipython: bool) -> Path | None:
    """The absolute path of the file of instructions; None if only the script is meant."""
    if path is None and ipython:
        return None
    return (path or Path("CLAUDE.md")).absolute()
