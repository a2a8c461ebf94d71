"""Stores the properties of a tool's documents: tags, dates, other front matter entries.

Like the search indexes, they are derived from the stored documents.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from typing import TYPE_CHECKING

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

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


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


@dataclass(frozen=True, slots=True)
class ChunkRanges:
    """The chunks of some documents: each document's first chunk id, ascending, and chunk count."""

    first_chunks: NDArray[np.int64]
    counts: NDArray[np.int64]

    @property
    def size(self) -> int:
        """The number of chunks."""
        return int(self.counts.sum())

    def ids(self) -> NDArray[np.int64]:
        """The ids of all chunks, in order."""
        return expanded(self.first_chunks, self.counts)


def chunk_ids(connection: apsw.Connection, tables: Tables) -> NDArray[np.int64]:
    """The ids of all chunks, in order."""
    import numpy as np

    rows = connection.execute(f"SELECT id FROM {identifier(tables.vectors)} ORDER BY id")
    return np.fromiter((number for (number,) in rows), dtype=np.int64)


def chunks_at(connection: apsw.Connection, tables: Tables, file_path: str) -> list[int]:
    """The ids of a document's chunks."""
    rows = connection.execute(
        f"SELECT v.id FROM {identifier(tables.vectors)} AS v "
        f"JOIN {identifier(tables.documents)} AS d ON d.id = v.document_id "
        "WHERE d.tool_id = ? AND d.file_path = ?",
        (tables.tool_id, file_path),
    )
    return [int(str(number)) for (number,) in rows]


def single_chunks(ids: NDArray[np.int64]) -> ChunkRanges:
    """The chunks with these ids, in order."""
    import numpy as np

    return ChunkRanges(ids, np.ones_like(ids))


def no_chunks() -> ChunkRanges:
    """The empty selection."""
    import numpy as np

    none = np.array([], dtype=np.int64)
    return ChunkRanges(none, none)


def expanded(firsts: NDArray[np.int64], counts: NDArray[np.int64]) -> NDArray[np.int64]:
    """All numbers of the ranges that begin at ``firsts`` and have ``counts`` numbers each."""
    import numpy as np

    before = np.cumsum(counts) - counts
    return np.repeat(firsts - before, counts) + np.arange(int(counts.sum()))


@dataclass(frozen=True, slots=True)
class Condition:
    """The condition that a document must meet; None and "" restrict nothing.

    Attributes:
        path_matches: tells whether a path matches.
        path_prefix: what every matching path begins with.
        tags: folded tags, all of which it must have, or subtags of them.
        since: the first day; a document without a date of its own meets no day.
        until: the last day.
        documents: the documents that may meet it; None for all.
    """

    path_matches: Callable[[str], bool] | None = None
    path_prefix: str = ""
    tags: Sequence[str] = ()
    since: date | None = None
    until: date | None = None
    documents: frozenset[int] | None = None


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


def chunks_passing(
    connection: apsw.Connection, tables: Tables, condition: Condition
) -> ChunkRanges:
    """The chunks of all documents that meet a condition."""
    import numpy as np

    where, values = _passing(connection, tables, condition)
    rows = connection.execute(
        f"SELECT first_chunk, chunks FROM {identifier(tables.properties)} "
        f"WHERE chunks > 0 AND {where} ORDER BY first_chunk",
        values,
    ).fetchall()
    ranges = np.array(rows, dtype=np.int64).reshape(-1, 2)
    return ChunkRanges(ranges[:, 0], ranges[:, 1])


def documents_passing(
    connection: apsw.Connection, tables: Tables, condition: Condition
) -> list[int]:
    """The documents that meet a condition, also those without any chunk."""
    where, values = _passing(connection, tables, condition)
    rows = connection.execute(
        f"SELECT document_id FROM {identifier(tables.properties)} WHERE {where}", values
    )
    return [int(str(document_id)) for (document_id,) in rows]


def _passing(
    connection: apsw.Connection, tables: Tables, condition: Condition
) -> tuple[str, list[object]]:
    """The condition in SQL, on the table of properties, and its values."""
    import numpy as np

    where, values = ["document_id > 0"], list[object]()
    for tag in condition.tags:
        where.append(
            f"document_id IN (SELECT document_id FROM {identifier(tables.tags)} "
            "WHERE tag = ? OR (tag > ? AND tag < ?))"
        )
        # "0" is the next ASCII character after "/": matches tag/…
        values += [tag, f"{tag}/", f"{tag}0"]
    if condition.since is not None:
        where.append("day >= ?")
        values.append(condition.since.isoformat())
    if condition.until is not None:
        where.append("day <= ?")
        values.append(condition.until.isoformat())
    if condition.documents is not None:
        chosen = np.array(sorted(condition.documents), dtype=np.int64)
        where.append("document_id IN carray(?)" if len(chosen) else "FALSE")
        values += [apsw.carray(chosen)] if len(chosen) else []
    if condition.path_matches is not None:
        ids = _documents_at(connection, tables, condition)
        where.append("document_id IN carray(?)" if len(ids) else "FALSE")
        values += [apsw.carray(ids)] if len(ids) else []
    return " AND ".join(where), values


def _documents_at(
    connection: apsw.Connection, tables: Tables, condition: Condition
) -> NDArray[np.int64]:
    """The ids of the documents whose path matches."""
    import numpy as np

    prefix, path_matches = condition.path_prefix, condition.path_matches
    # The index on paths covers this query.
    rows = connection.execute(
        f"SELECT id, file_path FROM {identifier(tables.documents)} "
        "WHERE tool_id = ? AND file_path >= ? AND file_path < ?",
        (tables.tool_id, prefix, f"{prefix}\U0010ffff"),
    )
    ids = [
        document_id for document_id, path in rows if path_matches is None or path_matches(str(path))
    ]
    return np.array(ids, dtype=np.int64)
