"""Writes tables with very many columns to Parquet.

DuckDB needs minutes to plan a query over thousands of columns. Here each row is one list, and a
query about columns is a query about list elements, whose text hardly grows with their number.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

from mdvec.datasets.core.value_types import (
    DOTTED,
    VALUE_KINDS,
    ValueKind,
    has_decimal_commas,
    may_be_dotted,
    possible_kinds,
)
from mdvec.datasets.interfaces.choices import kind_as_chosen
from mdvec.datasets.interfaces.connection import one_path
from mdvec.datasets.interfaces.parquet import units_metadata
from mdvec.text import identifier, literal

if TYPE_CHECKING:
    import duckdb

MIN_WIDE_COLUMNS = 200
"""The number of columns from which rows are stored as lists."""
MAX_ROW_BYTES = 2**26
_SAMPLE_ROWS = 5
_CELLS_AT_ONCE = 10_000_000
_MAX_ROWS_AT_ONCE = 122_880
_MIN_ROWS_AT_ONCE = 2_048


@dataclass(frozen=True, slots=True)
class ListColumn:
    """A column whose cells are elements of lists: its name, and how to find its type.

    Attributes:
        name: its name; one without a name is left out.
        type: its SQL type, if that is known.
        kinds: the kinds of values that its texts may all be; without any it stays text.
        choice: what the user says that it holds, if anything.
        unit: what its numbers count, if their cells say so.
    """

    name: str
    type: str = ""
    kinds: Sequence[ValueKind] = VALUE_KINDS
    choice: str = ""
    unit: str = ""

    def value(self, cell: str) -> str:
        """SQL: a cell as a value of the known type."""
        if self.type == "BLOB":
            return f"unhex({cell})"
        read = f"TRY_CAST({cell} AS {self.type})"
        return f"nullif({read}, 'NaN'::DOUBLE)" if self.type == "DOUBLE" else read


def write_lists(rows: Iterable[Sequence[str]], plain: TextIO) -> None:
    """Write each row as a JSON list; an empty cell becomes null."""
    plain.writelines(
        json.dumps([cell or None for cell in row], ensure_ascii=False) + "\n" for row in rows
    )


def lists_to_parquet(
    connection: duckdb.DuckDBPyConnection,
    columns: Sequence[ListColumn],
    plain: Path,
    target: Path,
    *,
    beside_commas: bool = False,
) -> list[tuple[ValueKind | None, int]]:
    """Find each column's type and write all rows to ``target``.

    Returns the kinds found, and how many cells of each column, such as NA, became NULL. The
    connection's optimizer should be off: it needs minutes for thousands of columns.

    Raises:
        UnreadableFile: a value does not fit what the user chose.
    """
    scan = (
        f"read_json({literal(one_path(plain))}, format = 'newline_delimited', records = false, "
        f"columns = {{'row': 'VARCHAR[]'}}, maximum_object_size = {MAX_ROW_BYTES})"
    )
    by_column = _kinds(
        connection, [() if list_column.type else list_column.kinds for list_column in columns], scan
    )
    for at, column in enumerate(columns):
        if column.choice:
            cells = f"SELECT row[{at + 1}] AS cell FROM {scan}"
            kind, nulls = by_column[at]
            kind = kind_as_chosen(connection, column.name, column.choice, kind, cells)
            by_column[at] = kind, nulls
    has_commas = has_decimal_commas(kind for kind, _ in by_column)
    if has_commas or beside_commas:
        dotted = [
            (DOTTED,) if column.kinds and not column.choice and may_be_dotted(kind) else ()
            for column, (kind, _) in zip(columns, by_column, strict=True)
        ]
        asked = _kinds(connection, dotted, scan)
        by_column = [new if new[0] else old for new, old in zip(asked, by_column, strict=True)]
    kinds = [kind for kind, _ in by_column]
    shown = ", ".join(
        f"{_value(column, kind, f'row[{at}]')} AS {identifier(column.name)}"
        for at, (column, kind) in enumerate(zip(columns, kinds, strict=True), 1)
        if column.name
    )
    units = {
        column.name: unit
        for column, kind in zip(columns, kinds, strict=True)
        if (unit := kind.unit if kind else column.unit)
    }
    connection.execute(
        f"COPY (SELECT {shown} FROM {scan}) TO {literal(str(target))} "
        f"(FORMAT parquet, USE_TMP_FILE false, ROW_GROUP_SIZE {rows_at_once(len(columns))}"
        f"{units_metadata(units, has_decimal_commas=has_commas)})"
    )
    return by_column


def _value(column: ListColumn, kind: ValueKind | None, cell: str) -> str:
    if column.type:
        return column.value(cell)
    return cell if kind is None else kind.value_of_cell(cell)


def rows_at_once(columns: int) -> int:
    """The size of a Parquet row group, which the writer keeps in memory for every column."""
    rows = _CELLS_AT_ONCE // max(1, columns)
    return min(max(rows, _MIN_ROWS_AT_ONCE), _MAX_ROWS_AT_ONCE)


def _kinds(
    connection: duckdb.DuckDBPyConnection, allowed: Sequence[Sequence[ValueKind]], scan: str
) -> list[tuple[ValueKind | None, int]]:
    """Each column's kind, and how many of its cells are no values, such as NA.

    Each round tries the next kind on all undecided columns. A few rows rule out most kinds, so
    that few rounds go through all cells.
    """
    by_column: list[tuple[ValueKind | None, int]] = [(None, 0)] * len(allowed)
    sample = connection.execute(f"SELECT row FROM {scan} LIMIT {_SAMPLE_ROWS}").fetchall()
    waiting = {
        column: possible_kinds(
            kinds, (row[column] if column < len(row) else None for (row,) in sample)
        )
        for column, kinds in enumerate(allowed)
    }
    while tried := {column: kinds[0] for column, kinds in waiting.items() if kinds}:
        verdicts = _verdicts(connection, tried, len(allowed), scan)
        for column, kind in tried.items():
            verdict, nulls = verdicts.get(column, (None, 0))
            if verdict is False:
                del waiting[column][0]
                continue
            if verdict:
                by_column[column] = kind, nulls
            del waiting[column]
    return by_column


def _verdicts(
    connection: duckdb.DuckDBPyConnection, tried: dict[int, ValueKind], width: int, scan: str
) -> dict[int, tuple[bool | None, int]]:
    """Whether all values of each column fit the kind being tried (None: no values), and its NAs."""
    kinds = list(dict.fromkeys(tried.values()))
    holds = " ".join(f"WHEN {at} THEN {kind.holds('cell')}" for at, kind in enumerate(kinds))
    proves = " ".join(
        f"WHEN {at} THEN {kind.proves('cell')}" for at, kind in enumerate(kinds) if kind.needs
    )
    proof = f"bool_or(CASE $tried[place] {proves} ELSE true END)" if proves else "true"
    values = f"FILTER (WHERE {ValueKind.is_value('cell')})"
    query = (
        f"SELECT place, bool_and(coalesce(CASE $tried[place] {holds} END, false)) {values} "
        f"AND {proof} {values if proves else ''}, {ValueKind.nulls('cell')} "
        f"FROM (SELECT unnest(row) AS cell, unnest(range(1, {width + 1})) AS place FROM {scan}) "
        "WHERE $tried[place] IS NOT NULL GROUP BY place"
    )
    wanted = [kinds.index(tried[column]) if column in tried else None for column in range(width)]
    rows = connection.execute(query, {"tried": wanted}).fetchall()
    return {position - 1: (verdict, nulls) for position, verdict, nulls in rows}
