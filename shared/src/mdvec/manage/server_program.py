"""Finds the server's command, which commands start or write into files."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

from mdvec.errors import MdvecError

SERVER_PROGRAM = "mdvec-mcp"


class ServerNotInstalled(MdvecError):
    """The server's command is neither beside this Python nor on the path."""


def find_server_program() -> str | None:
    """The server's command: the one beside this Python, else the first on the path."""
    beside = Path(sys.executable).with_name(SERVER_PROGRAM)
    return str(beside) if beside.is_file() else shutil.which(SERVER_PROGRAM)


def server_program() -> str:
    """The absolute path of the server's command.

    Raises:
        ServerNotInstalled: there is none.
    """
    found = find_server_program()
    if found is None:
        raise ServerNotInstalled(f"{SERVER_PROGRAM} is not installed; install that package")
    return str(Path(found).absolute())
