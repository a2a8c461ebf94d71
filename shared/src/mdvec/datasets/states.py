"""The data files of a dataset and their states; comparing these loads no file reader."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from itertools import takewhile
from pathlib import Path

import apsw

from mdvec.database import is_own_format
from mdvec.datasets.interfaces import dataset_tables
from mdvec.datasets.interfaces.choices import file_state, has_logs
from mdvec.files import FileState, FoundFile, Scan, UnreadableFile
from mdvec.importing import Importer, ImportJob, ImportReport
from mdvec.tools import Tool


def data_files(connection: apsw.Connection, tool: Tool, scan: Scan) -> list[FoundFile]:
    """The files of a scan without our own database, and the copies of any.

    A database has the state of its logs, too.
    """
    own, root = Path(connection.filename).resolve(), tool.source.resolve()
    sources = ((file, source_path(tool, file.path)) for file in scan.files)
    return [
        _with_log(tool, file)
        for file, source in sources
        if source != own and not _is_copy(source, root)
    ]


def _is_copy(source: Path, root: Path) -> bool:
    """Whether a database of mdvec, which need not be this one, keeps its copies around a file."""
    return any(
        folder.suffix == dataset_tables.COPIES and is_own_format(folder.with_suffix(""))
        for folder in takewhile(lambda folder: folder != root, source.parents)
    )


def source_path(tool: Tool, path: str) -> Path:
    """The real file behind a path of the scan."""
    source = tool.source
    return (source / path if source.is_dir() else source).resolve()


def _with_log(tool: Tool, file: FoundFile) -> FoundFile:
    if not has_logs(file.path):
        return file
    with suppress(UnreadableFile):  # opening it will say why
        size, mtime_ns = file_state(source_path(tool, file.path))
        return replace(file, size=size, mtime_ns=mtime_ns)
    return file


def stored_states(connection: apsw.Connection, tool: Tool) -> Mapping[str, FileState]:
    """The imported files with their states then."""
    files = dataset_tables.imported_files(connection, tool.id).values()
    return {file.path: (file.size, file.mtime_ns) for file in files}


def found_states(connection: apsw.Connection, tool: Tool, scan: Scan) -> Mapping[str, FileState]:
    """The files of a scan with their states now."""
    return {file.path: file.state for file in data_files(connection, tool, scan)}


def _import_dataset(job: ImportJob) -> ImportReport:
    from mdvec.datasets.importer import import_dataset  # a query only compares the files

    return import_dataset(job)


DATASET = Importer(_import_dataset, stored_states, found_states)
