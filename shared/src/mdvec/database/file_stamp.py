"""Tells whether the database file was written, with two stat calls."""

from __future__ import annotations

import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

_CLOCK_TICK_NS = 50_000_000
"""Two writes within this time may leave the same time in the file system."""


@dataclass(frozen=True, slots=True)
class FileStamp:
    """File attributes that change with every write to the file or its log."""

    inode: int
    sizes: tuple[int, int]
    written_ns: int

    def is_settled(self) -> bool:
        """Whether every later write gets another stamp; the last one is old enough for that."""
        return abs(time.time_ns() - self.written_ns) > _CLOCK_TICK_NS


def stamp_of(database: Path) -> FileStamp | None:
    """The stamp of the file, None if there is none.

    A reader creates an empty log and deletes it, which does not count as a write.
    """
    try:
        file = database.stat()
    except OSError:
        return None
    size, written = file.st_size, file.st_mtime_ns
    with suppress(OSError):
        log = Path(f"{database}-wal").stat()
        if log.st_size:
            return FileStamp(file.st_ino, (size, log.st_size), max(written, log.st_mtime_ns))
    return FileStamp(file.st_ino, (size, 0), written)
