"""Confines the query process, and loads the user's tables: Parquet files as views, and ledgers."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import duckdb

from mdvec import household
from mdvec.datasets import CLOSED, Column, allowed_paths, export_scan, parquet_scan
from mdvec.household import Ledger
from mdvec.platform import limit_process
from mdvec.sizes import MEGABYTE
from mdvec.sql.core.refusals import QueriesUnavailable
from mdvec.text import identifier, literal

_ADDRESSES_MB = 512
"""Address space beyond the memory in use: libraries, stacks, reserved pages."""
_OWN_MB = 160
"""The memory of Python and of DuckDB's code, which DuckDB does not count."""
_FILES = 512
_FILES_PER_TABLE = 2
_MAX_THREADS = 4


def limit_child(memory_mb: int, tables: int) -> None:
    """Limit the memory and the open files of this process; it writes no core dumps."""
    # macOS does not enforce all of these limits, so the server monitors the memory, too.
    limit_process(
        memory=(memory_mb + _ADDRESSES_MB) * MEGABYTE,
        open_files=_FILES + _FILES_PER_TABLE * tables,
    )


def connect(memory_mb: int, time_zone: str = "UTC") -> duckdb.DuckDBPyConnection:
    """A connection to a database in memory, which loads no extensions and spills to no disk.

    Raises:
        QueriesUnavailable: DuckDB does not know the time zone.
    """
    connection = duckdb.connect(
        ":memory:",
        config={
            **CLOSED,
            "async_threads": 1,
            "memory_limit": f"{max(memory_mb - _OWN_MB, memory_mb // 2)}MB",
        },
    )
    # Without a terminal the progress bar is on by default, and would go to STDOUT.
    for setting in (
        "enable_progress_bar = false",
        "explain_output = 'all'",  # only the unoptimised plan shows the types of parameters
        "allocator_background_threads = true",  # returns memory to the system after a large query
        # Each statement is planned three times, which would read every file's footer each time.
        "parquet_metadata_cache = true",
        "temp_directory = ''",  # nothing spills to the disk
    ):
        connection.execute(f"SET {setting}")
    try:
        connection.execute(f"SET TimeZone = {literal(time_zone)}")
    except duckdb.Error as error:
        raise QueriesUnavailable(
            f"SQL does not know the time zone {time_zone}; the user can name another as "
            "[analytics] time_zone, such as Asia/Tokyo or UTC"
        ) from error
    (threads,) = connection.execute("SELECT current_setting('threads')").fetchone() or (1,)
    connection.execute(f"SET threads = {min(int(threads), _MAX_THREADS):d}")
    return connection


def lock(
    connection: duckdb.DuckDBPyConnection,
    files: Sequence[Path],
    folders: Sequence[Path],
    seconds: float,
) -> None:
    """Permanently restrict a connection to these files and folders, and to a time limit."""
    paths = ", ".join(literal(path) for path in allowed_paths(files))
    inside = ", ".join(literal(f"{folder}/") for folder in folders)
    for setting in (
        f"allowed_paths = [{paths}]",
        f"allowed_directories = [{inside}]",
        f"max_execution_time = {max(1, round(seconds * 1000)):d}",
        "enable_external_access = false",
        "lock_configuration = true",
    ):
        connection.execute(f"SET {setting}")


def write_ledgers(
    database: Path, households: Iterable[tuple[int, str]], file: Path, month_starts_on: int
) -> bool:
    """Write the rows of all ledgers, one JSON array per line; returns whether there is a ledger.

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
            ledger = Ledger.undated(connection, tool_id, month_starts_on)
            rows = household.ledger_lines(ledger, name)
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
    """Create a view of each Parquet file; returns the reason for each that could not be created.

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
    """Create a view of an export; returns its columns. ``types`` are those of the exported query.

    If a column cannot be cast to its type, such as UNION, all columns have the types in the file.
    """
    scan = export_scan(file, types)
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


def columns_of(
    connection: duckdb.DuckDBPyConnection, query: str, values: dict[str, object] | None = None
) -> tuple[Column, ...]:
    """The columns of a query, which is not run; ``values`` are those of its parameters."""
    statement = f"SELECT * FROM (\n{query}\n)"
    if values:  # a relation with values would be run
        rows = connection.execute(f"DESCRIBE {statement}", values).fetchall()
        return tuple(Column(name, kind) for name, kind, *_ in rows)
    relation = connection.sql(statement)  # in half the time of DESCRIBE
    return tuple(map(Column, relation.columns, map(str, relation.types)))
