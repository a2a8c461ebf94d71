"""A rotating log file that several processes can write at the same time.

The standard library's rotating handlers support one process: another would keep writing to the
renamed file, and rotate that one. Packages that share a file lock it for every line, so one
suspended process blocks all. Here each line is a single append, which the system does not split;
only the process that rotates the file takes a lock, and nobody waits for it.
"""

from __future__ import annotations

import fcntl
import logging
import os
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path


class SharedLogFile(logging.Handler):
    """Appends each record to a file; a full file becomes ``.1``, the previous one ``.2``, ….

    Args:
        path: the file; it and its folder are created if missing.
        max_bytes: the size at which the file is full.
        kept: how many full files are kept.
        warn: called once if the file cannot be written; the record is then lost.

    Raises:
        OSError: the file cannot be opened.
    """

    def __init__(self, path: Path, max_bytes: int, kept: int, warn: Callable[[str], None]) -> None:
        super().__init__()
        self._path = path
        self._max_bytes = max_bytes
        self._kept = kept
        self._warn: Callable[[str], None] | None = warn
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        self._descriptor = self._opened()

    def emit(self, record: logging.LogRecord) -> None:
        """Write the record; if that fails, warn instead of raising."""
        try:
            line = f"{self.format(record)}\n".encode(errors="backslashreplace")
            if not self._is_current():
                self._reopen()
            size = os.fstat(self._descriptor).st_size
            if size and size + len(line) > self._max_bytes:
                self._rotate()
            os.write(self._descriptor, line)
        except OSError as error:
            warn, self._warn = self._warn, None  # first, because it may log to this handler
            if warn is not None:
                warn(unwritable(self._path, error))

    def close(self) -> None:
        """Close the file."""
        with suppress(OSError):
            os.close(self._descriptor)
        super().close()

    def _opened(self) -> int:
        return os.open(self._path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o600)

    def _reopen(self) -> None:
        opened = self._opened()
        os.close(self._descriptor)  # which releases its lock, too
        self._descriptor = opened

    def _is_current(self) -> bool:
        """Whether the open file is still at the path; another process may have renamed it."""
        try:
            return os.path.samestat(self._path.stat(), os.fstat(self._descriptor))
        except FileNotFoundError:
            return False

    def _rotate(self) -> None:
        """Rename the full file and open a new one, unless another process is doing so.

        Lines that other processes write meanwhile go into the renamed file.
        """
        try:
            fcntl.flock(self._descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            return
        if self._is_current():
            for number in range(self._kept, 0, -1):
                older = self._numbered(number - 1)
                if older.exists():
                    older.replace(self._numbered(number))
        self._reopen()

    def _numbered(self, number: int) -> Path:
        return Path(f"{self._path}.{number}") if number else self._path


def unwritable(path: Path, error: OSError) -> str:
    """The warning that the log cannot be written."""
    return (
        f"the log {path} cannot be written ({error.strerror or error}); mdvec continues without "
        "it; set another file in [log] file, or free some disk space"
    )
