"""The names of a tool's tables; creates, checks and drops them and the derived indexes.

Documents and chunks are in ``documents_{tool}`` and ``vectors_{tool}``. The names of the indexes
derived from them have the tool's id and generation. A rebuild fills tables of the next generation,
which replace the current ones in one transaction.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import apsw

from mdvec import text
from mdvec.database import column, has_table
from mdvec.text import identifier

_WORDS_FORMAT = 7
_EARLIER_WORDS = (2, 3, 4, 5, 6)
"""Earlier formats of the word index that searches can still use. Format 4 added numbers in groups
(3 has them only beside spaces and signs, without thousands), 5 whole identifiers with hyphens, 6
months in names and descriptions, and 7 numbers in groups beside units."""
_PROPERTIES_FORMAT = "14"
_EARLIER_PROPERTIES = (*"23456789", "10", "11", "12", "13")
"""Earlier formats of the properties that searches can still use. Format 4 added the present links,
5 dates from other keys and eras and the present tags, 6 items of unclosed lists, 7 names in
mappings, 8 the present reading of Org, 9 repeated keys and malformed lists, 10 items with a colon,
11 emoji in tags of the text and keys of mappings, 12 folders by their ``_index``, 13 links to
pages of notes (a.html) and from the root of a site, and 14 front matter between blank lines."""
_WITH_LINKS = (*"456789", "10", "11", "12", "13", "14")
WORD_TABLES = ("terms", "fts", "counts", "vocabulary")
PROPERTY_TABLES = ("properties", "tags", "links", "keys")
DERIVED = (*WORD_TABLES, *PROPERTY_TABLES, "signatures")
"""The prefixes of the derived tables' names."""


class _Derived:
    """The name of a derived table, beginning with the attribute's name; SQL needs no quotes."""

    def __set_name__(self, _: type, kind: str) -> None:
        self._kind = kind

    def __get__(self, tables: Tables, _: type[Tables]) -> str:
        return f"{self._kind}_{tables.tool_id}_{tables.generation}"


@dataclass(frozen=True, slots=True)
class Tables:
    """The names of one generation of a tool's tables; ``documents`` and ``vectors`` need quotes.

    They are in the database of ``connection``, and every function on them takes them first.
    ``staged`` tables belong to an unfinished rebuild; their '@' cannot be in a tool's name.
    """

    connection: apsw.Connection
    tool_id: int
    tool_name: str
    generation: int
    staged: bool = False

    @property
    def _suffix(self) -> str:
        return f"{self.tool_name}@{self.generation}" if self.staged else self.tool_name

    @property
    def documents(self) -> str:
        """Table of documents."""
        return f"documents_{self._suffix}"

    @property
    def vectors(self) -> str:
        """Table of chunks and their embeddings."""
        return f"vectors_{self._suffix}"

    @property
    def options(self) -> str:
        """Table of the options that an unfinished rebuild was begun with, one a row."""
        return f"options_{self._suffix}"

    signatures = _Derived()
    """The chunks' signatures."""
    fts = _Derived()
    """Lexical index (FTS5)."""
    terms = _Derived()
    """The terms of the lexical index with their document frequencies (fts5vocab)."""
    counts = _Derived()
    """The counts of each chunk's words."""
    vocabulary = _Derived()
    """The words with their readings."""
    properties = _Derived()
    """The documents' properties."""
    tags = _Derived()
    """The documents' tags."""
    links = _Derived()
    """The links in documents, by the key that a link names."""
    keys = _Derived()
    """The keys that links may name, each with a document."""

    def execute(self, statement: str, values: Sequence[apsw.SQLiteValue] = ()) -> apsw.Cursor:
        """Run an SQL statement."""
        return self.connection.execute(statement, values)

    def column(self, statement: str, values: Sequence[Any] = ()) -> list[Any]:
        """The values of a statement's only column."""
        return column(self.connection, statement, values)

    def index(self, what: str) -> str:
        """Name of the SQLite index on ``what``."""
        return f"idx_{self.tool_id}_{self.generation}_{what}"


def create_tables(tables: Tables) -> None:
    """Create a tool's tables of documents and chunks."""
    documents, vectors = identifier(tables.documents), identifier(tables.vectors)
    tables.execute(
        f"""
        CREATE TABLE {documents} (
            id INTEGER PRIMARY KEY AUTOINCREMENT,
            tool_id INTEGER NOT NULL,
            file_path TEXT NOT NULL,
            content_hash TEXT NOT NULL,
            size INTEGER NOT NULL,
            mtime_ns INTEGER NOT NULL,
            title TEXT NOT NULL,
            created_at DATETIME NOT NULL DEFAULT CURRENT_TIMESTAMP,
            updated_at DATETIME NOT NULL DEFAULT CURRENT_TIMESTAMP,
            content TEXT NOT NULL,
            FOREIGN KEY (tool_id) REFERENCES tools(id) ON DELETE CASCADE
        )
        """
    )
    tables.execute(
        f"""
        CREATE TABLE {vectors} (
            id INTEGER PRIMARY KEY AUTOINCREMENT,
            tool_id INTEGER NOT NULL,
            document_id INTEGER NOT NULL,
            chunk_index INTEGER NOT NULL,
            start_position INTEGER NOT NULL,
            end_position INTEGER NOT NULL,
            start_line INTEGER NOT NULL,
            end_line INTEGER NOT NULL,
            heading TEXT NOT NULL,
            chunk_text TEXT NOT NULL,
            embedding BLOB NOT NULL,
            created_at DATETIME NOT NULL DEFAULT CURRENT_TIMESTAMP,
            FOREIGN KEY (tool_id) REFERENCES tools(id) ON DELETE CASCADE,
            FOREIGN KEY (document_id) REFERENCES {documents}(id) ON DELETE CASCADE
        )
        """
    )
    tables.execute(
        f"""
        CREATE UNIQUE INDEX {tables.index("path")} ON {documents} (tool_id, file_path);
        CREATE INDEX {tables.index("hash")} ON {documents} (content_hash);
        CREATE INDEX {tables.index("position")} ON {vectors}
            (document_id, start_position, end_position)
        """
    )


def create_text_indexes(tables: Tables) -> None:
    """Create the derived indexes except the vector index; they are empty."""
    create_word_indexes(tables)
    create_properties(tables)


def create_signatures(tables: Tables) -> None:
    """Create the table of signatures, empty."""
    tables.execute(
        f"""
        CREATE TABLE {tables.signatures} (
            first_chunk INTEGER PRIMARY KEY,
            document_id INTEGER NOT NULL,
            signatures BLOB NOT NULL
        )
        """
    )
    # Row 0 is not a chunk, but a random build id, by which caches notice a rebuilt table.
    tables.execute(f"INSERT INTO {tables.signatures} VALUES (0, 0, randomblob(16))")
    tables.execute(f"CREATE INDEX {tables.index('signed')} ON {tables.signatures} (document_id)")


def create_word_indexes(tables: Tables) -> None:
    """Create the indexes of a tool's words, empty."""
    fts, counts, vocabulary = tables.fts, tables.counts, tables.vocabulary
    # Terms are separated by spaces; "_" and "=" must count as letters.
    tables.execute(
        f"CREATE VIRTUAL TABLE {fts} USING fts5(title, names, heading, text, content='', "
        "contentless_delete=1, tokenize=\"ascii tokenchars '_='\")"
    )
    tables.execute(f"CREATE VIRTUAL TABLE {tables.terms} USING fts5vocab({fts}, row)")
    tables.execute(f"CREATE TABLE {counts} (chunk_id INTEGER PRIMARY KEY, counts BLOB NOT NULL)")
    # Row 0 is not a chunk: it has the version of the word analysis.
    tables.execute(
        f"INSERT INTO {counts} (chunk_id, counts) VALUES (0, ?)", (words_version().encode(),)
    )
    tables.execute(
        f"CREATE TABLE {vocabulary} (term TEXT PRIMARY KEY, reading TEXT NOT NULL) WITHOUT ROWID"
    )
    tables.execute(f"CREATE INDEX {tables.index('reading')} ON {vocabulary} (reading)")


def words_version() -> str:
    """The version of a word index built now: the current format and the installed dictionary."""
    return _version(_WORDS_FORMAT)


def _version(words_format: int) -> str:
    return f"{words_format} {text.analysis_version()}"


def has_words(tables: Tables) -> bool:
    """Whether the tool has a word index with fields and counts."""
    return has_table(tables.connection, tables.vocabulary)


def has_usable_words(tables: Tables) -> bool:
    """Whether searches can use the word index: same dictionary, perhaps an earlier format."""
    usable = (words_version(), *map(_version, _EARLIER_WORDS))
    return _stored_version(tables) in usable


def has_current_words(tables: Tables) -> bool:
    """Whether the word index has the current format and the installed dictionary's version."""
    return _stored_version(tables) == words_version()


def _stored_version(tables: Tables) -> str | None:
    if not has_words(tables):
        return None
    version = f"SELECT counts FROM {tables.counts} WHERE chunk_id = 0"
    return bytes(tables.execute(version).get or b"").decode()


def create_properties(tables: Tables) -> None:
    """Create the tables of the documents' properties and links, empty."""
    properties, tags = tables.properties, tables.tags
    tables.execute(
        f"CREATE TABLE {properties} (document_id INTEGER PRIMARY KEY, day TEXT, "
        "mtime_ns INTEGER NOT NULL, first_chunk INTEGER NOT NULL, chunks INTEGER NOT NULL, "
        "tags TEXT NOT NULL, aliases TEXT NOT NULL, kept TEXT NOT NULL)"
    )
    # Row 0 is not a document: it has the format of the properties.
    tables.execute(
        f"INSERT INTO {properties} VALUES (0, NULL, 0, 0, 0, '[]', '[]', ?)", (_PROPERTIES_FORMAT,)
    )
    tables.execute(
        f"CREATE TABLE {tags} (tag TEXT, document_id INTEGER, name TEXT NOT NULL, "
        "PRIMARY KEY (tag, document_id)) WITHOUT ROWID"
    )
    tables.execute(f"CREATE INDEX {tables.index('tagged')} ON {tags} (document_id)")
    links, keys = tables.links, tables.keys
    tables.execute(
        f"CREATE TABLE {links} (document_id INTEGER, key TEXT, fragment TEXT, name TEXT, "
        "PRIMARY KEY (document_id, key, fragment, name)) WITHOUT ROWID"
    )
    tables.execute(
        f"CREATE TABLE {keys} (key TEXT, document_id INTEGER, "
        "PRIMARY KEY (key, document_id)) WITHOUT ROWID"
    )
    tables.execute(f"CREATE INDEX {tables.index('linked')} ON {links} (key)")
    tables.execute(f"CREATE INDEX {tables.index('named')} ON {links} (name) WHERE name <> ''")
    tables.execute(f"CREATE INDEX {tables.index('keyed')} ON {keys} (document_id)")


def has_properties(tables: Tables) -> bool:
    """Whether the documents' properties were derived, perhaps in an earlier format."""
    stored = _stored_properties_format(tables)
    return stored in (_PROPERTIES_FORMAT, *_EARLIER_PROPERTIES)


def has_links(tables: Tables) -> bool:
    """Whether the documents' links were derived, perhaps in an earlier format."""
    return _stored_properties_format(tables) in _WITH_LINKS


def has_current_properties(tables: Tables) -> bool:
    """Whether the documents' properties and links were derived in the current format."""
    return _stored_properties_format(tables) == _PROPERTIES_FORMAT


def _stored_properties_format(tables: Tables) -> str | None:
    if not has_table(tables.connection, tables.properties):
        return None
    select = f"SELECT kept FROM {tables.properties} WHERE document_id = 0"
    return str(tables.execute(select).get or "")


def has_signatures(tables: Tables) -> bool:
    """Whether there is a table of signatures."""
    return has_table(tables.connection, tables.signatures)


def has_word_indexes(tables: Tables) -> bool:
    """Whether the lexical index exists, in whatever format; the oldest databases have none."""
    return has_table(tables.connection, tables.fts) and has_table(tables.connection, tables.terms)


def drop_derived(tables: Tables, kinds: Sequence[str] = DERIVED) -> None:
    """Drop the derived tables of these kinds, as far as they exist."""
    for kind in kinds:
        tables.execute(f"DROP TABLE IF EXISTS {getattr(tables, kind)}")
