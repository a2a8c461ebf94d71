"""What a file says of a transaction, and where it stands."""

from __future__ import annotations

from typing import NamedTuple

from mdvec.household.core.cells import TransactionRow

Values = tuple[str, int | None, str, str, str, str, str, int, int, str]
"""date, amount, description, both categories, account, memo, both flags, mf_id."""


class Placed(NamedTuple):
    """What an export says of one identity, and at which line."""

    source_file: str
    row_number: int
    values: Values

    @property
    def day(self) -> str:
        """The row's date, as YYYY-MM-DD."""
        return self.values[0]

    @property
    def account(self) -> str:
        """保有金融機関."""
        return self.values[5]

    @property
    def mf_id(self) -> str:
        """The ID, "" where that file has none."""
        return self.values[9]


def values_of(row: TransactionRow) -> Values:
    """A row of an export as its columns."""
    return (
        row.date.isoformat(), row.amount, row.description, row.category_major, row.category_minor,
        row.account, row.memo, int(row.is_target), int(row.is_transfer), row.mf_id,
    )  # fmt: skip
