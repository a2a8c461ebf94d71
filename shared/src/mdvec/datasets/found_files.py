"""The data files of a scan, with the states that imports compare."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import apsw

from mdvec.datasets.interfaces import database_file
from mdvec.datasets.interfaces import tables as datasets
from mdvec.files.scan import FileState, FoundFile, Scan, UnreadableFile
from mdvec.tools.rows import Tool


def data_files(connection: apsw.Connection, tool: Tool, found: Scan) -> list[FoundFile]:
    """The files of a scan without our own copies; a database has the state of its log, too."""
    copies = datasets.snapshot_root(connection).resolve()
    has_copies = copies.is_relative_to(tool.source.resolve())
    return [
        _with_log(tool, file)
        for file in found.files
        if not (has_copies and source_path(tool, file.path).is_relative_to(copies))
    ]


def source_path(tool: Tool, path: str) -> Path:
    """The real file behind a path of the scan."""
    source = tool.source
    return (source / path if source.is_dir() else source).resolve()


def _with_log(tool: Tool, file: FoundFile) -> FoundFile:
    if not file.path.lower().endswith(".duckdb"):
        return file
    with suppress(UnreadableFile):  # opening it will say why
        size, mtime_ns = database_file.file_state(source_path(tool, file.path))
        return replace(file, size=size, mtime_ns=mtime_ns)
    return file


def stored_states(connection: apsw.Connection, tool: Tool) -> Mapping[str, FileState]:
    """The imported files with their states then."""
    files = datasets.imported_files(connection, tool.id).values()
    return {file.path: (file.size, file.mtime_ns) for file in files}


def found_states(connection: apsw.Connection, tool: Tool, found: Scan) -> Mapping[str, FileState]:
    """The files of a scan with their states now."""
    return {file.path: file.state for file in data_files(connection, tool, found)}
