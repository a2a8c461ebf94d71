"""What is recorded of data files: the files as they were imported, and the tables they hold.

A table is one Parquet file: the user's own, in its place, or a private copy beside the database,
in ``<database>.datasets/<tool's number>/``.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

import apsw

from mdvec.datasets.core.columns import Column


@dataclass(frozen=True, slots=True)
class DatasetTable:
    """A table of a dataset.

    ``name`` is its name in SQL, ``origin`` the user's file as the source folder shows it, with
    ``#table`` for one of a .duckdb file. ``parquet`` is the file to read, ``source`` the user's,
    both absolute; they are the same for a Parquet file. ``size`` and ``mtime_ns`` are the
    source's at its import (of a .duckdb file with its log). ``first`` and ``last`` are the ends,
    in ISO's form, of ``period_column``, the first column of dates or times.
    """

    name: str
    origin: str
    parquet: Path
    source: Path
    size: int
    mtime_ns: int
    rows: int
    columns: tuple[Column, ...]
    period_column: str | None
    first: str | None
    last: str | None

    @property
    def is_copy(self) -> bool:
        """Whether it is read from a private copy."""
        return self.parquet != self.source


@dataclass(frozen=True, slots=True)
class FileTable:
    """A table with where it is from: the file as a scan names it, and the table within it or ''."""

    path: str
    inner_table: str
    table: DatasetTable


@dataclass(frozen=True, slots=True)
class ImportedFile:
    """A file that was imported whole, as it was then.

    ``left_out`` names what within it is no table, with reasons; ``app_version`` is the version of
    mdvec that read it.
    """

    path: str
    size: int
    mtime_ns: int
    left_out: tuple[tuple[str, str], ...]
    app_version: str


def dataset_tables(connection: apsw.Connection, tool_id: int) -> list[DatasetTable]:
    """The tables of a dataset, by name."""
    return [of_file.table for of_file in file_tables(connection, tool_id)]


def file_tables(connection: apsw.Connection, tool_id: int) -> list[FileTable]:
    """The tables of a dataset with the files they are from, by name."""
    folder = snapshot_folder(connection, tool_id)
    rows = connection.execute(
        "SELECT name, path, inner_table, source, snapshot, size, mtime_ns, rows, columns, "
        "period_column, period_first, period_last FROM dataset_tables WHERE tool_id = ? "
        "ORDER BY name",
        (tool_id,),
    )
    return [_file_table(folder, row) for row in rows]


def table_counts(connection: apsw.Connection, tool_id: int) -> tuple[int, int]:
    """How many tables a dataset has, and how many rows they have together."""
    tables, rows = connection.execute(
        "SELECT count(*), coalesce(sum(rows), 0) FROM dataset_tables WHERE tool_id = ?", (tool_id,)
    ).fetchone() or (0, 0)
    return int(tables), int(rows)


def imported_files(connection: apsw.Connection, tool_id: int) -> Mapping[str, ImportedFile]:
    """The files that were imported whole, by path."""
    rows = connection.execute(
        "SELECT path, size, mtime_ns, left_out, app_version FROM dataset_files WHERE tool_id = ?",
        (tool_id,),
    )
    return {
        str(path): ImportedFile(
            str(path), size, mtime_ns, tuple((name, why) for name, why in json.loads(left)), version
        )
        for path, size, mtime_ns, left, version in rows
    }


def record_dataset(
    connection: apsw.Connection,
    tool_id: int,
    files: Iterable[ImportedFile],
    tables: Iterable[FileTable],
) -> None:
    """Put these in the place of what was recorded; call within a transaction."""
    connection.execute("DELETE FROM dataset_files WHERE tool_id = ?", (tool_id,))
    connection.execute("DELETE FROM dataset_tables WHERE tool_id = ?", (tool_id,))
    connection.executemany(
        "INSERT INTO dataset_files VALUES (?, ?, ?, ?, ?, ?)",
        (
            (
                tool_id, file.path, file.size, file.mtime_ns,
                json.dumps(file.left_out, ensure_ascii=False), file.app_version,
            )
            for file in files
        ),
    )  # fmt: skip
    connection.executemany(
        "INSERT INTO dataset_tables VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        (
            (
                tool_id, table.name, of_file.path, of_file.inner_table, str(table.source),
                table.parquet.name if table.is_copy else None, table.size, table.mtime_ns,
                table.rows,
                json.dumps([(column.name, column.type) for column in table.columns]),
                table.period_column, table.first, table.last,
            )
            for of_file in tables
            for table in (of_file.table,)
        ),
    )  # fmt: skip


def snapshot_root(connection: apsw.Connection) -> Path:
    """The folder beside the database that all private copies lie in; it need not be there."""
    return Path(f"{connection.filename}.datasets")


def snapshot_folder(connection: apsw.Connection, tool_id: int) -> Path:
    """The folder of one tool's private copies; it need not be there."""
    return snapshot_root(connection) / str(tool_id)


def _file_table(folder: Path, row: apsw.SQLiteValues) -> FileTable:
    name, path, inner, source, snapshot, size, mtime_ns, rows, columns, *period = row
    table = DatasetTable(
        name=str(name),
        origin=origin_of(str(path), str(inner)),
        parquet=Path(str(source)) if snapshot is None else folder / str(snapshot),
        source=Path(str(source)),
        size=size,  # type: ignore[arg-type]
        mtime_ns=mtime_ns,  # type: ignore[arg-type]
        rows=rows,  # type: ignore[arg-type]
        columns=tuple(Column(*column) for column in json.loads(str(columns))),
        period_column=period[0],  # type: ignore[arg-type]
        first=period[1],  # type: ignore[arg-type]
        last=period[2],  # type: ignore[arg-type]
    )
    return FileTable(str(path), str(inner), table)


def origin_of(path: str, inner_table: str) -> str:
    """A table's file as its user knows it, with the table within it."""
    return f"{path}#{inner_table}" if inner_table else path
