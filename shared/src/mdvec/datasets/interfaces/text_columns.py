"""Finds the types of text columns in a plain CSV copy, and writes them to Parquet."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from mdvec.datasets.core.understood import ReadColumn
from mdvec.datasets.core.value_types import (
    BLANKS,
    DOTTED,
    ValueKind,
    has_decimal_commas,
    kinds_of,
    may_be_dotted,
    possible_kinds,
)
from mdvec.datasets.interfaces.choices import kind_as_chosen
from mdvec.datasets.interfaces.connection import one_path, parquet_scan
from mdvec.datasets.interfaces.parquet import units_metadata
from mdvec.text import identifier, literal, shown_name

if TYPE_CHECKING:
    import duckdb

SAMPLE_ROWS = 1_000
"""The rows from which kinds are ruled out before the others are checked."""
_VERDICTS_PER_QUERY = 100
_MAX_LINE_BYTES = 2**25
Cells = Sequence[str | None]
"""A row of texts; an empty cell is None."""


def plain_scan(plain: Path, names: Sequence[str]) -> str:
    """SQL: the rows of a plain copy, as texts."""
    types = ", ".join(f"{column}: 'VARCHAR'" for column in inner_names(names))
    return (
        f"read_csv({literal(one_path(plain))}, columns = {{{types}}}, auto_detect = false, "
        "header = true, delim = ',', quote = '\"', escape = '\"', new_line = '\\n', "
        f"max_line_size = {_MAX_LINE_BYTES}, parallel = false)"
    )


def write_typed(
    connection: duckdb.DuckDBPyConnection,
    names: Sequence[str],
    scan: str,
    sample: Sequence[Cells],
    target: Path,
    chosen: Mapping[str, str],
    delimiter: str = "",
    *,
    beside_commas: bool = False,
) -> tuple[ReadColumn, ...]:
    """Write the rows of ``scan``, SQL whose columns are texts named c0, c1 …, to ``target``.

    Returns how each column was read. ``sample`` are the first ``SAMPLE_ROWS`` rows; ``chosen``
    says what some columns hold, by name; ``delimiter`` is what separates the file's cells,
    and ``beside_commas`` whether files of the same table have decimal commas.

    Raises:
        UnreadableFile: a value does not fit what the user chose.
    """
    columns = inner_names(names)
    allowed = [kinds_of(chosen.get(name, ""), delimiter) for name in names]
    by_column = _kinds(connection, dict(zip(columns, allowed, strict=True)), sample, scan)
    for column, name in zip(columns, names, strict=True):
        if name in chosen:
            cells = f"SELECT {column} AS cell FROM {scan}"
            kind, nulls = by_column[column]
            by_column[column] = kind_as_chosen(connection, name, chosen[name], kind, cells), nulls
    has_commas = has_decimal_commas(kind for kind, _ in by_column.values())
    if has_commas or beside_commas:
        dotted = {
            column: (DOTTED,) if name not in chosen and may_be_dotted(by_column[column][0]) else ()
            for column, name in zip(columns, names, strict=True)
        }
        asked = _kinds(connection, dotted, sample, scan)
        by_column |= {column: each for column, each in asked.items() if each[0] is not None}
    kinds = [by_column[column][0] for column in columns]
    shown = ", ".join(
        f"{column if kind is None else kind.value(column)} AS {identifier(name)}"
        for column, kind, name in zip(columns, kinds, names, strict=True)
    )
    units = {name: kind.unit for name, kind in zip(names, kinds, strict=True) if kind and kind.unit}
    connection.execute(
        f"COPY (SELECT {shown} FROM {scan}) TO {literal(str(target))} "
        f"(FORMAT parquet{units_metadata(units, has_decimal_commas=has_commas)})"
    )
    read = tuple(
        read_column(name, *by_column[column], (row[at] for row in sample))
        for at, (column, name) in enumerate(zip(columns, names, strict=True))
    )
    return with_blank_texts(connection, read, target)


def read_column(
    name: str, kind: ValueKind | None, nulls: int, sample: Iterable[str | None]
) -> ReadColumn:
    """How a column was read, with a sample of its texts if they look other than its values."""
    if kind is None:
        return ReadColumn(name, "VARCHAR")
    texts = [text for cell in sample if cell is not None and (text := cell.strip()) not in BLANKS]
    if kind.question:
        shown = f"{shown_name(texts[0])}: " if texts else ""
        return ReadColumn(name, kind.type, decision=shown + kind.question.format(name=name))
    written = next((text for text in texts if not kind.is_plain(text)), "")
    return ReadColumn(name, kind.type, sample=written, nulls=nulls, decision=kind.rule)


def with_blank_texts(
    connection: duckdb.DuckDBPyConnection, columns: Sequence[ReadColumn], target: Path
) -> tuple[ReadColumn, ...]:
    """The columns of ``target``; those of text say how many cells such as NA they hold."""
    texts = [column.name for column in columns if column.type == "VARCHAR"]
    notes: dict[str, str] = {}
    for at in range(0, len(texts), _VERDICTS_PER_QUERY):
        names = texts[at : at + _VERDICTS_PER_QUERY]
        counts = ", ".join(ValueKind.nulls(identifier(name)) for name in names)
        scan = parquet_scan(target)
        numbers = connection.execute(f"SELECT {counts} FROM {scan}").fetchone() or ()
        for name, number in zip(names, numbers, strict=True):
            if number:
                notes[name] = _blank_note(connection, identifier(name), scan)
    return tuple(
        replace(column, note="; ".join(filter(None, (column.note, notes.get(column.name, "")))))
        for column in columns
    )


def _blank_note(connection: duckdb.DuckDBPyConnection, column: str, scan: str) -> str:
    cells = connection.execute(
        f"SELECT trim({column}) AS cell, count(*) FROM {scan} WHERE cell IN {BLANKS[1:]!s} "
        "GROUP BY cell ORDER BY cell"
    ).fetchall()
    shown = ", ".join(f"{cell} ({number:,})" for cell, number in cells)
    return f"{shown} kept as text; --read na={cells[0][0]} makes it NULL"


def inner_names(names: Sequence[str]) -> list[str]:
    """Column names for the plain copy that need no quoting."""
    return [f"c{number}" for number in range(len(names))]


def _kinds(
    connection: duckdb.DuckDBPyConnection,
    allowed: Mapping[str, Sequence[ValueKind]],
    sample: Sequence[Cells],
    scan: str,
) -> dict[str, tuple[ValueKind | None, int]]:
    """Each column's kind, None for text, and how many of its cells such as NA become NULL.

    A sample of rows rules out most kinds; the others are checked on all rows.
    """
    candidates = {
        column: possible_kinds(kinds, (row[at] for row in sample))
        for at, (column, kinds) in enumerate(allowed.items())
    }
    by_column: dict[str, tuple[ValueKind | None, int]] = dict.fromkeys(allowed, (None, 0))
    while tried := [(column, kinds[0]) for column, kinds in candidates.items() if kinds]:
        verdicts = _verdicts(connection, tried, scan)
        for (column, kind), (verdict, nulls) in zip(tried, verdicts, strict=True):
            if verdict is False:
                del candidates[column][0]
                continue
            if verdict:
                by_column[column] = kind, nulls
            del candidates[column]
    return by_column


def _verdicts(
    connection: duckdb.DuckDBPyConnection, tried: Sequence[tuple[str, ValueKind]], rows: str
) -> list[tuple[bool | None, int]]:
    """Whether all values of each column fit its kind (None: no values); how many cells are NA.

    Asks about some columns per query: for thousands, DuckDB's planner needs minutes.
    """
    cells: list[bool | int | None] = []
    for at in range(0, len(tried), _VERDICTS_PER_QUERY):
        some = tried[at : at + _VERDICTS_PER_QUERY]
        fits = ", ".join(f"{kind.fits(column)}, {kind.nulls(column)}" for column, kind in some)
        cells += connection.execute(f"SELECT {fits} FROM {rows}").fetchone() or ()
    verdicts = (None if cell is None else bool(cell) for cell in cells[::2])
    return list(zip(verdicts, (int(cell or 0) for cell in cells[1::2]), strict=True))
