"""DuckDB connections that can open the given files and nothing else; Ctrl-C stops their queries."""

from __future__ import annotations

import os
import re
import signal
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing, contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from pathlib import Path

import duckdb

from mdvec.platform import data_limit, never_wait
from mdvec.sizes import MEGABYTE
from mdvec.text import literal

CLOSED = {
    "autoinstall_known_extensions": False,
    "autoload_known_extensions": False,
    "allow_community_extensions": False,
    "allow_persistent_secrets": False,
    "python_enable_replacements": False,
}
"""The configuration of a database in which SQL can load no extension and read no Python object."""
_SHARE_OF_MEMORY = 0.8
_FEW_THREADS = 4
"""The threads of a connection with little memory, as each thread needs a share of it."""
_PATTERN_SIGN = re.compile(r"([*?\[])")
_SHARED: ContextVar[_SharedDatabases | None] = ContextVar("shared databases", default=None)


@contextmanager
def safe_connection(
    files: Sequence[Path],
    *,
    writes_to: Path | None = None,
    optimizes: bool = True,
    memory_mb: int | None = None,
) -> Iterator[duckdb.DuckDBPyConnection]:
    """An in-memory database that can open only ``files``, without network or extensions.

    Inside ``shared_databases`` it can also open other files of that folder.

    Args:
        files: the files that it may open.
        writes_to: a folder whose files it may also open, for reading and writing.
        optimizes: False limits the optimizer to removing unused columns, as it takes minutes for
            statements with thousands of expressions.
        memory_mb: a memory limit; with one, there are few threads, and queries report progress.

    Raises:
        KeyboardInterrupt: the user stopped it; it replaces DuckDB's own errors.
    """
    shared = _SHARED.get()
    is_ours = shared is not None and all(file.parent == shared.folder for file in files)
    if shared and is_ours and not (writes_to or memory_mb):
        opened = shared.cursor(optimizes=optimizes)
    else:
        opened = _closing(_connect(files, writes_to, memory_mb, optimizes=optimizes))
    try:
        with opened as connection:
            yield connection
    except duckdb.InterruptException as error:
        raise KeyboardInterrupt from error
    except RuntimeError as error:
        if str(error) == "Query interrupted":
            raise KeyboardInterrupt from error
        raise


@contextmanager
def _closing(connection: duckdb.DuckDBPyConnection) -> Iterator[duckdb.DuckDBPyConnection]:
    with closing(connection), stoppable(connection.interrupt):
        yield connection


def _connect(
    files: Sequence[Path],
    writes_to: Path | None = None,
    memory_mb: int | None = None,
    *,
    optimizes: bool,
) -> duckdb.DuckDBPyConnection:
    """A separate database, whose settings are locked."""
    # The configuration's type in the stubs is too narrow.
    connection = duckdb.connect(":memory:", config=CLOSED)  # type: ignore[arg-type]
    connection.execute(f"SET enable_progress_bar = {memory_mb is not None}")
    connection.execute("SET enable_progress_bar_print = false")
    connection.execute("SET temp_directory = ''")
    connection.execute("SET TimeZone = 'UTC'")
    connection.execute("SET allowed_paths = $paths", {"paths": allowed_paths(files)})
    if writes_to is not None:
        connection.execute("SET allowed_directories = $d", {"d": [str(writes_to)]})
    if allowed := data_limit():  # so that DuckDB evicts cached data instead of failing
        connection.execute(f"SET memory_limit = '{allowed * _SHARE_OF_MEMORY / MEGABYTE:.0f}MB'")
    if memory_mb is not None:
        connection.execute(f"SET memory_limit = '{memory_mb:d}MB'")
        connection.execute(f"SET threads = {min(_FEW_THREADS, os.cpu_count() or 1):d}")
    if not optimizes:
        connection.execute(
            "SET VARIABLE slow = (SELECT string_agg(name, ',') FROM duckdb_optimizers() "
            "WHERE name <> 'unused_columns')"
        )
        connection.execute("SET disabled_optimizers = getvariable('slow')")
    connection.execute("SET enable_external_access = false")
    connection.execute("SET lock_configuration = true")
    return connection


@dataclass(slots=True)
class _SharedDatabases:
    """Databases that can open the files of one folder, made when they are first needed."""

    folder: Path
    by_optimizer: dict[bool, duckdb.DuckDBPyConnection] = field(default_factory=dict)
    cursors: list[duckdb.DuckDBPyConnection] = field(default_factory=list)

    @contextmanager
    def cursor(self, *, optimizes: bool) -> Iterator[duckdb.DuckDBPyConnection]:
        if optimizes not in self.by_optimizer:
            self.by_optimizer[optimizes] = _connect((), self.folder, optimizes=optimizes)
        with closing(self.by_optimizer[optimizes].cursor()) as cursor:
            self.cursors.append(cursor)
            try:
                yield cursor
            finally:
                self.cursors.remove(cursor)

    def interrupt(self) -> None:
        """Stop the queries that run."""
        for cursor in tuple(self.cursors):
            cursor.interrupt()


@contextmanager
def shared_databases(folder: Path) -> Iterator[None]:
    """Within the block, connections to files of a folder that belongs to mdvec share a database.

    Creating a database takes 25 ms, four times as long as everything else for a small file. A
    thread waits for signals during the block.
    """
    shared = _SharedDatabases(folder)
    token = _SHARED.set(shared)
    try:
        with stoppable(shared.interrupt):
            yield
    finally:
        _SHARED.reset(token)
        for connection in shared.by_optimizer.values():
            connection.close()


def allowed_paths(files: Sequence[Path]) -> list[str]:
    """The value of DuckDB's setting ``allowed_paths``: each path, as it is and as ``one_path``."""
    return list(dict.fromkeys(path for file in files for path in (str(file), one_path(file))))


def one_path(file: Path) -> str:
    """A file's path with '*', '?' and '[' escaped, which DuckDB's functions read as patterns.

    Unescaped, ``run[1].parquet`` would open ``run1.parquet``.
    """
    return _PATTERN_SIGN.sub(r"[\1]", str(file))


def parquet_scan(file: Path) -> str:
    """SQL: the rows of exactly this Parquet file, with exactly its columns.

    By default DuckDB adds a column for folders named like ``year=2025``.
    """
    return f"read_parquet({literal(one_path(file))}, hive_partitioning = false)"


def export_scan(file: Path, columns: Iterable[str] | None) -> str:
    """SQL: the rows of an export as stored in its file; in a CSV file every column is text.

    ``columns`` are the names of a CSV file's columns; None if they are unknown.
    """
    if file.suffix == ".parquet":
        return parquet_scan(file)
    longest = max(2_000_000, file.stat().st_size)
    names = ""
    if columns is not None:
        listed = ", ".join(f"{literal(name)}: 'VARCHAR'" for name in columns)
        names = f", auto_detect = false, columns = {{{listed}}}"
    return (
        f"read_csv({literal(one_path(file))}, all_varchar = true, header = true, delim = ',', "
        f"quote = '\"', escape = '\"', nullstr = '', allow_quoted_nulls = false, "
        f"max_line_size = {longest}, hive_partitioning = false{names})"
    )


def first_line(error: Exception) -> str:
    """The first line of a DuckDB error, without its hints and excerpts."""
    return str(error).strip().partition("\n")[0].strip()


@contextmanager
def stoppable(interrupt: Callable[[], None]) -> Iterator[None]:
    """Within the block, call ``interrupt`` when a signal arrives that raises KeyboardInterrupt.

    DuckDB checks for signals between the tasks of a query, but not while the calling thread waits
    for another one: a third of the interrupts took effect only after the query had ended.
    """
    if threading.current_thread() is not threading.main_thread():  # it gets no signals
        yield
        return
    reader, writer = os.pipe()
    never_wait(writer)
    before = signal.set_wakeup_fd(writer, warn_on_full_buffer=False)
    watcher = threading.Thread(target=_watch, args=(interrupt, reader), daemon=True)
    watcher.start()
    try:
        yield
    finally:
        signal.set_wakeup_fd(before)
        os.close(writer)
        watcher.join()
        os.close(reader)


def _watch(interrupt: Callable[[], None], reader: int) -> None:
    """Read signal numbers from the pipe until it is closed."""
    while numbers := os.read(reader, 64):
        if any(signal.getsignal(number) is signal.default_int_handler for number in numbers):
            interrupt()
