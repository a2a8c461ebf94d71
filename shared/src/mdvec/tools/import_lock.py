"""The lock that allows one import of a tool at a time; apart, as only imports load ``filelock``."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from filelock import FileLock, Timeout

from mdvec.cancelling import is_cancelled, raise_if_cancelled
from mdvec.database import DatabaseError
from mdvec.tools.registry import Tool, lock_file


@contextmanager
def only_import_of(database: Path, tool: Tool, on_notice: Callable[[str], None]) -> Iterator[None]:
    """Hold the lock that allows one import per tool; it is released if the process dies.

    Compacting the file takes the locks of all tools.
    """
    path = lock_file(database, tool)
    lock = FileLock(path, mode=0o600)
    try:
        try:
            lock.acquire(timeout=0)
        except Timeout:
            on_notice(
                f"an import of {tool.name!r} (or mdvec compact) is running; waiting for it to end …"
            )
            _wait_for(lock)
    except OSError as error:
        raise DatabaseError(
            f"the lock file {path} cannot be created ({error.strerror}); "
            "its folder must be one that you may write in, without another thing of that name; or "
            "name another database with --database"
        ) from error
    try:
        yield
    finally:
        with suppress(PermissionError):  # Windows cannot remove an open file; the lock does it
            path.unlink(missing_ok=True)
        lock.release()


def _wait_for(lock: FileLock) -> None:
    try:
        lock.acquire(cancel_check=is_cancelled)
    except Timeout:
        raise_if_cancelled()
        raise
