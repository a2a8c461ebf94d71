"""Writes tables with very many columns to Parquet.

DuckDB needs minutes to plan a query over thousands of columns. Here each row is one list, and a
query about columns is a query about list elements, whose text hardly grows with their number.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

from mdvec.datasets.core.value_types import VALUE_KINDS, ValueKind
from mdvec.datasets.interfaces.connection import one_path
from mdvec.datasets.interfaces.parquet import units_metadata
from mdvec.text.quoting import identifier, literal

if TYPE_CHECKING:
    import duckdb

MIN_WIDE_COLUMNS = 200
"""The number of columns from which rows are stored as lists."""
_MAX_ROW_BYTES = 2**26
_SAMPLE_ROWS = 5
_CELLS_AT_ONCE = 10_000_000
_MAX_ROWS_AT_ONCE = 122_880
_MIN_ROWS_AT_ONCE = 2_048


def write_lists(rows: Iterable[Sequence[str]], plain: TextIO) -> None:
    """Write each row as a JSON list; an empty cell becomes null."""
    plain.writelines(
        json.dumps([cell or None for cell in row], ensure_ascii=False) + "\n" for row in rows
    )


def lists_to_parquet(
    connection: duckdb.DuckDBPyConnection,
    names: Sequence[str],
    plain: Path,
    target: Path,
    as_text: Collection[str] = (),
) -> None:
    """Find each column's type and write all rows to ``target``; those in ``as_text`` stay text.

    The connection's optimizer should be off: it needs minutes for thousands of columns.
    """
    scan = (
        f"read_json({literal(one_path(plain))}, format = 'newline_delimited', records = false, "
        f"columns = {{'row': 'VARCHAR[]'}}, maximum_object_size = {_MAX_ROW_BYTES})"
    )
    kinds = [
        None if name in as_text else kind
        for name, kind in zip(names, _kinds(connection, len(names), scan), strict=True)
    ]
    shown = ", ".join(
        f"{cell if kind is None else kind.value_of_cell(cell)} AS {identifier(name)}"
        for cell, kind, name in zip(
            (f"row[{at}]" for at in range(1, len(names) + 1)), kinds, names, strict=True
        )
    )
    units = {name: kind.unit for name, kind in zip(names, kinds, strict=True) if kind and kind.unit}
    connection.execute(
        f"COPY (SELECT {shown} FROM {scan}) TO {literal(str(target))} "
        f"(FORMAT parquet, USE_TMP_FILE false, ROW_GROUP_SIZE {rows_at_once(len(names))}"
        f"{units_metadata(units)})"
    )


def rows_at_once(columns: int) -> int:
    """The size of a Parquet row group, which the writer keeps in memory for every column."""
    rows = _CELLS_AT_ONCE // max(1, columns)
    return min(max(rows, _MIN_ROWS_AT_ONCE), _MAX_ROWS_AT_ONCE)


def _kinds(connection: duckdb.DuckDBPyConnection, width: int, scan: str) -> list[ValueKind | None]:
    """Each column's kind; each round tries the next kind on all undecided columns.

    A few rows rule out most kinds, so that few rounds go through all cells.
    """
    found: list[ValueKind | None] = [None] * width
    sample = connection.execute(f"SELECT row FROM {scan} LIMIT {_SAMPLE_ROWS}").fetchall()
    waiting = {
        column: [
            number
            for number, kind in enumerate(VALUE_KINDS)
            if kind.could_fit(row[column] for (row,) in sample)
        ]
        for column in range(width)
    }
    while tried := {column: numbers[0] for column, numbers in waiting.items() if numbers}:
        verdicts = _verdicts(connection, tried, width, scan)
        for column, number in tried.items():
            verdict = verdicts.get(column)
            if verdict is False:
                del waiting[column][0]
                continue
            if verdict:
                found[column] = VALUE_KINDS[number]
            del waiting[column]
    return found


def _verdicts(
    connection: duckdb.DuckDBPyConnection, tried: dict[int, int], width: int, scan: str
) -> dict[int, bool | None]:
    """Whether all values of each column fit the kind being tried; None if it has no values."""
    kinds = sorted(set(tried.values()))
    holds = " ".join(f"WHEN {number} THEN {VALUE_KINDS[number].holds('cell')}" for number in kinds)
    query = (
        f"SELECT place, bool_and(coalesce(CASE $tried[place] {holds} END, false)) "
        f"FILTER (WHERE {ValueKind.is_value('cell')}) "
        f"FROM (SELECT unnest(row) AS cell, unnest(range(1, {width + 1})) AS place FROM {scan}) "
        "WHERE $tried[place] IS NOT NULL GROUP BY place"
    )
    wanted = [tried.get(column) for column in range(width)]
    rows = connection.execute(query, {"tried": wanted}).fetchall()
    return {place - 1: verdict for place, verdict in rows}
