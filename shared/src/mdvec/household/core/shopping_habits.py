"""What a ledger shows of its household's habits, against which a pair of rows is judged.

They answer how often a shop charges an account, whether it charges this amount every month, how
common an amount is, and which accounts show the same purchases.
"""

from __future__ import annotations

import math
from bisect import bisect_left, bisect_right
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence, Set
from datetime import date
from typing import Final

from mdvec.household.core.pair import ComparedEntry

_MIN_MONTH_DAYS: Final = 20
"""The least days between two payments of a series that is paid by the month."""
_ROUND: Final = ((1000, 100), (500, 40), (100, 10), (50, 5), (10, 2))
"""How many times as often people pay a multiple of these as a neighbouring amount."""
_SCALE: Final = math.log(100_000)
"""Amounts are about as often from 100 to 1,000 yen as from 1,000 to 10,000."""
_UNSEEN: Final = 300
"""Rows that a short ledger is imagined to have besides its own, when chance is estimated."""
_MIN_MIRRORED: Final = 3
MIN_MIRROR: Final = 0.3
"""The share of mirrored rows from which two accounts show the same purchases."""


class ShoppingHabits:
    """The rows of a ledger, by shop and by amount."""

    def __init__(self, rows: Sequence[ComparedEntry], descriptions: Set[str]) -> None:
        """``rows`` are those that count; only of these descriptions visits are known."""
        self._visits: defaultdict[tuple[str, str], list[tuple[int, int]]] = defaultdict(list)
        for row in rows:
            if row.description in descriptions:
                visit = (row.date.toordinal(), row.amount or 0)
                self._visits[row.account, row.description].append(visit)
        for visits in self._visits.values():
            visits.sort()
        self._amounts = Counter(row.amount for row in rows)
        self._rows = len(rows)
        days = {row.date for row in rows}
        self._per_day = len(rows) / ((max(days) - min(days)).days + 1) if days else 0.0

    def visits_near(self, row: ComparedEntry, days: int = 45) -> int:
        """How often this account paid this shop within so many days, the row included."""
        visits = self._visits[row.account, row.description]
        day = row.date.toordinal()
        return bisect_right(visits, (day + days, 2**63)) - bisect_left(
            visits, (day - days, -(2**63))
        )

    def is_paid_by_the_month(self, row: ComparedEntry, other: ComparedEntry) -> bool:
        """Whether, but for one of these two rows, the shop takes this amount once a month."""
        visits = self._visits[row.account, row.description]
        first, second = row.date.toordinal(), other.date.toordinal()
        near = range(min(first, second), max(first, second) + 1)
        others = [day for day, amount in visits if amount == row.amount and day not in near]
        if len(others) < 2 or len(visits) != len(others) + 2:
            return False
        days = sorted([*others, near[0]])
        return all(
            later - day >= _MIN_MONTH_DAYS for day, later in zip(days, days[1:], strict=False)
        )

    def surprise(self, amount: int, days: int) -> float:
        """How unlikely equal amounts so many days apart are by chance: a logarithm, 0 to 8."""
        others = max(self._amounts[amount] - 2, 0)
        often = next((times for step, times in _ROUND if amount % step == 0), 1)
        unseen = _UNSEEN * often / (_SCALE * max(abs(amount), 1))
        expected = self._per_day * (2 * days + 1) * (others + unseen) / (self._rows + _UNSEEN)
        return min(max(-math.log(expected), 0.0), 8.0)


class Mirrors:
    """Which accounts show the same purchases: an app and its card, a card connected twice."""

    def __init__(
        self, rows: Sequence[ComparedEntry], equal: Iterable[tuple[ComparedEntry, ComparedEntry]]
    ) -> None:
        """``equal`` are the pairs of rows with equal amounts, of different accounts."""
        self._days: defaultdict[str, list[date]] = defaultdict(list)
        for row in rows:
            self._days[row.account].append(row.date)
        for days in self._days.values():
            days.sort()
        self._mirrored: defaultdict[tuple[str, str], set[int]] = defaultdict(set)
        for entry, other in equal:
            self._mirrored[entry.account, other.account].add(entry.id)
            self._mirrored[other.account, entry.account].add(other.id)
        self._known: dict[tuple[str, str], float] = {}

    def share(self, account: str, other: str) -> float:
        """The share of the smaller account's rows that the larger one shows too, 0 to 1."""
        key = (min(account, other), max(account, other))
        if key not in self._known:
            mirrored = min(
                len(self._mirrored.get((account, other), ())),
                len(self._mirrored.get((other, account), ())),
            )
            self._known[key] = (
                0.0
                if mirrored < _MIN_MIRRORED
                else max(
                    mirrored / max(self._rows_within(account, other), mirrored),
                    mirrored / max(self._rows_within(other, account), mirrored),
                )
            )
        return self._known[key]

    def pairs(self) -> list[tuple[str, str]]:
        """The accounts that mirror each other, in both orders."""
        return [key for key in self._mirrored if self.share(*key) >= MIN_MIRROR]

    def _rows_within(self, account: str, other: str) -> int:
        """How many rows the account has between the other account's first and last day."""
        days, others = self._days[account], self._days[other]
        return bisect_right(days, others[-1]) - bisect_left(days, others[0])
