"""Finds pairs of transactions that may be the same purchase.

Only rows that count are compared. If one row of a pair is 計算対象 0, 振替 1, already marked or
incomplete, the purchase is in the sums at most once and needs no decision: for example a card's
purchase and its withdrawal from the bank, or a pair that was sorted out in Money Forward.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass, replace
from itertools import product
from typing import TYPE_CHECKING, Final

from mdvec.household.core.detection import LIKELY, DetectionOptions, DuplicateDetectionError
from mdvec.household.core.evidence import Judge
from mdvec.household.core.pair import ComparedEntry, Pair
from mdvec.household.core.shop_names import KanaReading
from mdvec.household.core.shopping_habits import Mirrors, ShoppingHabits

if TYPE_CHECKING:
    from mdvec.household.core.pairing import CandidatePairs


_MATCHED_OTHERWISE: Final = 0.3


def match_one_to_one(judged: Iterable[Pair]) -> list[Pair]:
    """The pairs, likely ones only where no better pair contradicts them."""
    pairs = sorted(judged, key=lambda pair: (-pair.score, pair.days, pair.first.id, pair.second.id))
    likely = {(pair.first.id, pair.second.id) for pair in pairs if pair.score >= LIKELY}
    groups: dict[int, list[ComparedEntry]] = {}
    return [_placed(pair, groups, likely) if pair.score >= LIKELY else pair for pair in pairs]


def _placed(
    pair: Pair, groups: dict[int, list[ComparedEntry]], likely: set[tuple[int, int]]
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
MAX_PAIRS = 100_000
_MAX_JUDGED = 300_000


@dataclass(frozen=True, slots=True)
class FoundPairs:
    """The pairs, best score first; ``below`` more are within the tolerances but score too low."""

    pairs: tuple[Pair, ...]
    below: int


def find_pairs(
    transactions: Iterable[ComparedEntry],
    options: DetectionOptions,
    only: Collection[int] | None = None,
    reading: KanaReading = str,
) -> FoundPairs:
    """The candidate pairs of counting rows, across month and year ends too.

    A pair within the tolerances is a candidate if it scores ``min_similarity_score`` or more, or
    if its day and amount are equal. ``only`` limits them to pairs in which at least one row has
    one of these ids.

    Raises:
        DuplicateDetectionError: the tolerances match more than ``MAX_PAIRS`` pairs.
    """
    from mdvec.household.core.pairing import ComparisonTable

    rows = [row for row in transactions if row.counts]
    table = ComparisonTable.of(rows, options.amounts_near)
    compared = table.count_candidates(options.date_tolerance_days)
    if compared > MAX_COMPARISONS:
        raise _too_many(compared)
    ids = None if only is None else frozenset(only)
    judge = Judge(reading)
    days = options.date_tolerance_days
    promising: list[tuple[ComparedEntry, ComparedEntry]] = []
    examined = always_shown = 0
    for block in table.candidates(days, ids):
        equal = block.equal()
        always_shown += equal.same_day
        if always_shown > MAX_PAIRS:
            raise _too_many(always_shown)
        _add(promising, equal)
    judge.mirrors = Mirrors(rows, filter(_are_of_two_accounts, promising))
    for block in table.candidates(days, ids):
        examined += block.count
        _add(promising, block.changed(judge))
    shops = {row.description for pair in promising for row in pair}
    judge.habits = ShoppingHabits(rows, shops)
    pairs = match_one_to_one(_judged(judge, entry, other) for entry, other in promising)
    candidates = [
        pair for pair in pairs if pair.score >= options.min_similarity_score or pair.is_equal
    ]
    if len(candidates) > MAX_PAIRS:
        raise _too_many(len(candidates))
    candidates.sort(key=lambda pair: (-pair.score, pair.first.id, pair.second.id))
    return FoundPairs(tuple(candidates), examined - len(candidates))


def _add(gathered: list[tuple[ComparedEntry, ComparedEntry]], pairs: CandidatePairs) -> None:
    if len(gathered) + pairs.count > _MAX_JUDGED:
        raise _too_many(len(gathered) + pairs.count)
    gathered += pairs.pairs()


def _are_of_two_accounts(pair: tuple[ComparedEntry, ComparedEntry]) -> bool:
    row, other = pair
    return row.account != other.account


def _judged(judge: Judge, row: ComparedEntry, other: ComparedEntry) -> Pair:
    verdict = judge.verdict(row, other)
    if row.id > other.id:
        row, other = other, row
    return Pair(row, other, verdict.score, verdict.reasons)


def _too_many(count: int) -> DuplicateDetectionError:
    return DuplicateDetectionError(
        f"条件に合う組が多すぎます（{count:,}件以上）。日付や金額の許容誤差を小さくするか、"
        "min_similarity_score を大きくしてください"
    )
