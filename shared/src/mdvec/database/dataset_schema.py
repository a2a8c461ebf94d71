"""The migrations that create the tables of datasets."""

from __future__ import annotations

import apsw

_SCHEMA = """
CREATE TABLE dataset_files (
    tool_id INTEGER NOT NULL REFERENCES tools(id) ON DELETE CASCADE,
    path TEXT NOT NULL,
    size INTEGER NOT NULL,
    mtime_ns INTEGER NOT NULL,
    left_out TEXT NOT NULL,
    app_version TEXT NOT NULL,
    PRIMARY KEY (tool_id, path)
) WITHOUT ROWID;
CREATE TABLE dataset_tables (
    tool_id INTEGER NOT NULL REFERENCES tools(id) ON DELETE CASCADE,
    name TEXT NOT NULL,
    path TEXT NOT NULL,
    inner_table TEXT NOT NULL,
    source TEXT NOT NULL,
    snapshot TEXT,
    size INTEGER NOT NULL,
    mtime_ns INTEGER NOT NULL,
    rows INTEGER NOT NULL,
    columns TEXT NOT NULL,
    period_column TEXT,
    period_first TEXT,
    period_last TEXT,
    PRIMARY KEY (tool_id, name)
) WITHOUT ROWID;
"""


def m004_datasets(connection: apsw.Connection) -> None:
    """Create the lists of each dataset's files and tables."""
    connection.execute(_SCHEMA)


def m014_combined(connection: apsw.Connection) -> None:
    """The files of each table that combines several, as JSON."""
    there = connection.execute("SELECT name FROM pragma_table_info('dataset_tables')").get
    if "combined" not in there:
        connection.execute("ALTER TABLE dataset_tables ADD COLUMN combined TEXT")


def m017_choices(connection: apsw.Connection) -> None:
    """How each dataset's files are to be read, where the user says so."""
    connection.execute(
        """
        CREATE TABLE IF NOT EXISTS dataset_choices (
            tool_id INTEGER NOT NULL REFERENCES tools(id) ON DELETE CASCADE,
            pattern TEXT NOT NULL,
            setting TEXT NOT NULL,
            column_name TEXT NOT NULL,
            value TEXT NOT NULL,
            PRIMARY KEY (tool_id, pattern, setting, column_name)
        ) WITHOUT ROWID
        """
    )
