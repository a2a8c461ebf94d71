"""The documents of a tool: files with their state, each stored with its chunks or not at all."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import apsw

from mdvec.index.chunks import delete_chunks, insert_chunks
from mdvec.index.tables import Tables
from mdvec.text.chunking import Chunk

if TYPE_CHECKING:
    from mdvec.embedding.embedder import Vectors


@dataclass(frozen=True, slots=True)
class StoredFile:
    """What the database knows of a file: enough to tell whether it changed."""

    id: int
    file_path: str
    content_hash: str
    size: int
    mtime_ns: int

    @property
    def state(self) -> tuple[int, int]:
        """Size and time: a file that has the same is taken as unchanged without being opened."""
        return self.size, self.mtime_ns


@dataclass(frozen=True, slots=True)
class NewDocument:
    """A document to store: its file's state, its text and its chunks with their vectors."""

    file_path: str
    content_hash: str
    content: str
    title: str
    size: int
    mtime_ns: int
    chunks: Sequence[Chunk]
    vectors: Vectors


def stored_files(connection: apsw.Connection, tables: Tables) -> dict[str, StoredFile]:
    """What is stored, by path."""
    rows = connection.execute(
        f"SELECT id, file_path, content_hash, size, mtime_ns FROM {tables.documents}"
    )
    return {str(row[1]): StoredFile(*row) for row in rows}


def put_document(connection: apsw.Connection, tables: Tables, document: NewDocument) -> None:
    """Store a document whole, in place of the one of the same path; call within a transaction."""
    known = connection.execute(
        f"SELECT id FROM {tables.documents} WHERE tool_id = ? AND file_path = ?",
        (tables.tool_id, document.file_path),
    ).fetchone()
    state = (document.content_hash, document.size, document.mtime_ns, document.title)
    if known is None:
        connection.execute(
            f"INSERT INTO {tables.documents} (tool_id, file_path, content_hash, size, mtime_ns, "
            "title, content) VALUES (?, ?, ?, ?, ?, ?, ?)",
            (tables.tool_id, document.file_path, *state, document.content),
        )
        document_id = connection.last_insert_rowid()
    else:
        document_id = int(known[0])
        delete_chunks(connection, tables, document_id)
        connection.execute(
            f"UPDATE {tables.documents} SET content_hash = ?, size = ?, mtime_ns = ?, title = ?, "
            "content = ?, updated_at = CURRENT_TIMESTAMP WHERE id = ?",
            (*state, document.content, document_id),
        )
    insert_chunks(
        connection, tables, document_id, document.title, document.chunks, document.vectors
    )


def touch_document(
    connection: apsw.Connection, tables: Tables, file_path: str, size: int, mtime_ns: int
) -> None:
    """Note a file's new time where its content is what it was."""
    connection.execute(
        f"UPDATE {tables.documents} SET size = ?, mtime_ns = ? WHERE tool_id = ? AND file_path = ?",
        (size, mtime_ns, tables.tool_id, file_path),
    )


def delete_document(connection: apsw.Connection, tables: Tables, file_path: str) -> None:
    """Delete a document with its chunks; call within a transaction."""
    for (document_id,) in connection.execute(
        f"SELECT id FROM {tables.documents} WHERE tool_id = ? AND file_path = ?",
        (tables.tool_id, file_path),
    ).fetchall():
        delete_chunks(connection, tables, document_id)  # type: ignore[arg-type]
        connection.execute(f"DELETE FROM {tables.documents} WHERE id = ?", (document_id,))


@dataclass(frozen=True, slots=True)
class Counts:
    """How much a tool holds."""

    documents: int
    chunks: int


def count(connection: apsw.Connection, tables: Tables) -> Counts:
    """How many documents and chunks a tool has."""
    (document_count,) = connection.execute(
        f"SELECT count(*) FROM {tables.documents}"
    ).fetchone() or (0,)
    (chunk_count,) = connection.execute(f"SELECT count(*) FROM {tables.vectors}").fetchone() or (0,)
    return Counts(int(document_count), int(chunk_count))


@dataclass(frozen=True, slots=True)
class StoredText:
    """A document's text as it is stored."""

    file_path: str
    title: str
    content: str


def stored_text(connection: apsw.Connection, tables: Tables, file_path: str) -> StoredText | None:
    """The document of that path to the letter, else of one that only looks like it, or None.

    macOS keeps "が" in names as two characters, and whoever writes such a name sends one.
    """
    exact = _exact_text(connection, tables, file_path)
    if exact is not None:
        return exact
    composed = unicodedata.normalize("NFC", file_path)
    paths = connection.execute(f"SELECT file_path FROM {tables.documents} ORDER BY file_path")
    alike = next((p for (p,) in paths if unicodedata.normalize("NFC", str(p)) == composed), None)
    return None if alike is None else _exact_text(connection, tables, str(alike))


def _exact_text(connection: apsw.Connection, tables: Tables, file_path: str) -> StoredText | None:
    row = connection.execute(
        f"SELECT file_path, title, content FROM {tables.documents} "
        "WHERE tool_id = ? AND file_path = ?",
        (tables.tool_id, file_path),
    ).fetchone()
    return None if row is None else StoredText(*row)


@dataclass(frozen=True, slots=True)
class DocumentLine:
    """A document in a listing."""

    file_path: str
    title: str
    size: int
    chunks: int
    updated_at: str


def document_lines(connection: apsw.Connection, tables: Tables) -> Iterator[DocumentLine]:
    """Every document by path, with the number of its chunks."""
    rows = connection.execute(
        f"SELECT d.file_path, d.title, d.size, "
        f"(SELECT count(*) FROM {tables.vectors} AS v WHERE v.document_id = d.id), d.updated_at "
        f"FROM {tables.documents} AS d ORDER BY d.file_path"
    )
    for row in rows:
        yield DocumentLine(*row)
