"""What is asked of tables to describe them: names that match, samples, keys, joins that fit."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from mdvec.datasets import Column, family, has_dates
from mdvec.text import identifier

TableColumns = Mapping[str, Sequence[Column]]
SAMPLES = 3
_SAMPLE_ROWS = 10_000
_COMPARED_VALUES = 1_000
_SAMPLE_CHARS = 40
_JOINED = {"integer", "category", "date", "timestamp"}


@dataclass(frozen=True, slots=True)
class Join:
    """A column that may join another table's column."""

    column: str
    other: str
    other_column: str


def compared_name(name: str) -> str:
    """A name as it is compared: without case, width, spaces and signs."""
    folded = unicodedata.normalize("NFKC", name).casefold()
    return "".join(sign for sign in folded if sign.isalnum()) or folded


def matching(tables: TableColumns, text: str | None) -> dict[str, list[str]]:
    """The tables whose names hold the text, with all columns, and others with columns that do."""
    if text is None:
        return {name: [column.name for column in columns] for name, columns in tables.items()}
    matches: dict[str, list[str]] = {}
    for name, columns in tables.items():
        fitting = list(columns) if holds(name, text) else columns_holding(columns, text)
        if fitting or holds(name, text):
            matches[name] = [column.name for column in fitting]
    return matches


def columns_holding(columns: Iterable[Column], text: str | None) -> list[Column]:
    """The columns whose names hold the text; all without one."""
    return [column for column in columns if text is None or holds(column.name, text)]


def holds(name: str, text: str) -> bool:
    """Whether a name holds a text."""
    return compared_name(text) in compared_name(name)


def can_be_key(column: Column) -> bool:
    """Whether values of the column may identify rows."""
    return family(column) in _JOINED and column.type != "BOOLEAN"


def samples_sql(columns: Sequence[Column]) -> str:
    """For each column its most frequent values, and whether all differ, in the first rows."""
    parts = []
    for column in columns:
        name = identifier(column.name)
        text = f"CAST({name} AS VARCHAR)"
        cut = f"if(length({text}) > {_SAMPLE_CHARS}, left({text}, {_SAMPLE_CHARS}) || '…', {text})"
        parts.append(f"approx_top_k({cut}, {SAMPLES})")
        parts.append(f"count(*) = count(DISTINCT {name})" if can_be_key(column) else "false")
    return f"SELECT {', '.join(parts)} FROM (SELECT * FROM {{source}} LIMIT {_SAMPLE_ROWS})"


def facts_sql(columns: Sequence[Column], perhaps_keys: Sequence[Column]) -> str:
    """The number of rows, the first and last of each column of dates, and which are keys."""
    dates = [identifier(column.name) for column in columns if has_dates(column)]
    keys = [identifier(column.name) for column in perhaps_keys]
    parts = [
        "count(*)",
        *(f"{which}({name})" for name in dates for which in ("min", "max")),
        *(f"count(*) = count(DISTINCT {name})" for name in keys),
    ]
    return f"SELECT {', '.join(parts)} FROM {{source}}"


def joins_by_name(table: str, columns: Sequence[Column], tables: TableColumns) -> list[Join]:
    """The joins that names and types suggest, those through the rarest names first.

    A name suggests the same name in another table, and ``carrier_id`` the ``id`` of ``carriers``.
    """
    ranked: list[tuple[int, Join]] = []
    for column in filter(can_be_key, columns):
        fitting = [
            Join(column.name, name, other.name)
            for name, others in tables.items()
            if name != table
            for other in others
            if family(other) == family(column) and _are_alike(table, column.name, name, other.name)
        ]
        ranked += [(len(fitting), join) for join in fitting]
    return [join for _, join in sorted(ranked, key=lambda pair: pair[0])]


def overlap_sql(table: str, join: Join) -> str:
    """The statement that compares a column with the one it may join, over its first values.

    Its row has the number of distinct values, how many of them the other column has, and whether
    the other column's values are all distinct.
    """
    column, other = identifier(join.column), identifier(join.other_column)
    there = identifier(join.other)
    return (
        f"WITH compared AS (SELECT DISTINCT {column} AS v FROM "
        f"(SELECT {column} FROM {identifier(table)} LIMIT {_SAMPLE_ROWS}) "
        f"WHERE {column} IS NOT NULL LIMIT {_COMPARED_VALUES}) "
        "SELECT (SELECT count(*) FROM compared), "
        f"(SELECT count(*) FROM compared WHERE v IN (SELECT {other} FROM {there})), "
        f"(SELECT count(*) = count(DISTINCT {other}) FROM {there})"
    )


def _are_alike(table: str, column: str, other: str, other_column: str) -> bool:
    here, there = compared_name(column), compared_name(other_column)
    return here == there or here in _of(other, there) or there in _of(table, here)


def _of(table: str, column: str) -> set[str]:
    """What other tables may call this column of a table: ``carriers.id`` is ``carrier_id``."""
    name = compared_name(table.rpartition("__")[2])
    return {stem + column for stem in (name, re.sub(r"ies$", "y", name), re.sub(r"s$", "", name))}
