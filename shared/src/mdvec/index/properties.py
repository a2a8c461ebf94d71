"""Stores the properties of a tool's documents: tags, dates, other front matter entries.

Like the search indexes, they are derived from the stored documents.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime

import apsw

from mdvec.index.tables import Tables, create_properties, drop_properties, has_properties
from mdvec.text.front_matter import front_matter
from mdvec.text.markdown import is_markdown
from mdvec.text.properties import Properties, PropertyValue, day_in_name, folded_tag, properties_of
from mdvec.text.quoting import identifier


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


def update_file_time(connection: apsw.Connection, tables: Tables, file_path: str) -> None:
    """Copy the new modification time of a file whose content is unchanged to its properties."""
    connection.execute(
        f"UPDATE {identifier(tables.properties)} AS p SET mtime_ns = d.mtime_ns "
        f"FROM {identifier(tables.documents)} AS d "
        "WHERE p.document_id = d.id AND d.tool_id = ? AND d.file_path = ?",
        (tables.tool_id, file_path),
    )


def rebuild_properties(connection: apsw.Connection, tables: Tables) -> None:
    """Rebuild the properties of all documents from their stored contents."""
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


@dataclass(frozen=True, slots=True)
class StoredProperties:
    """A document's properties; ``day`` is the file's if neither its matter nor its name has one."""

    tags: tuple[str, ...]
    aliases: tuple[str, ...]
    day: str | None
    values: Mapping[str, PropertyValue]


NOT_DERIVED = StoredProperties((), (), None, {})
"""The properties of a document that an older version of mdvec stored."""


def stored_properties(
    connection: apsw.Connection, tables: Tables, document_ids: Iterable[int]
) -> dict[int, StoredProperties]:
    """The properties of documents, by id; empty if they were not derived yet."""
    if not has_properties(connection, tables):
        return {}
    rows = connection.execute(
        "SELECT document_id, tags, aliases, day, mtime_ns, kept "
        f"FROM {identifier(tables.properties)} "
        f"WHERE document_id IN ({','.join(map(str, document_ids))})"
    )
    return {
        int(document_id): StoredProperties(
            tuple(json.loads(str(tags))),
            tuple(json.loads(str(aliases))),
            str(day or _day_of(int(mtime_ns))),
            {
                key: tuple(value) if isinstance(value, list) else value
                for key, value in json.loads(str(kept)).items()
            },
        )
        for document_id, tags, aliases, day, mtime_ns, kept in rows
    }


def _day_of(mtime_ns: int) -> str:
    """The local date of a file's modification time."""
    return datetime.fromtimestamp(mtime_ns / 1e9).astimezone().date().isoformat()


def _as_json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)
