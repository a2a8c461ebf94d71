"""The database's files as the disk has them: their size, who may read them, where the rest goes."""

from __future__ import annotations

import ctypes
import os
import stat
from pathlib import Path

import apsw

_ENDINGS = ("", "-wal", "-shm")


def size_on_disk(database: Path) -> int:
    """The bytes of the file and of its log."""
    log = Path(f"{database}-wal")
    return database.stat().st_size + (log.stat().st_size if log.exists() else 0)


def open_to_others(database: Path) -> dict[Path, int]:
    """The modes of those of its files that not only their owner may use."""
    modes: dict[Path, int] = {}
    for ending in _ENDINGS:
        path = Path(f"{database}{ending}")
        if path.exists() and (mode := stat.S_IMODE(path.stat().st_mode)) & 0o077:
            modes[path] = mode
    return modes


def is_writable(database: Path) -> bool:
    """Whether this user may write the file, and make others beside it."""
    return os.access(database, os.W_OK) and os.access(database.absolute().parent, os.W_OK)


def temporary_folder(connection: apsw.Connection) -> Path:
    """Where SQLite writes what it needs for a while; it goes by more than one variable."""
    # SQLite's own answer: a few hundred bytes that it would have to be handed back to free.
    name = ctypes.c_char_p()
    connection.file_control("main", apsw.SQLITE_FCNTL_TEMPFILENAME, ctypes.addressof(name))
    return Path(os.fsdecode(name.value or b".")).parent
