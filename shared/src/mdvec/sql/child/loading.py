"""Loads the user's tables: views of Parquet files, and a table of all ledgers' rows."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path

import duckdb

from mdvec import household
from mdvec.datasets import Column, parquet_scan
from mdvec.text import identifier, literal


def write_ledgers(
    database: Path, households: Iterable[tuple[int, str]], file: Path, month_starts_on: int
) -> bool:
    """Write the rows of all ledgers, one JSON array per line; return whether there is a ledger.

    Their months start on the day ``month_starts_on``.

    Raises:
        DatabaseError: the database cannot be read.
    """
    from mdvec.database import open_database, snapshot

    ledgers = list(households)
    if not ledgers:
        return False
    with (
        open_database(database, "read") as connection,
        snapshot(connection),
        file.open("w", encoding="utf-8") as lines,
    ):
        for tool_id, name in ledgers:
            rows = household.ledger_lines(connection, tool_id, name, month_starts_on)
            lines.writelines(f"{line}\n" for line in rows)
    return True


def load_ledgers(connection: duckdb.DuckDBPyConnection, file: Path) -> None:
    """Create the table of transactions from the file that ``write_ledgers`` wrote."""
    columns = ", ".join(
        f"{identifier(name)} {kind}" for name, (kind, _) in household.LEDGER_COLUMNS.items()
    )
    connection.execute(f"CREATE TABLE {household.LEDGER_TABLE} ({columns})")
    if file.stat().st_size == 0:
        return
    values = ", ".join(value for _, value in household.LEDGER_COLUMNS.values())
    connection.execute(
        f"INSERT INTO {household.LEDGER_TABLE} SELECT {values} "
        f"FROM read_json({literal(str(file))}, "
        "format = 'newline_delimited', records = false, columns = {'row': 'VARCHAR[]'})"
    )


def make_views(connection: duckdb.DuckDBPyConnection, tables: Mapping[str, Path]) -> dict[str, str]:
    """Create a view of each Parquet file; return the reason for each that could not be created.

    The paths must not contain ``*``, ``?`` or ``[``, which DuckDB reads as a pattern.
    """
    missing = {}
    for name, path in tables.items():
        try:
            connection.execute(
                f"CREATE VIEW {identifier(name)} AS SELECT * FROM {parquet_scan(path)}"
            )
        except duckdb.Error:
            missing[name] = "its file is not a readable Parquet file"
    return missing


def columns_of(
    connection: duckdb.DuckDBPyConnection, query: str, values: dict[str, object] | None = None
) -> tuple[Column, ...]:
    """The columns of a query, which is not run; ``values`` are those of its parameters."""
    rows = connection.execute(f"DESCRIBE SELECT * FROM (\n{query}\n)", values or None).fetchall()
    return tuple(Column(name, kind) for name, kind, *_ in rows)
