"""Counts the tags of a tool's documents."""

from __future__ import annotations

from dataclasses import dataclass

import apsw

from mdvec.database.records import records
from mdvec.index.tables import Tables, has_properties
from mdvec.text.quoting import identifier


@dataclass(frozen=True, slots=True)
class TagCount:
    """A tag, as one document spells it, and the number of documents that have it."""

    tag: str
    documents: int


def tag_counts(
    connection: apsw.Connection, tables: Tables, limit: int | None = None
) -> list[TagCount]:
    """The tags of a tool's documents, most frequent first; empty if they were not derived yet."""
    if not has_properties(connection, tables):
        return []
    cursor = connection.execute(
        "SELECT min(name) AS tag, count(*) AS documents "
        f"FROM {identifier(tables.tags)} GROUP BY {identifier(tables.tags)}.tag "
        "ORDER BY documents DESC, 1 LIMIT ?",
        (-1 if limit is None else limit,),
    )
    return list(records(cursor, TagCount))
