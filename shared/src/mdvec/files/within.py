"""Opens the user's files as descriptors, so that the file that was checked is the one read.

Between a check of a path and its opening, a link may replace the file or a folder above it. A
descriptor stays with the file that was checked.
"""

from __future__ import annotations

import fcntl
import os
import stat
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from mdvec.files.scanning import UnreadableFile

_GONE = "its file is gone"
_LINK = "its file has become a link out of the source folder, which is not followed"
_NO_FILE = "in the place of its file is something else"
_MAX_PATH = 1024


class NotOpened(UnreadableFile):
    """A file that cannot be opened safely; the message says why."""


@contextmanager
def opened_within(file: Path, folder: Path) -> Iterator[int]:
    """A descriptor of a file that an import found in its source, which is a folder or a file.

    Raises:
        NotOpened: it is gone, or is not a file of the source.
    """
    if not file.is_relative_to(folder):
        raise NotOpened(_LINK)
    descriptor = open_within(file, folder)
    try:
        yield descriptor
    finally:
        os.close(descriptor)


def path_of(descriptor: int) -> Path:
    """A path that opens the same file, even if the file was renamed or replaced.

    On macOS, all who open it share one position in the file.
    """
    return Path(f"/dev/fd/{descriptor}")


def open_within(file: Path, folder: Path) -> int:
    """Open a file for reading that is where it was recorded, or elsewhere in its folder.

    Neither path contained a link when it was recorded.

    Raises:
        NotOpened: it is gone, is not a regular file, or is a link out of the folder.
    """
    try:
        # Opening a pipe in its place must not wait for its writer.
        descriptor = os.open(file, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
    except FileNotFoundError:
        raise NotOpened(_GONE, may_pass=True) from None
    except OSError as error:
        reason = f"its file cannot be opened: {os.strerror(error.errno or 0)}"
        raise NotOpened(reason, may_pass=True) from error
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise NotOpened(_NO_FILE)
    path = _place_of(descriptor)
    if path != file and not path.is_relative_to(folder):
        os.close(descriptor)
        raise NotOpened(_LINK)
    return descriptor


def _place_of(descriptor: int) -> Path:
    """The path of an open file according to the system, without links."""
    if sys.platform == "darwin":
        buffer = fcntl.fcntl(descriptor, fcntl.F_GETPATH, b"\0" * _MAX_PATH)
        return Path(os.fsdecode(buffer.rstrip(b"\0")))
    return Path(f"/proc/self/fd/{descriptor}").readlink()
