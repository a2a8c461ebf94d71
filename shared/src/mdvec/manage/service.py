"""The shared server as a user service of systemd (Linux) or launchd (macOS).

Installs, removes and checks it.
"""

from __future__ import annotations

import json
import plistlib
import shlex
import shutil
import subprocess
import sys
import urllib.request
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

from mdvec.errors import MdvecError, not_usable
from mdvec.installation import this_installation
from mdvec.manage.clients.clients import Machine
from mdvec.platform import user_number

_UNIT_NAME = "mdvec.service"
_SYSTEMD = ("systemctl", "--user")
_HEALTH_SECONDS = 3.0
_MAX_HEALTH_BYTES = 10_000
_MANAGER_SECONDS = 60.0

Command = tuple[str, ...]
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
SERVER_PROGRAM = "mdvec-mcp"


class ServiceError(MdvecError):
    """The service cannot be installed or started; the message says what to do by hand."""


@dataclass(frozen=True, slots=True)
class Service:
    """A service's file, and the service manager's commands that start and stop it."""

    path: Path
    text: str
    start: tuple[Command, ...]
    stop: tuple[Command, ...]
    forget: tuple[Command, ...] = ()


@dataclass(frozen=True, slots=True)
class ServiceStatus:
    """Whether the service is installed, and whether a server answers at its address."""

    path: Path
    installed: bool
    address: str | None
    answers: bool
    version: str | None


def service_of(machine: Machine, command: Sequence[str]) -> Service:
    """The service that runs ``command`` for a user of a machine.

    Raises:
        ServiceError: the platform has neither systemd nor launchd.
    """
    if machine.platform == "linux":
        return Service(
            machine.folder("XDG_CONFIG_HOME", ".config") / "systemd" / "user" / _UNIT_NAME,
            systemd_unit(command),
            start=((*_SYSTEMD, "daemon-reload"), (*_SYSTEMD, "enable", "--now", _UNIT_NAME)),
            stop=((*_SYSTEMD, "disable", "--now", _UNIT_NAME),),
            forget=((*_SYSTEMD, "daemon-reload"),),
        )
    if machine.platform == "darwin":
        path = machine.home / "Library" / "LaunchAgents" / f"{LABEL}.plist"
        domain = f"gui/{user_number()}"
        return Service(
            path,
            launchd_plist(command),
            start=(("launchctl", "bootstrap", domain, str(path)),),
            stop=(("launchctl", "bootout", f"{domain}/{LABEL}"),),
        )
    raise ServiceError(
        "services are for systemd and launchd; start the server by hand: mdvec-mcp --http"
    )


def install(service: Service) -> None:
    """Write the service's file and start the service, or restart it.

    Raises:
        ServiceError: the file cannot be written, or the session manager does not start it.
    """
    was_there = service.path.exists()
    try:
        service.path.parent.mkdir(parents=True, exist_ok=True)
        service.path.write_text(service.text, encoding="utf-8")
    except OSError as error:
        raise ServiceError(not_usable(service.path, error)) from error
    if was_there:
        for command in service.stop:
            _failure(command)  # fails if the service is not running
    for command in service.start:
        failure = _failure(command)
        if failure is not None:
            raise ServiceError(
                f"{service.path} is written, but the service was not started ({failure}); start "
                f"it later with: {' '.join(service.start[-1])}"
            )


def uninstall(service: Service) -> bool:
    """Stop the service and remove its file; returns whether there was one."""
    if not service.path.exists():
        return False
    for command in service.stop:
        _failure(command)
    service.path.unlink()
    for command in service.forget:
        _failure(command)
    return True


def service_status(service: Service) -> ServiceStatus:
    """Whether the service is installed and answers."""
    installed = service.path.exists()
    text = service.path.read_text(encoding="utf-8") if installed else service.text
    served = option_value(command_in(text), "--http")
    address = None if served is None else f"http://{served}"
    health = (address and health_of(address)) or {}
    version = str(health.get("version")) if health.get("server") == "mdvec" else None
    return ServiceStatus(service.path, installed, address, version is not None, version)


def _failure(command: Command) -> str | None:
    """Run a command of the service manager; returns its message if it failed."""
    try:
        done = subprocess.run(  # noqa: S603 - commands of this module
            command, capture_output=True, text=True, timeout=_MANAGER_SECONDS, check=False
        )
    except FileNotFoundError:
        return f"{command[0]} is not installed"
    except subprocess.TimeoutExpired:
        return f"{command[0]} did not end"
    if done.returncode == 0:
        return None
    return (done.stderr or done.stdout).strip() or f"{command[0]} ended with {done.returncode}"


def option_value(command: Sequence[str], option: str) -> str | None:
    """The value of a command's option, after a space or "="; the last one if it is repeated."""
    words = (word for each in command for word in each.split("=", each.startswith(f"{option}=")))
    return next((value for name, value in reversed([*pairwise(words)]) if name == option), None)


def health_of(address: str) -> dict[str, object] | None:
    """The health report of the server at an address; None if none answers."""
    direct = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    try:
        with direct.open(f"{address}/health", timeout=_HEALTH_SECONDS) as answer:
            health = json.loads(answer.read(_MAX_HEALTH_BYTES))
    except (OSError, ValueError):
        return None
    return health if isinstance(health, dict) else None


def systemd_unit(command: Sequence[str]) -> str:
    """The text of a systemd user unit."""
    return _UNIT.format(command=" ".join(map(_quote, command)))


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


def _quote(part: str) -> str:
    """A part of a command, quoted for systemd, with variables and specifiers escaped."""
    escaped = part.replace("\\", "\\\\").replace('"', '\\"')
    return '"' + escaped.replace("%", "%%").replace("$", "$$") + '"'


class ServerNotInstalled(MdvecError):
    """The server's executable is neither next to this Python nor on the PATH."""


def find_server_program() -> str | None:
    """The server's executable next to this Python, else the first on the PATH, or None."""
    in_environment = shutil.which(SERVER_PROGRAM, path=str(Path(sys.executable).parent))
    return in_environment or shutil.which(SERVER_PROGRAM)


def server_program() -> str:
    """The absolute path of the server's executable.

    Raises:
        ServerNotInstalled: it was not found.
    """
    program = find_server_program()
    if program is None:
        raise ServerNotInstalled(
            f"{SERVER_PROGRAM} is not installed; get it with: {this_installation().adding_server}"
        )
    return str(Path(program).absolute())


class OnlyTried(MdvecError):
    """The server's executable is temporary, so that clients could not start it later."""


def kept_server_program() -> str:
    """The server's executable, if it is permanently installed.

    Raises:
        OnlyTried: it is in a temporary environment of uvx or pipx run.
        ServerNotInstalled: it was not found.
    """
    here = this_installation()
    if not here.is_kept:
        raise OnlyTried(
            f"{here.kind} clears this mdvec away, and nothing could start its server later; "
            f"install it: {here.to_keep}"
        )
    return server_program()
