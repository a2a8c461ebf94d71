"""The states of a dataset's files, its tables for `mdvec status`, and removal of unneeded copies.

Comparing the states loads no file reader.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from itertools import takewhile
from pathlib import Path

import apsw

from mdvec.database import is_own_format
from mdvec.datasets.core.choices import ReadingChoice
from mdvec.datasets.core.grouping import group_of
from mdvec.datasets.interfaces import dataset_tables
from mdvec.datasets.interfaces.dataset_tables import (
    DatasetTable,
    file_state,
    has_logs,
    stored_choices,
)
from mdvec.datasets.interfaces.snapshots import Snapshots, remove_snapshots
from mdvec.files import FileState, FoundFile, Scan, UnreadableFile
from mdvec.importing import Importer, ImportJob, ImportReport
from mdvec.platform import followed
from mdvec.text import counted
from mdvec.tools import ContentCounts, Fact, KindStatus, StatusTable, Tool, registry

_LOST: FileState = (-1, 0)


@dataclass(frozen=True, slots=True)
class DatasetContents:
    """A dataset's tables, and how the user wants its files read."""

    tables: tuple[DatasetTable, ...]
    readings: tuple[ReadingChoice, ...] = ()

    def import_facts(self) -> list[Fact]:
        """The user's choices of how files are read, if there are any."""
        return [("read as chosen", "; ".join(map(str, self.readings)))] if self.readings else []

    def content_facts(self) -> list[Fact]:
        """The number of tables and of their rows."""
        return [
            ("tables", len(self.tables)),
            ("rows", sum(table.rows for table in self.tables)),
        ]

    def listing(self) -> StatusTable:
        """The tables, one per row."""
        return StatusTable(
            ("table", "from", "rows", "columns", "period of", "first", "last"),
            tuple(
                (
                    table.name, table.origin, table.rows, len(table.columns), table.period_column,
                    table.first, table.last,
                )
                for table in self.tables
            ),
        )  # fmt: skip

    def json_fields(self) -> dict[str, object]:
        """The tables, and the choices."""
        return {
            "tables": [
                {name: value for name, value in asdict(table).items() if name != "inner_table"}
                for table in self.tables  # its origin says the inner table
            ],
            "readings": [choice.json_fields() for choice in self.readings],
        }


def _count(connection: apsw.Connection, tool: Tool) -> ContentCounts:
    tables, rows = dataset_tables.table_counts(connection, tool.id)
    return ContentCounts(tables=tables, rows=rows)


def _read(connection: apsw.Connection, tool: Tool) -> DatasetContents:
    return DatasetContents(
        tuple(dataset_tables.dataset_tables(connection, tool.id)),
        stored_choices(connection, tool.id),
    )


DATASET_STATUS = KindStatus(
    overview_title="Datasets",
    overview_columns=("tables", "rows"),
    contents_title="Tables",
    count=_count,
    read=_read,
)


def remove_unneeded_copies(connection: apsw.Connection, tool_id: int) -> None:
    """Remove a dataset's copies that no table needs, and all copies of tools that are gone."""
    folder = dataset_tables.snapshot_folder(connection, tool_id)
    root = folder.parent
    folders = list(root.iterdir()) if root.is_dir() else []
    here = {str(tool.id) for tool in registry.list_tools(connection)}
    for other in folders:
        if other.name not in here:
            remove_snapshots(other)
    needed = dataset_tables.dataset_tables(connection, tool_id)
    Snapshots(folder).keep_only({table.parquet.name for table in needed if table.is_copy})


def data_files(connection: apsw.Connection, tool: Tool, scan: Scan) -> list[FoundFile]:
    """The files of a scan, without our own database and the private copies of any database.

    The state of a database includes its logs.
    """
    own, root = (followed(each) for each in (connection.filename, tool.source))
    sources = ((file, source_path(tool, file.path)) for file in scan.files)
    return [
        _with_log(file, source)
        for file, source in sources
        if source != own and not _is_copy(source, root)
    ]


def _is_copy(source: Path, root: Path) -> bool:
    """Whether a file is in a folder where an mdvec database keeps its private copies."""
    return any(
        folder.suffix == dataset_tables.COPIES and is_own_format(folder.with_suffix(""))
        for folder in takewhile(lambda folder: folder != root, source.parents)
    )


def source_path(tool: Tool, path: str) -> Path:
    """The real file behind a path of the scan."""
    source = tool.source
    return followed(source / path if source.is_dir() else source)


def _with_log(file: FoundFile, source: Path) -> FoundFile:
    if has_logs(file.path):
        with suppress(UnreadableFile):  # opening it will say why
            size, mtime_ns = file_state(source)
            return replace(file, size=size, mtime_ns=mtime_ns)
    return file


def stored_states(connection: apsw.Connection, tool: Tool) -> Mapping[str, FileState]:
    """The imported files with their states at the import; for a lost copy, an impossible state."""
    files = dataset_tables.imported_files(connection, tool.id).values()
    states = {file.path: (file.size, file.mtime_ns) for file in files}
    lost = (table for table in dataset_tables.dataset_tables(connection, tool.id) if table.is_lost)
    paths = {path for table in lost for path in table.file_paths}
    return {path: _LOST if path in paths else state for path, state in states.items()}


def found_states(connection: apsw.Connection, tool: Tool, scan: Scan) -> Mapping[str, FileState]:
    """The files of a scan with their present states."""
    return {file.path: file.state for file in data_files(connection, tool, scan)}


def _import_dataset(job: ImportJob) -> ImportReport:
    from mdvec.datasets.importer import import_dataset  # a query only compares the files

    return import_dataset(job)


def _content(connection: apsw.Connection, tool: Tool) -> str:
    tables = len(dataset_tables.dataset_tables(connection, tool.id))
    return counted(tables, "table") if tables else ""


def tables_with(
    connection: apsw.Connection, tool: Tool, paths: Collection[str]
) -> Mapping[str, frozenset[str]]:
    """The tables that each file, or table of a file (``a.xlsx#2``), is or would be a part of."""
    if not paths:
        return {}
    tables = dataset_tables.dataset_tables(connection, tool.id)
    return {
        path: frozenset(table.name for table in tables if _would_have(table, path))
        for path in paths
    }


def _would_have(table: DatasetTable, path: str) -> bool:
    group = group_of(path)
    if table.combined is None:
        is_alike = group is not None and group_of(table.path) == group
        return is_alike or path in (table.path, table.origin)
    return path in table.file_paths or table.combined.group.has(path)


DATASET = Importer(_import_dataset, stored_states, found_states, _content, tables_with=tables_with)
