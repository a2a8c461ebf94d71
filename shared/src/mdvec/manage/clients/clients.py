"""The MCP clients that mdvec can register with: their files, and the format of an entry.

docs/clients.md links to the documentation of each client's file.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

ClientEntry = dict[str, object]
"""A server as a client's file describes it."""

SERVER_NAME = "mdvec"


@dataclass(frozen=True, slots=True)
class Machine:
    """Where to look for a client's files; ``platform`` is a value of ``sys.platform``."""

    platform: str
    home: Path
    environment: Mapping[str, str]

    @property
    def application_data(self) -> Path:
        """The folder in which applications keep their settings."""
        if self.platform == "darwin":
            return self.home / "Library" / "Application Support"
        if self.platform == "win32":
            return self.folder("APPDATA", "AppData/Roaming")
        return self.folder("XDG_CONFIG_HOME", ".config")

    def folder(self, variable: str, in_home: str) -> Path:
        """The folder that an environment variable names, else one in the home."""
        return Path(self.environment.get(variable) or self.home / in_home)

    @property
    def claude_desktop(self) -> Path:
        """The folder of Claude Desktop's settings.

        The version from the Microsoft Store (its Windows installer since 2026) has a folder of its
        own: https://github.com/anthropics/claude-code/issues/26073.
        """
        if self.platform == "win32":
            packages = self.folder("LOCALAPPDATA", "AppData/Local") / "Packages"
            of_store = sorted(packages.glob("Claude_*/LocalCache/Roaming/Claude"))
            if of_store:
                return max(of_store, key=lambda folder: folder.stat().st_mtime)
        return self.application_data / "Claude"


def this_machine() -> Machine:
    """The machine and the user that this process runs for."""
    return Machine(sys.platform, Path.home(), os.environ)


@dataclass(frozen=True, slots=True)
class Client:
    """One MCP client.

    Attributes:
        title: its product name.
        servers: the key of the file under which the servers are listed.
        file: finds the file.
        format: the file's format; ``json`` may contain comments.
        is_typed: whether an entry states its transport.
        has_urls: whether an entry may be the URL of a server; otherwise the client starts
            mdvec-mcp, which forwards STDIO to that URL.
        extras: further keys of an entry, such as a switch that loads a server's tools at once in a
            client that would otherwise hide them behind a search.
    """

    title: str
    servers: str
    file: Callable[[Machine], Path]
    format: Literal["json", "toml"] = "json"
    is_typed: bool = False
    has_urls: bool = True
    extras: ClientEntry = field(default_factory=dict)

    def entry(self, server: Server) -> ClientEntry:
        """A server as this client's file describes it."""
        if server.url is not None and self.has_urls:
            transport: ClientEntry = {"type": "http"} if self.is_typed else {}
            return {**transport, "url": server.url, **self.extras}
        transport = {"type": "stdio"} if self.is_typed else {}
        started = {"command": server.program, "args": self.arguments(server)}
        return {**transport, **started, **self.extras}

    def arguments(self, server: Server) -> list[str]:
        """The arguments with which the client starts mdvec-mcp."""
        return list(server.options) if server.url is None else ["--connect", server.url]


@dataclass(frozen=True, slots=True)
class Server:
    """The server to register: a program with its options, or a running server at a URL.

    ``is_database_chosen``: the user named the database for this entry.
    """

    program: str
    options: tuple[str, ...]
    url: str | None = None
    is_database_chosen: bool = False


CLIENTS = {
    "claude-desktop": Client(
        "Claude Desktop", "mcpServers",
        lambda machine: machine.claude_desktop / "claude_desktop_config.json",
        has_urls=False,
    ),
    "claude-code": Client(
        "Claude Code", "mcpServers",
        lambda machine: machine.folder("CLAUDE_CONFIG_DIR", "") / ".claude.json",
        is_typed=True, extras={"alwaysLoad": True},
    ),
    "cursor": Client(
        "Cursor", "mcpServers",
        lambda machine: machine.home / ".cursor" / "mcp.json",
    ),
    "vscode": Client(
        "VS Code", "servers",
        lambda machine: machine.application_data / "Code" / "User" / "mcp.json",
        is_typed=True,
    ),
    "copilot-cli": Client(
        "Copilot CLI", "mcpServers",
        lambda machine: machine.folder("COPILOT_HOME", ".copilot") / "mcp-config.json",
        is_typed=True, extras={"tools": ["*"], "deferTools": "never"},
    ),
    "codex": Client(
        "Codex", "mcp_servers",
        lambda machine: machine.folder("CODEX_HOME", ".codex") / "config.toml",
        format="toml",
    ),
}  # fmt: skip
"""The clients by the name that `mdvec register` takes."""
