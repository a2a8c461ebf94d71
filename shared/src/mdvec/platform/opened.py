"""Files by descriptor: the file that was checked is the one that is read."""

from __future__ import annotations

import os
import sys
import time
from contextlib import suppress
from pathlib import Path

from mdvec.platform import windows

if sys.platform != "win32":
    import fcntl

_MAX_PATH = 1024
_REPLACE_SECONDS = 2.0
_AGAIN_SECONDS = 0.02


def open_to_read(file: Path) -> int:
    """Open a file; a pipe in its place does not wait for its writer."""
    if sys.platform == "win32":
        return os.open(file, os.O_RDONLY | os.O_BINARY)
    return os.open(file, os.O_RDONLY | os.O_NONBLOCK)


def open_to_append(file: Path) -> int:
    """Open a file that only its owner can read, for bytes at its end; it may be new."""
    flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT
    if sys.platform == "win32":
        flags |= os.O_BINARY
    return os.open(file, flags, 0o600)


def path_of(descriptor: int) -> Path:
    """A path that opens the same file, even if the file was renamed or replaced.

    On macOS, all who open it share one position in the file. On Windows nobody can rename or
    replace a file that this process has open, so it is the file's own path.
    """
    if sys.platform == "win32":
        return real_path(descriptor)
    return Path(f"/dev/fd/{descriptor}")


def read_start(descriptor: int, count: int) -> bytes:
    """The first bytes of an open file, whose position is then at its start."""
    os.lseek(descriptor, 0, os.SEEK_SET)
    start = os.read(descriptor, count)
    os.lseek(descriptor, 0, os.SEEK_SET)
    return start


def real_path(descriptor: int) -> Path:
    """The path of an open file according to the system, without links."""
    if sys.platform == "win32":
        return Path(windows.path_of(descriptor))
    if sys.platform == "darwin":
        buffer = fcntl.fcntl(descriptor, fcntl.F_GETPATH, b"\0" * _MAX_PATH)
        return Path(os.fsdecode(buffer.rstrip(b"\0")))
    return Path(f"/proc/self/fd/{descriptor}").readlink()


def hidden_folder() -> Path:
    """The working folder by a path that does not reveal where it is, if the system has one."""
    folder = Path("/proc/self/cwd")
    return folder if folder.exists() else Path.cwd()


def replace(new: Path, old: Path) -> None:
    """Put a file in the place of another at once.

    On Windows another program that has ``old`` open forbids it; it is tried again for a while.

    Raises:
        OSError: it could not be replaced.
    """
    until = time.monotonic() + _REPLACE_SECONDS
    while sys.platform == "win32" and time.monotonic() < until:
        with suppress(PermissionError):
            new.replace(old)
            return
        time.sleep(_AGAIN_SECONDS)
    new.replace(old)
