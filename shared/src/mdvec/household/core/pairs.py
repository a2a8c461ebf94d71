"""Finds pairs of transactions that may be the same purchase.

Only rows that count are compared. If one row of a pair is 計算対象 0, 振替 1, already marked or
incomplete, the purchase is in the sums at most once and needs no decision: for example a card's
purchase and its withdrawal from the bank, or a pair that was sorted out in Money Forward.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from decimal import Decimal
from typing import TYPE_CHECKING

from mdvec.errors import MdvecError
from mdvec.household.core.compared import ComparedEntry
from mdvec.household.core.evidence import LIKELY, Judge
from mdvec.household.core.matching import match_one_to_one
from mdvec.household.core.pair import Pair
from mdvec.household.core.shop_names import KanaReading
from mdvec.household.core.shopping_habits import Mirrors, ShoppingHabits

if TYPE_CHECKING:
    from mdvec.household.core.pairing import CandidatePairs

MAX_DATE_TOLERANCE = 366
MAX_COMPARISONS = 30_000_000
MAX_PAIRS = 100_000
_MAX_AMOUNT_TOLERANCE = 10**12
_ANY_AMOUNT = 2**63
_MAX_JUDGED = 300_000


class DuplicateDetectionError(MdvecError):
    """The options of a search for duplicates are invalid, or match too many pairs."""


@dataclass(frozen=True, slots=True)
class DetectionOptions:
    """The tolerances within which two rows are candidates, and the minimum score.

    An amount tolerance of 0 is ignored: if both are given, both must hold; if none is, amounts
    must be equal. Percentages are of the mean of the two absolute amounts. Dates always count.

    Raises:
        DuplicateDetectionError: a value is negative, not a number, or out of range.
    """

    date_tolerance_days: int = 4
    amount_tolerance_abs: Decimal = Decimal(0)
    amount_tolerance_pct: Decimal = Decimal(10)
    min_similarity_score: float = LIKELY

    def __post_init__(self) -> None:
        if not 0 <= self.date_tolerance_days <= MAX_DATE_TOLERANCE:
            raise _out_of_range(
                "date_tolerance_days", f"0〜{MAX_DATE_TOLERANCE}の日数", self.date_tolerance_days
            )
        for name in ("amount_tolerance_abs", "amount_tolerance_pct"):
            value: Decimal = getattr(self, name)
            if not (value.is_finite() and 0 <= value <= _MAX_AMOUNT_TOLERANCE):
                raise _out_of_range(name, "0以上の数（1兆まで）", value)
        if not 0 <= self.min_similarity_score <= 1:
            raise _out_of_range("min_similarity_score", "0〜1の数", self.min_similarity_score)

    def amounts_near(self, amount: int) -> tuple[int, int]:
        """The smallest and largest amount that ``amount`` may be paired with.

        Signs must agree: an expense and its refund are not duplicates, and 0 pairs only with 0.
        """
        size = abs(amount)
        if not size or not (self.amount_tolerance_abs or self.amount_tolerance_pct):
            return amount, amount
        low, high = 1, _ANY_AMOUNT
        if self.amount_tolerance_abs:
            reach = int(self.amount_tolerance_abs)
            low, high = max(low, size - reach), min(high, size + reach)
        # |a - b| <= share * (a + b) solved for b, in whole numbers; from 200 % on all holds.
        part, whole = (self.amount_tolerance_pct / 200).as_integer_ratio()
        if 0 < part < whole:
            low = max(low, -(-size * (whole - part) // (whole + part)))
            high = min(high, size * (whole + part) // (whole - part))
        return (low, high) if amount > 0 else (-high, -low)


def _out_of_range(name: str, allowed: str, given: object) -> DuplicateDetectionError:
    return DuplicateDetectionError(f"{name} は{allowed}で指定してください（指定値: {given}）")


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
    pairs = match_one_to_one(_judged(judge, one, other) for one, other in promising)
    found = [pair for pair in pairs if pair.score >= options.min_similarity_score or pair.is_equal]
    if len(found) > MAX_PAIRS:
        raise _too_many(len(found))
    found.sort(key=lambda pair: (-pair.score, pair.first.id, pair.second.id))
    return FoundPairs(tuple(found), examined - len(found))


def _add(gathered: list[tuple[ComparedEntry, ComparedEntry]], pairs: CandidatePairs) -> None:
    if len(gathered) + pairs.count > _MAX_JUDGED:
        raise _too_many(len(gathered) + pairs.count)
    gathered += pairs.pairs()


def _are_of_two_accounts(pair: tuple[ComparedEntry, ComparedEntry]) -> bool:
    one, other = pair
    return one.account != other.account


def _judged(judge: Judge, one: ComparedEntry, other: ComparedEntry) -> Pair:
    verdict = judge.verdict(one, other)
    if one.id > other.id:
        one, other = other, one
    return Pair(one, other, verdict.score, verdict.reasons)


def _too_many(count: int) -> DuplicateDetectionError:
    return DuplicateDetectionError(
        f"条件に合う組が多すぎます（{count:,}件以上）。日付や金額の許容誤差を小さくするか、"
        "min_similarity_score を大きくしてください"
    )
