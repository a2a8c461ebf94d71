"""The data that SQL is asked about: which tables are there now, and what is known of them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from mdvec.interfaces.database import tools
from mdvec.interfaces.database.datasets import DatasetTable, dataset_tables
from mdvec.interfaces.database.sqlite import open_database, snapshot
from mdvec.interfaces.database.transactions import data_version

from mdvec_mcp.core.analytics.asking import Data, ParquetTable
from mdvec_mcp.core.analytics.guard import Answer, Guard
from mdvec_mcp.core.analytics.naming import named

KINDS = ("household", "dataset")
"""The kinds of rows that have tables."""


def current_data(database: Path) -> Data:
    """The tables of the active rows, as their files and ledgers are at this moment.

    A dataset's file that is not there is left out.

    Raises:
        DatabaseError: the database cannot be read.
    """
    with open_database(database, "read") as connection, snapshot(connection):
        active = tools.list_tools(connection, active_only=True)
        parquet = (
            _as_it_is(table)
            for tool in active
            if tool.kind == "dataset"
            for table in dataset_tables(connection, tool.id)
        )
        return Data(
            parquet=tuple(table for table in parquet if table is not None),
            database=database,
            households=tuple(
                (tool.id, tool.name, data_version(connection, tool.id))
                for tool in active
                if tool.kind == "household"
            ),
        )


def tables_of(database: Path, name: str) -> list[DatasetTable]:
    """A dataset's tables, as its last import found them.

    Raises:
        DatabaseError, ToolNotFound: it cannot be read.
    """
    with open_database(database, "read") as connection, snapshot(connection):
        return dataset_tables(connection, tools.get_tool(connection, name).id)


def described(tool: str, tables: Sequence[DatasetTable], guard: Guard) -> Answer:
    """The tables in words: with the types of their columns where that fits."""
    if not tables:
        return {
            "tables": [],
            "warnings": [f"nothing is imported yet; the user can do it: mdvec import -n {tool}"],
        }
    warnings = _changes(tool, tables)
    answer: Answer = {"tables": [_told(table) for table in tables]}
    if warnings:
        answer["warnings"] = warnings
    if guard.fits(answer):
        return answer
    how = f'see them with query="DESCRIBE {tables[0].name}"'
    brief = [{**told, "columns": len(told["columns"])} for told in answer["tables"]]
    answer = {"tables": brief, "warnings": [*warnings, f"columns are counted only; {how}"]}
    return guard.trimmed(answer, ("tables",), lambda gone: f"{gone} more tables; list_handles")


def _told(table: DatasetTable) -> Answer:
    told: Answer = {"name": table.name, "from": table.origin, "rows": table.rows}
    if table.first is not None:
        told["period"] = [table.first, table.last]
    return told | {"columns": {column.name: column.type for column in table.columns}}


def _as_it_is(table: DatasetTable) -> ParquetTable | None:
    try:
        status = table.parquet.stat()
    except OSError:
        return None
    return ParquetTable(table.name, table.parquet, status.st_size, status.st_mtime_ns)


def _changes(tool: str, tables: Sequence[DatasetTable]) -> list[str]:
    """What to say when the user's files are not what was imported."""
    gone = [table.name for table in tables if not table.source.exists()]
    changed = [table.name for table in tables if table.name not in gone and _is_changed(table)]
    again = f"the user can import again: mdvec import -n {tool} --mode update"
    return [
        f"{what} since the import: {named(names)}; {again}"
        for what, names in (("files gone", gone), ("files changed", changed))
        if names
    ]


def _is_changed(table: DatasetTable) -> bool:
    try:
        status = table.source.stat()
    except OSError:
        return True
    return (status.st_size, status.st_mtime_ns) != (table.size, table.mtime_ns)
