"""The text of a service's file, and the command that such a file runs."""

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
    """A unit of systemd's user manager."""
    return _UNIT.format(command=" ".join(map(_quoted, command)))


def launchd_plist(command: Sequence[str]) -> str:
    """A property list of launchd's: started at login, and again when it fails."""
    content = {
        "Label": LABEL,
        "ProgramArguments": list(command),
        "RunAtLoad": True,
        "KeepAlive": {"SuccessfulExit": False},
    }
    return plistlib.dumps(content).decode()


def command_in(text: str) -> list[str]:
    """The command that a service's file runs; empty where it names none."""
    if text.lstrip().startswith("<?xml"):
        return list(plistlib.loads(text.encode())["ProgramArguments"])
    for line in text.splitlines():
        if line.startswith("ExecStart="):
            read = shlex.split(line.removeprefix("ExecStart="))
            return [part.replace("$$", "$").replace("%%", "%") for part in read]
    return []


def _quoted(part: str) -> str:
    """A part of a command as systemd reads it: without its variables and specifiers."""
    escaped = part.replace("\\", "\\\\").replace('"', '\\"')
    return '"' + escaped.replace("%", "%%").replace("$", "$$") + '"'
