"""Opens the user's files safely.

Files are opened as descriptors, so that the file that was checked is the one read: between a check
of a path and its opening, a link may replace the file or a folder above it.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from mdvec.files.problems import UnreadableFile
from mdvec.platform import open_to_read, real_path

_GONE = "its file is gone"
_LINK = "its file has become a link out of the source folder, which is not followed"
_NO_FILE = "in the place of its file is something else"


class NotOpened(UnreadableFile):
    """A file that cannot be opened safely; the message says why."""


@contextmanager
def opened_within(file: Path, folder: Path) -> Iterator[int]:
    """A descriptor of a file of a source, which is a folder or a single file.

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


def open_within(file: Path, folder: Path) -> int:
    """Open a file for reading, if it really is in the folder.

    Neither path contained a link when it was recorded; a link that replaced the file may
    lead elsewhere in the folder.

    Raises:
        NotOpened: it is gone, is not a regular file, or is a link out of the folder.
    """
    try:
        descriptor = open_to_read(file)
    except FileNotFoundError:
        raise NotOpened(_GONE, may_pass=True) from None
    except OSError as error:
        reason = f"its file cannot be opened: {os.strerror(error.errno or 0)}"
        raise NotOpened(reason, may_pass=True) from error
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise NotOpened(_NO_FILE)
    path = real_path(descriptor)
    if path != file and not path.is_relative_to(folder):
        os.close(descriptor)
        raise NotOpened(_LINK)
    return descriptor
