"""A dataset's tables and rows for `mdvec status`, and the removal of copies no table needs."""

from __future__ import annotations

from dataclasses import asdict, dataclass

import apsw

from mdvec.datasets.core.choices import ReadingChoice
from mdvec.datasets.interfaces import dataset_tables
from mdvec.datasets.interfaces.choices import stored_choices
from mdvec.datasets.interfaces.dataset_tables import DatasetTable
from mdvec.datasets.interfaces.snapshots import Snapshots, remove_snapshots
from mdvec.tools import ContentCounts, Fact, KindStatus, StatusTable, Tool, registry


@dataclass(frozen=True, slots=True)
class DatasetContents:
    """A dataset's tables, and how the user wants its files read."""

    tables: tuple[DatasetTable, ...]
    readings: tuple[ReadingChoice, ...] = ()

    def import_facts(self) -> list[Fact]:
        """How the user wants files read, if they say so."""
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
            "tables": [asdict(table) for table in self.tables],
            "readings": [asdict(choice) for choice in self.readings],
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
    """Remove a dataset's copies that no table needs, and all those of tools that are gone."""
    folder = dataset_tables.snapshot_folder(connection, tool_id)
    root = folder.parent
    folders = list(root.iterdir()) if root.is_dir() else []
    here = {str(tool.id) for tool in registry.list_tools(connection)}
    for other in folders:
        if other.name not in here:
            remove_snapshots(other)
    needed = dataset_tables.dataset_tables(connection, tool_id)
    Snapshots(folder).keep_only({table.parquet.name for table in needed if table.is_copy})
