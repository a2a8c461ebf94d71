"""Stores the properties of a tool's documents: tags, dates, other front matter entries.

Like the search indexes, they are derived from the stored documents.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import apsw

from mdvec.database import records
from mdvec.index.links import insert_links
from mdvec.index.tables import Tables, create_properties, drop_properties, has_properties
from mdvec.text import (
    Properties,
    PropertyValue,
    day_in_name,
    folded,
    folded_tag,
    front_matter,
    identifier,
    is_markdown,
    properties_of,
)


def insert_properties(
    connection: apsw.Connection, tables: Tables, document_id: int, properties: Properties
) -> None:
    """Store the properties of a document whose chunks are stored already, with consecutive ids."""
    day = properties.date
    connection.execute(
        f"INSERT INTO {identifier(tables.properties)} "
        "(document_id, day, mtime_ns, first_chunk, chunks, tags, aliases, kept) "
        "SELECT d.id, ?, d.mtime_ns, coalesce(min(v.id), 0), count(v.id), ?, ?, ? "
        f"FROM {identifier(tables.documents)} AS d "
        f"LEFT JOIN {identifier(tables.vectors)} AS v ON v.document_id = d.id WHERE d.id = ?",
        (
            day and day.isoformat(), _as_json(properties.tags), _as_json(properties.aliases),
            _as_json(properties.values), document_id,
        ),
    )  # fmt: skip
    connection.executemany(
        f"INSERT INTO {identifier(tables.tags)} (tag, document_id, name) VALUES (?, ?, ?)",
        ((folded_tag(tag), document_id, tag) for tag in properties.tags),
    )


def other_names(properties: Properties | StoredProperties) -> tuple[str, ...]:
    """The aliases and tags of a document, by which searches find it too."""
    return properties.aliases + properties.tags


def delete_properties(connection: apsw.Connection, tables: Tables, document_id: int) -> None:
    """Delete the properties of a document."""
    for table in (tables.properties, tables.tags):
        connection.execute(f"DELETE FROM {identifier(table)} WHERE document_id = ?", (document_id,))


def count_undated(connection: apsw.Connection, tables: Tables) -> int:
    """How many documents have no date of their own."""
    table = identifier(tables.properties)
    where = "document_id > 0 AND day IS NULL"
    row = connection.execute(f"SELECT count(*) FROM {table} WHERE {where}").fetchone()
    return int(row[0]) if row else 0


def rebuild_properties(connection: apsw.Connection, tables: Tables) -> None:
    """Rebuild the properties and links of all documents from their stored contents."""
    drop_properties(connection, tables)
    create_properties(connection, tables)
    documents = identifier(tables.documents)
    for (document_id,) in list(connection.execute(f"SELECT id FROM {documents}")):
        (row,) = connection.execute(
            f"SELECT file_path, content FROM {documents} WHERE id = ?", (document_id,)
        )
        path, content = str(row[0]), str(row[1])
        properties = Properties(date=day_in_name(path))
        if is_markdown(path):
            properties = properties_of(content, front_matter(content), path)
        insert_properties(connection, tables, int(document_id), properties)
        insert_links(connection, tables, int(document_id), path, content, properties.aliases)


@dataclass(frozen=True, slots=True)
class StoredProperties:
    """A document's properties; ``day`` is None if neither its front matter nor its name has one."""

    tags: tuple[str, ...]
    aliases: tuple[str, ...]
    day: str | None
    values: Mapping[str, PropertyValue]


NOT_DERIVED = StoredProperties((), (), None, {})
"""The properties of a document that the next import derives in the current format."""


def stored_properties(
    connection: apsw.Connection, tables: Tables, document_ids: Iterable[int]
) -> dict[int, StoredProperties]:
    """The properties of documents, by id; empty if they were not derived yet."""
    if not has_properties(connection, tables):
        return {}
    rows = connection.execute(
        "SELECT document_id, tags, aliases, day, kept "
        f"FROM {identifier(tables.properties)} "
        f"WHERE document_id IN ({','.join(map(str, document_ids))})"
    )
    return {
        int(document_id): StoredProperties(
            tuple(json.loads(str(tags))),
            tuple(json.loads(str(aliases))),
            None if day is None else str(day),
            {
                key: tuple(value) if isinstance(value, list) else value
                for key, value in json.loads(str(other)).items()
            },
        )
        for document_id, tags, aliases, day, other in rows
    }


def _as_json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)


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


def documents_with_value(
    connection: apsw.Connection, tables: Tables, key: str, values: Sequence[str]
) -> frozenset[int]:
    """The documents whose front matter has one of the values, or any value if there are none.

    Case and width make no difference; a list has each of its items.
    """
    wanted = {folded(value) for value in values}
    return frozenset(
        document_id
        for document_id, of_key in _values_of(connection, tables, key)
        if not wanted or wanted & {folded(value) for value in of_key}
    )


def value_counts(connection: apsw.Connection, tables: Tables) -> dict[str, Counter[str]]:
    """How many documents have each value of a front matter's entries, by entry."""
    counts: dict[str, Counter[str]] = {}
    if not has_properties(connection, tables):
        return counts
    table = identifier(tables.properties)
    rows = connection.execute(f"SELECT kept FROM {table} WHERE document_id > 0 AND kept <> '{{}}'")
    for (kept,) in rows:
        for name, value in json.loads(str(kept)).items():
            values = value if isinstance(value, list) else [value]
            counts.setdefault(name, Counter()).update(values)
    return counts


def _values_of(
    connection: apsw.Connection, tables: Tables, key: str
) -> Iterator[tuple[int, list[str]]]:
    rows = connection.execute(
        f"SELECT document_id, kept FROM {identifier(tables.properties)} "
        "WHERE document_id > 0 AND kept <> '{}'"
    )
    for document_id, kept in rows:
        for name, value in json.loads(str(kept)).items():
            if folded(name) == folded(key):
                yield int(str(document_id)), value if isinstance(value, list) else [value]
