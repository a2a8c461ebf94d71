"""Keeps the vector index of a generation in step with its chunks: signatures, or a collection."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import apsw

from mdvec.index.chroma_collections import begin_collection, collection_of, leave_collection
from mdvec.index.signature_build import renew_signatures
from mdvec.index.signature_index import SignatureIndex
from mdvec.index.tables import Tables, has_signatures
from mdvec.text.quoting import identifier

if TYPE_CHECKING:
    from mdvec.embedding.embedder import Vectors


def has_vector_index(connection: apsw.Connection, tables: Tables) -> bool:
    """Whether a generation has signatures, or a collection on a server."""
    return has_signatures(connection, tables) or collection_of(connection, tables) is not None


def create_vector_index(connection: apsw.Connection, tables: Tables, *, outside: bool) -> None:
    """Create the signatures of a generation, or choose a collection if a server indexes it."""
    if outside:
        begin_collection(connection, tables)
    else:
        SignatureIndex(connection, tables).prepare()


def put_vectors(
    connection: apsw.Connection, tables: Tables, ids: Sequence[int], vectors: Vectors
) -> None:
    """Index the chunks of a document; call within the transaction that stores them.

    A collection gets them after that, when the import ends.
    """
    if has_signatures(connection, tables):
        SignatureIndex(connection, tables).put(ids, vectors)


def drop_vectors(connection: apsw.Connection, tables: Tables, ids: Sequence[int]) -> None:
    """Take the chunks of a document out; call within the transaction that deletes them."""
    if has_signatures(connection, tables):
        SignatureIndex(connection, tables).drop(ids)


def renew_vector_index(connection: apsw.Connection, tables: Tables) -> None:
    """Finish the vector index at the end of an import; call within a transaction."""
    if has_signatures(connection, tables):
        renew_signatures(connection, tables)


def rebuild_vector_index(connection: apsw.Connection, tables: Tables, *, outside: bool) -> None:
    """Build the vector index of a generation again from the stored embeddings.

    Call within a transaction. A server gets them after that, in a new collection.
    """
    SignatureIndex(connection, tables).retire()
    leave_collection(connection, tables)
    create_vector_index(connection, tables, outside=outside)
    if outside:
        return
    import numpy as np

    index = SignatureIndex(connection, tables)
    vectors = identifier(tables.vectors)
    documents = list(connection.execute(f"SELECT DISTINCT document_id FROM {vectors}"))
    for (document_id,) in documents:
        cursor = connection.execute(
            f"SELECT id, embedding FROM {vectors} WHERE document_id = ? ORDER BY id", (document_id,)
        )
        rows = [(int(chunk_id), bytes(embedding)) for chunk_id, embedding in cursor]
        joined = b"".join(embedding for _, embedding in rows)
        found = np.frombuffer(joined, np.float32).reshape(len(rows), -1)
        index.put([chunk_id for chunk_id, _ in rows], found)
