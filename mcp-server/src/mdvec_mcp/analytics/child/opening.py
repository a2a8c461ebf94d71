"""The user's files as descriptors, so that what was looked at is what is read.

A path can be given to another file between a look at it and its opening: a link put in its place,
or in that of a folder above it. A descriptor stays with the file that was looked at.
"""

from __future__ import annotations

import fcntl
import os
import stat
import sys
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

_GONE = "its file is gone"
_LINK = "its file has become a link out of the source folder, which is not followed"
_NO_FILE = "in the place of its file is something else"
_LONGEST_PATH = 1024


class NotOpened(Exception):
    """A table's file cannot be taken; the text says why."""


@dataclass
class OpenedFiles:
    """Files by the names of their tables; ``missing`` says why others are not there."""

    descriptors: dict[str, int] = field(default_factory=dict)
    missing: dict[str, str] = field(default_factory=dict)

    @property
    def paths(self) -> dict[str, Path]:
        """A path to each very file, whatever becomes of its name."""
        return {name: Path(f"/dev/fd/{number}") for name, number in self.descriptors.items()}


def open_files(tables: Iterable[tuple[str, str, str]]) -> OpenedFiles:
    """Open the file of each table: its name, its path as imported, and the folder to stay in."""
    opened = OpenedFiles()
    for name, path, folder in tables:
        try:
            opened.descriptors[name] = open_within(Path(path), Path(folder))
        except NotOpened as error:
            opened.missing[name] = str(error)
    return opened


def open_within(file: Path, folder: Path) -> int:
    """Open a file for reading that lies where it did, or elsewhere in its folder.

    Both paths had no links when they were recorded.

    Raises:
        NotOpened: it is gone, no file, or a link out of the folder.
    """
    try:
        # A pipe in its place must not make us wait for its writer.
        descriptor = os.open(file, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
    except FileNotFoundError:
        raise NotOpened(_GONE) from None
    except OSError as error:
        raise NotOpened(f"its file cannot be opened: {os.strerror(error.errno or 0)}") from error
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise NotOpened(_NO_FILE)
    place = _place_of(descriptor)
    if place != file and not place.is_relative_to(folder):
        os.close(descriptor)
        raise NotOpened(_LINK)
    return descriptor


def _place_of(descriptor: int) -> Path:
    """Where the system says that an open file lies: a path without links."""
    if sys.platform == "darwin":
        found = fcntl.fcntl(descriptor, fcntl.F_GETPATH, b"\0" * _LONGEST_PATH)
        return Path(os.fsdecode(found.rstrip(b"\0")))
    return Path(f"/proc/self/fd/{descriptor}").readlink()
