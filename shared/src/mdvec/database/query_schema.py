"""The migration that creates the table of saved questions."""

from __future__ import annotations

import apsw


def m016_saved_queries(connection: apsw.Connection) -> None:
    """Questions with their parameters, as JSON, under names of the whole database."""
    connection.execute(
        """
        CREATE TABLE IF NOT EXISTS saved_queries (
            name TEXT PRIMARY KEY,
            sql TEXT NOT NULL,
            description TEXT NOT NULL,
            parameters TEXT NOT NULL,
            saved_at TEXT NOT NULL
        ) WITHOUT ROWID
        """
    )
