"""Compacts the database file: removes unused space and erases deleted data."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

import apsw

from mdvec.database import (
    BUSY_TIMEOUT_MS,
    DatabaseError,
    DatabaseUnusable,
    checkpoint_wal,
    is_writable,
    open_database,
    size_on_disk,
    temporary_folder,
)
from mdvec.datasets import remove_unneeded_copies
from mdvec.index import has_word_indexes, rewrite_lexical_index, table_changes
from mdvec.manage.registering import list_tools
from mdvec.tools import Tool, only_import_of, registry

_STEPS_BETWEEN_SIGNALS = 10_000


class NoRoom(DatabaseError):
    """There is too little free disk space to rewrite the file."""


@dataclass(frozen=True, slots=True)
class Compacted:
    """The result of compacting; sizes are in bytes and include the write-ahead log.

    ``is_complete`` is False if a running search still used the old data; the file then shrinks
    and loses its deleted data at the first write after that search.
    """

    database: Path
    size_before: int
    size_after: int
    bytes_given_back: int
    is_complete: bool


def free_bytes_of(folder: Path) -> int:
    """The free space of a folder's disk."""
    return shutil.disk_usage(folder).free


def compact(
    database: Path,
    *,
    on_notice: Callable[[str], None] = lambda _: None,
    free_bytes: Callable[[Path], int] = free_bytes_of,
    patience_ms: int = BUSY_TIMEOUT_MS,
) -> Compacted:
    """Rewrite the whole file without deleted data, and truncate its log.

    Searches continue and imports wait. If it is interrupted or killed, no data is lost.
    ``patience_ms`` limits the wait for searches that still use the old data.

    Raises:
        NoRoom: there is too little free space; nothing was changed.
        DatabaseError: the file is missing, or cannot be read or written.
    """
    with open_database(database, "read"):
        pass
    if not is_writable(database):
        raise DatabaseUnusable(
            f"{database} cannot be compacted: the file or its folder is not writable; "
            "change its permissions, or name another database with --database"
        )
    with no_imports(database, on_notice):
        _check_room(database, free_bytes)
        before = size_on_disk(database)
        with open_database(database, "write") as connection:
            # The handler lets Python notice Ctrl-C while a statement runs.
            connection.set_progress_handler(lambda: False, _STEPS_BETWEEN_SIGNALS)
            for tool in registry.list_tools(connection):
                _tidy(connection, tool)
            checkpoint_wal(connection)
            connection.set_busy_timeout(BUSY_TIMEOUT_MS)
            connection.execute("VACUUM")
            is_complete = checkpoint_wal(connection, patience_ms)
        after = size_on_disk(database)
    return Compacted(database, before, after, max(0, before - after), is_complete)


def remove_leftovers(connection: apsw.Connection, tool: Tool) -> None:
    """Remove what ended imports of a tool left, but the options that one is begun again with."""
    with connection:
        table_changes.drop_leftovers(
            connection,
            tool.id,
            tool.name,
            current=tool.generation,
            keeps_options=tool.import_files is not None,
        )
    remove_unneeded_copies(connection, tool.id)


def _tidy(connection: apsw.Connection, tool: Tool) -> None:
    """Remove a tool's leftovers of ended imports, and rewrite its lexical index."""
    remove_leftovers(connection, tool)
    with connection:
        if has_word_indexes(tool.tables_in(connection)):
            rewrite_lexical_index(tool.tables_in(connection))


@contextmanager
def no_imports(database: Path, on_notice: Callable[[str], None]) -> Iterator[None]:
    """Hold the import locks of all tools, including tools added while it waits.

    Locks are taken in the order of the tools' ids, so that two processes cannot deadlock.
    """
    held: set[int] = set()
    with ExitStack() as locks:
        while others := [
            tool for tool in list_tools(database, active_only=False) if tool.id not in held
        ]:
            for tool in sorted(others, key=lambda tool: tool.id):
                locks.enter_context(only_import_of(database, tool, on_notice))
                held.add(tool.id)
        yield


def _check_room(database: Path, free_bytes: Callable[[Path], int]) -> None:
    """Raise NoRoom if the disk is too full.

    SQLite writes the new file into its temporary folder, then into the log beside the old file:
    each can be as large as the file, and the log slightly larger.
    """
    with open_database(database, "read") as connection:
        folders = [temporary_folder(connection), database.absolute().parent]
    copy = size_on_disk(database)
    copy += copy // 64 + 2**20
    is_one_disk = len({folder.stat().st_dev for folder in folders}) == 1
    needed = 2 * copy if is_one_disk else copy
    for folder in folders:
        if (free := free_bytes(folder)) < needed:
            raise NoRoom(
                f"compacting {database} temporarily needs up to {needed:,} bytes, but the disk of "
                f"{folder} has {free:,} free; free some space, or set SQLITE_TMPDIR to a folder on "
                "another disk; nothing was changed"
            )
