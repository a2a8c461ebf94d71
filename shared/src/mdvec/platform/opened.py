"""Opens files by descriptor, so that the file that was checked is read; tells owners and rights."""

from __future__ import annotations

import os
import stat
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


_GROUP_AND_OTHERS = 0o077
_OWN_FOLDER = 0o700
_OWN_FILE = 0o600


def is_root() -> bool:
    """Whether this process may do anything; on Windows it is never asked to."""
    return sys.platform != "win32" and os.geteuid() == 0


def user_number() -> int:
    """This user's number; Windows has none, and nothing there that asks for it."""
    if sys.platform == "win32":
        return 0
    return os.getuid()


def take_ownership(file: Path) -> None:
    """Make a file of another user this process's, and shut it to all others."""
    if sys.platform != "win32":
        os.chown(file, os.geteuid(), os.getegid())
    file.chmod(_OWN_FILE)


def open_folder(folder: Path) -> int | None:
    """A descriptor of a folder, so that the folder checked is the one whose mode is changed.

    None on Windows, whose folders cannot be opened, and are private by where they lie: below the
    user's profile.

    Raises:
        OSError: it is missing, a link or a file, or cannot be read.
    """
    if sys.platform == "win32":
        if folder.is_symlink():
            raise NotADirectoryError(f"{folder} is a link")
        next(folder.iterdir(), None)  # which raises what is wrong
        return None
    return os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)


def is_anothers(status: os.stat_result) -> bool:
    """Whether the file of this status belongs to another user."""
    return sys.platform != "win32" and status.st_uid != os.getuid()


def is_shut(status: os.stat_result) -> bool:
    """Whether only its owner can read the file of this status, as far as modes tell."""
    return sys.platform == "win32" or not stat.S_IMODE(status.st_mode) & _GROUP_AND_OTHERS


def shut_folder(descriptor: int) -> None:
    """Shut an open folder to all but its owner."""
    if sys.platform != "win32":
        os.fchmod(descriptor, _OWN_FOLDER)
