"""Replaces, renames and drops a tool's tables, and keeps its index of vectors up to date."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import apsw

from mdvec.index.chroma_collections import begin_collection, collection_of, leave_collection
from mdvec.index.signature_cache import SignatureIndex, renew_signatures
from mdvec.index.tables import DERIVED, Tables, drop_indexes, has_signatures
from mdvec.text import identifier

if TYPE_CHECKING:
    from mdvec.embedding import Vectors


def replace_tables(connection: apsw.Connection, old: Tables, staged: Tables) -> None:
    """Replace a tool's tables with those of a finished rebuild; call within a transaction."""
    _drop(connection, old)
    final = Tables(staged.tool_id, staged.tool_name, staged.generation)
    connection.execute(
        f"ALTER TABLE {identifier(staged.documents)} RENAME TO {identifier(final.documents)}"
    )
    connection.execute(
        f"ALTER TABLE {identifier(staged.vectors)} RENAME TO {identifier(final.vectors)}"
    )


def rename_tables(connection: apsw.Connection, old: str, new: str) -> None:
    """Give a tool's tables its new name, those of unfinished rebuilds too."""
    names = [
        str(name)
        for (name,) in connection.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")
    ]
    for kind in ("vectors", "documents"):
        for name in names:
            rest = name.removeprefix(f"{kind}_{old}")
            if rest != name and rest[:1] in ("", "@"):
                renamed = identifier(f"{kind}_{new}{rest}")
                connection.execute(f"ALTER TABLE {identifier(name)} RENAME TO {renamed}")


def drop_all_tables(connection: apsw.Connection, tool_id: int, tool_name: str) -> None:
    """Drop every table of a tool, including those of unfinished rebuilds."""
    drop_leftovers(connection, tool_id, tool_name, current=-1)
    for name in (f"vectors_{tool_name}", f"documents_{tool_name}"):
        connection.execute(f"DROP TABLE IF EXISTS {identifier(name)}")


def drop_leftovers(connection: apsw.Connection, tool_id: int, tool_name: str, current: int) -> None:
    """Drop the tables of unfinished rebuilds, and all derived indexes but those of ``current``."""
    names = [
        str(name)
        for (name,) in connection.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")
    ]
    for kind in ("vectors", "documents"):
        for name in names:
            if name.startswith(f"{kind}_{tool_name}@"):
                connection.execute(f"DROP TABLE {identifier(name)}")
    generations = {
        int(parts[2])
        for parts in (name.split("_") for name in names)
        if len(parts) == 3 and parts[0] in DERIVED and parts[1] == str(tool_id)
    }
    for generation in generations - {current}:
        _drop_indexes(connection, Tables(tool_id, tool_name, generation))


def _drop(connection: apsw.Connection, tables: Tables) -> None:
    _drop_indexes(connection, tables)
    for table in (tables.vectors, tables.documents):
        connection.execute(f"DROP TABLE IF EXISTS {identifier(table)}")


def _drop_indexes(connection: apsw.Connection, tables: Tables) -> None:
    drop_indexes(connection, tables)
    leave_collection(connection, tables)


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
    documents = list(
        connection.execute(
            f"SELECT DISTINCT document_id FROM {vectors} WHERE length(embedding) > 0"
        )
    )
    for (document_id,) in documents:
        cursor = connection.execute(
            f"SELECT id, embedding FROM {vectors} WHERE document_id = ? ORDER BY id", (document_id,)
        )
        rows = [(int(chunk_id), bytes(embedding)) for chunk_id, embedding in cursor]
        joined = b"".join(embedding for _, embedding in rows)
        matrix = np.frombuffer(joined, np.float32).reshape(len(rows), -1)
        index.put([chunk_id for chunk_id, _ in rows], matrix)
