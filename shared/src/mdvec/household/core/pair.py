"""Pairs of rows that may be one purchase, as a search finds them and as a review arranges them.

Likely pairs that share a row make one candidate of three or more rows. Of similar pairs that are
likely two purchases (of the same shops and accounts), only one is listed. A card's bill and all
rows that it pays are one candidate.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from enum import IntEnum
from functools import lru_cache
from typing import Final, NamedTuple

from mdvec.errors import MdvecError
from mdvec.household.core.connected import connected

LIKELY: Final = 0.5
"""Pairs that score this much or more are more likely one purchase than two."""
ALWAYS: Final = "always"
"""The code, among a pair's reasons, of a decision that holds for the card's later bills, too."""
_OF_CERTAINTY: Final = frozenset(
    {"same_name", "like_name", "same_category", "common_amount", ALWAYS}
)
"""Reasons that change only the score, not what the pair is."""
_SURE: Final = 0.9
"""Purchases that score this much are not taken together with likely ones."""
MAX_PAIRS: Final = 100_000
"""A search that finds more pairs is refused."""
MAX_DATE_TOLERANCE = 366
_MAX_AMOUNT_TOLERANCE = 10**12
_ANY_AMOUNT = 2**63


class DuplicateDetectionError(MdvecError):
    """The options of a search for duplicates are invalid, or match too many pairs."""


@dataclass(frozen=True, slots=True)
class DetectionOptions:
    """The tolerances within which two rows are candidates, and the minimum score.

    An amount tolerance of 0 is ignored; if both are given, both must hold; if neither is, amounts
    must be equal. Percentages are of the mean of the two absolute amounts. The date tolerance
    always applies.

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

    def shows(self, pair: Pair) -> bool:
        """Whether a pair scores enough, or only the user can tell what it is."""
        return pair.score >= self.min_similarity_score or pair.only_user_can_tell

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
        # |a - b| <= share * (a + b) solved for b, in whole numbers; from 200 % on it always holds.
        part, whole = _share(self.amount_tolerance_pct)
        if 0 < part < whole:
            low = max(low, -(-size * (whole - part) // (whole + part)))
            high = min(high, size * (whole + part) // (whole - part))
        return (low, high) if amount > 0 else (-high, -low)


@lru_cache(maxsize=256)
def _share(percent: Decimal) -> tuple[int, int]:
    """Half of a percentage as a fraction: its numerator and denominator."""
    return (percent / 200).as_integer_ratio()


def _out_of_range(name: str, allowed: str, value: object) -> DuplicateDetectionError:
    return DuplicateDetectionError(f"{name} は{allowed}で指定してください（指定値: {value}）")


Source = tuple[str, bool]


class ComparedRow(NamedTuple):
    """The compared columns of a row; reading it takes half as long as reading a Transaction.

    ``statement`` is equal for the rows of one file.
    ``is_moved``: the user decided that it is a card's bill or a transfer. ``is_duplicate``: the
    user decided that it duplicates a row of another account. ``is_filed``: its file marks it as a
    transfer, and no decision has matched it.
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
        """Whether the row is in the sums, or was left out as a bill or transfer."""
        return self.counts or self.is_moved

    @property
    def is_purchase(self) -> bool:
        """Whether the row is in the sums, or another row or a bill stands for it."""
        return self.counts or self.is_moved or self.is_duplicate


def source_of(row: ComparedRow) -> Source:
    """A row's source: its account, and whether it is in the files that give rows an ID."""
    return row.account, bool(row.mf_id)


class PairKind(IntEnum):
    """What the two rows of a pair may be; the ledger stores the numbers as ``of_transfer``.

    If the user confirms the pair, one row of a purchase leaves the sums; both rows of a transfer;
    and the bill, of a card's bill and a row that it pays. A row in pairs of several kinds counts as
    the kind with the highest number, and notes name that kind first.
    """

    PURCHASE = 0
    TRANSFER = 1
    CARD_BILL = 2

    @property
    def in_words(self) -> str:
        """What a decision calls the rows."""
        return ("重複", "振替", "カードの請求")[self]


@dataclass(frozen=True, slots=True)
class Pair:
    """Two rows that may be of one ``kind``; ``first`` has the smaller id.

    ``reasons`` are the codes of the evidence for and against it. ``paid_id`` is the row that a
    card's bill pays; None for other pairs.
    """

    first: ComparedRow
    second: ComparedRow
    score: float
    reasons: tuple[str, ...] = ()
    kind: PairKind = PairKind.PURCHASE
    paid_id: int | None = None

    @property
    def ids(self) -> tuple[int, int]:
        """The ids of both rows."""
        return self.first.id, self.second.id

    @property
    def only_user_can_tell(self) -> bool:
        """Whether the pair is shown to the user however low it scores.

        Such pairs are purchases of equal amounts, either on one day, or at one shop from two
        payers' accounts.
        """
        is_of_two_payers = {"same_name", "two_payers"} <= set(self.reasons)
        is_near = is_of_two_payers or not self.days
        is_purchase = self.kind is PairKind.PURCHASE
        return is_purchase and is_near and self.first.amount == self.second.amount

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


class StoredPair(NamedTuple):
    """A pair of rows from a search: the search's tolerances, a score, and the user's decision.

    ``kept_id`` is the row that stays if the pair is a duplicate purchase, or the row that a card's
    bill pays. ``reasons`` are codes. Pairs that were decided in one request have the same
    ``batch``. A payee is a row's account and description. ``yen`` is the larger amount, unsigned.
    """

    id: int
    first_id: int
    second_id: int
    score: float
    decision: str | None
    kept_id: int
    batch: int | None
    date_tolerance_days: int
    amount_tolerance_abs: str
    amount_tolerance_pct: str
    reasons: tuple[str, ...]
    kind: PairKind
    first_payee: Payee
    second_payee: Payee
    yen: int

    @property
    def rows(self) -> tuple[int, int]:
        """The ids of both rows."""
        return self.first_id, self.second_id

    @property
    def bill_id(self) -> int | None:
        """The row of a card's bill; None for other pairs."""
        return sum(self.rows) - self.kept_id if self.kind is PairKind.CARD_BILL else None


@dataclass(frozen=True, slots=True)
class ReviewCandidate:
    """Rows that are decided together, by id, and the pairs among them, best first.

    The row of a card's bill is first.
    """

    rows: tuple[int, ...]
    pairs: tuple[StoredPair, ...]

    @classmethod
    def of(cls, pairs: Iterable[StoredPair]) -> ReviewCandidate:
        """The candidate of pairs that share rows."""
        best, *others = sorted(pairs, key=lambda pair: (-pair.score, pair.id))
        rows = {row for pair in (best, *others) for row in pair.rows}
        bill_first = sorted(rows, key=lambda row: (row != best.bill_id, row))
        return cls(tuple(bill_first), (best, *others))

    @property
    def check_ids(self) -> frozenset[int]:
        """The ids of the pairs; the candidate is listed with the smallest."""
        return frozenset(pair.id for pair in self.pairs)

    @property
    def best(self) -> StoredPair:
        """The pair with the best score."""
        return self.pairs[0]

    @property
    def kind(self) -> PairKind:
        """What the rows may be; for a card's bill, they are the bill and the rows that it pays."""
        return self.best.kind

    @property
    def is_likely(self) -> bool:
        """Whether the rows more likely than not are of one purchase, transfer or bill."""
        return self.best.score >= LIKELY

    @property
    def payees_key(self) -> Hashable:
        """Whether it is likely, its kind and its accounts; if unlikely, the shops, too."""
        payees = {payee for pair in self.pairs for payee in (pair.first_payee, pair.second_payee)}
        kin = frozenset(account for account, _ in payees) if self.is_likely else frozenset(payees)
        return self.is_likely, self.kind, kin

    @property
    def alike_key(self) -> Hashable:
        """A key that similar candidates share: the payees, the certainty, and the reasons.

        The reasons tell apart, for the same accounts, a split bill from a purchase that an app and
        its card both show.
        """
        # A code with a colon ends in a number, such as visits:5, in which similar ones differ.
        reasons = {code for code in self.best.reasons if ":" not in code} - _OF_CERTAINTY
        is_sure = self.kind is not PairKind.PURCHASE or self.best.score >= _SURE
        return self.payees_key, is_sure, frozenset(reasons)

    def leaving(self, kept_id: int | None = None) -> tuple[int, ...]:
        """The ids of rows that leave the sums; for a purchase, all but ``kept_id`` or the first."""
        if self.kind is PairKind.TRANSFER:
            return self.rows
        if self.kind is PairKind.CARD_BILL:
            return self.rows[:1]
        staying = self.rows[0] if kept_id is None else kept_id
        return tuple(row for row in self.rows if row != staying)


def arrange(pairs: Iterable[StoredPair]) -> list[ReviewCandidate]:
    """All candidates: likely ones before unlikely, new before skipped, purchases first.

    Then by score, and of equal scores the larger amount first.
    """
    stored = list(pairs)
    purchases = connected(
        pair.rows for pair in stored if pair.score >= LIKELY and pair.kind is PairKind.PURCHASE
    )
    groups: defaultdict[Hashable, list[StoredPair]] = defaultdict(list)
    for pair in stored:
        is_alone = pair.score < LIKELY or pair.kind is PairKind.TRANSFER
        of_group = pair.kind, pair.bill_id or purchases.get(pair.first_id)
        groups[pair.id if is_alone else of_group].append(pair)
    return sorted(
        map(ReviewCandidate.of, groups.values()),
        key=lambda candidate: (
            not candidate.is_likely,
            all(pair.decision == "skip" for pair in candidate.pairs),
            candidate.kind is not PairKind.PURCHASE,
            -candidate.best.score,
            -candidate.best.yen,
            min(candidate.check_ids),
        ),
    )


def listed_candidates(arranged: Sequence[ReviewCandidate]) -> list[tuple[ReviewCandidate, int]]:
    """The candidates to list, each with the number of others that are similar.

    Of similar unlikely ones only the first is listed.
    """
    keys = [candidate.alike_key for candidate in arranged]
    alike = Counter(keys)
    first = dict(zip(reversed(keys), reversed(arranged), strict=True))
    return [
        (candidate, alike[key] - 1)
        for candidate, key in zip(arranged, keys, strict=True)
        if candidate.is_likely or first[key] is candidate
    ]


class CandidateCounts(NamedTuple):
    """How many candidates are likely one purchase, transfers, and bills of cards."""

    purchases: int
    transfers: int
    bills: int

    @classmethod
    def of(cls, candidates: Iterable[ReviewCandidate]) -> CandidateCounts:
        """Count likely purchases, and all transfers and bills; not unlikely purchases."""
        kinds = Counter(
            candidate.kind
            for candidate in candidates
            if candidate.is_likely or candidate.kind is not PairKind.PURCHASE
        )
        return cls(kinds[PairKind.PURCHASE], kinds[PairKind.TRANSFER], kinds[PairKind.CARD_BILL])

    @property
    def moved(self) -> int:
        """How many candidates are not purchases."""
        return self.transfers + self.bills
