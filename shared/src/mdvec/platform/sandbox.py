"""Drops rights of a process for good before it reads untrusted input.

Landlock limits the files that it can open, and seccomp its system calls; it also changes its user.
"""

from __future__ import annotations

import ctypes
import os
import platform
import struct
import sys
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

_CREATE, _ADD, _RESTRICT = 444, 445, 446
_PATH_BENEATH = 1
_NO_NEW_PRIVILEGES = 38
_READ_FILE, _READ_FOLDER = 1 << 2, 1 << 3
_WRITE_FILE, _REMOVE_FILE, _MAKE_FILE = 1 << 1, 1 << 5, 1 << 8
_FIRST_RIGHTS = (1 << 13) - 1
_MOVE, _TRUNCATE = 1 << 13, 1 << 14
_NETWORK = 0b11
_NAMED_ONLY = 0o10000000  # O_PATH, which os has only on Linux
_SET_SECCOMP, _FILTER = 22, 2
_LOAD, _IF_EQUAL, _IF_AT_LEAST, _IF_ANY_BIT, _RETURN = 0x20, 0x15, 0x35, 0x45, 0x06
# The second with EPERM, the third with ENOSYS.
_ALLOW, _REFUSE, _UNKNOWN = 0x7FFF0000, 0x00050001, 0x00050026
_NUMBER_AT, _MACHINE_AT, _FIRST_ARGUMENT_AT = 0, 4, 16
_CLONE3, _CLONE_THREAD = 435, 0x10000
_OTHER_NUMBERS = 0x40000000  # x86-64's second table of the same calls
_ON_BOTH = (424, 425, 434, 438)  # pidfd_send_signal, io_uring_setup, pidfd_open, pidfd_getfd
# socket, connect, socketpair, execve, fork, vfork, kill, ptrace, rt_sigqueueinfo, mount, tkill,
# tgkill, add_key, keyctl, unshare, rt_tgsigqueueinfo, perf_event_open, setns, process_vm_readv,
# process_vm_writev, bpf, execveat, userfaultfd
_X86_64 = (
    41, 42, 53, 59, 57, 58, 62, 101, 129, 165, 200, 234, 248, 250, 272, 297, 298, 308, 310, 311,
    321, 322, 323,
)  # fmt: skip
# The same, without fork and vfork.
_AARCH64 = (
    198, 203, 199, 221, 129, 117, 138, 40, 130, 131, 217, 219, 97, 240, 241, 268, 270, 271, 280,
    281, 282,
)  # fmt: skip
_MACHINES = {"x86_64": (0xC000003E, _X86_64, 56), "aarch64": (0xC00000B7, _AARCH64, 220)}
"""By machine: its audit number, the refused calls, and the number of clone."""
# systemd's range for users that exist only while a service runs; it contains no accounts.
_FIRST_USER, _USERS = 61184, 4336
_SET_DUMPABLE, _KEEP_RIGHTS = 4, 8
_VERSION = 0x20080522
_CHANGE_OWNER, _READ_ANY_FILE, _SET_GROUP, _SET_USER = 0, 2, 6, 7
_NEEDED = sum(1 << right for right in (_CHANGE_OWNER, _READ_ANY_FILE, _SET_GROUP, _SET_USER))


class _Ruleset(ctypes.Structure):
    _fields_ = (("files", ctypes.c_uint64), ("network", ctypes.c_uint64))


class _PathRule(ctypes.Structure):
    _pack_ = 1
    _fields_ = (("rights", ctypes.c_uint64), ("descriptor", ctypes.c_int32))


def restrict_files(readable: Iterable[Path | int], writable: Path | None = None) -> bool:
    """Deny all other files, and the network, to this thread and the threads that it starts.

    They cannot start programs either. ``readable`` are files, folders with everything in them, and
    descriptors of open files. Only in ``writable`` can files be created, written and removed.

    Returns:
        Whether the kernel supports it and the rules are in force.
    """
    if not sys.platform.startswith("linux"):
        return False
    libc = ctypes.CDLL(None, use_errno=True)
    version = libc.syscall(_CREATE, None, ctypes.c_size_t(0), ctypes.c_uint32(1))
    if version < 1:
        return False
    rights = _FIRST_RIGHTS | (_MOVE if version >= 2 else 0) | (_TRUNCATE if version >= 3 else 0)
    rules = _Ruleset(rights, _NETWORK if version >= 4 else 0)
    size = ctypes.sizeof(rules) if version >= 4 else 8
    ruleset = libc.syscall(_CREATE, ctypes.byref(rules), ctypes.c_size_t(size), ctypes.c_uint32(0))
    if ruleset < 0:
        return False
    try:
        for file in readable:
            if isinstance(file, int):
                _add(libc, ruleset, file, _READ_FILE)
            else:
                _allow(libc, ruleset, file, _READ_FILE | _READ_FOLDER)
        if writable is not None:
            _allow(
                libc, ruleset, writable,
                _READ_FILE | _READ_FOLDER | _WRITE_FILE | _REMOVE_FILE | _MAKE_FILE
                | (_TRUNCATE & rules.files),
            )  # fmt: skip
        none = ctypes.c_ulong(0)
        if libc.prctl(_NO_NEW_PRIVILEGES, ctypes.c_ulong(1), none, none, none):
            return False
        return bool(libc.syscall(_RESTRICT, ruleset, ctypes.c_uint32(0)) == 0)
    finally:
        os.close(ruleset)


def _allow(libc: ctypes.CDLL, ruleset: int, path: Path, rights: int) -> None:
    """Allow a path, unless it does not exist."""
    with suppress(OSError):
        descriptor = os.open(path, _NAMED_ONLY)
        try:
            if not path.is_dir():
                rights &= _READ_FILE | _WRITE_FILE | _TRUNCATE
            _add(libc, ruleset, descriptor, rights)
        finally:
            os.close(descriptor)


def _add(libc: ctypes.CDLL, ruleset: int, descriptor: int, rights: int) -> None:
    rule = _PathRule(rights, descriptor)
    libc.syscall(_ADD, ruleset, ctypes.c_int(_PATH_BENEATH), ctypes.byref(rule), ctypes.c_uint32(0))


def code_paths() -> list[Path]:
    """The paths that Python still imports from."""
    return [Path(entry) for entry in {*sys.path, sys.prefix, sys.base_prefix} if entry]


def own_process_paths() -> list[Path]:
    """The paths in /proc that show a process its open files and memory limits.

    The other files there stay inaccessible: environ, mem, maps, root.
    """
    names = ("/proc/self/cgroup", "/proc/self/fd", "/proc/self/mountinfo", "/sys/fs/cgroup")
    return [Path(name) for name in names]


class _Program(ctypes.Structure):
    _fields_ = (("length", ctypes.c_ushort), ("filter", ctypes.c_void_p))


def restrict_calls() -> bool:
    """Refuse the calls of ``_MACHINES`` to this thread and the threads that it starts, for good.

    Returns:
        Whether the filter is in force; False on other systems and machines.
    """
    if not sys.platform.startswith("linux") or platform.machine() not in _MACHINES:
        return False
    if sys.maxsize < 2**32:  # 32-bit code on a 64-bit system has other numbers
        return False
    code = _filter(*_MACHINES[platform.machine()])
    text = ctypes.create_string_buffer(code, len(code))
    program = _Program(len(code) // 8, ctypes.addressof(text))
    libc = ctypes.CDLL(None, use_errno=True)
    none = ctypes.c_ulong(0)
    if libc.prctl(_NO_NEW_PRIVILEGES, ctypes.c_ulong(1), none, none, none):
        return False
    mode = ctypes.c_ulong(_FILTER)
    return bool(libc.prctl(_SET_SECCOMP, mode, ctypes.byref(program), none, none) == 0)


def _filter(machine: int, refused: tuple[int, ...], clone: int) -> bytes:
    """The BPF filter: one instruction per call, which jumps to the refusal near the end."""
    numbers = (*refused, *_ON_BOTH)
    after = 4 + len(numbers)
    allow, refuse, unknown = after + 4, after + 5, after + 6
    steps = [
        (_LOAD, 0, 0, _MACHINE_AT),
        (_IF_EQUAL, 0, refuse - 2, machine),
        (_LOAD, 0, 0, _NUMBER_AT),
        (_IF_AT_LEAST, refuse - 4, 0, _OTHER_NUMBERS),
        *((_IF_EQUAL, refuse - 5 - at, 0, number) for at, number in enumerate(numbers)),
        # Threads are allowed, processes are not. The flags of clone3 are in memory, which a filter
        # cannot read; if clone3 fails, the C library uses clone.
        (_IF_EQUAL, unknown - after - 1, 0, _CLONE3),
        (_IF_EQUAL, 0, allow - after - 2, clone),
        (_LOAD, 0, 0, _FIRST_ARGUMENT_AT),
        (_IF_ANY_BIT, allow - after - 4, refuse - after - 4, _CLONE_THREAD),
        (_RETURN, 0, 0, _ALLOW),
        (_RETURN, 0, 0, _REFUSE),
        (_RETURN, 0, 0, _UNKNOWN),
    ]
    return b"".join(struct.pack("HBBI", *step) for step in steps)


class _Header(ctypes.Structure):
    _fields_ = (("version", ctypes.c_uint32), ("process", ctypes.c_int))


class _Rights(ctypes.Structure):
    _fields_ = (
        ("effective", ctypes.c_uint32), ("permitted", ctypes.c_uint32),
        ("inheritable", ctypes.c_uint32),
    )  # fmt: skip


def take_own_user(spool: Path | None = None) -> bool:
    """Change this process to an unused user, who owns only ``spool``, if given.

    It must run before the process starts threads and before its system calls are filtered.

    Returns:
        Whether it did; False if the process is not root or the system does not allow it.
    """
    if not sys.platform.startswith("linux") or os.geteuid() or not _may_change():
        return False
    libc = ctypes.CDLL(None, use_errno=True)
    user = _FIRST_USER + os.getpid() % _USERS
    try:
        os.setgroups([])  # first, since a container may refuse it before anything has changed
        if spool is not None:
            os.chown(spool, user, user)
        os.setresgid(user, user, user)
        none = ctypes.c_ulong(0)
        if libc.prctl(_KEEP_RIGHTS, ctypes.c_ulong(1), none, none, none):
            return False
        os.setresuid(user, user, user)
    except OSError:  # for example in a container with fewer users
        return False
    rights = 1 << _READ_ANY_FILE
    capabilities = (_Rights * 2)(_Rights(rights, rights, 0), _Rights(0, 0, 0))
    if libc.capset(ctypes.byref(_Header(_VERSION, 0)), capabilities):
        return False
    # After the change /proc/self/fd is hidden, through which the tables are opened.
    return bool(libc.prctl(_SET_DUMPABLE, ctypes.c_ulong(1), none, none, none) == 0)


def _may_change() -> bool:
    """Whether this process has all capabilities that the change needs; containers drop some."""
    for line in Path("/proc/self/status").read_text(encoding="ascii").splitlines():
        if line.startswith("CapEff:"):
            return int(line.split()[1], 16) & _NEEDED == _NEEDED
    return False
