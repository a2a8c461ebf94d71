"""Stores, reads and deletes a tool's documents."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from mdvec.database import has_table, records
from mdvec.index.chunks import chunk_count, delete_chunks, insert_chunks
from mdvec.index.properties import (
    delete_properties_and_links,
    insert_properties_and_links,
    other_names,
)
from mdvec.index.tables import Tables
from mdvec.text import (
    PAGE_BREAK,
    Chunk,
    Properties,
    composed,
    identifier,
    page_label,
    page_unit,
    searched_names,
    utc_time,
)

if TYPE_CHECKING:
    from mdvec.embedding import Vectors


@dataclass(frozen=True, slots=True)
class StoredFile:
    """The state of a file when it was stored, to detect changes."""

    id: int
    file_path: str
    content_hash: str
    size: int
    mtime_ns: int

    @property
    def state(self) -> tuple[int, int]:
        """Size and modification time; a file with the same state counts as unchanged."""
        return self.size, self.mtime_ns


@dataclass(frozen=True, slots=True)
class NewDocument:
    """A document to store: file state, text, properties, and chunks with their vectors.

    A document without a title is a file of records: the words of its name are not searched. If
    ``vectors`` is None, they are stored later.
    """

    file_path: str
    content_hash: str
    content: str
    title: str
    size: int
    mtime_ns: int
    chunks: Sequence[Chunk]
    vectors: Vectors | None
    properties: Properties = field(default_factory=Properties)


def stored_files(tables: Tables) -> dict[str, StoredFile]:
    """The stored files, by path."""
    cursor = tables.execute(
        f"SELECT id, file_path, content_hash, size, mtime_ns FROM {identifier(tables.documents)}"
    )
    return {file.file_path: file for file in records(cursor, StoredFile)}


def put_document(tables: Tables, document: NewDocument) -> None:
    """Store a document, replacing one with the same path; call within a transaction."""
    documents = identifier(tables.documents)
    known = tables.execute(
        f"SELECT id FROM {documents} WHERE tool_id = ? AND file_path = ?",
        (tables.tool_id, document.file_path),
    ).fetchone()
    state = (document.content_hash, document.size, document.mtime_ns, document.title)
    if known is None:
        tables.execute(
            f"INSERT INTO {documents} (tool_id, file_path, content_hash, size, mtime_ns, "
            "title, content) VALUES (?, ?, ?, ?, ?, ?, ?)",
            (tables.tool_id, document.file_path, *state, document.content),
        )
        document_id = tables.connection.last_insert_rowid()
    else:
        document_id = int(known[0])
        _delete_derived(tables, document_id)
        tables.execute(
            f"UPDATE {documents} SET content_hash = ?, size = ?, mtime_ns = ?, title = ?, "
            "content = ?, updated_at = CURRENT_TIMESTAMP WHERE id = ?",
            (*state, document.content, document_id),
        )
    names = searched_names(document.title, document.file_path, other_names(document.properties))
    insert_chunks(
        tables, document_id, document.file_path, document.title, names, document.chunks,
        document.vectors,
    )  # fmt: skip
    insert_properties_and_links(
        tables, document_id, document.file_path, document.content, document.properties
    )


def touch_document(tables: Tables, file_path: str, size: int, mtime_ns: int) -> None:
    """Update the stored state of a file whose content is unchanged."""
    tables.execute(
        f"UPDATE {identifier(tables.documents)} SET size = ?, mtime_ns = ? "
        "WHERE tool_id = ? AND file_path = ?",
        (size, mtime_ns, tables.tool_id, file_path),
    )


def delete_document(tables: Tables, file_path: str) -> None:
    """Delete a document with its chunks; call within a transaction."""
    at_path = f"FROM {identifier(tables.documents)} WHERE tool_id = ? AND file_path = ?"
    key = (tables.tool_id, file_path)
    for document_id in tables.column(f"SELECT id {at_path}", key):
        _delete_derived(tables, document_id)
    tables.execute(f"DELETE {at_path}", key)


def _delete_derived(tables: Tables, document_id: int) -> None:
    delete_chunks(tables, document_id)
    delete_properties_and_links(tables, document_id)


@dataclass(frozen=True, slots=True)
class DocumentCounts:
    """The size of a tool's index."""

    documents: int
    chunks: int


def staged_documents(tables: Tables) -> int | None:
    """How many documents an unfinished rebuild has so far; None without one."""
    staged = replace(tables, generation=tables.generation + 1, staged=True).documents
    if not has_table(tables.connection, staged):
        return None
    return int(tables.execute(f"SELECT count(*) FROM {identifier(staged)}").get)


def document_counts(tables: Tables) -> DocumentCounts:
    """The number of documents and chunks of a tool."""
    count = tables.execute(f"SELECT count(*) FROM {identifier(tables.documents)}").get
    return DocumentCounts(int(count), chunk_count(tables))


@dataclass(frozen=True, slots=True)
class StoredText:
    """A stored document; ``title`` is the name of its file if the document has no title."""

    id: int
    file_path: str
    title: str
    content: str


def paths(tables: Tables, ids: Sequence[int]) -> list[tuple[int, str]]:
    """The id and path of each of these documents."""
    rows = tables.execute(
        f"SELECT id, file_path FROM {identifier(tables.documents)} "
        f"WHERE id IN ({','.join(map(str, ids))})"
    )
    return [(int(str(number)), str(path)) for number, path in rows]


def path_meant(tables: Tables, ids: Sequence[int], folder: str | None = None) -> str | None:
    """The path of the document among ``ids`` that a link in ``folder`` means; None without ``ids``.

    It is a document in the same folder if there is one, else the least nested.
    """
    return min(
        (path for _, path in paths(tables, ids)),
        key=lambda path: (path.rpartition("/")[0] != folder, path.count("/"), path),
        default=None,
    )


def stored_text(tables: Tables, file_path: str) -> StoredText | None:
    """The document at a path, else one whose path is equal in composed Unicode form, else None."""
    exact = _exact_text(tables, file_path)
    if exact is not None:
        return exact
    wanted = composed(file_path)
    paths = f"SELECT file_path FROM {identifier(tables.documents)} ORDER BY file_path"
    for path in tables.column(paths):
        if composed(path) == wanted:
            return _exact_text(tables, path)
    return None


def pages_of(tables: Tables, file_path: str, start: int, end: int) -> tuple[str, int]:
    """The label of the pages of a passage, and the number of the first; "" and 0 without pages."""
    if not page_unit(file_path):
        return "", 0
    row = tables.execute(
        "SELECT substr(content, 1, ?1), substr(content, ?1 + 1, ?2) "
        f"FROM {identifier(tables.documents)} WHERE tool_id = ?3 AND file_path = ?4",
        (start, end - start, tables.tool_id, file_path),
    ).fetchone()
    if row is None:
        return "", 0
    first = str(row[0]).count(PAGE_BREAK) + 1
    return page_label(file_path, first, first + str(row[1]).strip().count(PAGE_BREAK)), first


def _exact_text(tables: Tables, file_path: str) -> StoredText | None:
    cursor = tables.execute(
        f"SELECT id, file_path, title, content FROM {identifier(tables.documents)} "
        "WHERE tool_id = ? AND file_path = ?",
        (tables.tool_id, file_path),
    )
    stored = next(records(cursor, StoredText), None)
    return (
        None
        if stored is None
        else replace(stored, title=_shown_document(stored.title, stored.file_path))
    )


def _shown_document(title: str, file_path: str) -> str:
    return title or file_path.rpartition("/")[2].rpartition(".")[0]


@dataclass(frozen=True, slots=True)
class DocumentLine:
    """A document in a listing."""

    file_path: str
    title: str
    size: int
    chunks: int
    updated_at: str


def document_lines(tables: Tables) -> Iterator[DocumentLine]:
    """Every document, by path."""
    cursor = tables.execute(
        "SELECT d.file_path AS file_path, d.title AS title, d.size AS size, "
        f"(SELECT count(*) FROM {identifier(tables.vectors)} AS v WHERE v.document_id = d.id) "
        "AS chunks, d.updated_at AS updated_at "
        f"FROM {identifier(tables.documents)} AS d ORDER BY d.file_path"
    )
    for line in records(cursor, DocumentLine):
        title, at = _shown_document(line.title, line.file_path), utc_time(line.updated_at)
        yield replace(line, title=title, updated_at=at or "")
