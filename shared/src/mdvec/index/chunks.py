"""The chunks of a tool: texts with exact positions, their embeddings, and the exact k-NN."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import apsw

from mdvec.index.signature_cache import delete_signatures, insert_signatures
from mdvec.index.tables import Tables, create_indexes, drop_indexes
from mdvec.index.words import delete_terms, insert_terms
from mdvec.text.chunking import Chunk
from mdvec.text.context import in_context

if TYPE_CHECKING:
    from mdvec.embedding.embedder import Vectors


def insert_chunks(
    connection: apsw.Connection,
    tables: Tables,
    document_id: int,
    title: str,
    chunks: Sequence[Chunk],
    vectors: Vectors,
) -> None:
    """Store a document's chunks with one vector each, in the table and in the indexes.

    Within one write transaction the chunks get consecutive numbers.
    """
    for chunk, vector in zip(chunks, vectors, strict=True):
        connection.execute(
            f"INSERT INTO {tables.vectors} (tool_id, document_id, chunk_index, start_position, "
            "end_position, start_line, end_line, heading, chunk_text, embedding) "
            "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (
                tables.tool_id, document_id, chunk.index, chunk.start, chunk.end,
                chunk.start_line, chunk.end_line, chunk.heading, chunk.text, vector.tobytes(),
            ),
        )  # fmt: skip
        chunk_id = connection.last_insert_rowid()
        insert_terms(connection, tables, chunk_id, title, chunk.heading, chunk.text)
    if chunks:
        first = chunk_id - len(chunks) + 1
        insert_signatures(connection, tables, document_id, first, vectors)


def delete_chunks(connection: apsw.Connection, tables: Tables, document_id: int) -> None:
    """Delete a document's chunks from the table and from the indexes."""
    ids = connection.execute(
        f"SELECT id FROM {tables.vectors} WHERE document_id = ?", (document_id,)
    ).fetchall()
    delete_terms(connection, tables, [int(row[0]) for row in ids])  # type: ignore[arg-type]
    delete_signatures(connection, tables, document_id)
    connection.execute(f"DELETE FROM {tables.vectors} WHERE document_id = ?", (document_id,))


def index_again(connection: apsw.Connection, tables: Tables) -> None:
    """Make the indexes anew from the chunks that are stored."""
    import numpy as np

    drop_indexes(connection, tables)
    create_indexes(connection, tables)
    documents = connection.execute(f"SELECT id, title FROM {tables.documents}").fetchall()
    for document_id, title in documents:
        rows = connection.execute(
            f"SELECT id, heading, chunk_text, embedding FROM {tables.vectors} "
            "WHERE document_id = ? ORDER BY id",
            (document_id,),
        ).fetchall()
        for chunk_id, heading, text, _ in rows:
            insert_terms(connection, tables, int(chunk_id), str(title), str(heading), str(text))  # type: ignore[arg-type]
        if rows:
            blobs = b"".join(row[3] for row in rows)  # type: ignore[misc]
            vectors = np.frombuffer(blobs, dtype=np.float32).reshape(len(rows), -1)
            insert_signatures(connection, tables, int(document_id), int(rows[0][0]), vectors)  # type: ignore[arg-type]


def known_embeddings(
    connection: apsw.Connection, tables: Tables, file_path: str, content_hash: str, *, context: bool
) -> dict[str, bytes]:
    """Embeddings by embedded text, of the document at that path and of one with that content.

    The second finds a file that was moved or copied; one is enough, however many copies there are.
    """
    rows = connection.execute(
        f"SELECT d.title, v.heading, v.chunk_text, v.embedding FROM {tables.vectors} AS v "
        f"JOIN {tables.documents} AS d ON d.id = v.document_id "
        f"WHERE d.id = (SELECT id FROM {tables.documents} WHERE tool_id = ? AND file_path = ?) "
        f"OR d.id = (SELECT id FROM {tables.documents} WHERE content_hash = ? LIMIT 1)",
        (tables.tool_id, file_path, content_hash),
    )
    return {
        in_context(str(title), str(heading), str(text)) if context else str(text): bytes(blob)
        for title, heading, text, blob in rows
    }


@dataclass(frozen=True, slots=True)
class StoredChunk:
    """A chunk as it is stored, and its cosine with the query's vector, None without one."""

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


def nearest(
    connection: apsw.Connection, tables: Tables, query: Vectors, limit: int, within: Iterable[int]
) -> list[int]:
    """The ``limit`` chunks nearest to a query vector of those in ``within``, exactly, by number."""
    numbers = ",".join(map(str, within))
    rows = connection.execute(
        f"SELECT id FROM {tables.vectors} WHERE id IN ({numbers}) "
        "ORDER BY vec_distance_cosine(embedding, ?), id LIMIT ?",
        (query.tobytes(), limit),
    )
    return [int(row[0]) for row in rows]


def nearest_of_all(
    connection: apsw.Connection, tables: Tables, query: Vectors, limit: int
) -> list[int]:
    """The ``limit`` chunks nearest to a query vector, by comparing it with every one."""
    rows = connection.execute(
        f"SELECT id FROM {tables.vectors} ORDER BY vec_distance_cosine(embedding, ?), id LIMIT ?",
        (query.tobytes(), limit),
    )
    return [int(row[0]) for row in rows]


def stored_chunks(
    connection: apsw.Connection, tables: Tables, ids: Iterable[int], query: Vectors | None
) -> list[StoredChunk]:
    """The chunks of these numbers, with their cosines where there is a query vector."""
    cosine = "NULL" if query is None else "1.0 - vec_distance_cosine(v.embedding, ?)"
    rows = connection.execute(
        "SELECT v.id, d.id, d.file_path, d.title, v.heading, v.chunk_text, v.chunk_index, "
        f"v.start_position, v.end_position, v.start_line, v.end_line, {cosine} "
        f"FROM {tables.vectors} AS v JOIN {tables.documents} AS d ON d.id = v.document_id "
        f"WHERE v.id IN ({','.join(map(str, ids))}) ORDER BY v.id",
        () if query is None else (query.tobytes(),),
    )
    return [StoredChunk(*row) for row in rows]


def chunk_count(connection: apsw.Connection, tables: Tables) -> int:
    """How many chunks a tool has."""
    (count,) = connection.execute(f"SELECT count(*) FROM {tables.vectors}").fetchone() or (0,)
    return int(count)


@dataclass(frozen=True, slots=True)
class VectorStatistics:
    """A tool's chunks in characters, and the space of their embeddings in bytes."""

    count: int
    shortest: int
    mean: float
    longest: int
    embedding_bytes: int


def vector_statistics(connection: apsw.Connection, tables: Tables) -> VectorStatistics:
    """The number and the lengths of a tool's chunks."""
    row = connection.execute(
        "SELECT count(*), coalesce(min(end_position - start_position), 0), "
        "coalesce(avg(end_position - start_position), 0.0), "
        "coalesce(max(end_position - start_position), 0), "
        f"coalesce(sum(length(embedding)), 0) FROM {tables.vectors}"
    ).fetchone()
    return VectorStatistics(*row or ())
