"""What messages to and from the query process are about: tables, limits and results."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from mdvec.datasets import Column
from mdvec.queries import Parameter
from mdvec.sql.core.refusals import named

Message = dict[str, Any]
JsonValue = bool | int | float | str | list[object] | dict[str, object] | None
"""A value of a result: dates and times are ISO 8601 texts; binary data is only its size."""


@dataclass(frozen=True, slots=True)
class ParquetTable:
    """A table that is one Parquet file; size, mtime and inode show whether the file changed.

    The file is opened only inside ``folder`` (by default the file itself), so that a link that
    replaces it later cannot lead elsewhere. ``tool`` is the name of its dataset. ``is_copy`` is
    whether an import made the file from a file of the user.
    """

    name: str
    path: Path
    size: int
    mtime_ns: int
    inode: int = 0
    folder: Path | None = None
    tool: str = "NAME"
    is_copy: bool = False


@dataclass(frozen=True, slots=True)
class Data:
    """A snapshot of the user's tables; the query process is replaced when they change.

    ``households`` has the tool id, tool name and data version of each ledger in the database. The
    rows of all ledgers are the table ``transactions``, which is missing if there is no ledger.
    """

    parquet: tuple[ParquetTable, ...]
    database: Path
    households: tuple[tuple[int, str, int], ...]
    month_starts_on: int = 1


@dataclass(frozen=True, slots=True)
class QueryLimits:
    """The limits of a query, its process and an export, and the time zone of SQL."""

    seconds: float
    memory_mb: int
    export_bytes: int
    time_zone: str = "UTC"


@dataclass(frozen=True, slots=True)
class QueryRows:
    """The first rows of a query's result; ``more`` says whether there are others."""

    columns: tuple[Column, ...]
    rows: list[list[JsonValue]]
    more: bool


@dataclass(frozen=True, slots=True)
class JudgedQuery:
    """A valid query: its text, its parameters, and the columns of its result."""

    sql: str
    parameters: tuple[Parameter, ...]
    columns: tuple[Column, ...]


@dataclass(frozen=True, slots=True)
class ExportedFile:
    """A complete, closed file in the spool; the caller moves or deletes it.

    ``made_from`` has, by name, the states of the user's tables from which it was made.
    """

    path: Path
    rows: int
    columns: tuple[Column, ...]
    made_from: Mapping[str, str] = field(default_factory=dict)


def listed_columns(columns: Iterable[Column]) -> list[list[str]]:
    """Columns as a response lists them."""
    return [[column.name, column.type] for column in columns]


def columns_in(listed: Sequence[Sequence[str]]) -> tuple[Column, ...]:
    """The columns that a response lists."""
    return tuple(Column(name, kind) for name, kind in listed)


def missing_tables(reasons: Mapping[str, str], tables: Iterable[ParquetTable]) -> list[str]:
    """The warnings about ``tables`` that could not be loaded, one for each tool and reason."""
    by_name = {table.name: table for table in tables}
    names_by_cause: dict[tuple[str, str], list[str]] = {}
    for name, reason in reasons.items():
        cause = f"mdvec's copy: {reason}" if by_name[name].is_copy else reason
        names_by_cause.setdefault((by_name[name].tool, cause), []).append(name)
    return [
        f"not there: {named(names)} ({reason}); the user can have the files read again with: "
        f"mdvec import -n {tool} --mode update --checksum"
        for (tool, reason), names in names_by_cause.items()
    ]
