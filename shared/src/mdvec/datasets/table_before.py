"""The combined table of the last import, whose rows may be kept."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from mdvec.datasets.core.differing import FileDifferences
from mdvec.datasets.interfaces.combining import CombinedRows
from mdvec.datasets.interfaces.dataset_tables import CombinedFile, DatasetTable
from mdvec.datasets.interfaces.parquet import CombinationFacts


@dataclass(frozen=True, slots=True)
class TableBefore:
    """What an import must know about the table; all is empty if there is none.

    Attributes:
        files: the files that it combines.
        rows: its rows, without the files that they are from.
        folder_columns: the columns that folders added.
        differences: how its files differ.
    """

    files: tuple[CombinedFile, ...] = ()
    rows: CombinedRows = field(default_factory=lambda: CombinedRows((), Path(), {}))
    folder_columns: tuple[str, ...] = ()
    differences: FileDifferences = field(default_factory=FileDifferences)

    @classmethod
    def of(cls, table: DatasetTable | None) -> TableBefore:
        """The table as recorded; an empty one if its Parquet file is lost.

        Raises:
            UnreadableFile: the Parquet file cannot be read.
        """
        if table is None or table.combined is None or table.is_lost:
            return cls()
        facts, combined = CombinationFacts.of(table.parquet), table.combined
        column, added = combined.file_column, {combined.file_column, *combined.from_path}
        types = {each.name: each.type for each in table.columns if each.name not in added}
        rows = CombinedRows((), table.parquet, types, units=facts.units, file_column=column)
        differences = FileDifferences.parsed(facts.differences)
        return cls(combined.files, rows, combined.from_path, differences)

    @property
    def types(self) -> Mapping[str, str]:
        """The types of its columns, without those that the combination added."""
        return self.rows.types
