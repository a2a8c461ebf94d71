"""Reads a Parquet file's columns, number of rows and period."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

import duckdb

from mdvec.datasets.core.columns import Column, TableExtent
from mdvec.datasets.core.duckdb_types import MAX_DIGITS, long_decimals
from mdvec.datasets.core.grouping import has_dates
from mdvec.datasets.interfaces.connection import first_line, one_path, parquet_scan, safe_connection
from mdvec.files import UnreadableFile
from mdvec.text import identifier, literal

_UNITS = "mdvec_units"
_COMMAS = "mdvec_decimal_commas"
_DIFFERENCES = "mdvec_differences"
_CELLS_AT_ONCE = 10_000_000
_MAX_ROWS_AT_ONCE = 122_880
_MIN_ROWS_AT_ONCE = 2_048


@dataclass(frozen=True, slots=True)
class ParquetFacts(TableExtent):
    """The content of a Parquet file.

    ``units`` are the units of its numbers by column, as an import wrote them;
    ``has_decimal_commas`` says that some numbers were read from texts with decimal commas, and
    ``differences`` how the files that were combined in it differ.
    """

    units: Mapping[str, str] = field(default_factory=dict)
    has_decimal_commas: bool = False
    differences: str = ""


def units_metadata(
    units: Mapping[str, str], *, has_decimal_commas: bool = False, differences: str = ""
) -> str:
    """The option of COPY that stores these facts as metadata; "" if there are none."""
    marks = [f"{_UNITS}: {literal(json.dumps(units, ensure_ascii=False))}"] if units else []
    marks += [f"{_COMMAS}: 'true'"] if has_decimal_commas else []
    marks += [f"{_DIFFERENCES}: {literal(differences)}"] if differences else []
    return f", KV_METADATA {{{', '.join(marks)}}}" if marks else ""


def rows_at_once(columns: int) -> int:
    """The size of a Parquet row group, which the writer keeps in memory for every column."""
    rows = _CELLS_AT_ONCE // max(1, columns)
    return min(max(rows, _MIN_ROWS_AT_ONCE), _MAX_ROWS_AT_ONCE)


def parquet_facts(file: Path, called: str = "") -> ParquetFacts:
    """Read the facts of a Parquet file; errors name it ``called``, by default its file name.

    Raises:
        UnreadableFile: it is not a Parquet file, or incomplete, or has decimals too long for SQL.
    """
    try:
        with safe_connection([file]) as connection:
            if called:
                _check_decimals(connection, file)
            return _facts(connection, file)
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


def _facts(connection: duckdb.DuckDBPyConnection, file: Path) -> ParquetFacts:
    scan = parquet_scan(file)
    description = connection.execute(f"DESCRIBE SELECT * FROM {scan}").fetchall()
    columns = tuple(Column(str(row[0]), str(row[1])) for row in description)
    marks = _marks(connection, file)
    units = dict(json.loads(marks.get(_UNITS, "{}")))
    dated = next((column.name for column in columns if has_dates(column)), None)
    name = "NULL" if dated is None else identifier(dated)
    (rows, first, last) = connection.execute(
        f"SELECT count(*), min({name})::VARCHAR, max({name})::VARCHAR FROM {scan}"
    ).fetchone() or (0, None, None)
    return ParquetFacts(
        units, _COMMAS in marks, marks.get(_DIFFERENCES, ""),
        rows=rows, columns=columns, period_column=dated, first=_iso(first), last=_iso(last),
    )  # fmt: skip


def _check_decimals(connection: duckdb.DuckDBPyConnection, file: Path) -> None:
    row = connection.execute(
        f"SELECT name FROM parquet_schema({literal(one_path(file))}) WHERE precision > {MAX_DIGITS}"
    ).fetchone()
    if row is not None:
        raise UnreadableFile(long_decimals(str(row[0])))


def _marks(connection: duckdb.DuckDBPyConnection, file: Path) -> Mapping[str, str]:
    rows = connection.execute(
        f"SELECT decode(key), decode(value) FROM parquet_kv_metadata({literal(one_path(file))}) "
        f"WHERE decode(key) IN ('{_UNITS}', '{_COMMAS}', '{_DIFFERENCES}')"
    ).fetchall()
    return dict(rows)


def _iso(shown: str | None) -> str | None:
    return None if shown is None else shown.replace(" ", "T", 1)


def _explain(error: Exception, file: Path, called: str) -> str:
    message = first_line(error)
    if "magic bytes" in message or "too small to be a Parquet file" in message:
        return "it is not a complete Parquet file; write it again"
    for path in (str(file), one_path(file)):
        message = message.replace(path, called)
    return f"it cannot be read as Parquet ({message})"
