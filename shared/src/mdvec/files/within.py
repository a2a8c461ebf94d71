"""The user's files as descriptors, so that what was looked at is what is read.

A path can be given to another file between a look at it and its opening: a link put in its place,
or in that of a folder above it. A descriptor stays with the file that was looked at.
"""

from __future__ import annotations

import fcntl
import os
import stat
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from mdvec.files.scan import UnreadableFile

_GONE = "its file is gone"
_LINK = "its file has become a link out of the source folder, which is not followed"
_NO_FILE = "in the place of its file is something else"
_LONGEST_PATH = 1024


class NotOpened(UnreadableFile):
    """A file that cannot be taken; the text says why."""


@contextmanager
def opened_within(file: Path, folder: Path) -> Iterator[int]:
    """A descriptor of a file that an import found in its source, a folder or that very file.

    Raises:
        NotOpened: it is not there any more, or no file of the source.
    """
    if not file.is_relative_to(folder):
        raise NotOpened(_LINK)
    descriptor = open_within(file, folder)
    try:
        yield descriptor
    finally:
        os.close(descriptor)


def path_of(descriptor: int) -> Path:
    """A path to the very file, whatever becomes of its name.

    On macOS all that open it share one position in the file.
    """
    return Path(f"/dev/fd/{descriptor}")


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
