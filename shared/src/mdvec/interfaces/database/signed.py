"""The chunks' signatures: a row a document, read whole at every search."""

from __future__ import annotations

from typing import TYPE_CHECKING

import apsw

from mdvec.interfaces.database.tables import Tables

if TYPE_CHECKING:
    from mdvec.interfaces.embedding.embedder import Vectors


def insert_signatures(
    connection: apsw.Connection,
    tables: Tables,
    document_id: int,
    first_chunk: int,
    vectors: Vectors,
) -> None:
    """Sign a document's vectors; its chunks are numbered from ``first_chunk`` without a gap."""
    from mdvec.core.search.signatures import signatures

    if len(vectors):
        connection.execute(
            f"INSERT INTO {tables.signatures} (first_chunk, document_id, signatures) "
            "VALUES (?, ?, ?)",
            (first_chunk, document_id, signatures(vectors).tobytes()),
        )


def delete_signatures(connection: apsw.Connection, tables: Tables, document_id: int) -> None:
    """Take a document's chunks out."""
    connection.execute(f"DELETE FROM {tables.signatures} WHERE document_id = ?", (document_id,))


def likely_nearest(
    connection: apsw.Connection, tables: Tables, query: Vectors, wide: int, narrow: int
) -> list[int]:
    """At most ``narrow`` chunks that are likely nearest to a query vector, in no order."""
    import numpy as np

    from mdvec.core.search.signatures import nearest_signatures, signature_bytes

    rows = connection.execute(
        f"SELECT first_chunk, signatures FROM {tables.signatures} ORDER BY first_chunk"
    ).fetchall()
    if not rows:
        return []
    width = signature_bytes(len(query))
    firsts = np.array([row[0] for row in rows])
    counts = np.array([len(row[1]) // width for row in rows])  # type: ignore[arg-type]
    words = np.frombuffer(b"".join(row[1] for row in rows), dtype=np.uint64)  # type: ignore[misc]
    places = nearest_signatures(query, words.reshape(-1, width // 8), wide, narrow)
    ends = np.cumsum(counts)
    owners = np.searchsorted(ends, places, side="right")
    chunk_ids = firsts[owners] + places - (ends[owners] - counts[owners])
    return [int(chunk_id) for chunk_id in chunk_ids]
