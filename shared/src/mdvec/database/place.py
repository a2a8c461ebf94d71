"""The database's files on the disk: size, access rights, and SQLite's temporary folder."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import apsw

_ENDINGS = ("", "-wal", "-shm")


def size_on_disk(database: Path) -> int:
    """The size of the file and its log, in bytes."""
    log = Path(f"{database}-wal")
    return database.stat().st_size + (log.stat().st_size if log.exists() else 0)


def open_to_others(database: Path) -> dict[Path, int]:
    """The database's files that other users can access, with their modes."""
    modes: dict[Path, int] = {}
    for ending in _ENDINGS:
        path = Path(f"{database}{ending}")
        if path.exists() and (mode := stat.S_IMODE(path.stat().st_mode)) & 0o077:
            modes[path] = mode
    return modes


def is_writable(database: Path) -> bool:
    """Whether this user can write the file and create others beside it."""
    return os.access(database, os.W_OK) and os.access(database.absolute().parent, os.W_OK)


def temporary_folder(connection: apsw.Connection) -> Path:
    """The folder of SQLite's temporary files, which several environment variables determine."""
    import ctypes

    # SQLite allocates the name and only SQLite could free it: a few hundred bytes stay allocated.
    name = ctypes.c_char_p()
    connection.file_control("main", apsw.SQLITE_FCNTL_TEMPFILENAME, ctypes.addressof(name))
    return Path(os.fsdecode(name.value or b".")).parent
