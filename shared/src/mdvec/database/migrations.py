"""The file's format: numbered steps, each applied once, whole or not at all."""

from __future__ import annotations

from collections.abc import Callable

import apsw

from mdvec.database.dataset_schema import create_datasets
from mdvec.database.household_schema import add_statements, create_ledger

APPLICATION_ID = 0x6D647663  # "mdvc"


def m001_tools(connection: apsw.Connection) -> None:
    """The table of tools; each tool's own tables come with the tool."""
    connection.execute(
        """
        CREATE TABLE tools (
            id INTEGER PRIMARY KEY AUTOINCREMENT,
            name TEXT UNIQUE NOT NULL,
            description TEXT NOT NULL,
            source_directory TEXT NOT NULL,
            kind TEXT NOT NULL DEFAULT 'markdown',
            is_active BOOLEAN NOT NULL DEFAULT 1,
            app_version TEXT,
            model TEXT,
            embedding_fingerprint TEXT,
            embedding_dimension INTEGER,
            chunking TEXT,
            generation INTEGER NOT NULL DEFAULT 0,
            last_import_at DATETIME,
            created_at DATETIME NOT NULL DEFAULT CURRENT_TIMESTAMP,
            updated_at DATETIME NOT NULL DEFAULT CURRENT_TIMESTAMP
        )
        """
    )


def m002_derived_indexes(connection: apsw.Connection) -> None:
    """Format 1 kept a second copy of every vector; the indexes of today come with the next import.

    The new number also keeps an older mdvec from changing chunks behind their indexes.
    """
    names = connection.execute(
        "SELECT name FROM sqlite_schema WHERE type = 'table' AND sql LIKE '%USING vec0%'"
    ).fetchall()
    for (name,) in names:
        connection.execute(f'DROP TABLE "{name}"')
    connection.execute("UPDATE tools SET chunking = json_set(chunking, '$.context', json('false'))")


def scan_rules_and_progress(connection: apsw.Connection) -> None:
    """Each tool's own rules of scanning, and how far an import came that has not finished."""
    there = connection.execute("SELECT name FROM pragma_table_info('tools')").get
    for name, kind in (("scan", "TEXT"), ("import_files", "INTEGER"), ("import_done", "INTEGER")):
        if name not in there:
            connection.execute(f"ALTER TABLE tools ADD COLUMN {name} {kind}")


STEPS: tuple[Callable[[apsw.Connection], None], ...] = (
    m001_tools,
    m002_derived_indexes,
    create_ledger,
    create_datasets,
    add_statements,
    scan_rules_and_progress,
)
LATEST = len(STEPS)


def migrate(connection: apsw.Connection) -> None:
    """Bring the file to this version's format; a file that has it is not touched."""
    if _version(connection) == LATEST:
        return
    with connection:
        for number, step in enumerate(STEPS[_version(connection) :], _version(connection) + 1):
            step(connection)
            connection.execute(f"PRAGMA user_version = {number:d}")
        connection.execute(f"PRAGMA application_id = {APPLICATION_ID:d}")


def _version(connection: apsw.Connection) -> int:
    (version,) = connection.execute("PRAGMA user_version").fetchone() or (0,)
    return int(version)
