"""What a query process works on and what it answers."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from mdvec.datasets.core.columns import Column

Format = Literal["parquet", "csv"]
Cell = bool | int | float | str | list[object] | dict[str, object] | None
"""A value as JSON has it: dates and times are ISO text, what is binary says its size."""


@dataclass(frozen=True, slots=True)
class ParquetTable:
    """A table that is one Parquet file; size, time and number tell whether it is still the same.

    ``folder`` is where the file may lie instead, when a link has taken its place.
    """

    name: str
    path: Path
    size: int
    mtime_ns: int
    inode: int = 0
    folder: Path | None = None


@dataclass(frozen=True, slots=True)
class Data:
    """What there is to ask about; a process whose data no longer equal these is replaced.

    ``households`` are tool id, tool name and data version of each ledger in ``database``; their
    rows are one table, ``transactions``, which is not there when there are none.
    """

    parquet: tuple[ParquetTable, ...]
    database: Path
    households: tuple[tuple[int, str, int], ...]


@dataclass(frozen=True, slots=True)
class Limits:
    """What one query may take: seconds, the process's megabytes, and bytes of an export."""

    seconds: float
    memory_mb: int
    export_bytes: int


@dataclass(frozen=True, slots=True)
class Rows:
    """The first rows of an answer; ``more`` says that there were others."""

    columns: tuple[Column, ...]
    rows: list[list[Cell]]
    more: bool


@dataclass(frozen=True, slots=True)
class Exported:
    """A finished, closed file; whoever asked for it moves it away, or deletes it."""

    path: Path
    rows: int
    columns: tuple[Column, ...]
    size: int
