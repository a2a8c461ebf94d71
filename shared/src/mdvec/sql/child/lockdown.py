"""Locks the query process in: resource limits and DuckDB's settings."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import duckdb

from mdvec.datasets import allowed_paths
from mdvec.platform import code_paths, limit_process, own_process_paths
from mdvec.sizes import MEGABYTE
from mdvec.sql.core.refusals import QueriesUnavailable
from mdvec.text import literal

# Address space beyond the memory in use: libraries, stacks, reserved pages.
_ADDRESSES_MB = 512
# The memory of Python and DuckDB's code, which DuckDB does not count.
_OWN_MB = 160
_FILES = 512
_FILES_PER_TABLE = 2
_MAX_THREADS = 4


def limit_child(memory_mb: int, tables: int) -> None:
    """Limit the memory and the open files of this process; it writes no core dumps."""
    # macOS does not enforce all of these limits; the server watches the memory as well.
    limit_process(
        memory=(memory_mb + _ADDRESSES_MB) * MEGABYTE,
        open_files=_FILES + _FILES_PER_TABLE * tables,
    )


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
    connection: duckdb.DuckDBPyConnection,
    files: Sequence[Path],
    folders: Sequence[Path],
    seconds: float,
) -> None:
    """Restrict a connection to these files and folders and a time limit, for good."""
    paths = ", ".join(literal(path) for path in allowed_paths(files))
    inside = ", ".join(literal(f"{folder}/") for folder in folders)
    for setting in (
        f"allowed_paths = [{paths}]",
        f"allowed_directories = [{inside}]",
        f"max_execution_time = {max(1, round(seconds * 1000)):d}",
        "enable_external_access = false",
        "lock_configuration = true",
    ):
        connection.execute(f"SET {setting}")


def needed_paths() -> list[Path]:
    """The paths that Python still imports from, and from which DuckDB reads the memory size."""
    # Without these DuckDB 2.0 ends the process when it starts, or cannot open the tables' files.
    return [*code_paths(), *own_process_paths()]
