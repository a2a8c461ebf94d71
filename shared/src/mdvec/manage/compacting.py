"""Giving back the space that a database no longer needs, and all that was ever deleted from it."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

import apsw

from mdvec.database.connection import (
    BUSY_TIMEOUT_MS,
    DatabaseError,
    DatabaseUnusable,
    empty_log,
    open_database,
)
from mdvec.database.place import is_writable, size_on_disk, temporary_folder
from mdvec.datasets.copies import remove_unneeded_copies
from mdvec.index import tables
from mdvec.index.erasing import write_terms_anew
from mdvec.manage.import_tool import only_import_of
from mdvec.tools import rows as tools
from mdvec.tools.rows import Tool

_STEPS_BETWEEN_SIGNALS = 10_000


class NoRoom(DatabaseError):
    """There is too little free space to write the file anew."""


@dataclass(frozen=True, slots=True)
class Compacted:
    """What became of the file; sizes are in bytes, with its log.

    ``is_complete`` is False while a search still reads what was before: the file then shrinks,
    and what was deleted leaves it, when that search has ended and the next command has written.
    """

    database: Path
    size_before: int
    size_after: int
    bytes_given_back: int
    is_complete: bool


def _free_bytes(folder: Path) -> int:
    return shutil.disk_usage(folder).free


def compact(
    database: Path,
    *,
    on_notice: Callable[[str], None] = lambda _: None,
    free_bytes: Callable[[Path], int] = _free_bytes,
    patience_ms: int = BUSY_TIMEOUT_MS,
) -> Compacted:
    """Write the whole file anew without what was deleted, and cut its log.

    Searches go on meanwhile; imports wait. Stopped or killed at any moment, it leaves the file
    with all that it holds. ``patience_ms`` is how long it waits for a search that reads what was
    before.

    Raises:
        NoRoom: there is too little free space; nothing was changed.
        DatabaseError: the file is not there, or cannot be read or written.
    """
    with open_database(database, "read"):
        pass
    _check_writable(database)
    with _no_imports(database, on_notice):
        _check_room(database, free_bytes)
        before = size_on_disk(database)
        with open_database(database, "write") as connection:
            # SQLite asks now and then, so that Ctrl-C is heard within a statement.
            connection.set_progress_handler(lambda: False, _STEPS_BETWEEN_SIGNALS)
            for tool in tools.list_tools(connection):
                _tidy(connection, tool)
            empty_log(connection)
            connection.set_busy_timeout(BUSY_TIMEOUT_MS)
            connection.execute("VACUUM")
            is_complete = empty_log(connection, patience_ms)
        after = size_on_disk(database)
    return Compacted(database, before, after, max(0, before - after), is_complete)


def _tidy(connection: apsw.Connection, tool: Tool) -> None:
    """Drop what unfinished imports of a tool left; write its lexical index anew."""
    names = tool.tables
    with connection:
        tables.drop_leftovers(connection, tool.id, tool.name, current=tool.generation)
        if tables.has_indexes(connection, names):
            write_terms_anew(connection, names)
    remove_unneeded_copies(connection, tool.id)


@contextmanager
def _no_imports(database: Path, on_notice: Callable[[str], None]) -> Iterator[None]:
    """Hold the locks of all tools' imports, also of those that are added during the wait.

    Whoever takes several takes them in the order of their numbers, so that no two wait for
    each other.
    """
    held: set[int] = set()
    with ExitStack() as locks:
        while others := [tool for tool in _tools(database) if tool.id not in held]:
            for tool in others:
                locks.enter_context(only_import_of(database, tool, on_notice))
                held.add(tool.id)
        yield


def _tools(database: Path) -> list[Tool]:
    with open_database(database, "read") as connection:
        return sorted(tools.list_tools(connection), key=lambda tool: tool.id)


def _check_writable(database: Path) -> None:
    if not is_writable(database):
        raise DatabaseUnusable(
            f"{database} cannot be compacted: the file or its folder cannot be written; "
            "change that, or name another with --database"
        )


def _check_room(database: Path, free_bytes: Callable[[Path], int]) -> None:
    """Refuse to begin what the disk cannot hold.

    SQLite writes the new file in its folder for temporary files, then into the log beside the
    old one: each may take as much as the file, and the log a little more.
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
                f"compacting {database} takes up to {needed:,} bytes for a while, but the disk of "
                f"{folder} has {free:,} free; make room, or name a folder on another disk for "
                "temporary files with the variable SQLITE_TMPDIR; nothing was changed"
            )
