"""Replaces, renames and drops a tool's tables, and keeps its vector index up to date.

Chunks may be stored before their vectors, so that searches by words find them at once. All chunks
of such a document have an empty embedding. A partial index, which exists only while there are such
chunks, makes counting them fast.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import apsw

from mdvec import index
from mdvec.database import column, has_table, records
from mdvec.index.chroma_collections import begin_collection, collection_of, leave_collection
from mdvec.index.nearest import stored_vectors
from mdvec.index.tables import DERIVED, Tables, create_signatures, drop_derived, has_signatures
from mdvec.text import Chunk, identifier

if TYPE_CHECKING:
    from mdvec.embedding import Vectors

_TEXTS = ("vectors", "documents")
_NAMED = (*_TEXTS, "options")
"""The prefixes of the tables that have their tool's name."""
_IS_PENDING = "length(embedding) = 0"


def replace_tables(old: Tables, staged: Tables) -> None:
    """Replace a tool's tables with those of a finished rebuild; call within a transaction."""
    _drop_indexes(old)
    for name in (old.vectors, old.documents):
        old.execute(f"DROP TABLE IF EXISTS {identifier(name)}")
    for filled, name in ((staged.documents, old.documents), (staged.vectors, old.vectors)):
        old.execute(f"ALTER TABLE {identifier(filled)} RENAME TO {identifier(name)}")
    old.execute(f"DROP TABLE IF EXISTS {identifier(staged.options)}")


def keep_options(staged: Tables, options: Sequence[str]) -> None:
    """Store the options that a rebuild begins with; call within a transaction."""
    staged.execute(f"CREATE TABLE {identifier(staged.options)} (option TEXT NOT NULL)")
    staged.connection.executemany(
        f"INSERT INTO {identifier(staged.options)} VALUES (?)", [(each,) for each in options]
    )


def kept_options(tables: Tables) -> list[str] | None:
    """The options that a tool's unfinished rebuild was begun with; None without a rebuild."""
    staged = replace(tables, generation=tables.generation + 1, staged=True)
    if has_table(tables.connection, staged.options):
        return tables.column(f"SELECT option FROM {identifier(staged.options)} ORDER BY rowid")
    # An earlier version began a rebuild without storing its options.
    return [] if has_table(tables.connection, staged.documents) else None


def rename_tables(connection: apsw.Connection, old: str, new: str) -> None:
    """Rename a tool's tables, including those of unfinished rebuilds."""
    names = _table_names(connection)
    for kind in _NAMED:
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


def drop_leftovers(
    connection: apsw.Connection,
    tool_id: int,
    tool_name: str,
    current: int,
    *,
    keeps_options: bool = False,
) -> None:
    """Drop the tables of unfinished rebuilds, and all derived indexes but those of ``current``.

    With ``keeps_options``, the status still names the options that a rebuild was begun with.
    """
    names = _table_names(connection)
    for kind in _TEXTS if keeps_options else _NAMED:
        for name in names:
            if name.startswith(f"{kind}_{tool_name}@"):
                connection.execute(f"DROP TABLE IF EXISTS {identifier(name)}")
    generations = {
        int(parts[2])
        for parts in (name.split("_") for name in names)
        if len(parts) == 3 and parts[0] in DERIVED and parts[1] == str(tool_id)
    }
    for generation in generations - {current}:
        _drop_indexes(Tables(connection, tool_id, tool_name, generation))


def _table_names(connection: apsw.Connection) -> list[str]:
    return column(connection, "SELECT name FROM sqlite_schema WHERE type = 'table'")


def _drop_indexes(tables: Tables) -> None:
    drop_derived(tables)
    leave_collection(tables)


def has_vector_index(tables: Tables) -> bool:
    """Whether a generation has signatures, or a collection on a server."""
    return has_signatures(tables) or collection_of(tables) is not None


def create_vector_index(tables: Tables, *, outside: bool) -> None:
    """Create a generation's table of signatures, or choose a collection if a server indexes it."""
    if outside:
        begin_collection(tables)
    else:
        create_signatures(tables)


def put_vectors(tables: Tables, document_id: int, first_chunk: int, vectors: Vectors) -> None:
    """Index the chunks of a document; call within the transaction that stores them.

    Their ids are consecutive. A collection gets them when the import ends.
    """
    if has_signatures(tables):
        index.insert_signatures(tables, document_id, first_chunk, vectors)


def drop_vectors(tables: Tables, ids: Sequence[int]) -> None:
    """Remove all chunks of a document; call within the transaction that deletes them."""
    if has_signatures(tables):
        tables.execute(
            f"DELETE FROM {tables.signatures} WHERE first_chunk IN ({','.join(map(str, ids))})"
        )


def renew_vector_index(tables: Tables) -> None:
    """Finish the vector index at the end of an import; call within a transaction."""
    if has_signatures(tables):
        index.renew_signatures(tables)


def rebuild_vector_index(tables: Tables, *, outside: bool) -> None:
    """Rebuild the vector index of a generation from the stored embeddings.

    Call within a transaction. With ``outside``, the tables are only prepared: the embeddings are
    sent to the vector server afterwards, into a new collection.
    """
    drop_derived(tables, ["signatures"])
    leave_collection(tables)
    create_vector_index(tables, outside=outside)
    if outside:
        return
    # A document's chunks have consecutive ids, and either all of them have vectors or none.
    rows = tables.execute(
        f"SELECT document_id, min(id) FROM {identifier(tables.vectors)} "
        "WHERE length(embedding) > 0 GROUP BY document_id"
    ).fetchall()
    for document_id, first in rows:
        vectors = stored_vectors(tables, f"document_id = {document_id}")
        put_vectors(tables, int(str(document_id)), int(str(first)), vectors)


@dataclass(frozen=True, slots=True)
class PendingDocument:
    """A document whose chunks have no vectors yet; ``ids`` are those of the chunks."""

    id: int
    file_path: str
    title: str
    ids: Sequence[int]
    chunks: Sequence[Chunk]


def expect_vectors(tables: Tables) -> None:
    """Prepare for chunks without vectors; call within a transaction."""
    tables.execute(
        f"CREATE INDEX IF NOT EXISTS {tables.index('pending')} "
        f"ON {identifier(tables.vectors)} (document_id) WHERE {_IS_PENDING}"
    )


def pending_count(tables: Tables) -> int:
    """The number of chunks that have no vector yet."""
    if not has_table(tables.connection, tables.index("pending")):
        return 0
    waiting = f"SELECT count(*) FROM {identifier(tables.vectors)} WHERE {_IS_PENDING}"
    return int(tables.execute(waiting).get)


def pending_documents(tables: Tables) -> list[int]:
    """The ids of the documents whose chunks have no vectors yet, ascending."""
    if not has_table(tables.connection, tables.index("pending")):
        return []
    return tables.column(
        f"SELECT DISTINCT document_id FROM {identifier(tables.vectors)} WHERE {_IS_PENDING} "
        "ORDER BY document_id"
    )


def pending_document(tables: Tables, document_id: int) -> PendingDocument:
    """A stored document, whose chunks are to be embedded."""
    path, title = tables.execute(
        f"SELECT file_path, title FROM {identifier(tables.documents)} WHERE id = ?", (document_id,)
    ).fetchone() or ("", "")
    of_document = f"FROM {identifier(tables.vectors)} WHERE document_id = ? ORDER BY id"
    ids = tables.column(f"SELECT id {of_document}", (document_id,))
    stored = tables.execute(
        'SELECT chunk_index AS "index", start_position AS start, end_position AS "end", '
        f"start_line, end_line, heading, chunk_text AS text {of_document}",
        (document_id,),
    )
    return PendingDocument(document_id, str(path), str(title), ids, list(records(stored, Chunk)))


def fill_vectors(tables: Tables, document: PendingDocument, vectors: Vectors) -> None:
    """Store and index the vectors of a document's chunks; call within a transaction."""
    blobs = [vector.tobytes() for vector in vectors]
    tables.connection.executemany(
        f"UPDATE {identifier(tables.vectors)} SET embedding = ? WHERE id = ?",
        list(zip(blobs, document.ids, strict=True)),
    )
    put_vectors(tables, document.id, document.ids[0], vectors)


def end_pending(tables: Tables) -> None:
    """Drop the index over chunks without vectors if there are none; within a transaction."""
    if not pending_count(tables):
        tables.execute(f"DROP INDEX IF EXISTS {tables.index('pending')}")
