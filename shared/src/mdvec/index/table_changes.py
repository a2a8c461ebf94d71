"""Renames, replaces and drops a tool's tables."""

from __future__ import annotations

import apsw

from mdvec.index.chroma_collections import leave_collection
from mdvec.index.tables import DERIVED, Tables, drop_indexes
from mdvec.text.quoting import identifier


def replace_tables(connection: apsw.Connection, old: Tables, staged: Tables) -> None:
    """Replace a tool's tables with those of a finished rebuild; call within a transaction."""
    _drop(connection, old)
    final = Tables(staged.tool_id, staged.tool_name, staged.generation)
    connection.execute(
        f"ALTER TABLE {identifier(staged.documents)} RENAME TO {identifier(final.documents)}"
    )
    connection.execute(
        f"ALTER TABLE {identifier(staged.vectors)} RENAME TO {identifier(final.vectors)}"
    )


def rename_tables(connection: apsw.Connection, old: str, new: str) -> None:
    """Give a tool's tables its new name, those of unfinished rebuilds too."""
    names = [
        str(name)
        for (name,) in connection.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")
    ]
    for kind in ("vectors", "documents"):
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


def drop_leftovers(connection: apsw.Connection, tool_id: int, tool_name: str, current: int) -> None:
    """Drop the tables of unfinished rebuilds, and all derived indexes but those of ``current``."""
    names = [
        str(name)
        for (name,) in connection.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")
    ]
    for kind in ("vectors", "documents"):
        for name in names:
            if name.startswith(f"{kind}_{tool_name}@"):
                connection.execute(f"DROP TABLE {identifier(name)}")
    generations = {
        int(parts[2])
        for parts in (name.split("_") for name in names)
        if len(parts) == 3 and parts[0] in DERIVED and parts[1] == str(tool_id)
    }
    for generation in generations - {current}:
        _drop_indexes(connection, Tables(tool_id, tool_name, generation))


def _drop(connection: apsw.Connection, tables: Tables) -> None:
    _drop_indexes(connection, tables)
    for table in (tables.vectors, tables.documents):
        connection.execute(f"DROP TABLE IF EXISTS {identifier(table)}")


def _drop_indexes(connection: apsw.Connection, tables: Tables) -> None:
    drop_indexes(connection, tables)
    leave_collection(connection, tables)
