"""Checks the search indexes against the chunks from which they are derived."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from pathlib import Path

import apsw

from mdvec.database.connection import open_database, snapshot
from mdvec.index import chunks
from mdvec.index.tables import has_signatures, has_word_indexes
from mdvec.index.vector_tables import has_vector_index
from mdvec.manage.doctor.findings import Finding, Installation
from mdvec.manage.import_tool import only_import_of
from mdvec.text.quoting import identifier
from mdvec.tools import rows as tools
from mdvec.tools.import_lock import is_being_imported
from mdvec.tools.kinds import KINDS
from mdvec.tools.rows import Tool

_BYTES_PER_NUMBER = 4


def check_indexes(installation: Installation) -> Iterator[Finding]:
    """Check that every chunk, and nothing else, has a vector, words and a signature."""
    with open_database(installation.database, "read") as connection, snapshot(connection):
        for tool in tools.list_tools(connection):
            if KINDS[tool.kind].has_texts and tool.generation:
                yield _of_tool(connection, installation.database, tool)


def _of_tool(connection: apsw.Connection, database: Path, tool: Tool) -> Finding:
    count = chunks.chunk_count(connection, tool.tables)
    wrong = _wrong_vectors(connection, tool)
    if wrong:
        return Finding(
            "trouble", "indexes",
            f"{tool.name}: {wrong} of {count} vectors do not have the {tool.dimension} dimensions "
            f"of {tool.fingerprint}",
            f"mdvec import -n {tool.name} --mode replace",
        )  # fmt: skip
    reason = _reason_to_rebuild(connection, tool, count)
    if reason is None:
        return Finding("ok", "indexes", f"{tool.name}: all indexes have its {count} chunks")
    if is_being_imported(database, tool):
        return Finding("ok", "indexes", f"{tool.name}: an import is running")
    return Finding(
        "trouble", "indexes", f"{tool.name}: {reason}", "mdvec doctor --fix",
        partial(rebuild_indexes, database, tool.name),
    )  # fmt: skip


def rebuild_indexes(database: Path, name: str) -> None:
    """Rebuild a tool's indexes from its stored chunks, without embedding anything.

    Raises:
        DatabaseError: the file cannot be written.
    """
    with open_database(database, "write") as connection:
        tool = tools.get_tool(connection, name)
        with only_import_of(database, tool, lambda _: None), connection:
            chunks.rebuild_indexes(connection, tools.get_tool(connection, name).tables)


def _wrong_vectors(connection: apsw.Connection, tool: Tool) -> int:
    return _number(
        connection,
        f"SELECT count(*) FROM {identifier(tool.tables.vectors)} WHERE length(embedding) <> "
        f"{_BYTES_PER_NUMBER * (tool.dimension or 0):d}",
    )


def _reason_to_rebuild(connection: apsw.Connection, tool: Tool, count: int) -> str | None:
    from mdvec.index.signature_build import entry_type, read_build

    if not (
        has_word_indexes(connection, tool.tables) and has_vector_index(connection, tool.tables)
    ):
        return "its search indexes are missing"
    vectors = identifier(tool.tables.vectors)
    # FTS5 keeps a row here for each row of a contentless table.
    rows = identifier(f"{tool.tables.fts}_docsize")
    missing = _number(
        connection, f"SELECT count(*) FROM {vectors} WHERE id NOT IN (SELECT id FROM {rows})"
    )
    extra = _number(
        connection, f"SELECT count(*) FROM {rows} WHERE id NOT IN (SELECT id FROM {vectors})"
    )
    if missing or extra:
        return f"its index of words lacks {missing} of {count} chunks and has {extra} too many"
    if not has_signatures(connection, tool.tables):
        return None  # a server has the vectors; the check of the engine compares them
    signed = _number(
        connection,
        f"SELECT coalesce(sum(length(signatures)), 0) FROM {identifier(tool.tables.signatures)} "
        "WHERE first_chunk > 0",
    )
    centred = read_build(connection, tool.tables).centre is not None
    signatures = signed / entry_type(tool.dimension or 1, centred=centred).itemsize
    if signatures != count:
        return f"it has {signatures:g} signatures for {count} vectors"
    return None


def _number(connection: apsw.Connection, sql: str) -> int:
    (number,) = connection.execute(sql).fetchone() or (0,)
    return int(number)
