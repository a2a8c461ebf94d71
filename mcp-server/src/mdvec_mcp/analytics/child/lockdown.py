"""What the query process may do: the system's limits on it, and DuckDB's settings, locked."""

from __future__ import annotations

import resource
import sys
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from mdvec.datasets.interfaces.connection import allowed_paths
from mdvec.text.quoting import literal

if TYPE_CHECKING:
    import duckdb

# What the address space holds that is no memory in use: libraries, stacks, room not yet filled.
_ADDRESSES_MB = 512
# Python, DuckDB's own code and what it does not count.
_OWN_MB = 160
_FILES = 512
_FILES_PER_TABLE = 2
_MOST_THREADS = 4


def limit_process(memory_mb: int, tables: int) -> None:
    """Have the system refuse this process more memory, core dumps, and many open files."""
    # macOS knows these limits and does not keep all of them; the server watches as well.
    _limit(resource.RLIMIT_AS, (memory_mb + _ADDRESSES_MB) * 2**20)
    _limit(resource.RLIMIT_CORE, 0)
    _limit(resource.RLIMIT_NOFILE, _FILES + _FILES_PER_TABLE * tables)


def limit_files(most_bytes: int) -> None:
    """Have the system refuse this process larger files."""
    _limit(resource.RLIMIT_FSIZE, most_bytes)


def _limit(which: int, value: int) -> None:
    with suppress(ValueError, OSError):
        _, most = resource.getrlimit(which)
        value = value if most == resource.RLIM_INFINITY else min(value, most)
        resource.setrlimit(which, (value, value))


def connect(memory_mb: int) -> duckdb.DuckDBPyConnection:
    """A database in memory that loads nothing from anywhere."""
    import duckdb

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
    # Python without a terminal has the progress bar on, and it would go to the wire.
    for setting in (
        "TimeZone = 'UTC'",
        "enable_progress_bar = false",
        "allocator_background_threads = true",  # gives memory back after a large query
        "temp_directory = ''",  # nothing spills to the disk
    ):
        connection.execute(f"SET {setting}")
    (threads,) = connection.execute("SELECT current_setting('threads')").fetchone() or (1,)
    connection.execute(f"SET threads = {min(int(threads), _MOST_THREADS):d}")
    return connection


def lock(
    connection: duckdb.DuckDBPyConnection, files: Sequence[Path], spool: Path, seconds: float
) -> None:
    """Leave a connection these files, its spool and so much time, and no way to change that."""
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
    """Where Python finds what it may still import, and DuckDB how much memory there is."""
    code = {*sys.path, sys.prefix, sys.base_prefix}
    # Without these two DuckDB 2.0 ends the process when it starts.
    system = ("/proc/self", "/sys/fs/cgroup")
    return [Path(entry) for entry in (*code, *system) if entry]
