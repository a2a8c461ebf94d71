"""The child process that reads a .duckdb file.

Run as ``python -m mdvec.datasets.interfaces.database_child``. Generated columns are not read.

Opening such a file runs expressions by its author: those in its log, which DuckDB replays, and
those of views. So this process has limited memory and time, its views cannot write large files, and
it reads a copy whose name does not reveal its origin.
"""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import Any

import duckdb

from mdvec.datasets.core.duckdb_types import DuckDBType, changed_type
from mdvec.datasets.interfaces.connection import first_line, safe_connection
from mdvec.datasets.interfaces.parquet import copy_options
from mdvec.platform import Parent, hidden_folder, limit_process
from mdvec.sizes import MEGABYTE
from mdvec.text import identifier, literal

MEMORY_MB = 2_048
MAX_VIEW_MB = 1_024
_EXTRA_ADDRESS_SPACE_MB = 1_536
_WHOLE = tuple(
    (f"TRY_CAST({{}} AS {kind}) IS NOT NULL", kind) for kind in ("BIGINT", "DECIMAL(38,0)")
)
_IF_ALL_FIT = {
    "HUGEINT": _WHOLE,
    "UHUGEINT": _WHOLE,
    "INTERVAL": ((r"NOT regexp_matches(CAST({} AS VARCHAR), '-|\.\d{{4}}')", "INTERVAL"),),
}
"""By type: conditions, each with the type that Parquet keeps exactly if all values meet it."""
_EXACTLY = {
    **dict.fromkeys((*_IF_ALL_FIT, "TIME WITH TIME ZONE"), DuckDBType("VARCHAR")),
    "UNION": DuckDBType("JSON"),
}
"""By type that Parquet would change, the type to store instead. Parquet rounds 128-bit integers and
the microseconds of intervals, has no negative intervals, drops the zone of a time, and stores the
tag of a union as a number."""


def main() -> None:
    """Open the file, then copy one table per request until the parent closes the pipe."""
    parent = Parent()
    limit_process(memory=(MEMORY_MB + _EXTRA_ADDRESS_SPACE_MB) * MEGABYTE)
    file = _working_path(parent.receive()["file"])
    files = [file, file.with_name(f"{file.name}.wal")]
    with safe_connection(files, writes_to=_working_path(""), memory_mb=MEMORY_MB) as connection:
        try:
            connection.execute(f"ATTACH {literal(str(file))} AS src (READ_ONLY)")
            parent.send(_list_tables(connection))
        except (duckdb.Error, MemoryError) as error:
            parent.send({"error": first_line(error)})
            return
        with suppress(EOFError):
            while True:
                parent.send(_copy_table(connection, **parent.receive()))


def _working_path(name: str) -> Path:
    """A path to a file in the working folder that does not reveal where the folder is."""
    return hidden_folder() / name


def _list_tables(connection: duckdb.DuckDBPyConnection) -> dict[str, Any]:
    """The tables and then the views, each with its generated columns and whether it is a view."""
    tables = connection.execute(
        "SELECT schema_name, table_name, list(column_name ORDER BY column_index) "
        "FILTER (WHERE is_generated), false FROM duckdb_columns() JOIN duckdb_tables() "
        "USING (database_name, schema_name, table_name) "
        "WHERE database_name = 'src' AND NOT duckdb_tables.internal GROUP BY ALL ORDER BY ALL"
    ).fetchall()
    views = connection.execute(
        "SELECT schema_name, view_name, NULL, true FROM duckdb_views() "
        "WHERE database_name = 'src' AND NOT internal ORDER BY ALL"
    ).fetchall()
    return {"tables": tables + views}


def _copy_table(
    connection: duckdb.DuckDBPyConnection, schema: str, table: str, target: str, *, is_view: bool
) -> dict[str, Any]:
    """Write a table's rows to a Parquet file in the working folder; returns notes or an error.

    Views are copied after all tables, as file sizes are limited from the first view on.
    """
    if is_view:
        limit_process(written=MAX_VIEW_MB * MEGABYTE)
    source = f"src.{identifier(schema)}.{identifier(table)}"
    try:
        columns = connection.execute(
            "SELECT column_name, data_type FROM duckdb_columns() WHERE database_name = 'src' "
            "AND schema_name = ? AND table_name = ? AND NOT is_generated ORDER BY column_index",
            [schema, table],
        ).fetchall()
        if not columns:
            return {"error": "all its columns are computed"}
        stored = [_parquet_type(connection, source, column, type_) for column, type_ in columns]
        shown = ", ".join(
            f"CAST({name} AS {exact}) AS {name}" if exact != type_ else name
            for (column, type_), exact in zip(columns, stored, strict=True)
            for name in [identifier(column)]
        )
        connection.execute(
            f"COPY (SELECT {shown} FROM {source}) TO {literal(str(_working_path(target)))} "
            f"({copy_options(len(columns))})"
        )
    except (duckdb.Error, MemoryError) as error:
        return {"error": first_line(error)}
    return {
        "notes": [
            f"{column}: {type_} → {exact}, which keeps it exactly"
            for (column, type_), exact in zip(columns, stored, strict=True)
            if exact not in {type_, "BIGINT"}
        ]
    }


def _parquet_type(
    connection: duckdb.DuckDBPyConnection, source: str, column: str, type_: str
) -> str:
    """The type in which Parquet keeps a column's values exactly, including nested ones."""
    name = identifier(column)
    for condition, exact in _IF_ALL_FIT.get(type_, ()):
        fits = f"bool_and({name} IS NULL OR {condition.format(name)})"
        (all_fit,) = connection.execute(f"SELECT {fits} FROM {source}").fetchone() or ()
        if all_fit is not False:
            return exact
    return changed_type(type_, lambda part: _EXACTLY.get(part.name))


if __name__ == "__main__":
    main()
