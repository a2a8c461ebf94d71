"""Finds the frequent tags that describe a collection to its users."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from mdvec.database.connection import open_database, snapshot
from mdvec.index.tags import tag_counts
from mdvec.tools.rows import Tool


def most_frequent_tags(database: Path, tools: Sequence[Tool], limit: int) -> dict[str, list[str]]:
    """The most frequent tags of each imported tool, by the tool's name.

    Raises:
        DatabaseError: the file cannot be read.
    """
    with open_database(database, "read") as connection, snapshot(connection):
        return {
            tool.name: [one.tag for one in tag_counts(connection, tool.tables, limit)]
            for tool in tools
            if tool.generation
        }
