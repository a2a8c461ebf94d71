"""What a database holds: all tools at a glance, or one in detail."""

from __future__ import annotations

import shlex
from dataclasses import dataclass
from pathlib import Path

import apsw

from mdvec.database.connection import open_database, snapshot
from mdvec.database.place import open_to_others, size_on_disk
from mdvec.datasets.interfaces import tables as datasets
from mdvec.datasets.interfaces.tables import DatasetTable
from mdvec.files.scan import ScanRules
from mdvec.index import chunks as vectors
from mdvec.index import documents
from mdvec.index.chunks import VectorStatistics
from mdvec.index.documents import DocumentLine
from mdvec.index.tables import Tables
from mdvec.text.chunking import ChunkingOptions
from mdvec.tools import rows as tools
from mdvec.tools.rows import Tool
from mdvec.tools.unfinished import unfinished


@dataclass(frozen=True, slots=True)
class ToolStatus:
    """A tool at a glance; ``model`` and ``last_import_at`` are None before its first import.

    ``tables`` and ``rows`` are those of a dataset, and None for other kinds. ``unfinished`` says
    how far an import came that has not finished.
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


@dataclass(frozen=True, slots=True)
class Overview:
    """The database file, its size in bytes with its log, its tools, and what is wrong with it.

    ``warnings`` are sentences: which of its files others than their owner may use, and the
    command that changes it.
    """

    database: Path
    file_size: int
    tools: tuple[ToolStatus, ...]
    warnings: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ToolDetails:
    """Everything about one tool."""

    database: Path
    status: ToolStatus
    description: str
    source: Path
    fingerprint: str | None
    dimension: int | None
    chunking: ChunkingOptions | None
    scan: ScanRules | None
    created_at: str
    updated_at: str
    statistics: VectorStatistics
    documents: tuple[DocumentLine, ...]
    tables: tuple[DatasetTable, ...]


def overview(database: Path) -> Overview:
    """All tools of a database.

    Raises:
        DatabaseError: the file is not there or cannot be read.
    """
    with open_database(database, "read") as connection, snapshot(connection):
        rows = tuple(_status(connection, tool) for tool in tools.list_tools(connection))
        size = size_on_disk(database)
    # Now that the file is closed: reading it makes a log for a while.
    return Overview(database, size, rows, _warnings(database))


def details(database: Path, name: str) -> ToolDetails:
    """One tool with its documents and its vectors, or its tables.

    Raises:
        DatabaseError: the file is not there or cannot be read.
        ToolNotFound: there is no such tool.
    """
    with open_database(database, "read") as connection, snapshot(connection):
        tool = tools.get_tool(connection, name)
        tables = _tables(tool)
        return ToolDetails(
            database=database,
            status=_status(connection, tool),
            description=tool.description,
            source=tool.source,
            fingerprint=tool.fingerprint,
            dimension=tool.dimension,
            chunking=tool.chunking,
            scan=tool.scan,
            created_at=tool.created_at,
            updated_at=tool.updated_at,
            statistics=vectors.vector_statistics(connection, tables),
            documents=tuple(documents.document_lines(connection, tables)),
            tables=_dataset_tables(connection, tool),
        )


def _status(connection: apsw.Connection, tool: Tool) -> ToolStatus:
    counts = documents.count(connection, _tables(tool))
    tables, rows = None, None
    if tool.kind == "dataset":
        tables, rows = datasets.table_counts(connection, tool.id)
    return ToolStatus(
        name=tool.name,
        kind=tool.kind,
        is_active=tool.is_active,
        documents=counts.documents,
        vectors=counts.chunks,
        model=tool.model,
        last_import_at=tool.last_import_at,
        tables=tables,
        rows=rows,
        unfinished=unfinished(connection, tool),
    )


def _dataset_tables(connection: apsw.Connection, tool: Tool) -> tuple[DatasetTable, ...]:
    if tool.kind != "dataset":
        return ()
    return tuple(datasets.dataset_tables(connection, tool.id))


def _tables(tool: Tool) -> Tables:
    return Tables(tool.id, tool.name, tool.generation)


def _warnings(database: Path) -> tuple[str, ...]:
    modes = open_to_others(database)
    if not modes:
        return ()
    found = ", ".join(f"{path} ({mode:04o})" for path, mode in modes.items())
    return (
        f"others than its owner may use {found}; "
        f"to change that: chmod 600 {shlex.join(map(str, modes))}",
    )
