"""Locks on open files, which the system releases when the process ends, however it ends.

They are for the processes that agree on them: on Linux and macOS nothing else heeds them. A lock
file that is waited for is ``filelock``'s.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from mdvec.platform import windows

if sys.platform != "win32":
    import fcntl

_BEYOND_ANY_END = 2**62
"""Windows' locks forbid reading, so what stands for the whole file is a byte after its end."""
_TURN = "turn.lock"


def lock_whole(descriptor: int, *, shared: bool = False, wait: bool = False) -> None:
    """Lock a file until its descriptor is closed; it is ours alone, or ``shared``.

    Raises:
        BlockingIOError: another process has locked it, and ``wait`` is False.
        OSError: the file system has no locks.
    """
    if sys.platform == "win32":
        windows.lock(descriptor, _BEYOND_ANY_END, 1, shared=shared, wait=wait)
    else:
        kind = fcntl.LOCK_SH if shared else fcntl.LOCK_EX
        fcntl.flock(descriptor, kind if wait else kind | fcntl.LOCK_NB)


def lock_bytes(descriptor: int, start: int, length: int, *, shared: bool) -> None:
    """Lock bytes of a file, as databases do, until this process closes it; never wait.

    Args:
        descriptor: the file; the process must open it once only, as closing any descriptor of it
            releases the lock on Linux and macOS.
        start: the first byte; it may lie beyond the end.
        length: 0 stands for all from ``start``.
        shared: whether others may share the lock.

    Raises:
        BlockingIOError, PermissionError: another process has locked some of them.
        OSError: the file system has no locks.
    """
    if sys.platform == "win32":
        windows.lock(descriptor, start, length or _BEYOND_ANY_END, shared=shared, wait=False)
    else:
        kind = fcntl.LOCK_SH if shared else fcntl.LOCK_EX
        fcntl.lockf(descriptor, kind | fcntl.LOCK_NB, length, start)


@contextmanager
def turn_in(folder: Path) -> Iterator[None]:
    """Wait until no other process is within this context for the same folder.

    On Windows, which locks no folders, a file in it stays behind.
    """
    if sys.platform == "win32":
        descriptor = os.open(folder / _TURN, os.O_CREAT | os.O_RDWR)
    else:
        descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        with suppress(OSError):  # some network file systems cannot lock a folder
            lock_whole(descriptor, wait=True)
        yield
    finally:
        os.close(descriptor)


def is_held(lock_file: Path) -> bool:
    """Whether a process holds a ``filelock.FileLock`` of this path.

    It is not asked by trying, which would create the file that its holder has just removed.
    """
    try:
        descriptor = os.open(lock_file, os.O_RDWR)
    except OSError:
        return False
    try:
        if sys.platform == "win32":
            windows.lock(descriptor, 0, 1, shared=True, wait=False)
        else:
            lock_whole(descriptor, shared=True)
    except BlockingIOError:
        return True
    finally:
        os.close(descriptor)
    return False
