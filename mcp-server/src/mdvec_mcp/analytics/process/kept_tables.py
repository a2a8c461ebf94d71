"""The materialized tables that a query process has, and how they come back in the next one."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace

from mdvec.datasets.core.columns import Column

from mdvec_mcp.analytics.core.statement import folded


@dataclass(frozen=True, slots=True)
class KeptTable:
    """A materialized table: what it was made of, and which of the others that was."""

    number: int
    name: str
    source: str
    sql: str
    needs: frozenset[int]
    rows: int
    columns: tuple[Column, ...]


@dataclass
class KeptTables:
    """The materialized tables by name, oldest first."""

    _tables: dict[str, KeptTable] = field(default_factory=dict)
    _made: int = 0

    def __iter__(self) -> Iterator[KeptTable]:
        return iter(tuple(self._tables.values()))

    def add(
        self,
        name: str,
        source: str,
        sql: str,
        reads: Iterable[str],
        rows: int,
        columns: tuple[Column, ...],
    ) -> None:
        """Note a table that has just been made; it takes the place of one of its name."""
        needs = frozenset(self._tables[folded(other)].number for other in reads)
        self._made += 1
        self._tables.pop(folded(name), None)
        self._tables[folded(name)] = KeptTable(self._made, name, source, sql, needs, rows, columns)

    def drop(self, name: str) -> None:
        """Forget a table."""
        self._tables.pop(folded(name), None)

    def take_all(self) -> list[KeptTable]:
        """Forget every table, to make them again; oldest first."""
        tables = list(self._tables.values())
        self._tables.clear()
        return tables

    def has(self, numbers: Iterable[int]) -> bool:
        """Whether the very tables of these numbers are all still there."""
        return set(numbers) <= {table.number for table in self._tables.values()}

    def keep(self, table: KeptTable, rows: int, columns: tuple[Column, ...]) -> None:
        """Note a table that was made again."""
        self._tables[folded(table.name)] = replace(table, rows=rows, columns=columns)
