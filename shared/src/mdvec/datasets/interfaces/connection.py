"""Connections to DuckDB that can reach the files they are given, and nothing else."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from mdvec.datasets.interfaces.stopping import stoppable
from mdvec.text.quoting import literal

if TYPE_CHECKING:
    import duckdb

_NO_EXTENSIONS = {
    "autoinstall_known_extensions": False,
    "autoload_known_extensions": False,
    "allow_community_extensions": False,
    "allow_persistent_secrets": False,
}
_PATTERN_SIGN = re.compile(r"([*?\[])")


@dataclass(frozen=True, slots=True)
class ConnectionLimits:
    """The most memory and threads of a connection."""

    memory_mb: int
    threads: int


@contextmanager
def safe_connection(
    files: Sequence[Path],
    *,
    writes_to: Path | None = None,
    optimizes: bool = True,
    limits: ConnectionLimits | None = None,
) -> Iterator[duckdb.DuckDBPyConnection]:
    """A database in memory that can open ``files`` only, has no network and no extensions.

    ``writes_to`` is a folder whose files it can open as well. Without ``optimizes`` statements
    run as they stand, which is right where one has thousands of expressions. ``limits``
    are what it may use, where that is less than DuckDB takes by itself.
    A stop by the user comes out as KeyboardInterrupt; DuckDB itself has another error for it.
    """
    import duckdb

    # The configuration's type in the stubs is too narrow.
    connection = duckdb.connect(":memory:", config=_NO_EXTENSIONS)  # type: ignore[arg-type]
    try:
        connection.execute("SET enable_progress_bar = false")
        connection.execute("SET python_enable_replacements = false")
        connection.execute("SET temp_directory = ''")
        connection.execute("SET TimeZone = 'UTC'")
        connection.execute("SET allowed_paths = $paths", {"paths": allowed_paths(files)})
        if writes_to is not None:
            connection.execute("SET allowed_directories = $d", {"d": [str(writes_to)]})
        if limits is not None:
            connection.execute(f"SET memory_limit = '{limits.memory_mb:d}MB'")
            threads = min(limits.threads, os.cpu_count() or 1)
            connection.execute(f"SET threads = {threads:d}")
        if not optimizes:
            connection.execute("PRAGMA disable_optimizer")
        connection.execute("SET enable_external_access = false")
        connection.execute("SET lock_configuration = true")
        with stoppable(connection):
            yield connection
    except duckdb.InterruptException as error:
        raise KeyboardInterrupt from error
    except RuntimeError as error:
        if str(error) == "Query interrupted":
            raise KeyboardInterrupt from error
        raise
    finally:
        connection.close()


def allowed_paths(files: Sequence[Path]) -> list[str]:
    """What ``allowed_paths`` must hold for ``files``: DuckDB checks a path's pattern as well."""
    return list(dict.fromkeys(path for file in files for path in (str(file), one_path(file))))


def one_path(file: Path) -> str:
    """A file's path as DuckDB has to be given it: its functions take '*', '?' and '[' as patterns.

    ``run[1].parquet`` would be read as ``run1.parquet``.
    """
    return _PATTERN_SIGN.sub(r"[\1]", str(file))


def parquet_scan(file: Path) -> str:
    """SQL: the rows of exactly this Parquet file, with exactly its columns.

    DuckDB would add columns of its own for a file in a folder such as ``year=2025``.
    """
    return f"read_parquet({literal(one_path(file))}, hive_partitioning = false)"


def first_line(error: Exception) -> str:
    """What DuckDB says is wrong, without its advice and excerpts."""
    return str(error).strip().partition("\n")[0].strip()
