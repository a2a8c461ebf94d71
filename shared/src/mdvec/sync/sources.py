"""What each active tool reads, how fresh its index is, and what could not be imported."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from mdvec.database.connection import open_database, snapshot
from mdvec.files.scan import ScanRules
from mdvec.importing.failures import Failure, failures
from mdvec.sync.freshness import Freshness, look_through
from mdvec.tools import rows as tools
from mdvec.tools.rows import Tool
from mdvec.tools.unfinished import unfinished


@dataclass(frozen=True, slots=True)
class Source:
    """The source of one tool, as it is now.

    ``unfinished`` says how far an unfinished import has come, and how to continue it.
    """

    tool: Tool
    freshness: Freshness
    failed: tuple[Failure, ...]
    unfinished: str | None = None


def list_sources(database: Path, rules: ScanRules) -> list[Source]:
    """The sources of all active tools, by the tools' names.

    Args:
        database: the database file.
        rules: the scan rules of the settings, for tools that have none of their own yet.

    Raises:
        DatabaseError: the file is missing or cannot be read.
    """
    with open_database(database, "read") as connection, snapshot(connection):
        return [
            Source(
                tool,
                look_through(connection, tool, rules),
                tuple(failures(connection, tool.id)),
                unfinished(connection, tool),
            )
            for tool in tools.list_tools(connection, active_only=True)
        ]
