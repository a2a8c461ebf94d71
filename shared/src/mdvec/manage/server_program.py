"""Finds the server's command, which commands start or write into files."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

SERVER_PROGRAM = "mdvec-mcp"


def find_server_program() -> str | None:
    """The server's command: the one beside this Python, else the first on the path."""
    beside = Path(sys.executable).with_name(SERVER_PROGRAM)
    return str(beside) if beside.is_file() else shutil.which(SERVER_PROGRAM)
