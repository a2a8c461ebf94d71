"""Sends a vector engine what it missed while it was down, a bounded part at a time."""

from __future__ import annotations

import logging
from pathlib import Path

import apsw

from mdvec.database.connection import open_database
from mdvec.index import outbox
from mdvec.index.chroma import ChromaIndex
from mdvec.index.chroma_client import WRITE_SECONDS, CollectionMissing
from mdvec.index.chroma_server import ChromaServer
from mdvec.index.feeding import OtherWriter, claim, delete_retired, is_other_writer, send
from mdvec.index.outside import engine_has_answered
from mdvec.manage.import_tool import only_import_of
from mdvec.tools import rows as tools
from mdvec.tools.import_lock import is_being_imported
from mdvec.tools.kinds import KINDS
from mdvec.tools.rows import Tool

MAX_CHANGES = 10_000
"""Of one tool at a time, so that an import need not wait long."""

logger = logging.getLogger("mdvec")


def catch_up(database: Path, server: ChromaServer) -> int:
    """Send changes that wait, at most ``MAX_CHANGES`` of each tool; returns how many still wait.

    The vectors of deleted tools are deleted. Those of a generation before a rebuild are left to the
    next import, as a copy of the file may still search them.

    A tool that is being imported is left to its import, and a collection that another copy of the
    database has written to, or that has vanished, to `mdvec doctor`.

    Raises:
        EngineUnavailable: the server does not answer; nothing is lost.
        DatabaseError: the file cannot be read or written.
    """
    with open_database(database, "read") as connection:
        there = tools.list_tools(connection)
        behind = [tool for tool in there if _waiting(connection, tool)]
        ids = {tool.id for tool in there}
        gone = [name for name in outbox.retired(connection) if outbox.tool_of(name) not in ids]
    if gone:
        with open_database(database, "write") as connection:
            delete_retired(connection, server, gone)
    behind = [tool for tool in behind if not is_being_imported(database, tool)]
    return sum(_send(database, tool, server) for tool in behind)


def _waiting(connection: apsw.Connection, tool: Tool) -> int:
    if not tool.generation or not KINDS[tool.kind].has_texts:
        return 0
    return outbox.waiting_outside(connection, tool.tables) or 0


def _send(database: Path, tool: Tool, server: ChromaServer) -> int:
    """Send changes of a tool; how many are left."""
    with (
        open_database(database, "write") as connection,
        only_import_of(database, tool, lambda _: None),
    ):
        now = next((one for one in tools.list_tools(connection) if one.id == tool.id), None)
        if now is None or not _waiting(connection, now):
            return 0
        known = outbox.collection(connection, now.tables)
        index = ChromaIndex(server, known.name, WRITE_SECONDS)
        try:
            # Without a new mark: a copy of the file must not take the collection away from it.
            if is_other_writer(known, index.writer()):
                logger.debug("[engine] %s: %s", now.name, OtherWriter(server, now.tables))
                return 0
        except CollectionMissing as error:
            if known.writer or known.next:
                logger.debug("[engine] %s: %s", now.name, error)
                return 0
            claim(connection, now.tables, server, index)  # no import could reach the server yet
        send(connection, now.tables, index, MAX_CHANGES)
        engine_has_answered(server)
        return _waiting(connection, now)
