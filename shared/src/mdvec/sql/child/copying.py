"""Writes the result of a checked query to a file, or makes rows of JSON values from it."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Sequence
from decimal import Decimal
from pathlib import Path

import duckdb

from mdvec.datasets import Column, DuckDBType, changed_type
from mdvec.sql.child.parameters import BoundValues
from mdvec.sql.process.messages import JsonValue
from mdvec.text import identifier, literal

_FORMATS = {"parquet": "FORMAT parquet", "csv": "FORMAT csv, HEADER true"}
_LARGE = {"HUGEINT", "UHUGEINT"}
"""128-bit integers, DuckDB's type for sum(). Parquet has none, so DuckDB would write doubles."""
_AS_TEXT = {"INTERVAL", "TIME WITH TIME ZONE", "BIT", "BIGNUM"}
"""Types stored as text: Parquet drops the zone of a time, and many readers fail at intervals."""
_AS_JSON = {"VARIANT", "UNION"}
"""Types stored as JSON: few readers support VARIANT; a UNION would lose the name of its member."""
MAX_TEXT = 500
MAX_NESTED = 2_000
_WHOLE = re.compile(r"BOOLEAN|U?(TINY|SMALL|BIG|HUGE)?INT|U?INTEGER")
_NESTED = re.compile(r"(STRUCT|MAP|UNION)\(.*|VARIANT|.*\[\d*\]", re.DOTALL)


def copy_to_file(
    connection: duckdb.DuckDBPyConnection,
    query: str,
    columns: tuple[Column, ...],
    file: Path,
    fmt: str,
    values: BoundValues | None,
) -> int:
    """Write a query's rows to a Parquet or CSV file; returns their number.

    Types that the file would change are cast to ``stored_type``. In Parquet, columns of 128-bit
    integers become 64-bit integers if all of them fit, else text.
    """
    if fmt == "csv":
        return _copy(connection, _storable_query(query, columns, None), file, fmt, values)
    narrow = _storable_query(query, columns, "BIGINT")
    if narrow == query:
        return _copy(connection, query, file, fmt, values)
    # DuckDB removes the file of a failed COPY in another thread, sometimes after the error was
    # raised, so the second attempt needs another name.
    attempt = file.with_name(f"attempt_{file.name}")
    try:
        rows = _copy(connection, narrow, attempt, fmt, values)
    except duckdb.ConversionException:
        as_text = _storable_query(query, columns, "VARCHAR")
        return _copy(connection, as_text, file, fmt, values)
    attempt.replace(file)
    return rows


def _copy(
    connection: duckdb.DuckDBPyConnection,
    query: str,
    file: Path,
    fmt: str,
    values: BoundValues | None,
) -> int:
    copied = connection.execute(
        f"COPY (\nSELECT * FROM (\n{query}\n)\n) TO {literal(str(file))} "
        f"({_FORMATS[fmt]}, USE_TMP_FILE false)",
        values or None,
    ).fetchone()
    return int(copied[0]) if copied else 0


def _storable_query(query: str, columns: tuple[Column, ...], large: str | None) -> str:
    """The query with its columns cast to their ``stored_type``."""
    casts = ", ".join(
        f"CAST({name} AS {kind}) AS {name}"
        for name, kind, before in (
            (identifier(column.name), stored_type(column.type, large), column.type)
            for column in columns
        )
        if kind != before
    )
    return f"SELECT * REPLACE ({casts}) FROM (\n{query}\n)" if casts else query


def stored_type(kind: str, large: str | None) -> str:
    """The type to which a column is cast before it is written, including its nested types.

    Args:
        kind: the column's type as DuckDB writes it.
        large: the type for integers beyond 64 bits, ``BIGINT`` or ``VARCHAR``; None for a CSV
            file, where every value is text.
    """

    def change(part: DuckDBType) -> DuckDBType | None:
        if part.name in _AS_JSON:
            return DuckDBType("JSON")
        if large is None:
            return None
        if part.name in _LARGE:
            return DuckDBType(large)
        return DuckDBType("VARCHAR") if part.name in _AS_TEXT else None

    return changed_type(kind, change)


def json_rows_sql(columns: Sequence[Column], query: str, limit: int) -> str:
    """The SQL for the first rows of a query, with values that ``finishers`` turn into JSON."""
    names = ", ".join(f"c{position}" for position in range(len(columns)))
    values = ", ".join(
        f"{_expression(column.type, f'c{position}')} AS c{position}"
        for position, column in enumerate(columns)
    )
    return f"SELECT {values} FROM (\n{query}\n) AS t({names}) LIMIT {limit:d}"


def _expression(kind: str, name: str) -> str:
    text = f"CAST({name} AS VARCHAR)"
    if _NESTED.fullmatch(kind):
        return _cut(f"CAST(to_json({name}) AS VARCHAR)", MAX_NESTED)
    if _WHOLE.fullmatch(kind) or kind == "DOUBLE" or kind.startswith("DECIMAL"):
        return name
    if kind == "FLOAT":  # 0.1 is 0.1, not 0.10000000149
        return f"CAST({text} AS DOUBLE)"
    if kind.startswith("TIMESTAMP"):
        return f"replace({text}, ' ', 'T')"
    if kind == "BLOB":
        return f"'<' || octet_length({name}) || ' bytes>'"
    if kind == "JSON":
        return _cut(text, MAX_NESTED)
    return _cut(text, MAX_TEXT)


def _cut(text: str, max_length: int) -> str:
    return (
        f"CASE WHEN length({text}) > {max_length} THEN left({text}, {max_length}) || '… (' || "
        f"length({text}) || ' characters)' ELSE {text} END"
    )


def finishers(columns: Sequence[Column]) -> list[Callable[[object], JsonValue]]:
    """For each column, the function that turns its fetched values into JSON values."""
    return [
        _nested_json if column.type == "JSON" or _NESTED.fullmatch(column.type) else _json_value
        for column in columns
    ]


def _json_value(value: object) -> JsonValue:
    if isinstance(value, float):
        if math.isfinite(value):
            return value
        return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"
    if isinstance(value, Decimal):
        return int(value) if value == value.to_integral_value() else _with_digits(f"{value:f}")
    if value is None or isinstance(value, bool | int | str):
        return value
    return str(value)


def _with_digits(digits: str) -> float | str:
    """A decimal fraction as a float, or as text if a float would change its digits."""
    number = float(digits)
    return number if math.isfinite(number) and Decimal(repr(number)) == Decimal(digits) else digits


def _nested_json(value: object) -> JsonValue:
    if not isinstance(value, str):
        return _json_value(value)
    try:
        parsed: JsonValue = json.loads(value, parse_constant=str, parse_float=_with_digits)
    except (ValueError, RecursionError):
        return value
    return parsed
