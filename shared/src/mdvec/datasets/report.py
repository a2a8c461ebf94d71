"""What an import of data files did: the tables there are now, and what was left out."""

from __future__ import annotations

from dataclasses import dataclass

from mdvec.datasets.core.columns import Column
from mdvec.datasets.interfaces.tables import DatasetTable
from mdvec.files.scan import Problem


@dataclass(frozen=True, slots=True)
class TableReport:
    """A table after an import: its name in SQL, its file, and what it holds.

    ``first`` and ``last`` are the ends of ``period_column``.
    """

    name: str
    origin: str
    rows: int
    columns: tuple[Column, ...]
    period_column: str | None
    first: str | None
    last: str | None

    @classmethod
    def of(cls, table: DatasetTable) -> TableReport:
        """What a report says of a table: no paths."""
        return cls(
            table.name, table.origin, table.rows, table.columns,
            table.period_column, table.first, table.last,
        )  # fmt: skip


@dataclass(frozen=True, slots=True)
class DatasetReport:
    """The tables of a dataset, and what of its files is no table, with the reason."""

    tables: tuple[TableReport, ...]
    left_out: tuple[Problem, ...]
