"""Checks the database file: its format, integrity, permissions, and free space on its disk."""

from __future__ import annotations

import shlex
import shutil
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import apsw

from mdvec.database.connection import DatabaseMissing, open_database
from mdvec.database.migrations import format_of
from mdvec.database.network import network_trouble
from mdvec.database.place import is_writable, open_to_others, size_on_disk
from mdvec.manage.doctor.findings import Finding, Installation
from mdvec.sizes import MEGABYTE
from mdvec.text.file_size import file_size

_MAX_ERRORS = 10
_PRIVATE = 0o600
_HOW_TO_RESTORE = "put back a copy of the file, or delete it and import again"
_MIN_FREE = 50 * MEGABYTE
_COMFORTABLE = 500 * MEGABYTE


def check_database(installation: Installation) -> Iterator[Finding]:
    """Whether the file is whole and of this version's format, and only its owner's.

    Raises:
        DatabaseError: it cannot be opened; the message says why.
    """
    path = installation.database
    try:
        with open_database(path, "read") as connection:
            size = file_size(size_on_disk(path))
            yield Finding("ok", "database", f"{path} ({size}) has format {format_of(connection)}")
            yield from _integrity(connection)
    except DatabaseMissing:
        yield Finding(
            "warning", "database", f"there is no database at {path} yet",
            'mdvec tool add -n NAME -d "what it contains" -s FOLDER',
        )  # fmt: skip
        return
    if not is_writable(path):
        yield Finding(
            "warning",
            "database",
            f"{path} or its folder cannot be written; imports fail",
        )
    if trouble := network_trouble(path):
        yield Finding("trouble", "database", f"{trouble}; imports are refused")
    yield from _rights(path)


def _integrity(connection: apsw.Connection) -> Iterator[Finding]:
    told = [str(row[0]) for row in connection.execute(f"PRAGMA quick_check({_MAX_ERRORS})")]
    if told != ["ok"]:
        yield Finding("trouble", "database", f"the file is damaged: {told[0]}", _HOW_TO_RESTORE)
        return
    orphans = len(connection.execute("PRAGMA foreign_key_check").fetchall())
    if orphans:
        yield Finding(
            "trouble", "database", f"{orphans} rows belong to rows that are gone", _HOW_TO_RESTORE
        )
    else:
        yield Finding("ok", "database", "its pages and references are whole")


def _rights(path: Path) -> Iterator[Finding]:
    for file, mode in open_to_others(path).items():
        yield Finding(
            "warning", "database", f"other users can open {file} ({mode:04o})",
            f"chmod 600 {shlex.quote(str(file))}", partial(file.chmod, _PRIVATE),
        )  # fmt: skip


def check_disk(installation: Installation) -> Iterator[Finding]:
    """Check that imports, rebuilds and mdvec compact have enough space."""
    database = installation.database
    folder = database.absolute().parent
    while not folder.exists():
        folder = folder.parent
    free = shutil.disk_usage(folder).free
    size = size_on_disk(database) if database.is_file() else 0
    told = f"{file_size(free)} free in {folder}"
    if free < _MIN_FREE:
        yield Finding("trouble", "disk", f"only {told}; imports will fail", "make room")
    elif free < max(_COMFORTABLE, 2 * size):
        yield Finding(
            "warning", "disk",
            f"{told}: too little for a rebuild or mdvec compact of {file_size(size)}",
            "free some disk space",
        )  # fmt: skip
    else:
        yield Finding("ok", "disk", told)
