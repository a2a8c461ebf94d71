"""A transaction of the household: a Money Forward row and its user's decisions about it."""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Transaction:
    """A row of the ledger; the field names are the column names.

    ``amount`` is in yen, negative for money that goes out; None where the file has none.
    ``row_number`` is the line of ``source_file`` at which the row begins, from 1; 0 if the file
    of that name no longer has the row. Texts are "" where the file has none. ``is_removed``: a
    newer file shows that the row is gone from the statements.
    """

    id: int
    tool_id: int
    date: dt.date
    amount: int | None
    description: str
    category_major: str
    category_minor: str
    account: str
    memo: str
    is_target: bool
    is_transfer: bool
    is_duplicate: bool
    duplicate_of: int | None
    mf_id: str
    source_file: str
    row_number: int
    is_removed: bool = False

    @property
    def left_out(self) -> str | None:
        """The first reason that keeps the row out of the sums; None for rows that count."""
        reasons = {
            "not_target": not self.is_target,
            "transfer": self.is_transfer,
            "duplicate": self.is_duplicate,
            "no_amount": self.amount is None,
            "no_category": not self.category_major,
            "removed": self.is_removed,
        }
        return next((reason for reason, holds in reasons.items() if holds), None)

    @property
    def counts(self) -> bool:
        """Whether the row goes into sums."""
        return self.left_out is None
