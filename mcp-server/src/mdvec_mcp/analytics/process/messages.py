"""The query process's input and output: its tables, its limits, and the results of queries."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from mdvec.datasets.core.columns import Column
from mdvec.queries.parameters import Parameter

JsonValue = bool | int | float | str | list[object] | dict[str, object] | None
"""A value of a result: dates and times are ISO text, binary data is shown as its size."""


@dataclass(frozen=True, slots=True)
class ParquetTable:
    """A table that is one Parquet file; size, mtime and inode show whether the file changed.

    The file is opened only inside ``folder`` (by default the file itself), so that a link put in
    its place later leads nowhere else.
    """

    name: str
    path: Path
    size: int
    mtime_ns: int
    inode: int = 0
    folder: Path | None = None


@dataclass(frozen=True, slots=True)
class Data:
    """The user's tables at one moment; the query process is replaced when they change.

    Args:
        parquet: the tables of the datasets.
        database: the database with the ledgers.
        households: tool id, tool name and data version of each ledger. Their rows together are
            the table ``transactions``, which exists only where there is a ledger.
        month_starts_on: the day on which the ledgers' months start.
    """

    parquet: tuple[ParquetTable, ...]
    database: Path
    households: tuple[tuple[int, str, int], ...]
    month_starts_on: int = 1


@dataclass(frozen=True, slots=True)
class QueryLimits:
    """What holds for every query.

    Attributes:
        seconds: of one query.
        memory_mb: of its process.
        export_bytes: of an export.
        time_zone: of now() and of shown times with a zone.
    """

    seconds: float
    memory_mb: int
    export_bytes: int
    time_zone: str = "UTC"


@dataclass(frozen=True, slots=True)
class QueryRows:
    """The first rows of a query's result; ``more`` tells whether the result has others."""

    columns: tuple[Column, ...]
    rows: list[list[JsonValue]]
    more: bool


@dataclass(frozen=True, slots=True)
class JudgedQuery:
    """A query that can be run: its text, its parameters, and the columns of its result."""

    sql: str
    parameters: tuple[Parameter, ...]
    columns: tuple[Column, ...]


@dataclass(frozen=True, slots=True)
class ExportedFile:
    """A complete, closed file in the spool; the caller moves or deletes it."""

    path: Path
    rows: int
    columns: tuple[Column, ...]
    size: int
