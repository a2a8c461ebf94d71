"""Where a process writes what is not finished yet: a folder that goes when its owner is gone."""

from __future__ import annotations

import fcntl
import os
import re
import secrets
import shutil
from dataclasses import dataclass
from pathlib import Path

_NAME = re.compile(r"\.spool_[0-9a-f]{16}")


@dataclass(frozen=True, slots=True)
class Spool:
    """A private folder for half-written files, locked for as long as its owner lives.

    The lock is the operating system's (``flock`` on the folder): it ends with the process,
    however that ends, and children do not inherit it.
    """

    path: Path
    _lock: int

    @classmethod
    def open(cls, parent: Path) -> Spool:
        """A new one in ``parent``, which its owner alone can write.

        Raises:
            OSError: ``parent`` cannot be written.
        """
        while True:
            path = parent / f".spool_{secrets.token_hex(8)}"
            path.mkdir(mode=0o700)
            lock = _locked(path)
            # Another's sweep may have taken it between the two lines above.
            if lock is not None and path.exists():
                return cls(path, lock)
            if lock is not None:
                os.close(lock)

    def close(self) -> None:
        """Remove the folder with all that is in it. Once only."""
        shutil.rmtree(self.path, ignore_errors=True)
        os.close(self._lock)

    @staticmethod
    def is_name(name: str) -> bool:
        """Whether a file of this name is a spool."""
        return bool(_NAME.fullmatch(name))


def sweep_spools(parent: Path) -> None:
    """Remove the spools in ``parent`` whose owners are gone."""
    for path in parent.iterdir():
        if Spool.is_name(path.name) and (lock := _locked(path)) is not None:
            shutil.rmtree(path, ignore_errors=True)
            os.close(lock)


def _locked(path: Path) -> int | None:
    """The folder, open and locked; None if another holds it or it is gone."""
    try:
        opened = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    except OSError:
        return None
    try:
        fcntl.flock(opened, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(opened)
        return None
    return opened
