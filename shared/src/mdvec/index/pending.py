"""Chunks that are stored before their vectors come: words find them at once.

Such a chunk has an empty embedding, and so have all chunks of its document. An index over these,
which is there only while there are some, counts them quickly.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from mdvec.database import records
from mdvec.index.table_changes import put_vectors
from mdvec.text import Chunk, identifier

if TYPE_CHECKING:
    import apsw

    from mdvec.embedding import Vectors
    from mdvec.index.tables import Tables

_IS_PENDING = "length(embedding) = 0"


@dataclass(frozen=True, slots=True)
class PendingDocument:
    """A document whose chunks have no vectors yet; ``ids`` are those of the chunks."""

    file_path: str
    title: str
    ids: Sequence[int]
    chunks: Sequence[Chunk]


def expect_vectors(connection: apsw.Connection, tables: Tables) -> None:
    """Prepare for chunks without vectors; call within a transaction."""
    connection.execute(
        f"CREATE INDEX IF NOT EXISTS {identifier(tables.index('pending'))} "
        f"ON {identifier(tables.vectors)} (document_id) WHERE {_IS_PENDING}"
    )


def pending_count(connection: apsw.Connection, tables: Tables) -> int:
    """The number of chunks that have no vector yet."""
    if not _is_expected(connection, tables):
        return 0
    (count,) = connection.execute(
        f"SELECT count(*) FROM {identifier(tables.vectors)} WHERE {_IS_PENDING}"
    ).fetchone() or (0,)
    return int(count)


def pending_documents(connection: apsw.Connection, tables: Tables) -> list[int]:
    """The ids of the documents whose chunks have no vectors yet, ascending."""
    if not _is_expected(connection, tables):
        return []
    rows = connection.execute(
        f"SELECT DISTINCT document_id FROM {identifier(tables.vectors)} WHERE {_IS_PENDING} "
        "ORDER BY document_id"
    )
    return [int(document_id) for (document_id,) in rows]


def pending_document(
    connection: apsw.Connection, tables: Tables, document_id: int
) -> PendingDocument:
    """A document as it was stored, to embed its chunks."""
    path, title = connection.execute(
        f"SELECT file_path, title FROM {identifier(tables.documents)} WHERE id = ?", (document_id,)
    ).fetchone() or ("", "")
    of_document = f"FROM {identifier(tables.vectors)} WHERE document_id = ? ORDER BY id"
    ids = connection.execute(f"SELECT id {of_document}", (document_id,))
    stored = connection.execute(
        'SELECT chunk_index AS "index", start_position AS start, end_position AS "end", '
        f"start_line, end_line, heading, chunk_text AS text {of_document}",
        (document_id,),
    )
    return PendingDocument(
        str(path),
        str(title),
        [int(chunk_id) for (chunk_id,) in ids],
        list(records(stored, Chunk)),
    )


def fill_vectors(
    connection: apsw.Connection, tables: Tables, ids: Sequence[int], vectors: Vectors
) -> None:
    """Store and index the vectors of a document's chunks; call within a transaction."""
    connection.executemany(
        f"UPDATE {identifier(tables.vectors)} SET embedding = ? WHERE id = ?",
        [(vector.tobytes(), chunk_id) for chunk_id, vector in zip(ids, vectors, strict=True)],
    )
    put_vectors(connection, tables, ids, vectors)


def end_pending(connection: apsw.Connection, tables: Tables) -> None:
    """Drop the index over chunks without vectors if there are none; within a transaction."""
    if not pending_count(connection, tables):
        connection.execute(f"DROP INDEX IF EXISTS {identifier(tables.index('pending'))}")


def _is_expected(connection: apsw.Connection, tables: Tables) -> bool:
    return (
        connection.execute(
            "SELECT 1 FROM sqlite_schema WHERE type = 'index' AND name = ?",
            (tables.index("pending"),),
        ).fetchone()
        is not None
    )
