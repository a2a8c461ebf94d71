"""The ledger as NumPy columns, to compare many pairs of rows at once.

Rows are sorted by day and amount, so the possible partners of a row on one day are adjacent: two
binary searches find them, and no pair outside the tolerances is ever compared.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence, Set
from dataclasses import dataclass
from itertools import count
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from mdvec.household.core.similarity import (
    Entry,
    category_closeness,
    letter_pairs,
    shared_letters,
    weighted,
)

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
Bounds = Callable[[int], tuple[int, int]]

Key = TypeVar("Key")

_BLOCK = 1_000_000
# Float sums that should be equal may differ in their last bits.
SLACK = 1e-9


@dataclass(frozen=True, slots=True)
class ComparisonTable:
    """Rows sorted by day and amount, with the compared fields as numbers.

    Equal texts have equal numbers; an empty account or ID is -1. ``places`` index the sorted
    distinct amounts; a row's partners lie between the places ``low`` and ``high``.
    """

    rows: Sequence[Entry]
    days: Ints
    amounts: Ints
    places: Ints
    low: Ints
    high: Ints
    shops: Ints
    categories: Ints
    accounts: Ints
    ids: Ints
    shop_letters: Sequence[frozenset[str]]
    category_names: Sequence[tuple[str, str]]

    @classmethod
    def of(cls, transactions: Sequence[Entry], amounts_near: Bounds) -> ComparisonTable:
        """Builds the columns; rows have an amount, ``amounts_near`` gives those of partners."""
        days = np.array([row.date.toordinal() for row in transactions], dtype=np.int64)
        amounts = np.array([row.amount or 0 for row in transactions], dtype=np.int64)
        order = np.lexsort((amounts, days))
        days, amounts = days[order], amounts[order]
        rows = [transactions[number] for number in order.tolist()]
        different, places = np.unique(amounts, return_inverse=True)
        low, high = _partner_places(different, amounts_near)
        shops, descriptions = _number_values([row.description for row in rows])
        categories, names = _number_values(
            [(row.category_major, row.category_minor) for row in rows]
        )
        accounts, account_names = _number_values([row.account for row in rows])
        ids, id_names = _number_values([row.mf_id for row in rows])
        return cls(
            rows=rows,
            days=days,
            amounts=amounts,
            places=places,
            low=low[places],
            high=high[places],
            shops=shops,
            categories=categories,
            accounts=_empty_as_minus_one(accounts, account_names),
            ids=_empty_as_minus_one(ids, id_names),
            shop_letters=[letter_pairs(text) for text in descriptions],
            category_names=names,
        )

    def count_candidates(self, days: int) -> int:
        """The number of pairs within the tolerances."""
        return sum(int((end - start).sum()) for start, end in self._partners(days))

    def candidates(self, days: int, only: Set[int] | None) -> Iterator[CandidatePairs]:
        """Pairs within the tolerances, in blocks; with ``only``, those with one of these ids."""
        wanted = None
        if only is not None:
            wanted = np.array([row.id in only for row in self.rows], dtype=bool)
        for start, end in self._partners(days):
            for first, second in _expand(start, end):
                if wanted is not None:
                    kept = wanted[first] | wanted[second]
                    first, second = first[kept], second[kept]
                yield CandidatePairs(self, first, second)

    def _partners(self, days: int) -> Iterator[tuple[Ints, Ints]]:
        """For each distance in days, the range of later rows that each row is compared with."""
        span = len(self.rows) + 1
        keys = self.days * span + self.places
        for between in range(days + 1):
            day = (self.days + between) * span
            end = np.searchsorted(keys, day + self.high, side="right")
            if between:
                start = np.searchsorted(keys, day + self.low, side="left")
            else:
                start = np.arange(1, len(keys) + 1)
            yield start, end


@dataclass(frozen=True, slots=True)
class CandidatePairs:
    """Pairs of rows within the tolerances, as row indexes."""

    table: ComparisonTable
    first: Ints
    second: Ints

    @property
    def count(self) -> int:
        """The number of pairs."""
        return len(self.first)

    def scoring_at_least(self, least: float) -> Iterator[tuple[Entry, Entry, float]]:
        """The pairs that score ``least`` or more, with their scores."""
        # Comparing descriptions is slow; most pairs score too low even with equal ones.
        promising = self._scores(np.ones(self.count)) >= least - SLACK
        pairs = CandidatePairs(self.table, self.first[promising], self.second[promising])
        scores = pairs._scores(pairs._descriptions())
        for number in np.flatnonzero(scores >= least - SLACK):
            one, other = int(pairs.first[number]), int(pairs.second[number])
            yield self.table.rows[one], self.table.rows[other], float(scores[number])

    def _scores(self, descriptions: Floats) -> Floats:
        table, first, second = self.table, self.first, self.second
        one, other = np.abs(table.amounts[first]), np.abs(table.amounts[second])
        distinct_ids_same_account = (table.accounts[first] == table.accounts[second]) & (
            table.accounts[first] >= 0
        )
        distinct_ids_same_account &= (
            (table.ids[first] != table.ids[second])
            & (table.ids[first] >= 0)
            & (table.ids[second] >= 0)
        )
        return weighted(
            (table.days[second] - table.days[first]).astype(np.float64),
            np.abs(one - other) / np.maximum(np.maximum(one, other), 1),
            descriptions,
            np.where(distinct_ids_same_account, 0.0, 1.0),
            self._categories(),
        )

    def _descriptions(self) -> Floats:
        letters = self.table.shop_letters
        return self._per_distinct_pair(
            self.table.shops, lambda one, other: shared_letters(letters[one], letters[other])
        )

    def _categories(self) -> Floats:
        names = self.table.category_names
        return self._per_distinct_pair(
            self.table.categories, lambda one, other: category_closeness(names[one], names[other])
        )

    def _per_distinct_pair(self, numbers: Ints, closeness: Callable[[int, int], float]) -> Floats:
        """The closeness of each pair, computed once for each combination of two numbers."""
        size = int(numbers.max(initial=0)) + 1
        both = numbers[self.first] * size + numbers[self.second]
        different, places = np.unique(both, return_inverse=True)
        known = [closeness(*divmod(key, size)) for key in different.tolist()]
        return np.array(known, dtype=np.float64)[places]


def _partner_places(different: Ints, amounts_near: Bounds) -> tuple[Ints, Ints]:
    """For each of the sorted amounts, the first and last place of its possible partners."""
    values = different.tolist()
    bounds = [amounts_near(value) for value in values]
    least, greatest = (values[0], values[-1]) if values else (0, 0)
    low = np.array([max(low, least) for low, _ in bounds], dtype=np.int64)
    high = np.array([min(high, greatest) for _, high in bounds], dtype=np.int64)
    return (
        np.searchsorted(different, low, side="left"),
        np.searchsorted(different, high, side="right") - 1,
    )


def _number_values(values: Sequence[Key]) -> tuple[Ints, list[Key]]:
    """A number for each value, equal for equal values, and the values by number."""
    numbers: defaultdict[Key, int] = defaultdict(count().__next__)
    return np.array([numbers[value] for value in values], dtype=np.int64), list(numbers)


def _empty_as_minus_one(numbers: Ints, names: Sequence[str]) -> Ints:
    return np.where(numbers == names.index(""), -1, numbers) if "" in names else numbers


def _expand(start: Ints, end: Ints) -> Iterator[tuple[Ints, Ints]]:
    """Pairs each row index with every index in its range from start to end, in blocks."""
    lengths = end - start
    total = np.cumsum(lengths)
    row = 0
    while row < len(lengths):
        done = int(total[row - 1]) if row else 0
        stop = max(row + 1, int(np.searchsorted(total, done + _BLOCK, side="right")))
        sizes = lengths[row:stop]
        first = np.repeat(np.arange(row, stop), sizes)
        within = np.arange(len(first)) - np.repeat(total[row:stop] - sizes - done, sizes)
        yield first, np.repeat(start[row:stop], sizes) + within
        row = stop
