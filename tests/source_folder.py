"""A folder of data files or of statements, its tool, and the tables that an import makes of it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NoReturn

import duckdb
import openpyxl
from collection import Collection
from mdvec.database.connection import open_database
from mdvec.datasets.core.understood import Understood
from mdvec.datasets.interfaces import dataset_tables
from mdvec.datasets.interfaces.connection import parquet_scan
from mdvec.datasets.interfaces.csv_file import csv_to_parquet
from mdvec.datasets.options import DatasetOptions
from mdvec.datasets.report import DatasetReport
from mdvec.importing.job import ImportReport, Mode
from mdvec.manage import registering
from mdvec.manage.tool_import import import_tool

READER = duckdb.connect()
"""Reads for all tests of a process, as each connection costs as much as a small import."""
READER.execute("SET enable_external_file_cache = false")


def no_model(name: str) -> NoReturn:
    """For imports that need no model."""
    raise AssertionError(f"the model {name} was asked for")


@dataclass
class SourceFolder(Collection):
    """One tool of any kind over one folder."""

    kind: str = "household"

    def __post_init__(self) -> None:
        self.folder.mkdir(parents=True, exist_ok=True)
        registering.add_tool(self.database, self.name, "the test's files", self.folder, self.kind)


@dataclass
class DataFolder(SourceFolder):
    """A dataset; its tables are read from the stored Parquet files."""

    kind: str = "dataset"

    def import_(self, mode: Mode = "update", **more: Any) -> ImportReport:
        """Import the folder, for which no model may be asked; ``options`` are the dataset's."""
        request = replace(self.request(mode), options=more.pop("options", DatasetOptions()))
        return import_tool(request, no_model, **more)

    def tables(self) -> dict[str, dataset_tables.DatasetTable]:
        """The stored tables by name."""
        with open_database(self.database, "read") as connection:
            return {table.name: table for table in dataset_tables.dataset_tables(connection, 1)}

    def types(self, name: str) -> dict[str, str]:
        """The type of each column of a table."""
        return {column.name: column.type for column in self.tables()[name].columns}

    def read(self, name: str, columns: str = "*") -> list[tuple[Any, ...]]:
        """The rows of a table."""
        scan = parquet_scan(self.tables()[name].parquet)
        return READER.execute(f"SELECT {columns} FROM {scan}").fetchall()

    def content(self, name: str) -> tuple[dict[str, str], list[tuple[Any, ...]]]:
        """The types of a table's columns, and its rows."""
        return self.types(name), self.read(name)

    @property
    def copies(self) -> list[Path]:
        """The copies that mdvec keeps of files that it cannot read in their place."""
        folder = Path(f"{self.database}.datasets/1")
        return sorted(folder.iterdir()) if folder.exists() else []


def problems(report: ImportReport) -> dict[str, str]:
    """Why each file failed, by path."""
    return {problem.file_path: problem.reason for problem in report.failed}


def left_out(report: ImportReport) -> dict[str, str]:
    """Why each file was left out, by path."""
    details = report.details
    assert isinstance(details, DatasetReport)
    return {problem.file_path: problem.reason for problem in details.left_out}


def converted(folder: Path, data: str | bytes, **how: Any) -> Understood:
    """How a CSV file with these bytes is read; its rows are in ``a.part`` of the folder."""
    (folder / "a.csv").write_bytes(data if isinstance(data, bytes) else data.encode())
    return csv_to_parquet(folder / "a.csv", folder / "a.part", **how)


def rows_in(folder: Path, columns: str = "*") -> duckdb.DuckDBPyConnection:
    """The rows of the file that was last converted there."""
    return READER.execute(f"SELECT {columns} FROM {parquet_scan(folder / 'a.part')}")


def workbook(path: Path, *sheets: tuple[str, Iterable[Sequence[Any]]]) -> openpyxl.Workbook:
    """A workbook of (name, rows) with whatever openpyxl writes."""
    book = openpyxl.Workbook()
    book.remove(book.active)
    for name, rows in sheets:
        sheet = book.create_sheet(name)
        for row in rows:
            sheet.append(row)
    book.save(path)
    return book
