"""Locks on open files, and the mounted file systems, some of which do not support locks.

The system releases a lock when the process ends, however it ends. On Linux and macOS locks are
advisory: they bind only processes that use them. To wait for a lock file, use ``filelock``.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path, PureWindowsPath

from mdvec.platform import windows
from mdvec.platform.opened import followed

if sys.platform != "win32":
    import fcntl

_BEYOND_ANY_END = 2**62
"""On Windows a lock prevents reading, so instead of the file a byte beyond its end is locked."""
_MOUNTS = Path("/proc/self/mountinfo")
_ESCAPE = re.compile(r"\\([0-7]{3})")
_SHARE = "\\\\"


def lock_whole(descriptor: int, *, shared: bool = False, wait: bool = False) -> None:
    """Lock a file, exclusively or ``shared``, until its descriptor is closed.

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
    """Lock bytes of a file, as databases do, until this process closes it; never waits.

    Args:
        descriptor: the file, which the process must open only once: on Linux and macOS, closing
            any descriptor of a file releases its locks.
        start: the first byte; it may lie beyond the end.
        length: how many bytes; 0 means all from ``start``.
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


def is_held(lock_file: Path) -> bool:
    """Whether a process holds a ``filelock.FileLock`` of this path.

    It does not try to lock, which would recreate a file that its holder has just removed.
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


@dataclass(frozen=True, slots=True)
class Mount:
    """A mounted file system: its mount point, kind and source."""

    point: str
    kind: str
    source: str


def mount_of(path: Path, mounts: Iterable[Mount] | None = None) -> Mount | None:
    """The mount that a path is in; of several at the same folder, the last one.

    ``mounts`` are by default the present ones of this machine.
    """
    real = str(followed(path))
    if sys.platform == "win32":
        return share_of(real)
    known = _mounts() if mounts is None else mounts
    around = [mount for mount in known if f"{real}/".startswith(f"{mount.point.rstrip('/')}/")]
    return max(reversed(around), key=lambda mount: len(mount.point), default=None)


def share_of(path: str) -> Mount | None:
    """The network share that a resolved Windows path is on; such a path has no drive letter."""
    drive = PureWindowsPath(path).drive
    return Mount(drive, "smb", drive) if drive.startswith(_SHARE) else None


def _mounts() -> Sequence[Mount]:
    """The present mounts; empty if unknown."""
    if sys.platform == "darwin":
        import psutil  # takes 30 ms, and Linux does not need it

        partitions = psutil.disk_partitions(all=True)
        return [Mount(each.mountpoint, each.fstype, each.device) for each in partitions]
    try:
        return linux_mounts(_MOUNTS.read_text(encoding="utf-8", errors="surrogateescape"))
    except OSError:
        return []


@lru_cache(maxsize=1)
def linux_mounts(text: str) -> tuple[Mount, ...]:
    """The mounts in the text of ``/proc/self/mountinfo``, which seldom changes."""
    mounts = []
    for line in text.splitlines():
        before, _, after = line.partition(" - ")
        fields, last = before.split(" "), after.split(" ")
        if len(fields) > 4 and len(last) > 1:
            mounts.append(Mount(_unescape(fields[4]), last[0], _unescape(last[1])))
    return tuple(mounts)


def _unescape(field: str) -> str:
    return _ESCAPE.sub(lambda code: chr(int(code[1], 8)), field)
