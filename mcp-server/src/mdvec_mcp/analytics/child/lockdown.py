"""Locks the query process in: resource limits, DuckDB's settings, Landlock, a user of its own."""

from __future__ import annotations

import ctypes
import os
import resource
import sys
from collections.abc import Iterable, Sequence
from contextlib import suppress
from pathlib import Path

import duckdb
from mdvec.datasets import allowed_paths
from mdvec.sizes import MEGABYTE
from mdvec.text import literal

from mdvec_mcp.analytics.core.refusals import QueriesUnavailable

# Address space beyond the memory in use: libraries, stacks, reserved pages.
_ADDRESSES_MB = 512
# The memory of Python and DuckDB's code, which DuckDB does not count.
_OWN_MB = 160
_FILES = 512
_FILES_PER_TABLE = 2
_MAX_THREADS = 4


def limit_process(memory_mb: int, tables: int) -> None:
    """Limit the memory and the open files of this process; it writes no core dumps."""
    # macOS does not enforce all of these limits; the server watches the memory as well.
    _limit(resource.RLIMIT_AS, (memory_mb + _ADDRESSES_MB) * MEGABYTE)
    _limit(resource.RLIMIT_CORE, 0)
    _limit(resource.RLIMIT_NOFILE, _FILES + _FILES_PER_TABLE * tables)


def limit_files(max_bytes: int) -> None:
    """Limit the size of the files that this process writes."""
    _limit(resource.RLIMIT_FSIZE, max_bytes)


def _limit(which: int, value: int) -> None:
    with suppress(ValueError, OSError):
        _, most = resource.getrlimit(which)
        value = value if most == resource.RLIM_INFINITY else min(value, most)
        resource.setrlimit(which, (value, value))


def connect(memory_mb: int, time_zone: str = "UTC") -> duckdb.DuckDBPyConnection:
    """A connection to a database in memory, which loads no extensions and spills to no disk.

    Raises:
        QueriesUnavailable: DuckDB does not know the time zone.
    """
    connection = duckdb.connect(
        ":memory:",
        config={
            "allow_community_extensions": False,
            "allow_persistent_secrets": False,
            "async_threads": 1,
            "autoinstall_known_extensions": False,
            "autoload_known_extensions": False,
            "memory_limit": f"{max(memory_mb - _OWN_MB, memory_mb // 2)}MB",
            "python_enable_replacements": False,
        },
    )
    # Without a terminal the progress bar is on by default, and would go to STDOUT.
    for setting in (
        "enable_progress_bar = false",
        "explain_output = 'all'",  # the plan before it is optimised shows the types of parameters
        "allocator_background_threads = true",  # returns memory to the system after a large query
        # Each statement is planned three times, and each plan would read every file's footer.
        "parquet_metadata_cache = true",
        "temp_directory = ''",  # nothing spills to the disk
    ):
        connection.execute(f"SET {setting}")
    try:
        connection.execute(f"SET TimeZone = {literal(time_zone)}")
    except duckdb.Error as error:
        raise QueriesUnavailable(
            f"SQL does not know the time zone {time_zone}; the user can name another as "
            "[analytics] time_zone, such as Asia/Tokyo or UTC"
        ) from error
    (threads,) = connection.execute("SELECT current_setting('threads')").fetchone() or (1,)
    connection.execute(f"SET threads = {min(int(threads), _MAX_THREADS):d}")
    return connection


def lock(
    connection: duckdb.DuckDBPyConnection, files: Sequence[Path], spool: Path, seconds: float
) -> None:
    """Restrict a connection to these files, its spool and a time limit, for good."""
    paths = ", ".join(literal(path) for path in allowed_paths(files))
    for setting in (
        f"allowed_paths = [{paths}]",
        f"allowed_directories = [{literal(f'{spool}/')}]",
        f"max_execution_time = {max(1, round(seconds * 1000)):d}",
        "enable_external_access = false",
        "lock_configuration = true",
    ):
        connection.execute(f"SET {setting}")


def needed_paths() -> list[Path]:
    """The paths that Python still imports from, and from which DuckDB reads the memory size."""
    code = {*sys.path, sys.prefix, sys.base_prefix}
    # Without these DuckDB 2.0 ends the process when it starts, or cannot open the tables' files.
    # The rest of /proc/self stays shut: environ, mem, maps, root.
    system = ("/proc/self/cgroup", "/proc/self/fd", "/proc/self/mountinfo", "/sys/fs/cgroup")
    return [Path(entry) for entry in (*code, *system) if entry]


_CREATE, _ADD, _RESTRICT = 444, 445, 446
_PATH_BENEATH = 1
_NO_NEW_PRIVILEGES = 38
_READ_FILE, _READ_FOLDER = 1 << 2, 1 << 3
_WRITE_FILE, _REMOVE_FILE, _MAKE_FILE = 1 << 1, 1 << 5, 1 << 8
_FIRST_RIGHTS = (1 << 13) - 1
_MOVE, _TRUNCATE = 1 << 13, 1 << 14
_NETWORK = 0b11


class _Ruleset(ctypes.Structure):
    _fields_ = (("files", ctypes.c_uint64), ("network", ctypes.c_uint64))


class _PathRule(ctypes.Structure):
    _pack_ = 1
    _fields_ = (("rights", ctypes.c_uint64), ("descriptor", ctypes.c_int32))


def restrict_files(readable: Iterable[Path | int], writable: Path) -> bool:
    """Deny the network and all other files to this thread and the threads that it starts.

    They cannot start programs either.

    Args:
        readable: the files and folders (with all in them) that can be read; a descriptor stands
            for an open file.
        writable: the folder in which files can also be created, written and removed.

    Returns:
        Whether the kernel supports it and the rules are in force.
    """
    if not sys.platform.startswith("linux"):
        return False
    libc = ctypes.CDLL(None, use_errno=True)
    version = libc.syscall(_CREATE, None, ctypes.c_size_t(0), ctypes.c_uint32(1))
    if version < 1:
        return False
    rules = _Ruleset(_rights_of(version), _NETWORK if version >= 4 else 0)
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


def _rights_of(version: int) -> int:
    rights = _FIRST_RIGHTS
    if version >= 2:
        rights |= _MOVE
    if version >= 3:
        rights |= _TRUNCATE
    return rights


def _allow(libc: ctypes.CDLL, ruleset: int, path: Path, rights: int) -> None:
    """Allow a path, unless it does not exist."""
    with suppress(OSError):
        descriptor = os.open(path, os.O_PATH | os.O_CLOEXEC)
        try:
            if not path.is_dir():
                rights &= _READ_FILE | _WRITE_FILE | _TRUNCATE
            _add(libc, ruleset, descriptor, rights)
        finally:
            os.close(descriptor)


def _add(libc: ctypes.CDLL, ruleset: int, descriptor: int, rights: int) -> None:
    rule = _PathRule(rights, descriptor)
    libc.syscall(_ADD, ruleset, ctypes.c_int(_PATH_BENEATH), ctypes.byref(rule), ctypes.c_uint32(0))


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


def take_own_user(spool: Path) -> bool:
    """Make this process another user's, which owns ``spool`` alone.

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
