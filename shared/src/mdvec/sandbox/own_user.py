"""Limits of the system, and a user of its own, for a process that reads what others wrote."""

from __future__ import annotations

import ctypes
import os
import resource
import sys
from contextlib import suppress
from pathlib import Path


def limit(which: int, value: int) -> None:
    """Lower one of the limits of ``resource`` for this process, as far as the system allows."""
    with suppress(ValueError, OSError):
        _, most = resource.getrlimit(which)
        value = value if most == resource.RLIM_INFINITY else min(value, most)
        resource.setrlimit(which, (value, value))


# systemd's range for users that exist only while a service runs; no account is made in it.
_FIRST_USER, _USERS = 61184, 4336
_SET_DUMPABLE, _KEEP_RIGHTS = 4, 8
_VERSION = 0x20080522
_CHANGE_OWNER, _READ_ANY_FILE, _SET_GROUP, _SET_USER = 0, 2, 6, 7
_NEEDED = sum(1 << right for right in (_CHANGE_OWNER, _READ_ANY_FILE, _SET_GROUP, _SET_USER))


class _Header(ctypes.Structure):
    _fields_ = (("version", ctypes.c_uint32), ("process", ctypes.c_int))


class _Rights(ctypes.Structure):
    _fields_ = (
        ("effective", ctypes.c_uint32), ("permitted", ctypes.c_uint32),
        ("inheritable", ctypes.c_uint32),
    )  # fmt: skip


def take_own_user(spool: Path | None = None) -> bool:
    """Make this process another user's, which owns only ``spool``, if there is one.

    It must run before the process starts threads and before its system calls are filtered.

    Returns:
        Whether it did; False where this process is not root's or the system does not allow it.
    """
    if not sys.platform.startswith("linux") or os.geteuid() or not _may_change():
        return False
    libc = ctypes.CDLL(None, use_errno=True)
    user = _FIRST_USER + os.getpid() % _USERS
    try:
        os.setgroups([])  # first: a container may refuse it, and then nothing has changed
        if spool is not None:
            os.chown(spool, user, user)
        os.setresgid(user, user, user)
        none = ctypes.c_ulong(0)
        if libc.prctl(_KEEP_RIGHTS, ctypes.c_ulong(1), none, none, none):
            return False
        os.setresuid(user, user, user)
    except OSError:  # such as a container that knows fewer users
        return False
    rights = 1 << _READ_ANY_FILE
    capabilities = (_Rights * 2)(_Rights(rights, rights, 0), _Rights(0, 0, 0))
    if libc.capset(ctypes.byref(_Header(_VERSION, 0)), capabilities):
        return False
    # Another user's process hides its own /proc/self/fd, from which the tables are opened.
    return bool(libc.prctl(_SET_DUMPABLE, ctypes.c_ulong(1), none, none, none) == 0)


def _may_change() -> bool:
    """Whether this process has all the rights that the change takes; containers drop some."""
    for line in Path("/proc/self/status").read_text(encoding="ascii").splitlines():
        if line.startswith("CapEff:"):
            return int(line.split()[1], 16) & _NEEDED == _NEEDED
    return False
