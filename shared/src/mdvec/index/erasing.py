"""Erases deleted text from the lexical index.

FTS5's own option for this, 'secure-delete', has no effect on a contentless index such as ours: a
deleted row stays in its segments, hidden by a tombstone, until they are merged.
"""

from __future__ import annotations

import apsw

from mdvec.index.tables import Tables, has_words
from mdvec.index.vocabulary import forget_deleted_words
from mdvec.index.word_counts import forget_deletions
from mdvec.text.quoting import identifier

_FIRST_TOMBSTONE = 1 << 53
"""FTS5 stores pages of tombstones in its data table under ids from this one on."""


def erase_deleted_terms(connection: apsw.Connection, tables: Tables) -> None:
    """Rewrite the lexical index without deleted rows, if there are any, and forget their words.

    FTS5 may have merged its tombstones away by itself, so deletions are remembered beside them.
    """
    data = identifier(f"{tables.fts}_data")
    found = connection.execute(
        f"SELECT 1 FROM {data} WHERE id >= ? LIMIT 1", (_FIRST_TOMBSTONE,)
    ).fetchone()
    if found is not None:
        write_terms_anew(connection, tables)
    elif has_words(connection, tables) and forget_deletions(connection, tables):
        forget_deleted_words(connection, tables)


def write_terms_anew(connection: apsw.Connection, tables: Tables) -> None:
    """Rewrite the lexical index in one segment, without deleted rows and their words."""
    fts = identifier(tables.fts)
    connection.execute(f"INSERT INTO {fts} ({fts}) VALUES ('optimize')")
    if has_words(connection, tables):
        forget_deletions(connection, tables)
        forget_deleted_words(connection, tables)
