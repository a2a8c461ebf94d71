"""Reads data files into Parquet, each format by its own reader."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from mdvec.datasets.core.choices import DELIMITERS
from mdvec.datasets.core.columns import Column, TableExtent
from mdvec.datasets.core.understood import ReadingOptions, Understood
from mdvec.datasets.interfaces import database_file, sqlite_file, workbook
from mdvec.datasets.interfaces.arrow import arrow_to_parquet
from mdvec.datasets.interfaces.csv_file import csv_to_parquet
from mdvec.datasets.interfaces.database_file import OpenedFile, TableInFile
from mdvec.datasets.interfaces.json_file import json_to_parquet
from mdvec.datasets.interfaces.limits import limited_memory, unpacked
from mdvec.datasets.interfaces.parquet import (
    parquet_columns,
    parquet_extent,
    parquet_understood,
)
from mdvec.datasets.interfaces.snapshots import Snapshots
from mdvec.datasets.interfaces.typed_rows import OnRows
from mdvec.datasets.status import source_path
from mdvec.files import (
    SQLITE_ENDINGS,
    WORKBOOK_ENDINGS,
    UnreadableFile,
    data_ending,
    opened_within,
    packing,
    unpacked_ending,
)
from mdvec.platform import followed, path_of
from mdvec.tools import Tool

_ARROW_ENDINGS = (".feather", ".arrow")


def is_parquet(source: Path) -> bool:
    """Whether a file is a Parquet file, which is queried in place."""
    return data_ending(source.name) == ".parquet"


def may_be_part(path: str) -> bool:
    """Whether a file of this name can be a part of a larger table; a database cannot."""
    return data_ending(path) not in (".duckdb", *SQLITE_ENDINGS)


def counts_rows(path: str) -> bool:
    """Whether the reader of such a file reports its rows while it reads them."""
    ending = unpacked_ending(data_ending(path))
    return ending not in (".parquet", ".duckdb", *_ARROW_ENDINGS)


class SeveralTables(UnreadableFile):
    """A file that was to be a part of a table holds several tables."""


@dataclass(frozen=True, slots=True)
class FileReader:
    """Reads files of a source folder, and collects how it understood them.

    Attributes:
        tool: has the source folder.
        snapshots: where copies go.
        on_rows: gets the number of rows read since its last call.
        max_memory_mb: the memory for reading a file; see ``limited_memory``.
        understood: how each table was read, by its origin.
        alone: by the path of each opened file with a single table, the table's name.
    """

    tool: Tool
    snapshots: Snapshots
    on_rows: OnRows
    max_memory_mb: int | None
    understood: dict[str, Understood] = field(default_factory=dict)
    alone: dict[str, str] = field(default_factory=dict)

    @property
    def root(self) -> Path:
        """The folder, or the file, that is the source."""
        return followed(self.tool.source)

    def source(self, path: str) -> Path:
        """The real file behind a path of the scan."""
        return source_path(self.tool, path)

    def limits(self) -> AbstractContextManager[None]:
        """A context with limited memory.

        Raises:
            UnreadableFile: the block needs more.
        """
        return limited_memory(self.max_memory_mb)

    def read(self, path: str, reading: ReadingOptions) -> tuple[Path, tuple[Column, ...]]:
        """Read the only table of a file; returns a Parquet file (itself, or a copy), its columns.

        Raises:
            SeveralTables: it is a workbook with several tables.
            UnreadableFile: it cannot be read; the message says why.
            SnapshotsUnwritable: the folder of copies cannot be written.
        """
        source = self.source(path)
        with self.limits():
            if is_parquet(source):
                with opened_within(source, self.root) as descriptor:
                    file = path_of(descriptor)
                    self.understood[path] = parquet_understood(file, source.name)
                    return source, parquet_columns(file, source.name)
            with self.open_file(path, reading) as opened:
                if len(opened.tables) != 1:
                    raise SeveralTables("it holds several tables")
                copy = self.copy_table(opened.tables[0], path)
            columns = parquet_columns(copy)
        left_out = [f"{name} is left out: {reason}" for name, reason in opened.left_out]
        self.understood[path] = self.understood[path].with_notes(*left_out)
        return copy, columns

    def copy_table(self, table: TableInFile, origin: str) -> Path:
        """A new copy of a table of an open file.

        Raises:
            UnreadableFile: it cannot be read; the message says why.
            SnapshotsUnwritable: the folder of copies cannot be written.
        """
        if not table.label:
            self.alone[origin] = table.name
        with self.limits(), self.snapshots.new() as (part, whole):
            self.understood[origin] = table.copy(part)
        return whole

    def extent(self, path: str, parquet: Path) -> TableExtent:
        """What a table holds; ``parquet`` is the file of this path, or a copy of its table.

        Raises:
            UnreadableFile: it cannot be read; the message says why.
        """
        source = self.source(path)
        with self.limits():
            if not is_parquet(source):
                return parquet_extent(parquet)
            with opened_within(source, self.root) as descriptor:
                file = path_of(descriptor)
                self.understood[path] = parquet_understood(file, source.name)
                return parquet_extent(file, source.name)

    def open_file(self, path: str, reading: ReadingOptions) -> AbstractContextManager[OpenedFile]:
        """Open a file, of any format but Parquet, whose tables can be copied within the context.

        Raises:
            NotATable: it is not a file of the format that its ending promises.
            UnreadableFile: it is damaged, locked by a password, or open in another program.
            SnapshotsUnwritable: the folder of copies cannot be written.
        """
        source, copies = self.source(path), self.snapshots.folder
        ending = data_ending(source.name)
        if ending in WORKBOOK_ENDINGS:
            return workbook.open_workbook(source, self.root, reading, self.on_rows)
        if ending in SQLITE_ENDINGS:
            return sqlite_file.open_sqlite_file(source, copies, self.root, reading, self.on_rows)
        if ending == ".duckdb":
            return database_file.open_duckdb_file(source, copies, self.root)
        return self._opened_text(source, reading)

    @contextmanager
    def _opened_text(self, source: Path, reading: ReadingOptions) -> Iterator[OpenedFile]:
        """Open a file of CSV, JSON or Arrow, which may be packed."""
        ending = data_ending(source.name)
        with opened_within(source, self.root) as descriptor:

            def copy(target: Path) -> Understood:
                plain = target.with_name(f"{target.name}.unpacked")
                with unpacked(path_of(descriptor), plain, packing(ending)) as file:
                    if (kind := unpacked_ending(ending)) in DELIMITERS:
                        return csv_to_parquet(
                            file, target, self.on_rows, ending=kind, reading=reading
                        )
                    if kind in _ARROW_ENDINGS:
                        return arrow_to_parquet(file, target, reading.columns)
                    is_lines = kind != ".json"
                    return json_to_parquet(file, target, self.on_rows, reading, is_lines=is_lines)

            yield OpenedFile((TableInFile("", copy),))
