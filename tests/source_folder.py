"""A folder of data files or of statements, its tool, and the tables that an import makes of it."""

from __future__ import annotations

import shutil
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NoReturn, Self

import duckdb
import openpyxl
from collection import Collection
from mdvec.database.connection import open_database
from mdvec.datasets.core.choices import ReadingChoice, reading_of
from mdvec.datasets.core.understood import ReadingOptions, Understood
from mdvec.datasets.interfaces import dataset_tables
from mdvec.datasets.interfaces.connection import parquet_scan
from mdvec.datasets.interfaces.csv_file import csv_to_parquet
from mdvec.datasets.options import DatasetOptions, chosen_tables, reading_choices
from mdvec.datasets.report import DatasetReport
from mdvec.datasets.status import DatasetContents
from mdvec.importing.job import ImportReport, Mode
from mdvec.manage import registering
from mdvec.manage.status import details
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
        if not self.is_new:
            return
        self.folder.mkdir(parents=True, exist_ok=True)
        registering.add_tool(self.database, self.name, "the test's files", self.folder, self.kind)

    def copied(self, place: Path) -> Self:
        """The same in an empty folder, whose tool reads the files there."""
        shutil.copytree(self.database.parent, place, dirs_exist_ok=True)
        source, database = place / self.folder.name, place / self.database.name
        registering.update_tool(database, self.name, None, source)
        return replace(self, folder=source, database=database, is_new=False)


@dataclass
class DataFolder(SourceFolder):
    """A dataset; its tables are read from the stored Parquet files."""

    kind: str = "dataset"

    def import_(  # type: ignore[override]  # its options are a dataset's
        self,
        mode: Mode = "update",
        tables: Iterable[str] = (),
        readings: tuple[ReadingChoice, ...] = (),
        *,
        is_separate: bool = False,
        **more: Any,
    ) -> ImportReport:
        """Import the folder, for which no model may be asked."""
        options = DatasetOptions(chosen_tables(tables), is_separate=is_separate, readings=readings)
        return import_tool(replace(self.request(mode), options=options), no_model, **more)

    def choose(self, *columns: str, mode: Mode = "update", **choices: Any) -> ImportReport:
        """Import the folder with choices of how its files are read."""
        return self.import_(mode, readings=reading_choices(columns, **choices))

    def choices(self) -> list[str]:
        """The choices that are kept for the next imports."""
        contents = details(self.database, self.name).contents
        assert isinstance(contents, DatasetContents)
        return [str(choice) for choice in contents.readings]

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


def told(report: ImportReport, kind: str = "read") -> list[str]:
    """What a report says of how files were read, or of choices that are ``unused``."""
    return [line.text for line in report.lines() if line.text.startswith(f"{kind}: ")]


def notes_of(report: ImportReport) -> list[tuple[str, ...]]:
    """The notes on the reading of each table."""
    assert isinstance(report.details, DatasetReport)
    return [understood.notes for table in report.details.readings for understood in table.values()]


def left_out(report: ImportReport) -> dict[str, str]:
    """Why each file was left out, by path."""
    details = report.details
    assert isinstance(details, DatasetReport)
    return {problem.file_path: problem.reason for problem in details.left_out}


def chosen(*columns: str, **choices: Any) -> ReadingOptions:
    """How a file is to be read by these choices."""
    return reading_of(reading_choices(columns, pattern="a.csv", **choices), "a.csv")


def converted(folder: Path, data: str | bytes, **how: Any) -> Understood:
    """How a CSV file with these bytes is read; its rows are in ``a.part`` of the folder."""
    (folder / "a.csv").write_bytes(data if isinstance(data, bytes) else data.encode())
    return csv_to_parquet(folder / "a.csv", folder / "a.part", **how)


def rows_in(folder: Path, columns: str = "*") -> duckdb.DuckDBPyConnection:
    """The rows of the file that was last converted there."""
    return READER.execute(f"SELECT {columns} FROM {parquet_scan(folder / 'a.part')}")


def workbook(
    path: Path,
    *sheets: tuple[str, Iterable[Sequence[Any]]],
    merged: str = "",
    formats: Mapping[str, str] | None = None,
) -> openpyxl.Workbook:
    """A workbook of (name, rows) with whatever openpyxl writes.

    Cells of its first sheet can be merged (ranges) and have formats of numbers (by cell).
    """
    book = openpyxl.Workbook()
    book.remove(book.active)
    for name, rows in sheets:
        sheet = book.create_sheet(name)
        for row in rows:
            sheet.append(row)
    for cells in merged.split():
        book.worksheets[0].merge_cells(cells)
    for cell, shown in (formats or {}).items():
        book.worksheets[0][cell].number_format = shown
    book.save(path)
    return book
