"""The properties of documents and the links between them, derived from the stored documents.

Properties are tags, dates and other entries of front matter. Links are stored by key and resolved
when they are read, since a key may name several documents, or a document that is imported later.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from email.utils import getaddresses
from functools import lru_cache
from itertools import accumulate

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


def values_of(properties: Properties, key: str) -> tuple[str, ...]:
    """The values of an entry of front matter, whatever the key's case and width."""
    return tuple(
        item
        for name, value in properties.values.items()
        if folded(name) == folded(key)
        for item in ([value] if isinstance(value, str) else value)
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
    ids = json.dumps(wanted := [*document_ids])
    given = "(SELECT value FROM json_each(?1))"
    keys = f"(SELECT key FROM {tables.keys} WHERE document_id IN {given})"
    pointing = f"l.key IN {keys} OR (l.name <> '' AND l.name IN {keys})"
    to, back = _links(tables, f"l.document_id IN {given}", ids), _links(tables, pointing, ids)
    named = _named_documents(tables, {link.found for link in (*to, *back)})
    links_to: dict[int, list[_Resolved]] = {number: [] for number in wanted}
    links_back: dict[int, list[_Resolved]] = {number: [] for number in wanted}
    for link in to:
        links_to[link.source_id].append(_Resolved(link, named[link.found].meant_by(link)))
    for link in back:
        resolved = _Resolved(link, named[link.found].meant_by(link))
        for number in links_back.keys() & {fit.document_id for fit in resolved.fits}:
            links_back[number].append(resolved)
    return {number: _links_of(number, links_to[number], links_back[number]) for number in wanted}


@dataclass(frozen=True, slots=True)
class _Link:
    """A stored link, and ``found``, the one of its keys that documents have, or else the first.

    ``name`` is the link's second key.
    """

    source_id: int
    source_path: str
    key: str
    fragment: str
    name: str
    found: str

    @property
    def is_of_site(self) -> bool:
        """Whether the link is a path from the root of a site."""
        is_rooted = self.key in (f"/{self.name}", f"/{self.name}.html", f"/{self.name}.htm")
        return is_rooted and self.found == self.name and "/" in self.name


@dataclass(frozen=True, slots=True)
class _Fit:
    """A document that a link may lead to."""

    document_id: int
    file_path: str


@dataclass(frozen=True, slots=True)
class _Resolved:
    """A link with the document that it leads to, with all that it may lead to, or with none."""

    link: _Link
    fits: Sequence[_Fit]


class _Named:
    """The documents that have a key; the nearest to a link is found without comparing them all."""

    def __init__(self, key: str, documents: Iterable[_Fit]) -> None:
        self._fits = sorted(documents, key=lambda fit: (fit.file_path.count("/"), fit.file_path))
        self._in_folder: dict[str, _Fit] = {}
        self._of_site: dict[str, int] = {}
        for position, fit in enumerate(self._fits):
            *folder, _ = parts = fit.file_path.split("/")
            self._in_folder.setdefault("/".join(folder), fit)
            self._of_site.setdefault("/".join(parts[: -1 - key.count("/")]), position)

    def meant_by(self, link: _Link) -> Sequence[_Fit]:
        """The document in the link's own folder if possible, else the least nested one.

        A path from the root of a site, which may be any folder, leads to a document in whose site
        the link is, or else to the only one that fits; otherwise to all that fit.
        """
        folder = link.source_path.rpartition("/")[0]
        if folder in self._in_folder:
            return [self._in_folder[folder]]
        if not link.is_of_site:
            return self._fits[:1]
        above = accumulate(link.source_path.split("/"), "{}/{}".format)
        within = [self._of_site[root] for root in ("", *above) if root in self._of_site]
        return [self._fits[min(within)]] if within else self._fits


def _links_of(
    document_id: int, to: Sequence[_Resolved], back: Sequence[_Resolved]
) -> DocumentLinks:
    leading = [each for each in to if len(each.fits) == 1]
    several = [each for each in to if len(each.fits) > 1]
    return DocumentLinks(
        _by_path(
            LinkedDocument(fit.document_id, fit.file_path, each.link.fragment)
            for each in leading
            for fit in each.fits
            if fit.document_id != document_id
        ),
        _by_path(
            LinkedDocument(link.source_id, link.source_path, link.fragment)
            for link in (each.link for each in back if len(each.fits) == 1)
            if link.source_id != document_id
        ),
        tuple(dict.fromkeys(each.link.key for each in to if len(each.fits) != 1)),
        {each.link.key: tuple(fit.file_path for fit in each.fits) for each in several},
        frozenset(each.link.source_id for each in back if len(each.fits) > 1),
    )


def _links(tables: Tables, where: str, ids: str) -> list[_Link]:
    """The stored links that meet a condition on some documents, given by JSON."""
    cursor = tables.execute(
        f"""
        SELECT l.document_id AS source_id, s.file_path AS source_path, l.key AS key,
            l.fragment AS fragment, l.name AS name, iif(l.name <> '' AND NOT EXISTS
                (SELECT 1 FROM {tables.keys} WHERE key = l.key), l.name, l.key) AS found
        FROM {tables.links} AS l
        JOIN {identifier(tables.documents)} AS s ON s.id = l.document_id
        WHERE {where}
        """,
        (ids,),
    )
    return list(records(cursor, _Link))


def _named_documents(tables: Tables, keys: Collection[str]) -> dict[str, _Named]:
    """The documents that have each key."""
    rows = tables.execute(
        f"SELECT k.key, k.document_id, d.file_path FROM {tables.keys} AS k "
        f"JOIN {identifier(tables.documents)} AS d ON d.id = k.document_id "
        "WHERE k.key IN (SELECT value FROM json_each(?))",
        (json.dumps([*keys]),),
    )
    fits: dict[str, list[_Fit]] = {key: [] for key in keys}
    for key, document_id, file_path in rows:
        fits[str(key)].append(_Fit(int(str(document_id)), str(file_path)))
    return {key: _Named(key, documents) for key, documents in fits.items()}


def _by_path(links: Iterable[LinkedDocument]) -> tuple[LinkedDocument, ...]:
    return tuple(sorted(set(links), key=lambda link: (link.file_path, link.fragment)))
