"""The lock file that an import of a tool holds, so that only one runs at a time."""

from __future__ import annotations

import fcntl
import os
from pathlib import Path

from mdvec.tools.rows import Tool


def lock_file(database: Path, tool: Tool) -> Path:
    """The lock file of a tool's imports; an import removes it when it ends."""
    return Path(f"{database}.import-{tool.id}.lock")


def is_being_imported(database: Path, tool: Tool) -> bool:
    """Whether an import of the tool, or mdvec compact, is running in another process."""
    try:
        # Opened here, as filelock would create the file if the import has just removed it.
        descriptor = os.open(lock_file(database, tool), os.O_RDWR | os.O_CLOEXEC)
    except OSError:
        return False
    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    finally:
        os.close(descriptor)
    return False
