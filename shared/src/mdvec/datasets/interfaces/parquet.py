"""Reads a Parquet file's columns, number of rows and period."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import duckdb

from mdvec.datasets.core.arrow_durations import durations
from mdvec.datasets.core.columns import Column, TableExtent, has_dates
from mdvec.datasets.core.duckdb_types import MAX_DIGITS, long_decimals
from mdvec.datasets.core.understood import ReadColumn, Understood
from mdvec.datasets.interfaces.connection import first_line, one_path, parquet_scan, safe_connection
from mdvec.files import UnreadableFile
from mdvec.text import identifier, literal

_UNITS = "mdvec_units"
_DIFFERENCES = "mdvec_differences"
_ARROW = "ARROW:schema"
_CELLS_AT_ONCE = 10_000_000
_MAX_ROWS_AT_ONCE = 122_880
_MIN_ROWS_AT_ONCE = 2_048


@dataclass(frozen=True, slots=True)
class CombinationFacts:
    """The metadata in the Parquet file of a combined table.

    ``units`` has the units of its numbers by column, ``differences`` how its files differ.
    """

    units: Mapping[str, str] = field(default_factory=dict)
    differences: str = ""

    @property
    def metadata(self) -> str:
        """An option to append to those of COPY, which stores these facts; "" if there are none."""
        units = json.dumps(self.units, ensure_ascii=False) if self.units else ""
        texts = {_UNITS: units, _DIFFERENCES: self.differences}
        shown = ", ".join(f"{key}: {literal(text)}" for key, text in texts.items() if text)
        return f", KV_METADATA {{{shown}}}" if shown else ""

    @classmethod
    def of(cls, file: Path) -> CombinationFacts:
        """The facts that a file stores.

        Raises:
            UnreadableFile: it is not a Parquet file, or incomplete.
        """
        with _opened(file) as connection:
            texts = dict(
                connection.execute(
                    "SELECT decode(key), decode(value) "
                    f"FROM parquet_kv_metadata({literal(one_path(file))}) "
                    f"WHERE decode(key) IN ('{_UNITS}', '{_DIFFERENCES}')"
                ).fetchall()
            )
        return cls(json.loads(texts.get(_UNITS, "{}")), texts.get(_DIFFERENCES, ""))


def copy_options(columns: int) -> str:
    """The options of COPY for a Parquet file that only DuckDB reads.

    Version 2 of the format takes less time, and less space for numbers and times that rise. The
    writer keeps a row group in memory for every column.
    """
    rows = min(max(_CELLS_AT_ONCE // max(1, columns), _MIN_ROWS_AT_ONCE), _MAX_ROWS_AT_ONCE)
    return f"FORMAT parquet, PARQUET_VERSION v2, USE_TMP_FILE false, ROW_GROUP_SIZE {rows}"


def parquet_columns(file: Path, called: str = "") -> tuple[Column, ...]:
    """The columns of a Parquet file.

    ``called`` is the file's name in errors, if it is the user's own file.

    Raises:
        UnreadableFile: it is no Parquet file, or incomplete, or a user's file that has decimals too
            long for DuckDB.
    """
    with _opened(file, called) as connection:
        return _columns(connection, file, called)


def parquet_understood(file: Path, called: str = "") -> Understood:
    """How a Parquet file is read: its durations are whole numbers, whose unit is noted.

    Arguments are those of ``parquet_columns``.

    Raises:
        UnreadableFile: it is no Parquet file, or incomplete.
    """
    with _opened(file, called) as connection:
        schemas = connection.execute(
            f"SELECT decode(value) FROM parquet_kv_metadata({literal(one_path(file))}) "
            f"WHERE decode(key) = '{_ARROW}'"
        ).fetchall()
    found = durations(schemas[0][0]) if schemas else {}
    return Understood(
        columns=tuple(
            ReadColumn(
                ".".join(path),
                "BIGINT",
                note=f"durations are whole numbers of {unit}",
                unit="" if path[1:] else unit,
            )
            for path, unit in found.items()
        )
    )


def parquet_extent(file: Path, called: str = "") -> TableExtent:
    """What a Parquet file holds; arguments and errors are those of ``parquet_columns``."""
    with _opened(file, called) as connection:
        columns = _columns(connection, file, called)
        dated = next((column.name for column in columns if has_dates(column)), None)
        name = "NULL" if dated is None else identifier(dated)
        (rows, first, last) = connection.execute(
            f"SELECT count(*), min({name})::VARCHAR, max({name})::VARCHAR FROM {parquet_scan(file)}"
        ).fetchone() or (0, None, None)
    return TableExtent(
        rows=rows, columns=columns, period_column=dated, first=_iso(first), last=_iso(last)
    )


@contextmanager
def _opened(file: Path, called: str = "") -> Iterator[duckdb.DuckDBPyConnection]:
    """A connection that can read a file; errors of DuckDB become UnreadableFile."""
    try:
        with safe_connection([file]) as connection:
            yield connection
    except duckdb.Error as error:
        raise UnreadableFile(_explain(error, file, called or file.name)) from error


def can_read_all(file: Path) -> bool:
    """Whether every row of a Parquet file can be read; reads them all."""
    try:
        with safe_connection([file]) as connection:
            connection.execute(f"SELECT max(hash(row)) FROM {parquet_scan(file)} AS row").fetchall()
    except duckdb.Error:
        return False
    return True


def _columns(connection: duckdb.DuckDBPyConnection, file: Path, called: str) -> tuple[Column, ...]:
    if called:  # it is the user's own file
        row = connection.execute(
            f"SELECT name FROM parquet_schema({literal(one_path(file))}) "
            f"WHERE precision > {MAX_DIGITS}"
        ).fetchone()
        if row is not None:
            raise UnreadableFile(long_decimals(str(row[0])))
    description = connection.execute(f"DESCRIBE SELECT * FROM {parquet_scan(file)}").fetchall()
    return tuple(Column(str(row[0]), str(row[1])) for row in description)


def _iso(shown: str | None) -> str | None:
    return None if shown is None else shown.replace(" ", "T", 1)


def _explain(error: Exception, file: Path, called: str) -> str:
    message = first_line(error)
    if "magic bytes" in message or "too small to be a Parquet file" in message:
        return "it is not a complete Parquet file; write it again"
    for path in (str(file), one_path(file)):
        message = message.replace(path, called)
    return f"it cannot be read as Parquet ({message})"
