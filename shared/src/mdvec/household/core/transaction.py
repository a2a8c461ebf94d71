"""A transaction of the household: what a Money Forward row says, and what its user decided."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date


@dataclass(frozen=True, slots=True)
class Transaction:
    """A row of the ledger.

    ``amount`` is in yen, negative when money goes out; None where the file has none.
    ``row_number`` is the line of ``source_file`` at which the row begins, from 1; 0 if a file of
    that name has it no more. Texts are "" where the file has none. ``is_removed``: a newer file
    shows that the row is gone from the statements.
    """

    id: int
    tool_id: int
    date: date
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
    def counts(self) -> bool:
        """Whether the row goes into sums: 計算対象 1, 振替 0, no duplicate, not gone, complete."""
        return (
            self.is_target
            and not self.is_transfer
            and not self.is_duplicate
            and self.amount is not None
            and bool(self.category_major)
            and not self.is_removed
        )
