"""Stores a tool's chunks with their embeddings, and reads them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from mdvec.database import records
from mdvec.index.chroma_collections import collection_of
from mdvec.index.properties import NOT_DERIVED, other_names, rebuild_properties, stored_properties
from mdvec.index.table_changes import drop_vectors, put_vectors, rebuild_vector_index
from mdvec.index.tables import WORD_TABLES, Tables, create_word_indexes, drop_derived
from mdvec.index.words import delete_terms, insert_terms
from mdvec.text import (
    Chunk,
    ChunkFields,
    chunk_fields,
    identifier,
    indexed_chunk,
    searched_names,
    text_to_embed,
    without_head,
)

if TYPE_CHECKING:
    from mdvec.embedding import Vectors


def insert_chunks(
    tables: Tables,
    document_id: int,
    file_path: str,
    title: str,
    names: str,
    chunks: Sequence[Chunk],
    vectors: Vectors | None,
) -> None:
    """Store a document's chunks with one vector each, in the table and in the indexes.

    If ``vectors`` is None, they are stored later. ``names`` is the result of ``searched_names``.
    Call within a write transaction, so that the chunks get consecutive ids.
    """
    table = identifier(tables.vectors)
    fields: list[tuple[int, ChunkFields]] = []
    blobs = [b""] * len(chunks) if vectors is None else [vector.tobytes() for vector in vectors]
    for chunk, blob in zip(chunks, blobs, strict=True):
        tables.execute(
            f"INSERT INTO {table} (tool_id, document_id, chunk_index, start_position, "
            "end_position, start_line, end_line, heading, chunk_text, embedding) "
            "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (
                tables.tool_id, document_id, chunk.index, chunk.start, chunk.end,
                chunk.start_line, chunk.end_line, chunk.heading, chunk.text, blob,
            ),
        )  # fmt: skip
        chunk_id = tables.connection.last_insert_rowid()
        shown = indexed_chunk(file_path, chunk.text)
        fields.append((chunk_id, chunk_fields(title, names, chunk.heading, shown)))
    insert_terms(tables, fields)
    if chunks and vectors is not None:
        put_vectors(tables, document_id, chunk_id - len(chunks) + 1, vectors)


def delete_chunks(tables: Tables, document_id: int) -> None:
    """Delete a document's chunks from the table and from the indexes."""
    of_document = f"FROM {identifier(tables.vectors)} WHERE document_id = ?"
    ids = tables.column(f"SELECT id {of_document}", (document_id,))
    delete_terms(tables, ids)
    drop_vectors(tables, ids)
    tables.execute(f"DELETE {of_document}", (document_id,))


def rebuild_indexes(tables: Tables) -> None:
    """Rebuild the derived indexes from the stored chunks; a collection on a server stays."""
    if collection_of(tables) is None:
        rebuild_vector_index(tables, outside=False)
    rebuild_word_indexes(tables)


def rebuild_word_indexes(tables: Tables) -> None:
    """Rebuild the properties and the word indexes from the stored documents and chunks."""
    rebuild_properties(tables)
    drop_derived(tables, WORD_TABLES)
    create_word_indexes(tables)
    for document_id in tables.column(f"SELECT id FROM {identifier(tables.documents)}"):
        _insert_stored_terms(tables, f"v.document_id = {document_id}")


def _insert_stored_terms(tables: Tables, where: str) -> None:
    """Index the words of stored chunks."""
    rows = tables.execute(
        "SELECT v.id, v.document_id, d.title, d.file_path, v.heading, v.chunk_text "
        f"FROM {identifier(tables.vectors)} AS v "
        f"JOIN {identifier(tables.documents)} AS d ON d.id = v.document_id "
        f"WHERE {where} ORDER BY v.id"
    ).fetchall()
    properties = stored_properties(tables, {int(str(row[1])) for row in rows})
    fields = []
    for number, document_id, title, path, heading, text in rows:
        others = other_names(properties.get(int(str(document_id)), NOT_DERIVED))
        names = searched_names(str(title), str(path), others)
        shown = indexed_chunk(str(path), str(text))
        fields.append((int(str(number)), chunk_fields(str(title), names, str(heading), shown)))
    insert_terms(tables, fields)


def change_headings(tables: Tables, headings: Mapping[int, str]) -> None:
    """Replace the headings of chunks, given by id, and index their words again."""
    tables.connection.executemany(
        f"UPDATE {identifier(tables.vectors)} SET heading = ? WHERE id = ?",
        ((heading, chunk_id) for chunk_id, heading in headings.items()),
    )
    delete_terms(tables, list(headings))
    _insert_stored_terms(tables, f"v.id IN ({_numbers(headings)})")


def known_embeddings(tables: Tables, file_path: str, content_hash: str) -> dict[str, bytes]:
    """Stored embeddings that a file's chunks can reuse, by embedded text.

    They are from the document at its path, and from one document with the same content, since the
    file may have been moved or copied.
    """
    documents, vectors = identifier(tables.documents), identifier(tables.vectors)
    rows = tables.execute(
        f"SELECT d.file_path, d.title, v.heading, v.chunk_text, v.embedding FROM {vectors} AS v "
        f"JOIN {documents} AS d ON d.id = v.document_id "
        f"WHERE (d.id = (SELECT id FROM {documents} WHERE tool_id = ? AND file_path = ?) "
        f"OR d.id = (SELECT id FROM {documents} WHERE content_hash = ? LIMIT 1)) "
        "AND length(v.embedding) > 0",
        (tables.tool_id, file_path, content_hash),
    )
    return {
        text_to_embed(path, title, heading, text): blob for path, title, heading, text, blob in rows
    }


def embeddings_of(tables: Tables, texts: Sequence[str]) -> dict[str, bytes]:
    """The stored embeddings of the chunks that have one of these texts, by text."""
    table = identifier(tables.vectors)
    wanted = set(texts)
    ids = {
        str(text): int(chunk_id)
        for chunk_id, text in tables.execute(f"SELECT id, chunk_text FROM {table}")
        if text in wanted
    }
    rows = tables.execute(
        f"SELECT chunk_text, embedding FROM {table} WHERE id IN ({_numbers(ids.values())}) "
        "AND length(embedding) > 0"
    )
    return {str(text): bytes(embedding) for text, embedding in rows}


@dataclass(frozen=True, slots=True)
class StoredChunk:
    """A stored chunk, and its cosine similarity to the query if both have a vector."""

    id: int
    document_id: int
    file_path: str
    title: str
    heading: str
    content: str
    chunk_index: int
    start_position: int
    end_position: int
    start_line: int
    end_line: int
    cosine: float | None


def stored_chunks(tables: Tables, ids: Iterable[int], query: Vectors | None) -> list[StoredChunk]:
    """The chunks with these ids, with their cosines if there is a query vector.

    They come in the order in which a new import would store them, whenever each was stored.
    """
    cosine = "NULL"
    if query is not None:
        cosine = "iif(length(v.embedding), 1.0 - vec_distance_cosine(v.embedding, ?), NULL)"
    cursor = tables.execute(
        "SELECT v.id AS id, d.id AS document_id, d.file_path AS file_path, d.title AS title, "
        "v.heading AS heading, v.chunk_text AS content, v.chunk_index AS chunk_index, "
        "v.start_position AS start_position, v.end_position AS end_position, "
        f"v.start_line AS start_line, v.end_line AS end_line, {cosine} AS cosine "
        f"FROM {identifier(tables.vectors)} AS v "
        f"JOIN {identifier(tables.documents)} AS d ON d.id = v.document_id "
        f"WHERE v.id IN ({_numbers(ids)}) ORDER BY d.file_path, v.chunk_index",
        () if query is None else (query.tobytes(),),
    )
    return list(records(cursor, StoredChunk))


def _numbers(ids: Iterable[int]) -> str:
    return ",".join(map(str, ids))


def documents_of_chunks(tables: Tables, ids: Iterable[int]) -> list[int]:
    """The documents that have these chunks."""
    documents = f"SELECT DISTINCT document_id FROM {identifier(tables.vectors)} "
    return tables.column(f"{documents} WHERE id IN ({_numbers(ids)})")


def section_goes_on(tables: Tables, document_id: int, heading: str, position: int) -> int | None:
    """Where text under the same heading continues at or after ``position``; None if it does not."""
    row = tables.execute(
        f"SELECT heading, start_position FROM {identifier(tables.vectors)} "
        "WHERE document_id = ? AND end_position > ? ORDER BY start_position LIMIT 1",
        (document_id, position),
    ).fetchone()
    section = without_head(heading)
    is_same = row is not None and section and without_head(str(row[0])) == section
    return max(int(row[1]), position) if row and is_same else None


def chunk_count(tables: Tables) -> int:
    """The number of chunks of a tool."""
    return int(tables.execute(f"SELECT count(*) FROM {identifier(tables.vectors)}").get)


@dataclass(frozen=True, slots=True)
class VectorStatistics:
    """The number of vectors, their size in bytes, and the lengths of chunks in characters."""

    count: int
    shortest: int
    mean: float
    longest: int
    embedding_bytes: int


def vector_statistics(tables: Tables) -> VectorStatistics:
    """Statistics of a tool's chunks and their vectors."""
    length = "end_position - start_position"
    cursor = tables.execute(
        "SELECT count(nullif(length(embedding), 0)) AS count, "
        f"coalesce(min({length}), 0) AS shortest, coalesce(avg({length}), 0.0) AS mean, "
        f"coalesce(max({length}), 0) AS longest, "
        "coalesce(sum(length(embedding)), 0) AS embedding_bytes "
        f"FROM {identifier(tables.vectors)}"
    )
    return next(records(cursor, VectorStatistics))
