"""Finds pairs of transactions that may be the same purchase.

Only rows that count are compared. If one row of a pair is 計算対象 0, 振替 1, already marked or
incomplete, the purchase is in the sums at most once and needs no decision: for example a card's
purchase and its withdrawal from the bank, or a pair that was sorted out in Money Forward.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from decimal import Decimal

from mdvec.errors import MdvecError
from mdvec.household.core.similarity import Entry

MAX_DATE_TOLERANCE = 366
MAX_COMPARISONS = 30_000_000
MAX_PAIRS = 100_000
_MAX_AMOUNT_TOLERANCE = 10**12
_ANY_AMOUNT = 2**63
_SCORE_DIGITS = 4


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

    date_tolerance_days: int = 0
    amount_tolerance_abs: Decimal = Decimal(0)
    amount_tolerance_pct: Decimal = Decimal(0)
    min_similarity_score: float = 0.8

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
class Pair:
    """Two rows that may be the same purchase; ``first`` has the smaller id."""

    first: Entry
    second: Entry
    score: float


@dataclass(frozen=True, slots=True)
class FoundPairs:
    """The pairs, best score first; ``below`` more are within the tolerances but score too low."""

    pairs: tuple[Pair, ...]
    below: int


def find_pairs(
    transactions: Iterable[Entry],
    options: DetectionOptions,
    only: Collection[int] | None = None,
) -> FoundPairs:
    """All pairs of counting rows within the tolerances, across month and year ends too.

    ``only`` limits them to pairs in which at least one row has one of these ids.

    Raises:
        DuplicateDetectionError: the tolerances match more than ``MAX_PAIRS`` pairs.
    """
    from mdvec.household.core.pairing import ComparisonTable

    table = ComparisonTable.of([row for row in transactions if row.counts], options.amounts_near)
    compared = table.count_candidates(options.date_tolerance_days)
    if compared > MAX_COMPARISONS:
        raise _too_many(compared)
    examined, pairs = 0, list[Pair]()
    for candidates in table.candidates(
        options.date_tolerance_days, None if only is None else frozenset(only)
    ):
        examined += candidates.count
        for first, second, score in candidates.scoring_at_least(options.min_similarity_score):
            one, other = sorted((first, second), key=lambda row: row.id)
            pairs.append(Pair(one, other, round(score, _SCORE_DIGITS)))
        if len(pairs) > MAX_PAIRS:
            raise _too_many(len(pairs))
    pairs.sort(key=lambda pair: (-pair.score, pair.first.id, pair.second.id))
    return FoundPairs(tuple(pairs), examined - len(pairs))


def _too_many(count: int) -> DuplicateDetectionError:
    return DuplicateDetectionError(
        f"条件に合う組が多すぎます（{count:,}件以上）。日付や金額の許容誤差を小さくするか、"
        "min_similarity_score を大きくしてください"
    )
