"""What is deleted leaves the file: no page, no index and no log holds it any longer.

FTS5's own option for this, 'secure-delete', does nothing for an index without contents such as
ours: a deleted row stays in its segments, behind a tombstone, until they are merged.
"""

from __future__ import annotations

import apsw

from mdvec.index.tables import Tables
from mdvec.text.quoting import identifier

_FIRST_TOMBSTONE = 1 << 53
"""FTS5 keeps pages of tombstones in the table of its data, under numbers from this on."""


def erase_deleted_terms(connection: apsw.Connection, tables: Tables) -> None:
    """Write the lexical index anew without what was deleted from it, if anything was."""
    data = identifier(f"{tables.fts.strip(chr(34))}_data")
    found = connection.execute(
        f"SELECT 1 FROM {data} WHERE id >= ? LIMIT 1", (_FIRST_TOMBSTONE,)
    ).fetchone()
    if found is not None:
        write_terms_anew(connection, tables)


def write_terms_anew(connection: apsw.Connection, tables: Tables) -> None:
    """Write the lexical index in one piece, without what was deleted from it."""
    connection.execute(f"INSERT INTO {tables.fts} ({tables.fts}) VALUES ('optimize')")
