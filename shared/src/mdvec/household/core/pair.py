"""A pair of rows that may be one purchase, or the two ends of a transfer."""

from __future__ import annotations

from dataclasses import dataclass

from mdvec.household.core.compared import ComparedEntry


@dataclass(frozen=True, slots=True)
class Pair:
    """Two rows that may be one purchase, or a transfer; ``first`` has the smaller id.

    ``reasons`` are the codes of what speaks for and against it.
    """

    first: ComparedEntry
    second: ComparedEntry
    score: float
    reasons: tuple[str, ...] = ()
    is_transfer: bool = False

    @property
    def is_equal(self) -> bool:
        """Whether the rows have the same day and amount: such a pair is always shown."""
        return self.first.date == self.second.date and self.first.amount == self.second.amount

    @property
    def days(self) -> int:
        """How many days lie between the rows."""
        return abs((self.first.date - self.second.date).days)
