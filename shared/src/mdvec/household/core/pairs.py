"""Pairs of transactions that may be one purchase.

Only rows that count are compared. A pair of which one row is 計算対象 0, 振替 1, marked already or
incomplete is in the sums once at the most, so there is nothing to put right: a card's purchase
and its withdrawal from the bank, or what the user has sorted out in Money Forward, asks nobody.
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
    """A search for duplicates that cannot be done as it is."""


@dataclass(frozen=True, slots=True)
class DetectionOptions:
    """What two rows may differ in to be a candidate, and how alike they must be.

    A tolerance of 0 is not used. With both amounts given, both must hold; with none, amounts must
    be equal. Percent is of the mean of the two amounts, signs aside. Dates are always compared.

    Raises:
        DuplicateDetectionError: a value is negative, no number, or beyond what is useful.
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
        """The least and the greatest amount that ``amount`` may be paired with.

        Signs agree: an expense and its refund are no duplicates, and only 0 goes with 0.
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
    """Two rows that may be one purchase, ``first`` being the one with the smaller id."""

    first: Entry
    second: Entry
    score: float


@dataclass(frozen=True, slots=True)
class Found:
    """The pairs, likeliest first; ``below`` more are within the tolerances, but less alike."""

    pairs: tuple[Pair, ...]
    below: int


def find_pairs(
    transactions: Iterable[Entry],
    options: DetectionOptions,
    only: Collection[int] | None = None,
) -> Found:
    """All pairs of rows that count, within the tolerances; at a month's or year's end as well.

    With ``only``, the pairs of which at least one row has such an id.

    Raises:
        DuplicateDetectionError: the tolerances leave more pairs than anybody could look at.
    """
    from mdvec.household.core.pairing import Rows

    rows = Rows.of([row for row in transactions if row.counts], options.amounts_near)
    compared = rows.count_near(options.date_tolerance_days)
    if compared > MAX_COMPARISONS:
        raise _too_many(compared)
    examined, pairs = 0, list[Pair]()
    for near in rows.near(options.date_tolerance_days, None if only is None else frozenset(only)):
        examined += near.count
        for first, second, score in near.alike(options.min_similarity_score):
            one, other = sorted((first, second), key=lambda row: row.id)
            pairs.append(Pair(one, other, round(score, _SCORE_DIGITS)))
        if len(pairs) > MAX_PAIRS:
            raise _too_many(len(pairs))
    pairs.sort(key=lambda pair: (-pair.score, pair.first.id, pair.second.id))
    return Found(tuple(pairs), examined - len(pairs))


def _too_many(count: int) -> DuplicateDetectionError:
    return DuplicateDetectionError(
        f"条件に合う組が多すぎます（{count:,}件以上）。日付や金額の許容誤差を小さくするか、"
        "min_similarity_score を大きくしてください"
    )
