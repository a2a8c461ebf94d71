"""The private folder between the query process and the server: files under way, and finished."""

from __future__ import annotations

import fcntl
import os
import secrets
import shutil
from pathlib import Path

_LOCK = "lock"


class Spool:
    """A folder of this process alone, which goes with it.

    ``work`` is what the child can write to; ``done`` holds finished files until somebody moves
    them, out of the child's reach.

    Args:
        root: where the folder is made; what processes that have ended left there is removed.
    """

    def __init__(self, root: Path) -> None:
        root.mkdir(mode=0o700, parents=True, exist_ok=True)
        _remove_left(root)
        self._folder = root.resolve() / f"spool_{secrets.token_hex(16)}"
        self._folder.mkdir(mode=0o700)
        # Held while this process lives, however it ends.
        self._lock: int | None = os.open(self._folder / _LOCK, os.O_CREAT | os.O_RDWR, 0o600)
        fcntl.flock(self._lock, fcntl.LOCK_EX)
        self.work, self.done = self._folder / "work", self._folder / "done"
        for folder in (self.work, self.done):
            folder.mkdir(mode=0o700)

    def finish(self, name: str) -> Path:
        """Take a finished file out of the child's reach."""
        finished = self.done / name
        (self.work / name).rename(finished)
        finished.chmod(0o600)
        return finished

    def clear(self) -> None:
        """Remove what a query has left that did not end well."""
        if self.work.is_dir():
            for path in self.work.iterdir():
                path.unlink(missing_ok=True)

    def is_there(self) -> bool:
        """Whether nobody has removed it; it lies among what people delete to make room."""
        return self.work.is_dir() and self.done.is_dir()

    def close(self) -> None:
        """Remove the folder with all in it."""
        if self._lock is not None:
            shutil.rmtree(self._folder, ignore_errors=True)
            os.close(self._lock)
            self._lock = None


def _remove_left(root: Path) -> None:
    for folder in root.glob("spool_*"):
        try:
            lock = os.open(folder / _LOCK, os.O_RDWR)
        except OSError:
            # Another process is just making it, or just removing it.
            continue
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            shutil.rmtree(folder, ignore_errors=True)
        except OSError:
            continue  # its process is alive
        finally:
            os.close(lock)
