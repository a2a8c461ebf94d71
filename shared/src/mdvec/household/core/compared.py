"""The rows that a search for duplicates compares."""

from __future__ import annotations

from datetime import date
from typing import NamedTuple

from mdvec.household.core.transaction import Transaction


class ComparedRow(NamedTuple):
    """The compared columns of a row that counts; half as expensive to read as a Transaction."""

    id: int
    date: date
    amount: int
    description: str
    category_major: str
    category_minor: str
    account: str
    mf_id: str

    @property
    def counts(self) -> bool:
        """Always true: rows that do not count are not read."""
        return True


ComparedEntry = Transaction | ComparedRow
"""A row to compare: whole, or only its compared columns."""
