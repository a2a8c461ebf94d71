"""The chunks of a tool: texts with exact positions, their embeddings, and the k-NN over them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import apsw

from mdvec.core.text.chunking import Chunk
from mdvec.interfaces.database.tables import Tables

if TYPE_CHECKING:
    from mdvec.interfaces.embedding.embedder import Vectors


def insert_chunks(
    connection: apsw.Connection,
    tables: Tables,
    document_id: int,
    chunks: Sequence[Chunk],
    vectors: Vectors,
) -> None:
    """Store a document's chunks with one vector each, in the table and in the index."""
    for chunk, vector in zip(chunks, vectors, strict=True):
        blob = vector.tobytes()
        connection.execute(
            f"INSERT INTO {tables.vectors} (tool_id, document_id, chunk_index, start_position, "
            "end_position, start_line, end_line, heading, chunk_text, embedding) "
            "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (
                tables.tool_id, document_id, chunk.index, chunk.start, chunk.end,
                chunk.start_line, chunk.end_line, chunk.heading, chunk.text, blob,
            ),
        )  # fmt: skip
        connection.execute(
            f"INSERT INTO {tables.knn} (rowid, embedding) VALUES (?, ?)",
            (connection.last_insert_rowid(), blob),
        )


def delete_chunks(connection: apsw.Connection, tables: Tables, document_id: int) -> None:
    """Delete a document's chunks from the table and from the index."""
    ids = connection.execute(
        f"SELECT id FROM {tables.vectors} WHERE document_id = ?", (document_id,)
    ).fetchall()
    connection.executemany(f"DELETE FROM {tables.knn} WHERE rowid = ?", ids)
    connection.execute(f"DELETE FROM {tables.vectors} WHERE document_id = ?", (document_id,))


def known_embeddings(
    connection: apsw.Connection, tables: Tables, file_path: str, content_hash: str
) -> dict[str, bytes]:
    """Embeddings by chunk text, of the document at that path and of one with that content.

    The second finds a file that was moved or copied; one is enough, however many copies there are.
    """
    rows = connection.execute(
        f"SELECT v.chunk_text, v.embedding FROM {tables.vectors} AS v "
        f"JOIN {tables.documents} AS d ON d.id = v.document_id "
        "WHERE (d.tool_id = ? AND d.file_path = ?) "
        f"OR d.id = (SELECT id FROM {tables.documents} WHERE content_hash = ? LIMIT 1)",
        (tables.tool_id, file_path, content_hash),
    )
    return {str(text): bytes(blob) for text, blob in rows}


@dataclass(frozen=True, slots=True)
class Neighbour:
    """A chunk near a query: its distance is 1 - cosine, from 0 to 2."""

    distance: float
    file_path: str
    title: str
    heading: str
    content: str
    chunk_index: int
    start_position: int
    end_position: int
    start_line: int
    end_line: int


def nearest(connection: apsw.Connection, tables: Tables, query: Vectors, k: int) -> list[Neighbour]:
    """The ``k`` chunks nearest to a query vector, nearest first."""
    rows = connection.execute(
        "SELECT n.distance, d.file_path, d.title, v.heading, v.chunk_text, v.chunk_index, "
        "v.start_position, v.end_position, v.start_line, v.end_line "
        f"FROM (SELECT rowid, distance FROM {tables.knn} WHERE embedding MATCH ? AND k = ?) AS n "
        f"JOIN {tables.vectors} AS v ON v.id = n.rowid "
        f"JOIN {tables.documents} AS d ON d.id = v.document_id "
        "ORDER BY n.distance, v.id",
        (query.tobytes(), k),
    )
    return [Neighbour(*row) for row in rows]


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
