"""Collects an import's tables, by file and by group."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from mdvec.datasets.combined_import import CombinedOutcome
from mdvec.datasets.core.columns import TableExtent
from mdvec.datasets.core.grouping import table_name
from mdvec.datasets.interfaces.dataset_tables import (
    Combination,
    DatasetTable,
    ImportedFile,
    origin_of,
)
from mdvec.datasets.interfaces.parquet import parquet_extent
from mdvec.datasets.planning import PlannedGroup
from mdvec.files import FileState, FoundFile, UnreadableFile, split_ending
from mdvec.tools import Tool


class TableNameTaken(UnreadableFile):
    """Another file's table has the SQL name that this one would have."""


class CollectedTables(dict[str, DatasetTable]):
    """Tables by their SQL names, in the order in which they were added."""

    def __init__(self, tool: Tool) -> None:
        super().__init__()
        self._tool = tool

    def put(self, table: DatasetTable) -> None:
        """Add a table under its name."""
        self[table.name] = table

    def free_name(self, path: str, inner_table: str) -> str:
        """The SQL name of a file's table.

        Raises:
            TableNameTaken: another file's table has it.
        """
        file = split_ending(path)[0] if self._tool.source.is_dir() else ""
        return self.free(file, inner_table)

    def free(self, *parts: str) -> str:
        """The SQL name of a table that is called by these words of a file or of a group.

        Raises:
            TableNameTaken: another file's table has it.
        """
        name = table_name(self._tool.name, *filter(None, parts))
        if other := self.get(name):
            remedy = "rename one of them"
            if other.combined and other.combined.group.is_chosen:
                remedy = "give --table another name, or rename the file"
            raise TableNameTaken(
                f"its table would be called {name}, as that of {other.origin} is; {remedy}"
            )
        return name


def file_table(
    name: str, file: FoundFile, inner_table: str, source: Path, parquet: Path, extent: TableExtent
) -> DatasetTable:
    """The table of one file, or one of the tables in it."""
    origin = origin_of(file.path, inner_table)
    return _table(name, origin, source, file.state, parquet, extent, inner_table=inner_table)


def group_table(
    name: str, root: Path, planned: PlannedGroup, outcome: CombinedOutcome
) -> DatasetTable | None:
    """The table of a group; None if none of its files are in it.

    Raises:
        UnreadableFile: its new Parquet file cannot be read.
    """
    files = tuple(outcome.files.values())
    if not files:
        return None
    group = planned.group
    combined = Combination(group, outcome.file_column, outcome.from_path, files)
    if outcome.parquet is None:
        return replace(planned.old, name=name, combined=combined) if planned.old else None
    state = sum(file.size for file in files), max(file.mtime_ns for file in files)
    extent = parquet_extent(outcome.parquet)
    return _table(name, group.pattern, root, state, outcome.parquet, extent, combined=combined)


def _table(
    name: str, origin: str, source: Path, state: FileState, parquet: Path, extent: TableExtent,
    *, inner_table: str = "", combined: Combination | None = None,
) -> DatasetTable:  # fmt: skip
    return DatasetTable(
        name, origin, parquet, source, *state, rows=extent.rows, columns=extent.columns,
        period_column=extent.period_column, first=extent.first, last=extent.last,
        combined=combined, inner_table=inner_table,
    )  # fmt: skip


def complete_files(planned: PlannedGroup, outcome: CombinedOutcome) -> Iterator[ImportedFile]:
    """The files of a group whose present state is in its table, and those without tables."""
    for file in planned.files:
        if file.path in outcome.files and file.path not in outcome.failed:
            yield ImportedFile(file.path, *file.state)
        elif reason := outcome.no_tables.get(file.path):
            yield ImportedFile(file.path, *file.state, ((file.path, reason),))
