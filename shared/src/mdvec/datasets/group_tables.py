"""The records of tables after their import: of one file, or of many as one table."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import replace
from pathlib import Path

from mdvec import __version__
from mdvec.datasets.combined_import import CombinedOutcome
from mdvec.datasets.interfaces.parquet import ParquetFacts, parquet_facts
from mdvec.datasets.interfaces.tables import (
    Combination,
    CombinedFile,
    DatasetTable,
    FileTable,
    ImportedFile,
    origin_of,
)
from mdvec.datasets.planning import PlannedGroup
from mdvec.files.scan import FoundFile, Scan


def file_table(
    name: str, file: FoundFile, inner_table: str, source: Path, parquet: Path, facts: ParquetFacts
) -> FileTable:
    """The table of one file, or one of the tables in it."""
    table = DatasetTable(
        name=name,
        origin=origin_of(file.path, inner_table),
        parquet=parquet,
        source=source,
        size=file.size,
        mtime_ns=file.mtime_ns,
        rows=facts.rows,
        columns=facts.columns,
        period_column=facts.period_column,
        first=facts.first,
        last=facts.last,
    )
    return FileTable(file.path, inner_table, table)


def group_table(
    name: str, root: Path, planned: PlannedGroup, outcome: CombinedOutcome
) -> FileTable | None:
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
        if planned.old is None:
            return None
        table = replace(planned.old.table, name=name, combined=combined)
        return FileTable(group.pattern, "", table)
    facts = parquet_facts(outcome.parquet)
    table = DatasetTable(
        name=name,
        origin=group.pattern,
        parquet=outcome.parquet,
        source=root,
        size=sum(file.size for file in files),
        mtime_ns=max(file.mtime_ns for file in files),
        rows=facts.rows,
        columns=facts.columns,
        period_column=facts.period_column,
        first=facts.first,
        last=facts.last,
        combined=combined,
    )
    return FileTable(group.pattern, "", table)


def complete_files(planned: PlannedGroup, outcome: CombinedOutcome) -> Iterator[ImportedFile]:
    """The files of a group that are in its table as they are now, and those that are no tables."""
    failed = {path for path, _ in outcome.failed}
    for file in planned.files:
        if file.path in outcome.files and file.path not in failed:
            yield ImportedFile(file.path, file.size, file.mtime_ns, (), __version__)
        elif file.path in outcome.no_tables:
            left_out = ((file.path, outcome.no_tables[file.path]),)
            yield ImportedFile(file.path, file.size, file.mtime_ns, left_out, __version__)


def files_before(planned: PlannedGroup) -> tuple[CombinedFile, ...]:
    """The files of a group's table at the last import."""
    old = planned.old
    return () if old is None or old.table.combined is None else old.table.combined.files


def unseen_files(planned: PlannedGroup, found: Scan) -> Collection[str]:
    """The paths of files before that were not found, but may still exist."""
    there = {file.path for file in planned.files}
    return {
        file.path
        for file in files_before(planned)
        if file.path not in there and found.may_still_have(file.path)
    }
