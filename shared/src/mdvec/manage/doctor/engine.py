"""Checks the vectors on a Chroma server against the chunks in the database, and sends them anew."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from pathlib import Path

import apsw

from mdvec.database import open_database, snapshot
from mdvec.index import (
    WRITE_SECONDS,
    ChromaIndex,
    ChromaServer,
    CollectionMissing,
    EngineUnavailable,
    ExtraMissing,
    StoredCollection,
    client,
    collection_of,
    delete_unused_collections,
    differences,
    rebuild_vector_index,
    send_vectors,
    translated_errors,
    unused_collections,
)
from mdvec.manage.doctor.findings import Finding, FindingLevel, Installation
from mdvec.tools import KINDS, Tool, is_being_imported, only_import_of, registry

_CHECK = "engine"


def check_engine(installation: Installation) -> Iterator[Finding]:
    """Check that the engine of the settings has exactly the vectors of every tool."""
    server, database = installation.settings.vector_engine, installation.database
    with open_database(database, "read") as connection, snapshot(connection):
        indexed = [
            (tool, collection_of(connection, tool.tables))
            for tool in registry.list_tools(connection)
            if KINDS[tool.kind].has_texts and tool.generation
        ]
        unused = unused_collections(connection)
    if server is None:
        outside = [tool for tool, known in indexed if known is not None]
        for tool in outside:
            sentence = f"{tool.name}: its vectors are in Chroma, but [index] engine is 'sqlite'"
            yield _fixable("trouble", sentence, database, tool, None, in_new_index=True)
        if not outside:
            yield Finding("ok", _CHECK, "the database file indexes the vectors")
        return
    try:
        with translated_errors(server):
            client(server, WRITE_SECONDS).heartbeat()
    except ExtraMissing as error:
        yield Finding("trouble", _CHECK, str(error))
        return
    except EngineUnavailable as error:
        yield Finding(
            "trouble", _CHECK, f"{error}; searches use words alone until it does",
            "chroma run --path FOLDER",
        )  # fmt: skip
        return
    yield Finding("ok", _CHECK, f"{server.name} answers")
    for tool, known in indexed:
        yield _of_tool(database, tool, known, server)
    if unused:
        yield Finding(
            "warning", _CHECK, f"{len(unused)} collections in {server.name} are not used any more",
            "mdvec doctor --fix", partial(_delete_unused, database, server),
        )  # fmt: skip


def _of_tool(
    database: Path, tool: Tool, known: StoredCollection | None, server: ChromaServer
) -> Finding:
    if is_being_imported(database, tool):
        return Finding("ok", _CHECK, f"an import of {tool.name} is running")
    if known is None:
        sentence = f"{tool.name}: its vectors are not in {server.name} yet"
        return _fixable("warning", sentence, database, tool, server, in_new_index=True)
    with open_database(database, "read") as connection, snapshot(connection):
        return _compared(connection, database, tool, known, server)


def _fixable(
    level: FindingLevel,
    sentence: str,
    database: Path,
    tool: Tool,
    server: ChromaServer | None,
    *,
    in_new_index: bool = False,
) -> Finding:
    fix = partial(_rebuild, database, tool.name, server, in_new_index=in_new_index)
    return Finding(level, _CHECK, sentence, "mdvec doctor --fix", fix)


def _compared(
    connection: apsw.Connection,
    database: Path,
    tool: Tool,
    known: StoredCollection,
    server: ChromaServer,
) -> Finding:
    """Whether the server has exactly the vectors of a tool, and only this file writes them."""
    index = ChromaIndex(server, known.name, WRITE_SECONDS)
    try:
        if known.is_changed_elsewhere(index.build()):
            sentence = (
                f"{tool.name}: another copy of this database has changed its vectors in "
                f"{server.name}"
            )
            return _fixable("trouble", sentence, database, tool, server, in_new_index=True)
        lacking, extra = differences(connection, tool.tables, index)
    except CollectionMissing:
        sentence = f"{tool.name}: {server.name} does not have its vectors"
        return _fixable("trouble", sentence, database, tool, server)
    if lacking or extra:
        sentence = (
            f"{tool.name}: {server.name} lacks {len(lacking):,} vectors and has {len(extra):,} "
            "too many"
        )
        return _fixable("trouble", sentence, database, tool, server)
    return Finding("ok", _CHECK, f"{tool.name}: {server.name} has exactly its vectors")


def _rebuild(database: Path, name: str, server: ChromaServer | None, *, in_new_index: bool) -> None:
    """Index a tool's stored vectors where the settings want it; the old index stays if it can."""
    with open_database(database, "write") as connection:
        tool = registry.get_tool(connection, name)
        with only_import_of(database, tool, lambda _: None):
            names = registry.get_tool(connection, name).tables
            if in_new_index:
                with connection:
                    rebuild_vector_index(connection, names, outside=server is not None)
            if server is not None:
                send_vectors(connection, names, server, compare=True)


def _delete_unused(database: Path, server: ChromaServer) -> None:
    with open_database(database, "write") as connection:
        delete_unused_collections(connection, server)
