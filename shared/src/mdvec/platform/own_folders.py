"""Private folders of running processes; folders of dead processes are recognised and removed."""

from __future__ import annotations

import os
import secrets
import shutil
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from mdvec.platform.locks import lock_whole
from mdvec.platform.opened import followed

_LOCK = "lock"


class OwnFolder:
    """A private folder, which is removed when it closes.

    Args:
        parent: the folder in which it is created; it also removes folders of dead processes there.
        prefix: the beginning of its name.
    """

    def __init__(self, parent: Path, prefix: str) -> None:
        for folder in _left(parent, prefix):
            with suppress(OSError):
                _remove(folder)
        self._lock = -1
        while not self.is_open:  # until it is locked, another process may remove it
            self.path = followed(parent) / f"{prefix}{secrets.token_hex(16)}"
            self.path.mkdir(mode=0o700)
            lock = self.path / _LOCK
            self._lock = os.open(lock, os.O_CREAT | os.O_RDWR, 0o600)
            # The system releases the lock when this process ends, however it ends.
            with suppress(OSError):  # a file system without locks
                lock_whole(self._lock, wait=True)
            if not lock.exists():
                self._end()

    @property
    def is_open(self) -> bool:
        """Whether it is not closed yet."""
        return self._lock >= 0

    def close(self) -> None:
        """Remove the folder and everything in it."""
        if self.is_open:
            with suppress(OSError):
                _remove(self.path)
            self._end()
            shutil.rmtree(self.path, ignore_errors=True)  # Windows removes no open file

    def _end(self) -> None:
        os.close(self._lock)
        self._lock = -1


def folders_left(parent: Path, prefix: str) -> list[Path]:
    """The folders that dead processes left; creating the next folder removes them."""
    return list(_left(parent, prefix))


def remove_folders_left(parent: Path, prefix: str) -> None:
    """Remove the folders that dead processes left."""
    for folder in _left(parent, prefix):
        _remove(folder)


def _remove(folder: Path) -> None:
    """Remove a folder, its lock last: without the lock it would not count as a dead process's."""
    for entry in folder.iterdir():
        if entry.is_dir() and not entry.is_symlink():
            shutil.rmtree(entry)
        elif entry.name != _LOCK:
            entry.unlink()
    shutil.rmtree(folder)


def _left(parent: Path, prefix: str) -> Iterator[Path]:
    """The folders that dead processes left, each locked until the iterator advances."""
    for folder in sorted(parent.glob(f"{prefix}*")):
        if folder.is_symlink():
            continue
        with suppress(OSError):  # it is being made or removed right now, or its process still runs
            lock = os.open(folder / _LOCK, os.O_RDWR)
            try:
                lock_whole(lock)
                yield folder
            finally:
                os.close(lock)
