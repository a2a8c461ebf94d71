"""Checks mdvec's entries in the settings of MCP clients."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path

from mdvec.manage.clients.clients import CLIENTS, Client, ClientEntry, Machine
from mdvec.manage.clients.registration import NotRegistered, registered_entry
from mdvec.manage.doctor.findings import Finding, Installation

_CHECK = "clients"


def check_clients(installation: Installation) -> Iterator[Finding]:
    """Check that the clients with an entry for mdvec can start it, with this database."""
    machine = Machine(sys.platform, Path.home(), os.environ)
    is_registered = False
    for name, client in CLIENTS.items():
        try:
            entry = registered_entry(client, machine)
        except NotRegistered as error:
            yield Finding("warning", _CHECK, str(error))
            continue
        if entry is not None:
            is_registered = True
            yield _checked(name, client, entry, installation.database)
    if not is_registered:
        yield Finding("ok", _CHECK, "no client has an entry for mdvec yet; see: mdvec register -h")


def _checked(name: str, client: Client, entry: ClientEntry, database: Path) -> Finding:
    """The finding about one entry."""
    again = f"mdvec register {name} --database {database}"
    if "url" in entry:
        return Finding("ok", _CHECK, f"{client.title} asks the server at {entry['url']}")
    program = str(entry.get("command", ""))
    if shutil.which(program) is None:
        sentence = f"{client.title} starts {program!r}, which is not a program"
        return Finding("trouble", _CHECK, sentence, again)
    found = entry.get("args")
    options = [str(option) for option in found] if isinstance(found, list) else []
    for option, value in zip(options, options[1:], strict=False):
        if option == "--database" and Path(value) != database:
            sentence = f"{client.title} uses another database: {value}"
            return Finding("warning", _CHECK, sentence, again)
    return Finding("ok", _CHECK, f"{client.title} starts {program}")
