"""A household's ledger, as every function that reads or changes its rows takes it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import date

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
        """The ledger for work that depends on no day: all its rows are in the past."""
        return cls(connection, tool_id, date.max, month_starts_on)

    @property
    def key(self) -> tuple[str, int, date, int]:
        """What its answers depend on beside its data, as part of the key of a cache."""
        return self.connection.filename, self.tool_id, self.today, self.month_starts_on

    @property
    def in_calendar_months(self) -> Ledger:
        """The same rows, in months that start on the 1st."""
        return replace(self, month_starts_on=1)
