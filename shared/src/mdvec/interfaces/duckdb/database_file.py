"""The tables of a .duckdb file into Parquet files; the file is opened for reading, then closed."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from mdvec.core.datasets.sql import identifier, literal
from mdvec.interfaces.duckdb.connection import first_line, safe_connection
from mdvec.interfaces.filesystem.scan import UnreadableFile, why

if TYPE_CHECKING:
    import duckdb

_WIDE = ("HUGEINT", "UHUGEINT")
_WIDE_WITHIN = re.compile(r"\bU?HUGEINT\b")


def file_state(source: Path) -> tuple[int, int]:
    """A data file's size and time of change; a database's log, with its latest rows, counts in.

    Raises:
        UnreadableFile: it is gone.
    """
    try:
        states = [source.stat()]
        if source.suffix.lower() == ".duckdb" and _log_of(source).exists():
            states.append(_log_of(source).stat())
    except OSError as error:
        raise UnreadableFile(f"it cannot be read ({why(error)})") from error
    return sum(state.st_size for state in states), max(state.st_mtime_ns for state in states)


def _log_of(database: Path) -> Path:
    return database.with_name(f"{database.name}.wal")


@dataclass(frozen=True, slots=True)
class InnerTable:
    """A table or view within a .duckdb file."""

    schema: str
    table: str

    @property
    def label(self) -> str:
        """Its name as a person writes it."""
        return self.table if self.schema == "main" else f"{self.schema}.{self.table}"


@dataclass(frozen=True, slots=True)
class DatabaseFile:
    """A .duckdb file while it is open: its tables and its views."""

    connection: duckdb.DuckDBPyConnection
    tables: tuple[InnerTable, ...]
    views: tuple[InnerTable, ...]

    def copy(self, table: InnerTable, target: Path) -> None:
        """Write a table's rows to a Parquet file, in the folder of targets.

        Raises:
            UnreadableFile: why it cannot be done.
        """
        import duckdb

        place = f"src.{identifier(table.schema)}.{identifier(table.table)}"
        try:
            shown = ", ".join(self._columns(place))
            self.connection.execute(
                f"COPY (SELECT {shown} FROM {place}) TO {literal(str(target))} (FORMAT parquet)"
            )
        except duckdb.Error as error:
            raise UnreadableFile(f"it cannot be copied ({first_line(error)})") from error

    def _columns(self, place: str) -> Iterator[str]:
        """The columns; Parquet has no whole numbers of 128 bits, and would round them."""
        for row in self.connection.execute(f"DESCRIBE SELECT * FROM {place}").fetchall():
            name, type_ = identifier(row[0]), row[1]
            if type_ in _WIDE:
                fits = f"bool_and({name} IS NULL OR TRY_CAST({name} AS BIGINT) IS NOT NULL)"
                (all_fit,) = self.connection.execute(f"SELECT {fits} FROM {place}").fetchone() or ()
                exact = "VARCHAR" if all_fit is False else "BIGINT"
                yield f"CAST({name} AS {exact}) AS {name}"
            elif _WIDE_WITHIN.search(type_):
                yield f"CAST({name} AS {_WIDE_WITHIN.sub('VARCHAR', type_)}) AS {name}"
            else:
                yield name


@contextmanager
def opened(file: Path, targets: Path) -> Iterator[DatabaseFile]:
    """Open a file for reading; its tables can be copied into the folder ``targets``.

    Raises:
        UnreadableFile: it is no such file, is damaged, or another program has it open.
    """
    import duckdb

    with safe_connection([file, _log_of(file)], writes_to=targets) as connection:
        try:
            connection.execute(f"ATTACH {literal(str(file))} AS src (READ_ONLY)")
            tables = connection.execute(
                "SELECT schema_name, table_name FROM duckdb_tables() "
                "WHERE database_name = 'src' AND NOT internal ORDER BY ALL"
            ).fetchall()
            views = connection.execute(
                "SELECT schema_name, view_name FROM duckdb_views() "
                "WHERE database_name = 'src' AND NOT internal ORDER BY ALL"
            ).fetchall()
        except duckdb.Error as error:
            raise UnreadableFile(_why(error)) from error
        yield DatabaseFile(
            connection,
            tuple(InnerTable(schema, table) for schema, table in tables),
            tuple(InnerTable(schema, view) for schema, view in views),
        )


def _why(error: Exception) -> str:
    said = first_line(error)
    if "Could not set lock" in said or "already attached" in said:
        return "another program has it open for writing; close it there, then import again"
    if "not a valid DuckDB database" in said or "Could not read enough bytes" in said:
        return "it is no DuckDB database, or only a part of one; copy it again"
    return f"it cannot be opened as a DuckDB database ({said})"
