"""The processes that import for another one."""

from __future__ import annotations

import os
from contextlib import suppress

import psutil


def import_children(pid: int | None = None) -> list[psutil.Process]:
    """The running imports that a process started, by default this one; those that end are none."""
    found = []
    for child in psutil.Process(pid or os.getpid()).children():
        with suppress(psutil.NoSuchProcess):  # a zombie's command line is none, either
            if "mdvec.sync.import_child" in child.cmdline():
                found.append(child)
    return found
