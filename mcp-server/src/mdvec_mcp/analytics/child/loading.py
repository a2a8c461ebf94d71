"""The user's tables in the query process: views of Parquet files, and the household's rows."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from mdvec.datasets.core.columns import Column
from mdvec.datasets.interfaces.connection import parquet_scan
from mdvec.text.quoting import identifier, literal

if TYPE_CHECKING:
    import duckdb


def write_ledgers(database: Path, households: Iterable[tuple[int, str]], file: Path) -> bool:
    """Write the rows of households, one JSON array a line; return whether there are any ledgers.

    Raises:
        DatabaseError: the database cannot be read.
    """
    from mdvec.database.connection import open_database, snapshot
    from mdvec.household.interfaces.duckdb_table import ledger_lines

    ledgers = list(households)
    if not ledgers:
        return False
    with (
        open_database(database, "read") as connection,
        snapshot(connection),
        file.open("w", encoding="utf-8") as lines,
    ):
        for tool_id, name in ledgers:
            lines.writelines(f"{line}\n" for line in ledger_lines(connection, tool_id, name))
    return True


def load_ledgers(connection: duckdb.DuckDBPyConnection, file: Path) -> None:
    """Make the table of what ``write_ledgers`` wrote."""
    from mdvec.household.interfaces.duckdb_table import LEDGER_COLUMNS, LEDGER_TABLE

    columns = ", ".join(f"{identifier(name)} {kind}" for name, (kind, _) in LEDGER_COLUMNS.items())
    connection.execute(f"CREATE TABLE {LEDGER_TABLE} ({columns})")
    if file.stat().st_size == 0:
        return
    values = ", ".join(value for _, value in LEDGER_COLUMNS.values())
    connection.execute(
        f"INSERT INTO {LEDGER_TABLE} SELECT {values} FROM read_json({literal(str(file))}, "
        "format = 'newline_delimited', records = false, columns = {'row': 'VARCHAR[]'})"
    )


def make_views(connection: duckdb.DuckDBPyConnection, tables: Mapping[str, Path]) -> dict[str, str]:
    """Make a view of each Parquet file; return why those are not there that could not be made.

    The paths have no ``*``, ``?`` or ``[``, which DuckDB would take for a pattern.
    """
    import duckdb

    missing = {}
    for name, path in tables.items():
        try:
            connection.execute(
                f"CREATE VIEW {identifier(name)} AS SELECT * FROM {parquet_scan(path)}"
            )
        except duckdb.Error:
            missing[name] = "its file is no readable Parquet file"
    return missing


def columns_of(connection: duckdb.DuckDBPyConnection, query: str) -> tuple[Column, ...]:
    """The columns of a query, which is not run."""
    rows = connection.execute(
        f"SELECT column_name, column_type FROM (DESCRIBE SELECT * FROM (\n{query}\n))"
    ).fetchall()
    return tuple(Column(name, kind) for name, kind in rows)
