"""The database format: numbered migrations, each applied once, in one transaction.

A released step is never edited, and imports nothing that may change. The schema modules beside
this one hold such steps.
"""

from __future__ import annotations

from collections.abc import Callable

import apsw

from mdvec.database.collection_schema import m018_collections
from mdvec.database.dataset_schema import m004_datasets, m014_combined, m017_choices
from mdvec.database.household_schema import (
    m003_ledger,
    m005_statements,
    m010_review,
    m011_subjects,
)
from mdvec.database.plan_schema import m012_plans, m013_transfers, m015_decisions
from mdvec.database.query_schema import m016_saved_queries

APPLICATION_ID = 0x6D647663  # "mdvc"


def m001_tools(connection: apsw.Connection) -> None:
    """The table of tools; each tool's own tables are created with the tool."""
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
    """Drop the vec0 tables, which held a second copy of every vector.

    The next import builds the indexes that replace them. The new format number also keeps an
    older mdvec from changing chunks without updating these indexes.
    """
    names = connection.execute(
        "SELECT name FROM sqlite_schema WHERE type = 'table' AND sql LIKE '%USING vec0%'"
    ).fetchall()
    for (name,) in names:
        connection.execute(f'DROP TABLE "{name}"')
    connection.execute("UPDATE tools SET chunking = json_set(chunking, '$.context', json('false'))")


def m006_scan_rules(connection: apsw.Connection) -> None:
    """Each tool's own scan rules, and the progress of an unfinished import."""
    there = connection.execute("SELECT name FROM pragma_table_info('tools')").get
    for name, kind in (("scan", "TEXT"), ("import_files", "INTEGER"), ("import_done", "INTEGER")):
        if name not in there:
            connection.execute(f"ALTER TABLE tools ADD COLUMN {name} {kind}")


def m007_cut(connection: apsw.Connection) -> None:
    """Record the version of the cutting rules (``cut``) of each tool; later versions differ."""
    connection.execute("UPDATE tools SET chunking = json_set(chunking, '$.cut', 1)")


def m008_titles(connection: apsw.Connection) -> None:
    """A title for people beside each tool's name."""
    there = connection.execute("SELECT name FROM pragma_table_info('tools')").get
    if "title" not in there:
        connection.execute("ALTER TABLE tools ADD COLUMN title TEXT")


def m009_failures(connection: apsw.Connection) -> None:
    """The files that each tool's last import could not import, and why."""
    connection.execute(
        """
        CREATE TABLE IF NOT EXISTS import_failures (
            tool_id INTEGER NOT NULL REFERENCES tools(id) ON DELETE CASCADE,
            path TEXT NOT NULL,
            reason TEXT NOT NULL,
            size INTEGER,
            mtime_ns INTEGER,
            PRIMARY KEY (tool_id, path)
        ) WITHOUT ROWID
        """
    )


STEPS: tuple[Callable[[apsw.Connection], None], ...] = (
    m001_tools,
    m002_derived_indexes,
    m003_ledger,
    m004_datasets,
    m005_statements,
    m006_scan_rules,
    m007_cut,
    m008_titles,
    m009_failures,
    m010_review,
    m011_subjects,
    m012_plans,
    m013_transfers,
    m014_combined,
    m015_decisions,
    m016_saved_queries,
    m017_choices,
    m018_collections,
)
LATEST = len(STEPS)


def migrate(connection: apsw.Connection) -> None:
    """Bring the file to the latest format; an up-to-date file is not written."""
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
