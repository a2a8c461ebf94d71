"""The tags that describe a collection to whoever searches it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from mdvec.database.connection import open_database, snapshot
from mdvec.index.tags import tag_counts
from mdvec.tools.rows import Tool


def most_frequent_tags(database: Path, asked: Sequence[Tool], limit: int) -> dict[str, list[str]]:
    """The tags that most documents of each imported tool have, the most frequent first, by name.

    A tool whose tables are gone by now has none.

    Raises:
        DatabaseError: the file cannot be read.
    """
    with open_database(database, "read") as connection, snapshot(connection):
        return {
            tool.name: [one.tag for one in tag_counts(connection, tool.tables, limit)]
            for tool in asked
            if tool.generation
        }
