"""Reads the data files that hold one table into Parquet, each format by its own reader."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass, field
from pathlib import Path

from mdvec.datasets.core.understood import FOUND, ReadingOptions, Understood
from mdvec.datasets.interfaces import workbook
from mdvec.datasets.interfaces.arrow import arrow_to_parquet
from mdvec.datasets.interfaces.csv_file import csv_to_parquet
from mdvec.datasets.interfaces.csv_head import DELIMITERS
from mdvec.datasets.interfaces.json_file import json_to_parquet
from mdvec.datasets.interfaces.parquet import ParquetFacts, parquet_facts
from mdvec.datasets.interfaces.snapshots import Snapshots
from mdvec.datasets.interfaces.typed_rows import TypedRows
from mdvec.datasets.interfaces.unpacking import unpacked
from mdvec.files import (
    JSON_ENDINGS,
    WORKBOOK_ENDINGS,
    UnreadableFile,
    data_ending,
    opened_within,
    packing,
    unpacked_ending,
)
from mdvec.platform import path_of

ARROW_ENDINGS = (".feather", ".arrow")
COPIED_ENDINGS = (*DELIMITERS, *JSON_ENDINGS, *ARROW_ENDINGS)
"""The endings, once unpacked, of files with one table that is copied."""


def holds_one_table(path: str) -> bool:
    """Whether a file of this name always holds one table."""
    ending = unpacked_ending(data_ending(path))
    return ending == ".parquet" or ending in COPIED_ENDINGS


def may_be_part(path: str) -> bool:
    """Whether a file of this name can be a part of a larger table; a workbook with one does."""
    return holds_one_table(path) or data_ending(path) in WORKBOOK_ENDINGS


def counts_rows(path: str) -> bool:
    """Whether the reader of such a file reports its rows while it reads them."""
    ending = unpacked_ending(data_ending(path))
    return ending not in (".parquet", ".duckdb", *ARROW_ENDINGS)


class SeveralTables(UnreadableFile):
    """A file that was to be a part of a table holds several."""

    def __init__(self) -> None:
        super().__init__("it holds several tables")


@dataclass(frozen=True, slots=True)
class FileReader:
    """Reads files of a source folder, and collects what it understood of them.

    Attributes:
        root: the folder, or the file, that is the source.
        snapshots: where copies go.
        on_rows: is called now and then with the number of rows read since.
        understood: how each file was read, by its path as scanned.
    """

    root: Path
    snapshots: Snapshots
    on_rows: Callable[[int], None]
    understood: dict[str, Understood] = field(default_factory=dict)

    def read(
        self,
        path: str,
        source: Path,
        reading: ReadingOptions = FOUND,
        as_text: Collection[str] = (),
    ) -> tuple[Path, ParquetFacts]:
        """A file as Parquet: its own path, or that of a new copy; some columns as text.

        Raises:
            SeveralTables: it is a workbook with several tables.
            UnreadableFile: it cannot be read; the message says why.
            SnapshotsUnwritable: the folder of copies cannot be written.
        """
        if data_ending(source.name) in WORKBOOK_ENDINGS:
            return self._read_workbook(path, source, reading.with_text(as_text))
        with opened_within(source, self.root) as descriptor:
            ending, there = data_ending(source.name), path_of(descriptor)
            if ending == ".parquet":
                return source, parquet_facts(there, source.name)
            with (
                self.snapshots.new() as (part, whole),
                unpacked(there, part.with_name(f"{part.name}.unpacked"), packing(ending)) as plain,
            ):
                self.understood[path] = self._convert(
                    plain, part, unpacked_ending(ending), reading.with_text(as_text)
                )
        return whole, parquet_facts(whole)

    def _read_workbook(
        self, path: str, source: Path, reading: ReadingOptions
    ) -> tuple[Path, ParquetFacts]:
        with workbook.opened(source, self.root, reading, self.on_rows) as book:
            if len(book.tables) != 1:
                raise SeveralTables
            left_out = [f"{name} is left out: {reason}" for name, reason in book.left_out]
            with self.snapshots.new() as (part, whole):
                self.understood[path] = book.tables[0].copy(part).with_notes(*left_out)
        return whole, parquet_facts(whole)

    def _convert(
        self, source: Path, target: Path, ending: str, reading: ReadingOptions
    ) -> Understood:
        if ending in DELIMITERS:
            return csv_to_parquet(source, target, self.on_rows, ending=ending, reading=reading)
        if ending in ARROW_ENDINGS:
            return arrow_to_parquet(source, target, reading.columns)
        rows = TypedRows(target, self.on_rows, chosen=reading.columns, nulls_in=reading.nulls_in)
        return json_to_parquet(source, rows, reading, is_lines=ending != ".json")
