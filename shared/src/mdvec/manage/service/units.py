"""Writes the text of a service's file, and reads the command that such a file runs."""

from __future__ import annotations

import plistlib
import shlex
from collections.abc import Sequence

LABEL = "mdvec.server"
"""The name of the service in launchd."""

_UNIT = """\
[Unit]
Description=mdvec, one MCP server for all clients

[Service]
ExecStart={command}
Restart=on-failure
RestartSec=5

[Install]
WantedBy=default.target
"""


def systemd_unit(command: Sequence[str]) -> str:
    """The text of a systemd user unit."""
    return _UNIT.format(command=" ".join(map(_quoted, command)))


def launchd_plist(command: Sequence[str]) -> str:
    """A launchd property list: starts the command at login, and again when it fails."""
    content = {
        "Label": LABEL,
        "ProgramArguments": list(command),
        "RunAtLoad": True,
        "KeepAlive": {"SuccessfulExit": False},
    }
    return plistlib.dumps(content).decode()


def command_in(text: str) -> list[str]:
    """The command that a service's file runs; empty if it has none."""
    if text.lstrip().startswith("<?xml"):
        return list(plistlib.loads(text.encode())["ProgramArguments"])
    for line in text.splitlines():
        if line.startswith("ExecStart="):
            read = shlex.split(line.removeprefix("ExecStart="))
            return [part.replace("$$", "$").replace("%%", "%") for part in read]
    return []


def _quoted(part: str) -> str:
    """A part of a command, quoted for systemd, with variables and specifiers escaped."""
    escaped = part.replace("\\", "\\\\").replace('"', '\\"')
    return '"' + escaped.replace("%", "%%").replace("$", "$$") + '"'
