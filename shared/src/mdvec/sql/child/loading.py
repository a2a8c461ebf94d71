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


def show(
    connection: duckdb.DuckDBPyConnection, name: str, file: Path, types: Mapping[str, str] | None
) -> tuple[Column, ...]:
    """Create a view of an export and return its columns, in the types that its query had.

    Types that neither format can hold again, such as UNION, stay as they are stored.
    """
    scan = parquet_scan(file) if file.suffix == ".parquet" else _csv_scan(file, types or {})
    stored = columns_of(connection, f"SELECT * FROM {scan}")
    casts = [
        f"CAST({identifier(column.name)} AS {types[column.name]}) AS {identifier(column.name)}"
        for column in stored
        if types and types.get(column.name, column.type) != column.type
    ]
    chosen = f"* REPLACE ({', '.join(casts)})" if casts else "*"
    try:
        connection.execute(f"CREATE VIEW {identifier(name)} AS SELECT {chosen} FROM {scan}")
    except duckdb.Error:
        connection.execute(f"CREATE VIEW {identifier(name)} AS SELECT * FROM {scan}")
    return columns_of(connection, f"SELECT * FROM {identifier(name)}")


def _csv_scan(file: Path, types: Mapping[str, str]) -> str:
    columns = ", ".join(f"{literal(name)}: 'VARCHAR'" for name in types)
    names = f", auto_detect = false, columns = {{{columns}}}" if types else ""
    return (
        f"read_csv({literal(str(file))}, all_varchar = true, header = true, delim = ',', "
        "quote = '\"', escape = '\"', nullstr = '', allow_quoted_nulls = false, "
        f"hive_partitioning = false{names})"
    )


def columns_of(
    connection: duckdb.DuckDBPyConnection, query: str, values: dict[str, object] | None = None
) -> tuple[Column, ...]:
    """The columns of a query, which is not run; ``values`` are those of its parameters."""
    rows = connection.execute(f"DESCRIBE SELECT * FROM (\n{query}\n)", values or None).fetchall()
    return tuple(Column(name, kind) for name, kind, *_ in rows)
