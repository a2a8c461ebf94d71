"""The migration that creates the table of collections on vector servers."""

from __future__ import annotations

import apsw


def m018_collections(connection: apsw.Connection) -> None:
    """What each collection on a Chroma server holds, in place of tables of changes not sent yet.

    ``generation`` is NULL once nothing uses the collection and the server may delete it. A table of
    changes had the collection in row 0, and a row for each chunk to be added or removed; the next
    import compares the ids, so only the first one to be added matters.
    """
    connection.execute(
        """
        CREATE TABLE IF NOT EXISTS vector_collections (
            name TEXT PRIMARY KEY,
            tool_id INTEGER NOT NULL,
            generation INTEGER,
            build TEXT,
            next_build TEXT,
            last_sent INTEGER NOT NULL DEFAULT 0,
            size INTEGER NOT NULL DEFAULT 0
        ) WITHOUT ROWID
        """
    )
    tables = connection.execute(
        "SELECT name FROM sqlite_schema WHERE type = 'table' AND name GLOB 'outbox_[0-9]*_[0-9]*'"
    ).fetchall()
    for (table,) in tables:
        _, tool_id, generation = str(table).split("_")
        connection.execute(
            f"""
            INSERT INTO vector_collections (name, tool_id, generation, build, next_build, last_sent)
            SELECT collection ->> 'name', ?1, ?2, collection ->> 'writer', collection ->> 'next',
                coalesce(
                    (SELECT min(chunk_id) - 1 FROM {table} WHERE chunk_id > 0 AND NOT is_gone),
                    (SELECT seq FROM sqlite_sequence
                        WHERE name = 'vectors_' || (SELECT name FROM tools WHERE id = ?1)),
                    0)
            FROM {table} WHERE chunk_id = 0
            """,
            (int(tool_id), int(generation)),
        )
        connection.execute(f"DROP TABLE {table}")
    there = connection.execute("SELECT 1 FROM pragma_table_info('retired_collections')").fetchone()
    if there is not None:
        connection.execute(
            "INSERT OR IGNORE INTO vector_collections (name, tool_id) "
            "SELECT name, 0 FROM retired_collections"
        )
        connection.execute("DROP TABLE retired_collections")
