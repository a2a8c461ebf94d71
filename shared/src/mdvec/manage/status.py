"""Reads the status of a database: an overview of all tools, or one tool in detail.

Raises a DatabaseError if the file is missing or cannot be read, and ToolNotFound for an unknown
name.
"""

from __future__ import annotations

import shlex
from dataclasses import asdict, dataclass
from pathlib import Path

import apsw

from mdvec import tools
from mdvec.database import open_database, open_to_others, size_on_disk, snapshot
from mdvec.importing import Failure, failures
from mdvec.index import VectorStatistics, unsent_count
from mdvec.manage.kind_code import KIND_CODE
from mdvec.tools import registry

_NO_VECTORS = VectorStatistics(count=0, shortest=0, mean=0.0, longest=0, embedding_bytes=0)


@dataclass(frozen=True, slots=True)
class ToolStatus:
    """The status of one tool.

    ``model`` and ``last_import_at`` are None before its first import, ``tables`` and ``rows`` are
    None unless it is a dataset. ``unfinished`` is the progress of an unfinished import.
    ``engine`` is what indexes its vectors, None without vectors; ``unsent`` is how many of them
    were not sent to Chroma yet.
    """

    name: str
    kind: str
    is_active: bool
    documents: int
    vectors: int
    model: str | None
    last_import_at: str | None
    tables: int | None = None
    rows: int | None = None
    unfinished: str | None = None
    engine: str | None = None
    unsent: int = 0


@dataclass(frozen=True, slots=True)
class Overview:
    """The database file, its size in bytes including its write-ahead log, and its tools.

    ``warnings`` are about files that other users can open, and tools with names reserved for the
    server.
    """

    database: Path
    file_size: int
    tools: tuple[ToolStatus, ...]
    warnings: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ToolDetails:
    """The details of one tool; ``failed`` are the files that its last import could not read."""

    database: Path
    tool: tools.Tool
    status: ToolStatus
    contents: tools.Contents
    failed: tuple[Failure, ...]

    def json_fields(self) -> dict[str, object]:
        """The fields of `mdvec status -n NAME --format json`, the same for all kinds of tools."""
        status = asdict(self.status)
        counts = {
            "document_count": status.pop("documents"),
            "vector_count": status.pop("vectors"),
            "table_count": status.pop("tables"),
            "row_count": status.pop("rows"),
        }
        return {
            **status,
            **counts,
            "failed": [{"file": each.file_path, "reason": each.reason} for each in self.failed],
            "database": self.database,
            "title": self.tool.title,
            "description": self.tool.description,
            "source": self.tool.source,
            "fingerprint": self.tool.fingerprint,
            "dimension": self.tool.dimension,
            "chunking": self.tool.chunking and asdict(self.tool.chunking),
            "scan": self.tool.scan and self.tool.scan.json_fields(),
            "created_at": self.tool.created_at,
            "updated_at": self.tool.updated_at,
            "statistics": asdict(_NO_VECTORS),
            "documents": [],
            "tags": [],
            "tables": [],
            "readings": [],
            **self.contents.json_fields(),
        }


def overview(database: Path) -> Overview:
    """All tools of a database."""
    with open_database(database, "read") as connection, snapshot(connection):
        rows = tuple(_status(connection, tool) for tool in registry.list_tools(connection))
        size = size_on_disk(database)
    # Only after the file is closed, because reading it creates a temporary log.
    taken = tools.reserved_names_taken([row.name for row in rows])
    warnings = (*_warnings(database), *taken)
    return Overview(database, size, rows, warnings)


def details(database: Path, name: str) -> ToolDetails:
    """A tool's status, settings and contents."""
    with open_database(database, "read") as connection, snapshot(connection):
        tool = registry.get_tool(connection, name)
        contents = kind_status(tool.kind).read(connection, tool)
        failed = tuple(failures(connection, tool.id))
        return ToolDetails(database, tool, _status(connection, tool), contents, failed)


def kind_status(kind: str) -> tools.KindStatus:
    """The functions that read and show the status of tools of that kind."""
    return KIND_CODE[kind].status()


def _status(connection: apsw.Connection, tool: tools.Tool) -> ToolStatus:
    counts = kind_status(tool.kind).count(connection, tool)
    has_vectors = tools.KINDS[tool.kind].has_texts and tool.generation > 0
    unsent = unsent_count(tool.tables_in(connection)) if has_vectors else None
    inside = "sqlite" if has_vectors else None
    return ToolStatus(
        name=tool.name,
        kind=tool.kind,
        is_active=tool.is_active,
        model=tool.model,
        last_import_at=tool.last_import_at,
        unfinished=tools.still_to_come(connection, tool),
        engine=inside if unsent is None else "chroma",
        unsent=unsent or 0,
        **asdict(counts),
    )


def _warnings(database: Path) -> tuple[str, ...]:
    modes = open_to_others(database)
    if not modes:
        return ()
    paths = ", ".join(f"{path} ({mode:04o})" for path, mode in modes.items())
    return (
        f"other users can open {paths}; to change that: chmod 600 {shlex.join(map(str, modes))}",
    )
