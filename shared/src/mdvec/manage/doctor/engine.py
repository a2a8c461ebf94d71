"""Checks the vectors on a Chroma server against the chunks in the database, and mends them."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from pathlib import Path

import apsw

from mdvec.database.connection import open_database, snapshot
from mdvec.index import outbox
from mdvec.index.chroma import ChromaIndex
from mdvec.index.chroma_client import (
    WRITE_SECONDS,
    CollectionMissing,
    ExtraMissing,
    client,
    translated_errors,
)
from mdvec.index.chroma_server import ChromaServer
from mdvec.index.feeding import (
    claim,
    delete_retired,
    differences,
    enqueue_differences,
    is_other_writer,
    send,
)
from mdvec.index.nearest import EngineUnavailable
from mdvec.index.vector_tables import rebuild_vector_index
from mdvec.manage.doctor.findings import Finding, Installation
from mdvec.manage.import_tool import only_import_of
from mdvec.tools import rows as tools
from mdvec.tools.import_lock import is_being_imported
from mdvec.tools.kinds import KINDS
from mdvec.tools.rows import Tool

_CHECK = "engine"
_FIX = "mdvec doctor --fix"


def check_engine(installation: Installation) -> Iterator[Finding]:
    """Check that the engine has exactly the vectors of every tool whose index it is."""
    server, database = installation.settings.vector_engine, installation.database
    with open_database(database, "read") as connection:
        indexed = [
            tool
            for tool in tools.list_tools(connection)
            if KINDS[tool.kind].has_texts and tool.generation
        ]
        outside = [tool for tool in indexed if outbox.has_outbox(connection, tool.tables)]
        unused = outbox.retired(connection)
    if server is None:
        yield from _without_server(database, outside)
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
    for tool in indexed:
        if is_being_imported(database, tool):
            yield Finding("ok", _CHECK, f"an import of {tool.name} is running")
        elif tool in outside:
            with open_database(database, "read") as connection, snapshot(connection):
                yield from _of_tool(connection, database, tool, server)
        else:
            yield Finding(
                "warning", _CHECK, f"{tool.name}: its vectors are not in {server.name} yet",
                _FIX, partial(_move, database, tool.name, server),
            )  # fmt: skip
    if unused:
        yield Finding(
            "warning", _CHECK, f"{len(unused)} collections in {server.name} are not used any more",
            _FIX, partial(_delete_unused, database, server),
        )  # fmt: skip


def _without_server(database: Path, outside: list[Tool]) -> Iterator[Finding]:
    for tool in outside:
        yield Finding(
            "trouble", _CHECK,
            f"{tool.name}: its vectors are in Chroma, but [index] engine is 'sqlite'",
            _FIX, partial(_move, database, tool.name, None),
        )  # fmt: skip
    if not outside:
        yield Finding("ok", _CHECK, "the database file indexes the vectors")


def _of_tool(
    connection: apsw.Connection, database: Path, tool: Tool, server: ChromaServer
) -> Iterator[Finding]:
    known = outbox.collection(connection, tool.tables)
    index = ChromaIndex(server, known.name, WRITE_SECONDS)
    mend = partial(_mend, database, tool.name, server)
    try:
        if is_other_writer(known, index.writer()):
            yield Finding(
                "trouble", _CHECK,
                f"{tool.name}: another copy of this database has changed its vectors in "
                f"{server.name}",
                _FIX, partial(_part, database, tool.name, server),
            )  # fmt: skip
            return
        lacking, extra = differences(connection, tool.tables, index)
        foreign = (
            index.count()
            - len(extra)
            + len(lacking)
            - len(outbox.stored_ids(connection, tool.tables))
        )
        if lacking or extra or foreign:
            yield Finding(
                "trouble", _CHECK,
                f"{tool.name}: {server.name} lacks {len(lacking):,} vectors and has "
                f"{len(extra) + foreign:,} too many",
                _FIX, mend,
            )  # fmt: skip
        else:
            yield Finding("ok", _CHECK, f"{tool.name}: {server.name} has exactly its vectors")
        yield from _graph(index, tool, server)
    except CollectionMissing:
        yield Finding(
            "trouble", _CHECK, f"{tool.name}: {server.name} does not have its vectors", _FIX, mend
        )


def _graph(index: ChromaIndex, tool: Tool, server: ChromaServer) -> Iterator[Finding]:
    """Whether the graph was made with other settings, which only a rebuild changes."""
    there = index.settings()
    wanted = {
        "space": server.hnsw.space,
        "ef_construction": server.hnsw.ef_construction,
        "max_neighbors": server.hnsw.max_neighbors,
    }
    differing = [f"{key} = {there.get(key)}" for key in wanted if there.get(key) != wanted[key]]
    if differing:
        yield Finding(
            "warning", _CHECK,
            f"{tool.name}: its graph was made with {', '.join(differing)}, unlike [index.hnsw]",
            f"mdvec import -n {tool.name} --mode replace",
        )  # fmt: skip


def _move(database: Path, name: str, server: ChromaServer | None) -> None:
    """Index a tool's vectors where the settings want it, from the stored embeddings."""
    with open_database(database, "write") as connection:
        tool = tools.get_tool(connection, name)
        with only_import_of(database, tool, lambda _: None):
            names = tools.get_tool(connection, name).tables
            if outbox.has_outbox(connection, names) != (server is not None):
                with connection:
                    rebuild_vector_index(connection, names, outside=server is not None)
    if server is not None:
        _mend(database, name, server)


def _part(database: Path, name: str, server: ChromaServer) -> None:
    """Give this copy of the database a collection of its own; the other keeps the present one."""
    with open_database(database, "write") as connection:
        tool = tools.get_tool(connection, name)
        with only_import_of(database, tool, lambda _: None), connection:
            names = tools.get_tool(connection, name).tables
            outbox.leave_collection(connection, names)
    _mend(database, name, server)


def _mend(database: Path, name: str, server: ChromaServer) -> None:
    """Make the server have exactly the stored vectors."""
    with open_database(database, "write") as connection:
        tool = tools.get_tool(connection, name)
        with only_import_of(database, tool, lambda _: None):
            names = tools.get_tool(connection, name).tables
            known = outbox.collection(connection, names)
            index = ChromaIndex(server, known.name, WRITE_SECONDS)
            claim(connection, names, server, index)
            send(connection, names, index)
            enqueue_differences(connection, names, index)
            send(connection, names, index)


def _delete_unused(database: Path, server: ChromaServer) -> None:
    with open_database(database, "write") as connection:
        delete_retired(connection, server)
