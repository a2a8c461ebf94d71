"""Finds pairs of transactions that may be the same purchase, in bulk with NumPy.

Only rows that count are compared. If one row of a pair is 計算対象 0, 振替 1, already marked or
incomplete, the purchase is in the sums at most once and needs no decision: for example a card's
purchase and its withdrawal from the bank, or a pair that was sorted out in Money Forward.
Rows are sorted by day and amount, so the possible partners of a row on one day are adjacent: two
binary searches find them, and no pair outside the tolerances is ever compared.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from itertools import count, product
from types import MappingProxyType
from typing import Final, TypeVar

import numpy as np
from numpy.typing import NDArray

from mdvec.household.core.evidence import (
    FINAL_DAYS,
    HALF_A_YEAR,
    MIN_MIRROR,
    Judge,
    is_by_hand,
    is_nameable,
)
from mdvec.household.core.pair import (
    LIKELY,
    MAX_PAIRS,
    ComparedRow,
    DetectionOptions,
    DuplicateDetectionError,
    FoundPairs,
    Pair,
    Source,
    source_of,
)
from mdvec.household.core.shop_names import SPELLINGS, shops_of

Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]
Bounds = Callable[[int], tuple[int, int]]

Key = TypeVar("Key")

_BLOCK = 1_000_000
_WORDS = 4
"""The size, in 64-bit words, of the bit set of the pairs of letters in a name's spelling."""
_MIN_SHARED, _MIN_CONSONANTS = 3, 2
"""Names may be close if they share so many of a spelling's pairs, as ``ShopName`` says."""
_NOT_WORTH_ASKING = 0.2
"""Above this score, only pairs that may be one purchase are judged, as judging takes long."""


@dataclass(frozen=True, slots=True)
class ComparisonTable:
    """Rows sorted by day and amount, with the compared fields as numbers.

    Equal texts have equal numbers. ``places`` index the sorted
    distinct amounts; a row's partners lie between the places ``low`` and ``high``.
    """

    rows: Sequence[ComparedRow]
    days: Ints
    amounts: Ints
    places: Ints
    low: Ints
    high: Ints
    shops: Ints
    accounts: Ints
    sources: Ints
    descriptions: Sequence[str]
    account_names: Sequence[str]
    source_names: Sequence[Source]

    @classmethod
    def of(cls, transactions: Sequence[ComparedRow], amounts_near: Bounds) -> ComparisonTable:
        """Build the columns; ``amounts_near`` gives the least and greatest amount of partners."""
        days = np.array([row.date.toordinal() for row in transactions], dtype=np.int64)
        amounts = np.array([row.amount for row in transactions], dtype=np.int64)
        order = np.lexsort((amounts, days))
        days, amounts = days[order], amounts[order]
        rows = [transactions[number] for number in order.tolist()]
        different, places = np.unique(amounts, return_inverse=True)
        low, high = _partner_places(different, amounts_near)
        shops, descriptions = number_values([row.description for row in rows])
        accounts, account_names = number_values([row.account for row in rows])
        sources, source_names = number_values(list(map(source_of, rows)))
        return cls(
            rows, days, amounts, places, low[places], high[places], shops, accounts, sources,
            descriptions, account_names, source_names,
        )  # fmt: skip

    def candidates(self, days: int, only: Set[int] | None) -> Iterator[CandidatePairs]:
        """Pairs within the tolerances, in blocks; with ``only``, just those of these ids."""
        wanted = None
        if only is not None:
            wanted = np.array([row.id in only for row in self.rows], dtype=bool)
        for start, end in self.partners(days):
            for first, second in _expand(start, end):
                if wanted is not None:
                    mask = wanted[first] | wanted[second]
                    first, second = first[mask], second[mask]
                yield CandidatePairs(self, first, second)

    def partners(self, days: int) -> Iterator[tuple[Ints, Ints]]:
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

    @property
    def equal_amounts(self) -> Bools:
        """Which pairs have equal amounts."""
        equal: Bools = self.table.amounts[self.first] == self.table.amounts[self.second]
        return equal

    def with_changed_amounts(self, judge: Judge, least: float) -> CandidatePairs:
        """The pairs with different amounts that may score ``least``; if that is low, all of them.

        Rows of which it is worth asking are of one account and shop; or of two sources that mirror
        each other, or of which one is kept by hand, with similar names; or one row names the
        other's account.
        """
        pairs = self.where(~self.equal_amounts)
        if least < _NOT_WORTH_ASKING:
            return pairs
        first, second = (pairs.table.accounts[rows] for rows in (pairs.first, pairs.second))
        one_shop = pairs.table.shops[pairs.first] == pairs.table.shops[pairs.second]
        days = pairs.table.days[pairs.second] - pairs.table.days[pairs.first]
        mask = one_shop & (first == second) & (days > 0) & (days <= FINAL_DAYS)
        related = pairs.are_related(judge)
        mask[related] |= pairs.where(related).have_similar_names(judge)
        nameable = np.array([*map(is_nameable, pairs.table.account_names)], dtype=bool)
        open_to_names = (first != second) & ~mask & (nameable[first] | nameable[second])
        mask[open_to_names] |= pairs.where(open_to_names).name_accounts(judge, nameable)
        return pairs.where(mask)

    def where(self, mask: Bools) -> CandidatePairs:
        """The pairs for which ``mask`` is true."""
        return CandidatePairs(self.table, self.first[mask], self.second[mask])

    def are_related(self, judge: Judge) -> Bools:
        """Which pairs are of sources that mirror each other, or of which one is kept by hand."""
        names = self.table.source_names
        by_hand = np.array([is_by_hand(account) for account, _ in names], dtype=bool)
        first, second = self.table.sources[self.first], self.table.sources[self.second]
        numbers = {name: number for number, name in enumerate(names)}
        mirrored = [
            numbers[source] * len(names) + numbers[other] for source, other in judge.mirrors.pairs()
        ]
        keys = first * len(names) + second
        related: Bools = np.isin(keys, np.array(mirrored, dtype=np.int64))
        related |= by_hand[first] != by_hand[second]
        return related

    def pairs(self) -> Iterator[tuple[ComparedRow, ComparedRow]]:
        """The rows of each pair."""
        rows = self.table.rows
        for position, other in zip(self.first.tolist(), self.second.tolist(), strict=True):
            yield rows[position], rows[other]

    def have_similar_names(self, judge: Judge) -> Bools:
        """Which pairs have names that are close enough to be one purchase of another amount."""
        shops, size = self.table.shops, len(self.table.descriptions)
        keys = shops[self.first] * size + shops[self.second]
        different, places = np.unique(keys, return_inverse=True)
        own, other = np.divmod(different, size)
        names, alike = self.table.descriptions, own == other
        for at in np.flatnonzero(self._may_be_close(judge, own, other) & ~alike).tolist():
            alike[at] = judge.are_close(names[own[at]], names[other[at]])
        of_pairs: Bools = alike[places]
        return of_pairs

    def _may_be_close(self, judge: Judge, own: Ints, other: Ints) -> Bools:
        """Which names share enough letters, in any spelling, to be worth comparing exactly."""
        marks = np.zeros((len(self.table.descriptions), SPELLINGS, _WORDS), dtype=np.uint64)
        for number in np.unique(np.concatenate([own, other])).tolist():
            marks[number] = judge.marks(self.table.descriptions[number], _WORDS)
        sizes = np.bitwise_count(marks).sum(axis=2)
        shared = np.bitwise_count(marks[own] & marks[other]).sum(axis=2)
        least = np.maximum(np.minimum(sizes[own], sizes[other]), _MIN_CONSONANTS)
        least[:, :-1] = np.clip(least[:, :-1] - 1, 1, _MIN_SHARED)
        close: Bools = (shared >= least).any(axis=1)
        return close

    def name_accounts(self, judge: Judge, nameable: Bools) -> Bools:
        """Which pairs have a row that names the other row's account."""
        names, size = self.table.account_names, len(self.table.descriptions)
        mask = np.zeros(self.count, dtype=bool)
        for naming, other in ((self.first, self.second), (self.second, self.first)):
            keys = self.table.accounts[other] * size + self.table.shops[naming]
            different, places = np.unique(keys, return_inverse=True)
            known = [
                bool(nameable[account])
                and judge.is_named(names[account], self.table.descriptions[shop])
                for account, shop in (divmod(key, size) for key in different.tolist())
            ]
            mask |= np.array(known, dtype=bool)[places]
        return mask


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


def number_values(values: Sequence[Key]) -> tuple[Ints, list[Key]]:
    """A number for each value, equal for equal values, and the values by number."""
    numbers = dict(zip(dict.fromkeys(values), count()))
    places = map(numbers.__getitem__, values)
    return np.fromiter(places, dtype=np.int64, count=len(values)), list(numbers)


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


_MIN_MONTH_DAYS: Final = 20
"""Payments of a monthly series are at least this many days apart."""
_ROUND: Final = ((1000, 100), (500, 40), (100, 10), (50, 5), (10, 2))
"""Amounts, and how many times as often people pay a multiple of each as a neighbouring amount."""
_SCALE: Final = math.log(100_000)
"""Amounts of 100 to 1,000 yen are about as frequent as those of 1,000 to 10,000 yen."""
_UNSEEN: Final = 300
"""Pseudo-rows added to a ledger when chances are estimated; they only matter in a short ledger."""
_MIN_MIRRORED: Final = 3


class ShoppingHabits:
    """A household's habits according to its ledger: how often it visits shops and pays amounts."""

    def __init__(self, table: ComparisonTable) -> None:
        self._accounts = {name: number for number, name in enumerate(table.account_names)}
        self._shop_of = shops_of(table.descriptions)
        of_description, self._names = number_values([*self._shop_of.values()])
        self._shops = {name: number for number, name in enumerate(self._names)}
        keys = table.accounts * len(self._shops) + of_description[table.shops]
        order = np.lexsort((table.amounts, table.days, keys))
        self._keys, self._days, self._paid = (
            column[order] for column in (keys, table.days, table.amounts)
        )
        self._amounts = Counter(table.amounts.tolist())
        self._rows = len(keys)
        span = int(table.days[-1] - table.days[0]) + 1 if self._rows else 1
        self._per_day = self._rows / span

    def shop_of(self, row: ComparedRow) -> str:
        """The shop of a row, as ``shops_of`` normalises its description."""
        return self._shop_of[row.description]

    def _visits(self, row: ComparedRow) -> tuple[Ints, Ints]:
        """The days (ordinals, in order) on which the row's account paid its shop; the amounts."""
        shop = self._shops[self.shop_of(row)]
        key = self._accounts[row.account] * len(self._shops) + shop
        begin, end = np.searchsorted(self._keys, (key, key + 1))
        return self._days[begin:end], self._paid[begin:end]

    def visits_near(self, row: ComparedRow, days: int) -> int:
        """How often this account paid this shop within a number of days, the row included."""
        visits, _ = self._visits(row)
        day = row.date.toordinal()
        begin, end = np.searchsorted(visits, (day - days, day + days + 1))
        return int(end - begin)

    def shops_near(self, row: ComparedRow, days: int) -> Counter[str]:
        """The shops of this account's rows within a number of days, and how many rows of each."""
        account, size = self._accounts[row.account], len(self._shops)
        of_account = slice(*np.searchsorted(self._keys, (account * size, (account + 1) * size)))
        near = np.abs(self._days[of_account] - row.date.toordinal()) <= days
        shops = Counter((self._keys[of_account][near] % size).tolist())
        return Counter({self._names[shop]: times for shop, times in shops.items()})

    def is_paid_by_the_month(self, row: ComparedRow, other: ComparedRow) -> bool:
        """Whether the shop takes this amount once a month around these two rows."""
        first, last = sorted((row.date.toordinal(), other.date.toordinal()))
        visits, amounts = self._visits(row)
        near = slice(*np.searchsorted(visits, (first - HALF_A_YEAR, last + HALF_A_YEAR + 1)))
        visits, amounts = visits[near], amounts[near]
        is_other = (visits < first) | (visits > last)
        others = visits[is_other]
        if (amounts[is_other] == row.amount).sum() < 2 or len(visits) != len(others) + 2:
            return False
        return bool((np.diff(np.sort([*others, first])) >= _MIN_MONTH_DAYS).all())

    def surprise(self, amount: int, days: int) -> float:
        """How unlikely equal amounts so many days apart are by chance: -log, from 0 to 8."""
        others = max(self._amounts[amount] - 2, 0)
        often = next((times for step, times in _ROUND if amount % step == 0), 1)
        unseen = _UNSEEN * often / (_SCALE * max(abs(amount), 1))
        expected = self._per_day * (2 * days + 1) * (others + unseen) / (self._rows + _UNSEEN)
        return min(max(-math.log(expected), 0.0), 8.0)


class Mirrors:
    """Which sources show the same purchases: an app and its card, a card connected twice.

    An account is two sources if some files give its rows IDs, and others do not.
    """

    def __init__(
        self, table: ComparisonTable, equal: Iterable[tuple[ComparedRow, ComparedRow]]
    ) -> None:
        """``equal`` are the pairs of rows with equal amounts, of different sources."""
        self._days = {
            source: table.days[table.sources == number]
            for number, source in enumerate(table.source_names)
        }
        self._mirrored: defaultdict[tuple[Source, Source], set[int]] = defaultdict(set)
        for entry, other in equal:
            sources = source_of(entry), source_of(other)
            self._mirrored[sources].add(entry.id)
            self._mirrored[sources[::-1]].add(other.id)
        self._shares: dict[frozenset[Source], float] = {}

    def share(self, source: Source, other: Source) -> float:
        """The share of the smaller source's rows that the larger one shows too, 0 to 1."""
        key = frozenset((source, other))
        if key not in self._shares:
            both = ((source, other), (other, source))
            mirrored = min(len(self._mirrored.get(pair, ())) for pair in both)
            rows = min(self._rows_within(*pair) for pair in both)
            is_mirror = mirrored >= _MIN_MIRRORED
            self._shares[key] = mirrored / max(rows, mirrored) if is_mirror else 0.0
        return self._shares[key]

    def pairs(self) -> list[tuple[Source, Source]]:
        """The sources that mirror each other, in both orders."""
        return [key for key in self._mirrored if self.share(*key) >= MIN_MIRROR]

    def _rows_within(self, source: Source, other: Source) -> int:
        """How many rows the source has between the other's first and last day."""
        days, others = self._days[source], self._days[other]
        begin, end = np.searchsorted(days, (others[0], others[-1] + 1))
        return int(end - begin)


_MATCHED_OTHERWISE: Final = 0.3


def match_one_to_one(judged: Iterable[Pair]) -> list[Pair]:
    """The pairs by score; a likely pair that a better one contradicts gets a low score."""
    pairs = sorted(judged, key=lambda pair: (-pair.score, pair.days, *pair.ids))
    likely = {pair.ids for pair in pairs if pair.score >= LIKELY}
    groups: dict[int, list[ComparedRow]] = {}
    return [_join_groups(pair, groups, likely) if pair.score >= LIKELY else pair for pair in pairs]


def _join_groups(
    pair: Pair, groups: dict[int, list[ComparedRow]], likely: set[tuple[int, int]]
) -> Pair:
    """Joins the groups of a likely pair's rows if they can be one purchase."""
    group = groups.setdefault(pair.first.id, [pair.first])
    other = groups.setdefault(pair.second.id, [pair.second])
    if group is other:
        return pair
    for first, second in product(group, other):
        ids = (min(first.id, second.id), max(first.id, second.id))
        if first.account == second.account and ids not in likely:
            reasons = (*pair.reasons, "matched_otherwise")
            return replace(pair, score=_MATCHED_OTHERWISE, reasons=reasons)
    group.extend(other)
    for row in other:
        groups[row.id] = group
    return pair


MAX_COMPARISONS = 30_000_000
_MAX_JUDGED = 300_000


def find_pairs(
    transactions: Iterable[ComparedRow],
    options: DetectionOptions,
    only: Collection[int] | None = None,
    separate_accounts: Collection[frozenset[str]] = (),
    linked_again: Collection[frozenset[int]] = (),
    booked: Mapping[int, tuple[int, int]] = MappingProxyType({}),
    lists: Collection[int | str] = (),
) -> FoundPairs:
    """The candidate pairs of counting rows, across month and year ends too.

    A pair within the tolerances is a candidate if ``options`` show it. ``only`` limits them to
    pairs in which at least one row has one of these ids. ``separate_accounts`` are pairs of
    accounts that never show the same purchase, ``linked_again`` are pairs of rows, by id, that may
    be a single row with two IDs; ``booked`` and ``lists`` are as in ``Judge``.

    Raises:
        DuplicateDetectionError: the tolerances match more than ``MAX_PAIRS`` pairs.
    """
    rows = [row for row in transactions if row.counts]
    table = ComparisonTable.of(rows, options.amounts_near)
    days = options.date_tolerance_days
    compared = sum(int((end - start).sum()) for start, end in table.partners(days))
    if compared > MAX_COMPARISONS:
        raise _too_many(compared)
    ids = None if only is None else frozenset(only)
    promising: list[tuple[ComparedRow, ComparedRow]] = []
    examined = always_shown = 0
    for block in table.candidates(days, ids):
        equal = block.where(block.equal_amounts)
        always_shown += int((table.days[equal.first] == table.days[equal.second]).sum())
        if always_shown > MAX_PAIRS:
            raise _too_many(always_shown)
        _add(promising, equal)
    of_two = [pair for pair in promising if source_of(pair[0]) != source_of(pair[1])]
    mirrors = Mirrors(table, of_two)
    judge = Judge(ShoppingHabits(table), mirrors, separate_accounts, linked_again, booked, lists)
    for block in table.candidates(days, ids):
        examined += block.count
        if examined > MAX_PAIRS and not options.min_similarity_score:
            raise _too_many(examined)
        _add(promising, block.with_changed_amounts(judge, options.min_similarity_score))
    pairs = match_one_to_one(judge.judge(entry, other) for entry, other in promising)
    candidates = [pair for pair in pairs if options.shows(pair)]
    if len(candidates) > MAX_PAIRS:
        raise _too_many(len(candidates))
    candidates.sort(key=lambda pair: (-pair.score, *pair.ids))
    return FoundPairs(tuple(candidates), examined - len(candidates))


def _add(gathered: list[tuple[ComparedRow, ComparedRow]], pairs: CandidatePairs) -> None:
    if len(gathered) + pairs.count > _MAX_JUDGED:
        raise _too_many(len(gathered) + pairs.count)
    gathered += pairs.pairs()


def _too_many(count: int) -> DuplicateDetectionError:
    return DuplicateDetectionError(
        f"条件に合う組が多すぎます（{count:,}件以上）。日付や金額の許容誤差を小さくするか、"
        "min_similarity_score を大きくしてください"
    )
