"""Stores the links between a tool's documents by key, and resolves them when they are read.

A key may name a document that comes later, or several; so no link points at a row.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import apsw

from mdvec.database import records
from mdvec.index.tables import Tables, has_links
from mdvec.text import document_keys, document_links, identifier, is_markdown, link_key


def insert_links(
    connection: apsw.Connection,
    tables: Tables,
    document_id: int,
    file_path: str,
    content: str,
    aliases: Sequence[str],
) -> None:
    """Store a document's links, and the keys that links find it by."""
    if not is_markdown(file_path):
        return
    connection.executemany(
        f"INSERT OR IGNORE INTO {identifier(tables.links)} (document_id, key, fragment) "
        "VALUES (?, ?, ?)",
        ((document_id, link.key, link.fragment) for link in document_links(content, file_path)),
    )
    connection.executemany(
        f"INSERT OR IGNORE INTO {identifier(tables.keys)} (key, document_id) VALUES (?, ?)",
        ((key, document_id) for key in document_keys(file_path, aliases)),
    )


def delete_links(connection: apsw.Connection, tables: Tables, document_id: int) -> None:
    """Delete a document's links and keys; links to it stay, as they stand in other documents."""
    for table in (tables.links, tables.keys):
        connection.execute(f"DELETE FROM {identifier(table)} WHERE document_id = ?", (document_id,))


def documents_named(connection: apsw.Connection, tables: Tables, name: str) -> list[int]:
    """The documents that a link with this name may mean: by path, else by name or alias."""
    exact = connection.execute(
        f"SELECT id FROM {identifier(tables.documents)} WHERE file_path = ?", (name,)
    ).fetchall()
    if exact or not has_links(connection, tables):
        return [int(str(number)) for (number,) in exact]
    named = connection.execute(
        f"SELECT document_id FROM {identifier(tables.keys)} WHERE key = ? ORDER BY document_id",
        (link_key(name),),
    )
    return [int(str(number)) for (number,) in named]


def documents_called(connection: apsw.Connection, tables: Tables, name: str) -> list[int]:
    """The documents that a caller means: those that a link may mean, else those of that title."""
    by_title = f"SELECT id FROM {identifier(tables.documents)} WHERE title = ? ORDER BY id"
    return documents_named(connection, tables, name) or [
        int(str(number)) for (number,) in connection.execute(by_title, (name,))
    ]


@dataclass(frozen=True, slots=True)
class LinkedDocument:
    """A document at the other end of a link, and the heading or block that the link names."""

    document_id: int
    file_path: str
    fragment: str


@dataclass(frozen=True, slots=True)
class DocumentLinks:
    """What a document links to and what links to it, by path; ``unresolved`` are keys of none."""

    to: tuple[LinkedDocument, ...] = ()
    back: tuple[LinkedDocument, ...] = ()
    unresolved: tuple[str, ...] = ()


def links_of(
    connection: apsw.Connection, tables: Tables, document_ids: Iterable[int]
) -> dict[int, DocumentLinks]:
    """The links of documents in both directions, by id; empty if none were stored yet."""
    if not has_links(connection, tables):
        return {}
    return {document_id: _links_of(connection, tables, document_id) for document_id in document_ids}


@dataclass(frozen=True, slots=True)
class _Candidate:
    """A document that a link may mean."""

    source_id: int
    source_path: str
    key: str
    fragment: str
    document_id: int | None
    file_path: str | None


def _links_of(connection: apsw.Connection, tables: Tables, document_id: int) -> DocumentLinks:
    own = f"l.document_id = {document_id}"
    pointing = f"l.key IN (SELECT key FROM {identifier(tables.keys)} WHERE document_id = ?)"
    to = _resolved(_candidates(connection, tables, own))
    back = _resolved(_candidates(connection, tables, pointing, document_id))
    return DocumentLinks(
        _by_path(
            LinkedDocument(link.document_id, str(link.file_path), link.fragment)
            for link in to
            if link.document_id is not None and link.document_id != document_id
        ),
        _by_path(
            LinkedDocument(link.source_id, link.source_path, link.fragment)
            for link in back
            if link.document_id == document_id and link.source_id != document_id
        ),
        tuple(dict.fromkeys(link.key for link in to if link.document_id is None)),
    )


def _candidates(
    connection: apsw.Connection, tables: Tables, where: str, *values: int
) -> list[_Candidate]:
    documents, keys = identifier(tables.documents), identifier(tables.keys)
    cursor = connection.execute(
        "SELECT l.document_id AS source_id, s.file_path AS source_path, l.key AS key, "
        "l.fragment AS fragment, k.document_id AS document_id, d.file_path AS file_path "
        f"FROM {identifier(tables.links)} AS l JOIN {documents} AS s ON s.id = l.document_id "
        f"LEFT JOIN {keys} AS k ON k.key = l.key "
        f"LEFT JOIN {documents} AS d ON d.id = k.document_id "
        f"WHERE {where}",
        values,
    )
    return list(records(cursor, _Candidate))


def _resolved(candidates: Iterable[_Candidate]) -> list[_Candidate]:
    """One document for each link: beside its source before elsewhere, then the shortest path."""
    best: dict[tuple[int, str, str], _Candidate] = {}
    for candidate in candidates:
        link = (candidate.source_id, candidate.key, candidate.fragment)
        if link not in best or _order(candidate) < _order(best[link]):
            best[link] = candidate
    return list(best.values())


def _order(candidate: _Candidate) -> tuple[bool, int, str]:
    path = candidate.file_path or ""
    folder = path.rpartition("/")[0]
    return folder != candidate.source_path.rpartition("/")[0], path.count("/"), path


def _by_path(links: Iterable[LinkedDocument]) -> tuple[LinkedDocument, ...]:
    return tuple(sorted(set(links), key=lambda link: (link.file_path, link.fragment)))
