"""A household's ledger: the argument of every function that reads or changes its rows."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import date
from typing import Any

import apsw


@dataclass(frozen=True, slots=True)
class Ledger:
    """The rows of the household ``tool_id`` in an open database, as of a day.

    Its months start on the day ``month_starts_on``, 1 to 31.
    """

    connection: apsw.Connection
    tool_id: int
    today: date
    month_starts_on: int = 1

    @classmethod
    def undated(cls, connection: apsw.Connection, tool_id: int, month_starts_on: int = 1) -> Ledger:
        """The ledger for work that does not depend on today: all its rows are in the past."""
        return cls(connection, tool_id, date.max, month_starts_on)

    def execute(self, statement: str, values: Iterable[apsw.SQLiteValue] = ()) -> apsw.Cursor:
        """Run an SQL statement; the household's id is bound first, then the values."""
        return self.connection.execute(statement, (self.tool_id, *values))

    def number(self, statement: str, values: Iterable[apsw.SQLiteValue] = ()) -> int:
        """The number that a statement selects."""
        value: int = self.execute(statement, values).get
        return value

    def column(self, statement: str, values: Iterable[apsw.SQLiteValue] = ()) -> list[Any]:
        """The first value of each row that a statement selects."""
        return [first for first, *_ in self.execute(statement, values)]

    @property
    def key(self) -> tuple[str, int, date, int]:
        """The part of a cache key for everything but the data: database, household, day, months."""
        return self.connection.filename, self.tool_id, self.today, self.month_starts_on

    @property
    def in_calendar_months(self) -> Ledger:
        """The same rows, in months that start on the 1st."""
        return replace(self, month_starts_on=1)
