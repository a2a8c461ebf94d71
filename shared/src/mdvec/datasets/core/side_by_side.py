"""Finds tables that stand side by side on a sheet, with an empty column between them.

An empty column is also used to set off columns of one table. Two tables it is if both have the same
names, or begin or end at different rows.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import islice

from mdvec.datasets.core.columns import is_value

_SAMPLE_ROWS = 40
_MIN_COLUMNS = 2
_MIN_ROWS_APART = 2
Cells = Sequence[object]


@dataclass(slots=True)
class _Extent:
    """Where the filled cells of a sheet are; ``last`` is the last filled row of each column."""

    last: dict[int, int] = field(default_factory=dict)

    def add(self, number: int, row: Cells) -> None:
        for at, cell in enumerate(row):
            if cell is not None and cell != "":
                self.last[at] = number

    def runs(self) -> list[range]:
        """The columns between empty ones."""
        runs: list[range] = []
        for at in sorted(self.last):
            if runs and runs[-1].stop == at:
                runs[-1] = range(runs[-1].start, at + 1)
            else:
                runs.append(range(at, at + 1))
        return runs


def tables_side_by_side(rows: Iterable[tuple[int, Cells]]) -> list[range]:
    """The columns of each table of a sheet; none if it has only one. Rows have their numbers.

    Only sheets whose first rows have an empty column are read further.
    """
    rows = iter(rows)
    sample = list(islice(rows, _SAMPLE_ROWS))
    extent = _Extent()
    for number, row in sample:
        extent.add(number, row)
    if not _may_be_tables(extent.runs()):
        return []
    for number, row in rows:
        extent.add(number, row)
    runs = extent.runs()
    headers = [_header(sample, run) for run in runs]
    if not _may_be_tables(runs) or not all(headers):
        return []
    names = {header[1] for header in filter(None, headers)}
    begins = {header[0] for header in filter(None, headers)}
    ends = [max(extent.last[at] for at in run) for run in runs]
    are_tables = len(names) == 1 or len(begins) > 1 or max(ends) - min(ends) >= _MIN_ROWS_APART
    return runs if are_tables else []


def _may_be_tables(runs: Sequence[range]) -> bool:
    return len(runs) > 1 and all(len(run) >= _MIN_COLUMNS for run in runs)


def _header(sample: Iterable[tuple[int, Cells]], run: range) -> tuple[int, tuple[str, ...]] | None:
    """The first row that names all columns of a run, with its number; None if none does."""
    for number, row in sample:
        cells = [row[at] if at < len(row) else None for at in run]
        names = [cell.strip() for cell in cells if isinstance(cell, str) and cell.strip()]
        if len(names) == len(run) and not any(map(is_value, names)):
            return number, tuple(names)
    return None
