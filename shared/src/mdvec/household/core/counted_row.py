"""A row that counts, with the columns that questions about habits need."""

from __future__ import annotations

from datetime import date
from typing import NamedTuple

from mdvec.household.core.categories import INCOME, Category


class CountedRow(NamedTuple):
    """A row that goes into sums; ``amount`` is in yen, negative for money that goes out.

    ``shop`` is the description's normalised name.
    """

    id: int
    day: date
    amount: int
    description: str
    shop: str
    category_major: str
    category_minor: str
    account: str

    @property
    def is_income(self) -> bool:
        """Whether the row is income; all others are spending, or refunds that reduce it."""
        return self.category_major == INCOME

    @property
    def yen(self) -> int:
        """The row's share of its category's sum: positive for spending and for income."""
        return self.amount if self.is_income else -self.amount

    @property
    def category(self) -> Category:
        """The row's 大項目."""
        return Category(self.category_major)

    @property
    def name(self) -> str:
        """The description on one line."""
        return " ".join(self.description.split())
