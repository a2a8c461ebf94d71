"""Opens files by descriptor, so that the file read is the file checked; checks owners and modes."""

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
_GROUP_AND_OTHERS = 0o077
_OWN_FOLDER = 0o700
_OWN_FILE = 0o600


def followed(path: str | os.PathLike[str]) -> Path:
    """The absolute path without links; unlike ``Path.resolve``, it accepts loops of links."""
    return Path(os.path.realpath(path))


def open_to_read(file: Path) -> int:
    """Open a file for reading; does not block if it is a pipe without a writer."""
    if sys.platform == "win32":
        return os.open(file, os.O_RDONLY | os.O_BINARY)
    return os.open(file, os.O_RDONLY | os.O_NONBLOCK)


def open_to_append(file: Path) -> int:
    """Open a file for appending; a new file is readable only by its owner."""
    flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT
    if sys.platform == "win32":
        flags |= os.O_BINARY
    return os.open(file, flags, 0o600)


def path_of(descriptor: int) -> Path:
    """A path that opens the same file, even if the file was renamed or replaced.

    On macOS, all who open it share one position in the file. On Windows it is the file's own path,
    since an open file cannot be renamed or replaced.
    """
    if sys.platform == "win32":
        return real_path(descriptor)
    return Path(f"/dev/fd/{descriptor}")


def read_start(descriptor: int, count: int) -> bytes:
    """The first bytes of an open file; leaves its position at the start."""
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
    """A path to the working folder that does not reveal its location, if the system has one."""
    folder = Path("/proc/self/cwd")
    return folder if folder.exists() else Path.cwd()


def replace(new: Path, old: Path) -> None:
    """Replace a file atomically.

    On Windows this fails while another program has ``old`` open; it is retried for a while.

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


def is_root() -> bool:
    """Whether this process runs as root; False on Windows."""
    return sys.platform != "win32" and os.geteuid() == 0


def user_number() -> int:
    """This user's id; not available on Windows, where nothing needs it."""
    if sys.platform == "win32":
        return 0
    return os.getuid()


def take_ownership(file: Path) -> None:
    """Take ownership of another user's file, and revoke all others' access."""
    if sys.platform != "win32":
        os.chown(file, os.geteuid(), os.getegid())
    file.chmod(_OWN_FILE)


def open_folder(folder: Path) -> int | None:
    """A descriptor of a folder, with which the same folder is checked and changed.

    None on Windows, where folders cannot be opened, and folders in the user's profile are private.

    Raises:
        OSError: it is missing, a link or a file, or cannot be read.
    """
    if sys.platform == "win32":
        if folder.is_symlink():
            raise NotADirectoryError(f"{folder} is a link")
        next(folder.iterdir(), None)  # raises if it cannot be read
        return None
    return os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)


def is_anothers(status: os.stat_result) -> bool:
    """Whether the file of this status belongs to another user."""
    return sys.platform != "win32" and status.st_uid != os.getuid()


def is_shut(status: os.stat_result) -> bool:
    """Whether only its owner can read the file of this status, according to its mode."""
    return sys.platform == "win32" or not stat.S_IMODE(status.st_mode) & _GROUP_AND_OTHERS


def shut_folder(descriptor: int) -> None:
    """Make an open folder accessible only to its owner."""
    if sys.platform != "win32":
        os.fchmod(descriptor, _OWN_FOLDER)
