"""Pairs of rows that may be one purchase: as a search compares and as a review arranges them.

Pairs that are likely one purchase and share a row make one candidate of three or more rows. Pairs
that are likely two purchases of the same habit (the same two shops and accounts) stand behind one
of them. A card's bill and all rows that it pays are one candidate.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from functools import lru_cache
from typing import Final, NamedTuple

from mdvec.errors import MdvecError

LIKELY: Final = 0.5
"""Pairs that score this much or more are more likely one purchase than two."""
MAX_DATE_TOLERANCE = 366
_MAX_AMOUNT_TOLERANCE = 10**12
_ANY_AMOUNT = 2**63


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
        part, whole = _share(self.amount_tolerance_pct)
        if 0 < part < whole:
            low = max(low, -(-size * (whole - part) // (whole + part)))
            high = min(high, size * (whole + part) // (whole - part))
        return (low, high) if amount > 0 else (-high, -low)


@lru_cache(maxsize=256)
def _share(percent: Decimal) -> tuple[int, int]:
    """Half of a percentage as a fraction."""
    return (percent / 200).as_integer_ratio()


def _out_of_range(name: str, allowed: str, given: object) -> DuplicateDetectionError:
    return DuplicateDetectionError(f"{name} は{allowed}で指定してください（指定値: {given}）")


class ComparedRow(NamedTuple):
    """The compared columns of a row; half as expensive to read as a Transaction.

    ``statement`` is equal for the rows of one file.
    ``is_moved``: it was decided to be a card's bill or a transfer. ``is_duplicate``: it was decided
    to be one of a row of another account. ``is_filed``: its file marks it as a transfer, and no
    decision has matched it.
    """

    id: int
    date: date
    amount: int
    description: str
    category_major: str
    category_minor: str
    account: str
    mf_id: str
    statement: int | str = ""
    counts: bool = True
    is_moved: bool = False
    is_duplicate: bool = False
    is_filed: bool = False

    @property
    def may_be_bill(self) -> bool:
        """Whether it is in the sums, or was left out as a bill or transfer."""
        return self.counts or self.is_moved

    @property
    def is_purchase(self) -> bool:
        """Whether it is in the sums as a card's row, or another row in its place."""
        return self.counts or self.is_moved or self.is_duplicate


@dataclass(frozen=True, slots=True)
class Pair:
    """Two rows that may be one purchase, or a transfer; ``first`` has the smaller id.

    ``reasons`` are the codes of what speaks for and against it. Of a card's bill and one of the
    rows that it pays, ``paid_id`` is that row's.
    """

    first: ComparedRow
    second: ComparedRow
    score: float
    reasons: tuple[str, ...] = ()
    is_transfer: bool = False
    paid_id: int | None = None

    @property
    def is_equal(self) -> bool:
        """Whether the rows have the same day and amount: such a pair is always shown."""
        return self.first.date == self.second.date and self.first.amount == self.second.amount

    @property
    def days(self) -> int:
        """How many days lie between the rows."""
        return abs((self.first.date - self.second.date).days)


@dataclass(frozen=True, slots=True)
class FoundPairs:
    """The pairs, best score first; ``below`` more are within the tolerances but score too low."""

    pairs: tuple[Pair, ...]
    below: int


Payee = tuple[str, str]


@dataclass(frozen=True, slots=True)
class OpenPair:
    """A pair that waits for a decision; payees are the account and description of each row.

    Of a card's bill and a row that it pays, ``bill_id`` is the bill's id.
    """

    check_id: int
    first_id: int
    second_id: int
    score: float
    is_skipped: bool
    is_transfer: bool
    first_payee: Payee
    second_payee: Payee
    bill_id: int | None = None


@dataclass(frozen=True, slots=True)
class Arranged:
    """A candidate: its rows by id, its pairs, best first, and what candidates alike share.

    Alike are likely purchases, transfers or bills of the same accounts, and unlikely ones of the
    same shops and accounts. Of a card's bill, which is ``bill_id``, the bill's row is first.
    """

    rows: tuple[int, ...]
    checks: tuple[int, ...]
    score: float
    is_likely: bool
    is_skipped: bool
    is_transfer: bool
    kin: frozenset[Hashable]
    bill_id: int | None = None

    @property
    def check_id(self) -> int:
        """The id by which the candidate is decided."""
        return min(self.checks)

    @property
    def kind(self) -> Hashable:
        """What candidates that are alike share."""
        return self.is_likely, self.is_transfer, self.bill_id is not None, self.kin

    @property
    def leaving(self) -> tuple[int, ...]:
        """The rows that leave the sums if the user agrees and names no other row to keep."""
        if self.bill_id is not None:
            return (self.bill_id,)
        return self.rows if self.is_transfer else self.rows[1:]


def arrange(pairs: Iterable[OpenPair]) -> list[Arranged]:
    """All candidates: likely ones before unlikely, new before skipped, purchases first."""
    ordered = sorted(pairs, key=lambda pair: (-pair.score, pair.check_id))
    likely = [pair for pair in ordered if pair.score >= LIKELY]
    groups = _groups([pair for pair in likely if not pair.is_transfer])
    groups += [[pair] for pair in likely if pair.is_transfer and pair.bill_id is None]
    bills: dict[int, list[OpenPair]] = {}
    for pair in likely:
        if pair.bill_id is not None:
            bills.setdefault(pair.bill_id, []).append(pair)
    groups += bills.values()
    arranged = [_likely_group(group) for group in groups]
    arranged += [_unlikely_pair(pair) for pair in ordered if pair.score < LIKELY]
    return sorted(
        arranged,
        key=lambda candidate: (
            not candidate.is_likely,
            candidate.is_skipped,
            candidate.is_transfer,
            -candidate.score,
            candidate.check_id,
        ),
    )


def listed_candidates(arranged: Iterable[Arranged]) -> list[tuple[Arranged, int]]:
    """The candidates of a list, each with the number of others that are alike.

    Of unlikely ones that are alike only the first is listed.
    """
    shown: list[Arranged] = []
    alike = Counter[Hashable]()
    for candidate in arranged:
        if candidate.is_likely or not alike[candidate.kind]:
            shown.append(candidate)
        alike[candidate.kind] += 1
    return [(candidate, alike[candidate.kind] - 1) for candidate in shown]


def _groups(pairs: Sequence[OpenPair]) -> list[list[OpenPair]]:
    """The pairs joined at shared rows."""
    joined: dict[int, list[OpenPair]] = {}
    for pair in pairs:
        group = joined.setdefault(pair.first_id, [])
        other = joined.get(pair.second_id, group)
        if other is not group:
            group += other
            for member in other:
                joined[member.first_id] = joined[member.second_id] = group
        group.append(pair)
        joined[pair.second_id] = group
    return list({id(group): group for group in joined.values()}.values())


def _likely_group(group: Sequence[OpenPair]) -> Arranged:
    payees = [payee for pair in group for payee in (pair.first_payee, pair.second_payee)]
    bill_id = group[0].bill_id
    rows = {row for pair in group for row in (pair.first_id, pair.second_id)}
    return Arranged(
        rows=tuple(sorted(rows, key=lambda row: (row != bill_id, row))),
        checks=tuple(pair.check_id for pair in group),
        score=max(pair.score for pair in group),
        is_likely=True,
        is_skipped=all(pair.is_skipped for pair in group),
        is_transfer=group[0].is_transfer,
        kin=frozenset(account for account, _ in payees),
        bill_id=bill_id,
    )


def _unlikely_pair(pair: OpenPair) -> Arranged:
    return Arranged(
        rows=(pair.first_id, pair.second_id),
        checks=(pair.check_id,),
        score=pair.score,
        is_likely=False,
        is_skipped=pair.is_skipped,
        is_transfer=pair.is_transfer,
        kin=frozenset((pair.first_payee, pair.second_payee)),
    )
