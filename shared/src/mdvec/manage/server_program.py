"""Finds the server's executable, for the commands that start it or register it with clients."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

from mdvec.errors import MdvecError

SERVER_PROGRAM = "mdvec-mcp"


class ServerNotInstalled(MdvecError):
    """The server's executable is neither beside this Python nor on the PATH."""


def find_server_program() -> str | None:
    """The server's executable: the one beside this Python, else the first on the PATH, or None."""
    beside = Path(sys.executable).with_name(SERVER_PROGRAM)
    return str(beside) if beside.is_file() else shutil.which(SERVER_PROGRAM)


def server_program() -> str:
    """The absolute path of the server's executable.

    Raises:
        ServerNotInstalled: it was not found.
    """
    found = find_server_program()
    if found is None:
        raise ServerNotInstalled(f"{SERVER_PROGRAM} is not installed; install that package")
    return str(Path(found).absolute())
