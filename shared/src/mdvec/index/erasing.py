"""Erases deleted text from the lexical index.

FTS5's own option for this, 'secure-delete', has no effect on a contentless index such as ours: a
deleted row stays in its segment, hidden by a tombstone, until segments are merged.
"""

from __future__ import annotations

import apsw

from mdvec.index.tables import Tables, has_words
from mdvec.index.vocabulary import delete_unused_words
from mdvec.index.word_counts import clear_deletion_mark
from mdvec.text.quoting import identifier

_FIRST_TOMBSTONE = 1 << 53
"""The lowest id of tombstone pages in FTS5's data table."""


def erase_deleted_terms(connection: apsw.Connection, tables: Tables) -> None:
    """Rewrite the lexical index without deleted rows, if there are any, and delete their words.

    FTS5 may already have merged its tombstones away, so a mark in the word counts also records
    deletions.
    """
    data = identifier(f"{tables.fts}_data")
    found = connection.execute(
        f"SELECT 1 FROM {data} WHERE id >= ? LIMIT 1", (_FIRST_TOMBSTONE,)
    ).fetchone()
    if found is not None:
        rewrite_lexical_index(connection, tables)
    elif has_words(connection, tables) and clear_deletion_mark(connection, tables):
        delete_unused_words(connection, tables)


def rewrite_lexical_index(connection: apsw.Connection, tables: Tables) -> None:
    """Rewrite the lexical index as one segment, without deleted rows and their words."""
    fts = identifier(tables.fts)
    connection.execute(f"INSERT INTO {fts} ({fts}) VALUES ('optimize')")
    if has_words(connection, tables):
        clear_deletion_mark(connection, tables)
        delete_unused_words(connection, tables)
