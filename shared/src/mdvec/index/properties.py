"""The properties of documents and the links between them, derived from the stored documents.

Properties are tags, dates and other entries of front matter. Links are stored by key and resolved
when they are read, since a key may name several documents, or a document that is imported later.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from email.utils import getaddresses
from functools import lru_cache
from operator import attrgetter

from mdvec.database import records
from mdvec.index.tables import (
    PROPERTY_TABLES,
    Tables,
    create_properties,
    drop_derived,
    has_links,
    has_properties,
)
from mdvec.text import (
    Properties,
    described,
    document_keys,
    document_links,
    folded,
    folded_tag,
    folder_of_index,
    identifier,
    is_markdown,
    is_org,
    is_shown_as,
    link_key,
    matter_of,
    org_ids,
    properties_of,
)

_MAX_OTHER_NAMES = 200
_WHOLE_NUMBER = re.compile(r"\A([-+]?[0-9]+)\.0+\Z")
NOT_DERIVED = Properties()
"""The properties of a document before the next import derives them."""
_MAX_NAMED_CHARS = 60


def insert_properties_and_links(
    tables: Tables, document_id: int, file_path: str, content: str, properties: Properties
) -> None:
    """Store a document's properties and links, and the keys with which links can name it.

    Its chunks must be stored already, with consecutive ids.
    """
    tables.execute(
        f"INSERT INTO {tables.properties} "
        "(document_id, day, mtime_ns, first_chunk, chunks, tags, aliases, kept) "
        "SELECT d.id, ?, d.mtime_ns, coalesce(min(v.id), 0), count(v.id), ?, ?, ? "
        f"FROM {identifier(tables.documents)} AS d "
        f"LEFT JOIN {identifier(tables.vectors)} AS v ON v.document_id = d.id WHERE d.id = ?",
        (
            properties.day, _as_json(properties.tags), _as_json(properties.aliases),
            _as_json(properties.values), document_id,
        ),
    )  # fmt: skip
    tables.connection.executemany(
        f"INSERT INTO {tables.tags} (tag, document_id, name) VALUES (?, ?, ?)",
        ((folded_tag(tag), document_id, tag) for tag in properties.tags),
    )
    if not (is_markdown(file_path) or is_org(file_path)):
        return
    ids = org_ids(content) if is_org(file_path) else ()
    tables.connection.executemany(
        f"INSERT OR IGNORE INTO {tables.links} (document_id, key, fragment, name) "
        "VALUES (?, ?, ?, ?)",
        (
            (document_id, link.key, link.fragment, link.name)
            for link in document_links(content, file_path)
        ),
    )
    tables.connection.executemany(
        f"INSERT OR IGNORE INTO {tables.keys} (key, document_id) VALUES (?, ?)",
        ((key, document_id) for key in document_keys(file_path, (*properties.aliases, *ids))),
    )


def other_names(properties: Properties) -> tuple[str, ...]:
    """The first aliases and tags of a document, and the descriptions in its front matter.

    They are indexed with each of its chunks.
    """
    names = (properties.aliases + properties.tags)[:_MAX_OTHER_NAMES]
    return names + described(properties.values)


def delete_properties_and_links(tables: Tables, document_id: int) -> None:
    """Delete a document's properties and links; links to it belong to other documents and stay."""
    for table in (tables.properties, tables.tags, tables.links, tables.keys):
        tables.execute(f"DELETE FROM {table} WHERE document_id = ?", (document_id,))


def count_undated(tables: Tables, document_ids: Iterable[int]) -> int:
    """How many of some documents have no date of their own."""
    undated = f"SELECT document_id FROM {tables.properties} WHERE day IS NULL"
    return len(set(document_ids).intersection(tables.column(undated)))


def rebuild_properties(tables: Tables) -> None:
    """Rebuild the properties and links of all documents from their stored contents."""
    drop_derived(tables, PROPERTY_TABLES)
    create_properties(tables)
    documents = identifier(tables.documents)
    for document_id in tables.column(f"SELECT id FROM {documents}"):
        (row,) = tables.execute(
            f"SELECT file_path, content FROM {documents} WHERE id = ?", (document_id,)
        )
        path, content = str(row[0]), str(row[1])
        properties = properties_of(content, matter_of(content, path), path)
        insert_properties_and_links(tables, document_id, path, content, properties)


def stored_properties(tables: Tables, document_ids: Iterable[int]) -> dict[int, Properties]:
    """The properties of documents, by id; empty if they were not derived yet."""
    if not has_properties(tables):
        return {}
    rows = tables.execute(
        "SELECT document_id, tags, aliases, ifnull(day, ''), kept "
        f"FROM {tables.properties} "
        f"WHERE document_id IN ({','.join(map(str, document_ids))})"
    )
    return {int(str(document_id)): _properties(*map(str, row)) for document_id, *row in rows}


@lru_cache(maxsize=2_048)
def _properties(tags: str, aliases: str, day: str, other: str) -> Properties:
    """Parse a row of properties; all but the day is JSON. Cached, as hits repeat documents."""
    return Properties(
        tuple(json.loads(tags)),
        tuple(json.loads(aliases)),
        date.fromisoformat(day) if day else None,
        {
            key: tuple(value) if isinstance(value, list) else value
            for key, value in json.loads(other).items()
        },
    )


def _as_json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)


@dataclass(frozen=True, slots=True)
class TagCount:
    """A tag, in the spelling of one document, and the number of documents that have it."""

    tag: str
    documents: int


def tag_counts(tables: Tables, limit: int | None = None) -> list[TagCount]:
    """The tags of a tool's documents, most frequent first; empty if they were not derived yet."""
    if not has_properties(tables):
        return []
    cursor = tables.execute(
        "SELECT min(name) AS tag, count(*) AS documents "
        f"FROM {tables.tags} GROUP BY {tables.tags}.tag "
        "ORDER BY documents DESC, 1 LIMIT ?",
        (-1 if limit is None else limit,),
    )
    return list(records(cursor, TagCount))


def documents_with_value(tables: Tables, key: str, values: Sequence[str]) -> frozenset[int]:
    """The documents whose front matter has one of ``values`` for ``key``, or any if that is empty.

    Case, width and a number's .0 make no difference. A list matches with each of its items, and
    addresses (田中 <tanaka@example.jp>) with each name and address.
    """
    wanted = set(map(_comparison_form, values))
    return frozenset(
        document_id
        for document_id, name, stored in _entries(tables)
        if folded(name) == folded(key)
        and (not wanted or not wanted.isdisjoint(map(_comparison_form, _with_addresses(stored))))
    )


def _with_addresses(values: Iterable[str]) -> Iterator[str]:
    for value in values:
        yield value
        if "@" in value:
            yield from (part for pair in getaddresses([value]) for part in pair if part)


def _comparison_form(value: str) -> str:
    """A value in the form used for comparison; 3.0 is 3, as in JSON, but 1.10 is not 1.1."""
    return _WHOLE_NUMBER.sub(r"\1", folded(value))


def value_counts(tables: Tables) -> dict[str, Counter[str]]:
    """By key of the front matter, how many documents have each value."""
    counts: dict[str, Counter[str]] = {}
    for _, name, values in _entries(tables):
        counts.setdefault(name, Counter()).update(values)
    return counts


def short_enough(names: Iterable[str]) -> Iterator[str]:
    """The keys or values that are short enough for an answer; others are left out.

    They are never shortened, because clients use them in filters.
    """
    return (name for name in names if len(name) <= _MAX_NAMED_CHARS)


def _entries(tables: Tables) -> Iterator[tuple[int, str, list[str]]]:
    """Each entry of front matter: the document's id, the key and the values."""
    if not has_properties(tables):
        return
    rows = tables.execute(
        f"SELECT document_id, kept FROM {tables.properties} "
        "WHERE document_id > 0 AND kept <> '{}'"
    )
    for document_id, stored in rows:
        for name, value in json.loads(str(stored)).items():
            yield int(str(document_id)), name, value if isinstance(value, list) else [value]


def documents_named(tables: Tables, name: str) -> list[int]:
    """The documents that a link with this name may lead to: by path, else by name or alias."""
    at_path = f"SELECT id FROM {identifier(tables.documents)} WHERE file_path = ?"
    exact = tables.column(at_path, (name,))
    if exact or not has_links(tables):
        return exact
    named = f"SELECT document_id FROM {tables.keys} WHERE key = ? ORDER BY document_id"
    return tables.column(named, (link_key(name),))


def documents_called(tables: Tables, name: str) -> list[int]:
    """The documents that a user may mean by a name: as in a link, by title, as a path is shown."""
    by_title = f"SELECT id FROM {identifier(tables.documents)} WHERE title = ? ORDER BY id"
    literal = documents_named(tables, name) or tables.column(by_title, (name,))
    if literal:
        return literal
    paths = tables.execute(f"SELECT id, file_path FROM {identifier(tables.documents)}")
    return [int(str(number)) for number, path in paths if is_shown_as(str(path), name)]


def documents_linking_to_none(tables: Tables, name: str) -> frozenset[int]:
    """The documents with a link to this name or path, if the link leads to no document (yet)."""
    if documents_named(tables, name):
        return frozenset()
    linking = (
        f"SELECT document_id FROM {tables.links} "
        "WHERE key = ?1 OR substr(key, -length(?1) - 1) = '/' || ?1"
    )
    return frozenset(tables.column(linking, (link_key(name),)))


def documents_linking_to_folders(tables: Tables, document_ids: Iterable[int]) -> frozenset[int]:
    """The documents with an unresolved link that may lead to the folder of one of these indexes.

    The end of such a link is the folder's path, as links of a site may begin at a root above the
    source's.
    """
    at_id = f"SELECT file_path FROM {identifier(tables.documents)} WHERE id = ?"
    paths = ((number, str(tables.execute(at_id, (number,)).get)) for number in document_ids)
    folders = {folder: number for number, path in paths if (folder := folder_of_index(path))}
    if not folders or not has_links(tables):
        return frozenset()
    unresolved = (
        f"SELECT document_id, key FROM {tables.links} AS l WHERE NOT EXISTS "
        f"(SELECT 1 FROM {tables.keys} WHERE key IN (l.key, l.name))"
    )
    linking = set[int]()
    for document_id, key in tables.execute(unresolved):
        parts = str(key).strip("/").split("/")
        ends = ("/".join(parts[first:]) for first in range(len(parts)))
        if {folders[end] for end in ends if end in folders} - {document_id}:
            linking.add(int(str(document_id)))
    return frozenset(linking)


@dataclass(frozen=True, slots=True)
class LinkedDocument:
    """A document at the other end of a link, and the heading or block that the link names."""

    document_id: int
    file_path: str
    fragment: str


@dataclass(frozen=True, slots=True)
class DocumentLinks:
    """A document's links in both directions, by path; ``unresolved`` keys lead to no document.

    Those in ``ambiguous`` would lead to each of its paths; ``perhaps_back`` are the documents with
    such a link that this one fits.
    """

    to: tuple[LinkedDocument, ...] = ()
    back: tuple[LinkedDocument, ...] = ()
    unresolved: tuple[str, ...] = ()
    ambiguous: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    perhaps_back: frozenset[int] = frozenset()


def links_of(tables: Tables, document_ids: Iterable[int]) -> dict[int, DocumentLinks]:
    """The links of documents in both directions, by id; empty if none were stored yet."""
    if not has_links(tables):
        return {}
    return {document_id: _links_of(tables, document_id) for document_id in document_ids}


@dataclass(frozen=True, slots=True)
class _Link:
    """A link, and a document that it leads to; None for both if there is none.

    ``name`` is the link's second key; ``is_of_site`` says that it led there, from a site's root.
    """

    source_id: int
    source_path: str
    key: str
    fragment: str
    name: str
    is_of_site: int
    document_id: int | None
    file_path: str | None

    @property
    def distance(self) -> tuple[bool, int, str]:
        """Whether the document is in another folder, how deeply it is nested, and its path."""
        path = str(self.file_path)
        is_elsewhere = path.rpartition("/")[0] != self.source_path.rpartition("/")[0]
        return is_elsewhere, path.count("/"), path

    @property
    def is_within_site(self) -> bool:
        """Whether the folder that would be the site's root has the linking document."""
        root = str(self.file_path).split("/")[: -1 - self.name.count("/")]
        return self.source_path.split("/")[: len(root)] == root


def _links_of(tables: Tables, document_id: int) -> DocumentLinks:
    keys = f"(SELECT key FROM {tables.keys} WHERE document_id = ?)"
    to = _resolve_links(tables, "l.document_id = ?", document_id)
    pointing = f"(l.key IN {keys} OR (l.name <> '' AND l.name IN {keys}))"
    back = _resolve_links(tables, pointing, document_id, document_id)
    return DocumentLinks(
        _by_path(
            LinkedDocument(link.document_id, str(link.file_path), link.fragment)
            for link, *others in to
            if link.document_id is not None and link.document_id != document_id and not others
        ),
        _by_path(
            LinkedDocument(link.source_id, link.source_path, link.fragment)
            for link, *others in back
            if link.document_id == document_id and link.source_id != document_id and not others
        ),
        tuple(dict.fromkeys(fits[0].key for fits in to if fits[0].document_id is None or fits[1:])),
        {fits[0].key: tuple(str(fit.file_path) for fit in fits) for fits in to if fits[1:]},
        frozenset(
            fit.source_id
            for fits in back
            for fit in fits
            if fit.document_id == document_id and fits[1:]
        ),
    )


def _resolve_links(tables: Tables, where: str, *values: int) -> list[list[_Link]]:
    """Each link, resolved to one document: in its own folder if possible, else the least nested.

    A path from the root of a site, which may be any folder, leads to a document in whose site the
    link is, or else to the only one that fits; otherwise to all that fit.
    """
    documents, keys = identifier(tables.documents), tables.keys
    cursor = tables.execute(
        f"""
        SELECT l.document_id AS source_id, s.file_path AS source_path, l.key AS key,
            l.fragment AS fragment, l.name AS name,
            coalesce(k.key = l.name AND instr(l.name, '/') > 0 AND l.key IN
                ('/' || l.name, '/' || l.name || '.html', '/' || l.name || '.htm'), 0)
                AS is_of_site,
            k.document_id AS document_id, d.file_path AS file_path
        FROM {tables.links} AS l JOIN {documents} AS s ON s.id = l.document_id
        LEFT JOIN {keys} AS k ON k.key = iif(
            l.name <> '' AND NOT EXISTS (SELECT 1 FROM {keys} WHERE key = l.key), l.name, l.key)
        LEFT JOIN {documents} AS d ON d.id = k.document_id
        WHERE {where}
        """,
        values,
    )
    by_link: dict[tuple[int, str, str, str], list[_Link]] = {}
    for link in records(cursor, _Link):
        by_link.setdefault((link.source_id, link.key, link.fragment, link.name), []).append(link)
    return [_meant(fits) if fits[1:] else fits for fits in by_link.values()]


def _meant(fits: Sequence[_Link]) -> list[_Link]:
    fits = sorted(fits, key=attrgetter("distance"))
    if not fits[0].is_of_site:
        return fits[:1]
    within = [fit for fit in fits if fit.is_within_site]
    return within[:1] or fits


def _by_path(links: Iterable[LinkedDocument]) -> tuple[LinkedDocument, ...]:
    return tuple(sorted(set(links), key=lambda link: (link.file_path, link.fragment)))
