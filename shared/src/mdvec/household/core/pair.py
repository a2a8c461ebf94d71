"""Rows as a search for duplicates compares them, and pairs of them."""

from __future__ import annotations

from dataclasses import dataclass
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


@dataclass(frozen=True, slots=True)
class Pair:
    """Two rows that may be one purchase, or a transfer; ``first`` has the smaller id.

    ``reasons`` are the codes of what speaks for and against it. Of a card's bill and one of the
    rows that it pays, ``paid_id`` is that row's.
    """

    first: ComparedEntry
    second: ComparedEntry
    score: float
    reasons: tuple[str, ...] = ()
    is_transfer: bool = False
    paid_id: int | None = None

    @property
    def is_equal(self) -> bool:
        """Whether the rows have the same day and amount: such a pair is always shown."""
        return self.first.date == self.second.date and self.first.amount == self.second.amount

    @property
    def days(self) -> int:
        """How many days lie between the rows."""
        return abs((self.first.date - self.second.date).days)
