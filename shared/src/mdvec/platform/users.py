"""Whose a file is, and that nobody else can read it."""

from __future__ import annotations

import os
import stat
import sys
from pathlib import Path

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


def own(file: Path) -> None:
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
