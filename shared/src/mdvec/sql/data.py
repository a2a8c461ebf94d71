"""The tables that SQL can currently query, and their descriptions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from mdvec.database import Connection, DatabaseEmptied, FileStamp, open_database, snapshot, stamp_of
from mdvec.datasets import HOUSEHOLD_TABLE, DatasetTable, dataset_tables
from mdvec.household import Ledger, data_version
from mdvec.platform import followed
from mdvec.sql.core.guard import AnswerGuard, JsonAnswer
from mdvec.sql.process.messages import Data, ParquetTable
from mdvec.text import shortened
from mdvec.tools import KINDS, Tool, offered_name, registry

_MAX_READING = 500
_Listed = tuple[list[tuple[DatasetTable, Tool]], tuple[tuple[int, str, int], ...]]


@dataclass
class CurrentData:
    """The tables of the active tools, with the current states of their files and ledgers.

    A missing file has the size -1. A household's months start on the day ``month_starts_on``. Each
    call checks the database, but opens it only if it was changed.
    """

    database: Path
    month_starts_on: int = 1
    _known: tuple[FileStamp | None, _Listed] | None = None

    def __call__(self) -> Data:
        """The tables as they are now.

        Raises:
            DatabaseEmptied: the database holds no tools.
            DatabaseError: the database cannot be read.
        """
        stamp, known = stamp_of(self.database), self._known
        if known is None or known[0] != stamp:
            known = stamp, _list_tables(self.database)
            self._known = known if stamp is not None and stamp.is_settled() else None
        tables, households = known[1]
        parquet = tuple(_present_file(table, tool) for table, tool in tables)
        return Data(parquet, self.database, households, self.month_starts_on)


def _list_tables(database: Path) -> _Listed:
    """The stored tables of the active datasets, and the active households."""
    with open_database(database, "read") as connection, snapshot(connection):
        active = [tool for tool in _all_tools(connection, database) if tool.is_active]
        tables = [
            (table, tool)
            for tool in active
            if KINDS[tool.kind].has_data_files
            for table in dataset_tables(connection, tool.id)
        ]
        households = tuple(
            (tool.id, tool.name, data_version(Ledger.undated(connection, tool.id)))
            for tool in active
            if KINDS[tool.kind].has_ledger
        )
    return tables, households


def tables_of(database: Path, name: str) -> list[DatasetTable]:
    """A dataset's tables as of its last import.

    Raises:
        DatabaseEmptied: the database holds no tools.
        DatabaseError, ToolNotFound: the database or the tool cannot be read.
    """
    with open_database(database, "read") as connection, snapshot(connection):
        _all_tools(connection, database)
        return dataset_tables(connection, registry.get_tool(connection, name).id)


def table_origin(database: Path, name: str) -> JsonAnswer:
    """The origin of a table: its tool, its file, and the time of its import; {} if unknown.

    Raises:
        DatabaseEmptied: the database holds no tools.
        DatabaseError: the database cannot be read.
    """
    with open_database(database, "read") as connection, snapshot(connection):
        for tool in _all_tools(connection, database):
            if not tool.is_active:
                continue
            if KINDS[tool.kind].has_ledger and name == HOUSEHOLD_TABLE:
                return {"tool": tool.name, "imported_at": tool.last_import_at}
            for table in dataset_tables(connection, tool.id):
                if table.name == name:
                    origin = {"tool": tool.name, "from": table.origin}
                    return origin | {"imported_at": tool.last_import_at} | _reading(table)
    return {}


def described_dataset(tool: Tool, tables: Sequence[DatasetTable], guard: AnswerGuard) -> JsonAnswer:
    """The description of a dataset: its tables, with columns and types if they fit."""
    if not tables:
        how = f"the user can do it: mdvec import -n {tool.name}"
        return {"tables": [], "warnings": [f"nothing is imported yet; {how}"]}
    answer: JsonAnswer = {"tables": [_described_table(table) for table in tables]}
    if guard.fits(answer):
        return answer
    listing = offered_name("list_handles")
    how = f"find them with {listing}, by table={tables[0].name!r} or match=…"
    brief = [{**entry, "columns": len(entry["columns"])} for entry in answer["tables"]]
    answer = {"tables": brief, "warnings": [f"columns are counted only; {how}"]}
    return guard.trim(answer, ("tables",), lambda gone: f"{gone} more tables; {listing}")


def _all_tools(connection: Connection, database: Path) -> list[Tool]:
    """Every tool, active or not; raises DatabaseEmptied if there is none."""
    there = registry.list_tools(connection)
    if not there:
        raise DatabaseEmptied(database)
    return there


def _described_table(table: DatasetTable) -> JsonAnswer:
    entry: JsonAnswer = {"name": table.name, "from": table.origin, "rows": table.rows}
    if table.combined is not None:
        entry["files"] = len(table.combined.files)
    if table.first is not None:
        entry["period"] = [table.first, table.last]
    return (
        entry
        | _reading(table)
        | {"columns": {column.name: column.type for column in table.columns}}
    )


def _reading(table: DatasetTable) -> JsonAnswer:
    """Notes on how the table was read, shortened to fit an answer; {} if there are none."""
    reading = table.whole_reading
    return {"read": shortened(reading, _MAX_READING)} if reading else {}


def _present_file(table: DatasetTable, tool: Tool) -> ParquetTable:
    path, folder = table.parquet, tool.source
    if table.is_copy:
        # The database's path may contain links; the path of a user's own file was resolved.
        folder = followed(path.parent)
        path = folder / path.name
    try:
        status = path.stat()
    except OSError:
        size, mtime_ns, inode = -1, 0, 0
    else:
        size, mtime_ns, inode = status.st_size, status.st_mtime_ns, status.st_ino
    return ParquetTable(table.name, path, size, mtime_ns, inode, folder, tool.name, table.is_copy)
