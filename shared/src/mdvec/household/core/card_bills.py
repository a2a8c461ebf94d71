"""Finds bills of cards: payments from a bank account that repeat the sum of a card's own rows.

A card's rows are tried in spans: from the day after one closing day to the next (the 1st to the
30th, or a month's end), and the rows of a statement file. A span fits a payment 5 to 62 days after
it (up to 92 for a file's rows) if its sum is exactly the amount paid.

Chance is bounded. A ledger with P payees and C cards has P × C × 31 sets of payments and spans to
try. In one set, k of a payee's n different payments fit by chance with a probability of at most (n
choose k) times the product of s × r / amount over these k: each of s spans equals an amount by
chance as rarely as there are many amounts near it that are as round (r is 1, 10, 100 or 1,000 yen).
Bills are proposed while the chance over all sets is below ``MAX_CHANCE``; P counts only the payees
that name the card, if this payee does. A payee that is paid more than twice in a month is no card
company.
"""

from __future__ import annotations

import math
import re
import unicodedata
from bisect import bisect_left, bisect_right
from calendar import monthrange
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from functools import cache
from typing import Final, NamedTuple

import numpy as np

from mdvec.household.core.pair import (
    ComparedRow,
    DetectionOptions,
    FoundPairs,
    Pair,
    PairKind,
    Payee,
)
from mdvec.household.core.pairs import Ints, number_values
from mdvec.household.core.shop_names import closeness, shop_name

MAX_CHANCE: Final = 0.02
"""The highest expected number of false proposals in a whole ledger, separately for payees that name
the card and for those that do not."""
SHOWN_ROWS: Final = 5
"""A bill may pay hundreds of rows; a review shows only this many."""
_CLOSING_DAYS: Final = (*range(1, 31), 31)
_BY_FILE: Final = 0
_SETS: Final = len(_CLOSING_DAYS) + 1
_SOONEST, _LATEST, _LATEST_FILE = 5, 62, 92
_FILE_DAYS: Final = 70
_MOST_SPANS, _MOST_FILES = 2, 4
_MOST_A_MONTH: Final = 2
_MONTHS: Final = 12 * 10_001
"""Above the number of any month counted from year 0, so that keys of payees do not collide."""
_NAMES_THE_CARD: Final = 0.8
_NAMED_SCORE, _SCORE = 0.95, 0.85
_DIGITS: Final = re.compile(r"\d+")


@dataclass(frozen=True, slots=True)
class CardBill:
    """A payment and the card's rows that it pays; ``is_named``: the payment names the card."""

    bill: ComparedRow
    rows: tuple[ComparedRow, ...]
    is_named: bool


class _Span(NamedTuple):
    """Rows of a card, by their indexes; ``closing`` is the ordinal of the last day."""

    rule: int
    closing: int
    places: Sequence[int]


class _Fit(NamedTuple):
    bill: ComparedRow
    span: _Span


class _Family(NamedTuple):
    """A payee's payments that fit a card's spans of one rule, and the ``chance`` of that."""

    chance: float
    payee: Payee
    card: str
    fits: Sequence[_Fit]
    is_named: bool


def find_bills(rows: Iterable[ComparedRow]) -> list[CardBill]:
    """The bills among the rows of a ledger; each row is in at most one bill."""
    rows = [row for row in rows if row.account and not row.is_filed]
    if not rows:
        return []
    days = np.array([row.date.toordinal() for row in rows], dtype=np.int64)
    accounts, account_names = number_values([row.account for row in rows])
    payees = _payees(rows, days, accounts)
    amounts: dict[int, list[tuple[Payee, ComparedRow]]] = defaultdict(list)
    for payee, payments in payees.items():
        for payment in payments:
            amounts[payment.amount].append((payee, payment))
    closings = _closings(days)
    order = np.lexsort((np.array([row.id for row in rows]), days, accounts))
    ends = np.searchsorted(accounts[order], np.arange(1, len(account_names)))
    cards = {
        account: _Card(account, [rows[at] for at in own.tolist()], days[own], closings, amounts)
        for account, own in zip(account_names, np.split(order, ends), strict=True)
    }
    fitting = {(payee, card.account) for card in cards.values() for payee, _ in card.fits}
    name = cache(shop_name)

    def is_named(account: str, payee: str) -> bool:
        return closeness(name(account), name(payee)) >= _NAMES_THE_CARD

    named = {(payee, account) for payee, account in fitting if is_named(account, payee[1])}
    # Comparing names is slow, so it is limited to accounts with a payment that fits and names them.
    tried = {False: len(payees) * (len(cards) - 1)}
    tried[True] = sum(
        payee[0] != account and is_named(account, payee[1])
        for account in {account for _, account in fitting if named}
        for payee in payees
    )
    families = [
        _Family(_chance(card, fits, payees[payee], tried[names]), payee, card.account, fits, names)
        for card in cards.values()
        for (payee, _), fits in card.fits.items()
        for names in [(payee, card.account) in named]
    ]
    families.sort(key=lambda family: (family.chance, family.payee, family.card))
    return list(
        _disjoint_bills([family for family in families if family.chance <= MAX_CHANCE], cards)
    )


def with_bills(
    detected: FoundPairs,
    bills: Iterable[CardBill],
    options: DetectionOptions,
    only: Collection[int] | None = None,
) -> FoundPairs:
    """The pairs of a search, and pairs of each bill with the largest rows that it pays.

    ``only`` limits them to bills with a row of these ids.
    """
    pairs: list[Pair] = []
    for card_bill in bills:
        score = _NAMED_SCORE if card_bill.is_named else _SCORE
        ids = {card_bill.bill.id, *(row.id for row in card_bill.rows)}
        if score < options.min_similarity_score or (only is not None and not ids & set(only)):
            continue
        days = sorted(row.date for row in card_bill.rows)
        reasons = (
            f"pays:{len(card_bill.rows)}:{days[0]}:{days[-1]}",
            *(["names_card"] if card_bill.is_named else []),
        )
        for row in sorted(card_bill.rows, key=lambda each: (each.amount, each.id))[:SHOWN_ROWS]:
            first, second = sorted((card_bill.bill, row), key=lambda each: each.id)
            pairs.append(Pair(first, second, score, reasons, PairKind.CARD_BILL, row.id))
    of_bills = {pair.ids for pair in pairs}
    others = (other for other in detected.pairs if other.ids not in of_bills)
    return FoundPairs((*pairs, *others), detected.below)


def _payees(
    rows: Sequence[ComparedRow], days: Ints, accounts: Ints
) -> dict[Payee, list[ComparedRow]]:
    """The payments by account and payee, without payees that are paid too often to be a card."""
    texts, descriptions = number_values([row.description for row in rows])
    plain = [_DIGITS.sub("", unicodedata.normalize("NFKC", text)).strip() for text in descriptions]
    of_text, names = number_values(plain)
    different, places = np.unique(days, return_inverse=True)
    begun = [date.fromordinal(day) for day in different.tolist()]
    months = np.array([day.year * 12 + day.month for day in begun], dtype=np.int64)[places]
    is_payment = np.array([row.amount < 0 and row.may_be_bill for row in rows], dtype=bool)
    keys = accounts * len(names) + of_text[texts]
    monthly, times = np.unique((keys * _MONTHS + months)[is_payment], return_counts=True)
    often = monthly[times > _MOST_A_MONTH] // _MONTHS
    payees: dict[Payee, list[ComparedRow]] = defaultdict(list)
    for at in np.flatnonzero(is_payment & ~np.isin(keys, often)).tolist():
        payees[rows[at].account, plain[texts[at]]].append(rows[at])
    return payees


def _closings(days: Ints) -> Ints:
    """The ordinals of closing days (columns) by month (rows), from before the first row."""
    first, last = (date.fromordinal(int(day)) for day in (days.min(), days.max()))
    months = range(first.year * 12 + first.month - 2, last.year * 12 + last.month + 1)
    return np.array(
        [
            [
                date(year, month + 1, min(day, monthrange(year, month + 1)[1])).toordinal()
                for day in _CLOSING_DAYS
            ]
            for year, month in (divmod(month, 12) for month in months)
        ],
        dtype=np.int64,
    )


class _Card:
    """An account's rows, and the payments that equal a span's sum, by payee and rule."""

    def __init__(
        self,
        account: str,
        rows: Sequence[ComparedRow],
        days: Ints,
        closings: Ints,
        amounts: Mapping[int, Sequence[tuple[Payee, ComparedRow]]],
    ) -> None:
        """``rows`` are in the order of their ``days``; ``closings`` are as in ``_closings``."""
        self.account = account
        self.rows = rows
        self._days = days.tolist()
        self._amounts = np.array([row.amount for row in rows], dtype=np.int64)
        spans: dict[int, list[_Span]] = defaultdict(list)
        for span, amount in (*self._billing_spans(closings, amounts), *self._file_spans()):
            if amount < 0:
                spans[amount].append(span)
        self.fits: dict[tuple[Payee, int], list[_Fit]] = defaultdict(list)
        for amount in sorted(spans.keys() & amounts.keys()):
            for payee, payment in amounts[amount]:
                for span in spans[amount] if payee[0] != account else ():
                    if self._may_pay(payment, span):
                        self.fits[payee, span.rule].append(_Fit(payment, span))

    def _may_pay(self, payment: ComparedRow, span: _Span) -> bool:
        days = payment.date.toordinal() - span.closing
        latest = _LATEST_FILE if span.rule == _BY_FILE else _LATEST
        return _SOONEST <= days <= latest and all(
            self.rows[position].is_purchase for position in span.places
        )

    def covers(self, payment: ComparedRow) -> bool:
        """Whether the card has rows that the payment might pay."""
        day = payment.date.toordinal()
        begin = bisect_left(self._days, day - _LATEST - 31)
        return begin < bisect_right(self._days, day - _SOONEST)

    def _billing_spans(self, closings: Ints, amounts: Iterable[int]) -> Iterator[tuple[_Span, int]]:
        """The spans between closing days whose sum is one of ``amounts``, with the sum."""
        # A cumulative sum may overflow 64 bits, so the sums that match are computed again exactly.
        sums = np.concatenate(([0], np.cumsum(self._amounts)))
        ends = np.searchsorted(self._days, closings, side="right")
        equal = np.isin(sums[ends[1:]] - sums[ends[:-1]], list(amounts))
        for month, at in np.argwhere(equal & (ends[1:] > ends[:-1])).tolist():
            places = range(int(ends[month, at]), int(ends[month + 1, at]))
            span = _Span(_CLOSING_DAYS[at], int(closings[month + 1, at]), places)
            yield span, sum(self.rows[position].amount for position in places)

    def _file_spans(self) -> Iterator[tuple[_Span, int]]:
        numbers, _ = number_values([row.statement for row in self.rows])
        order = np.argsort(numbers, kind="stable")
        begins = np.flatnonzero(np.diff(numbers[order], prepend=-1))
        sums = np.add.reduceat(self._amounts[order], begins).tolist()
        files = [places.tolist() for places in np.split(order, begins[1:])]
        ends = sorted(self._days[places[-1]] for places in files)
        for places, amount in zip(files, sums, strict=True):
            closing = self._days[places[-1]]
            near = bisect_right(ends, closing + _LATEST_FILE) - bisect_left(ends, closing)
            if closing - self._days[places[0]] <= _FILE_DAYS and near <= _MOST_FILES:
                yield _Span(_BY_FILE, closing, places), amount


def _chance(
    card: _Card, fits: Sequence[_Fit], payments: Iterable[ComparedRow], tried: int
) -> float:
    """How many of the tried sets are expected to fit as well by chance."""
    spans = _MOST_FILES if fits[0].span.rule == _BY_FILE else _MOST_SPANS
    # A repeated amount, such as a subscription's, is no further evidence.
    fitting = {fit.bill.amount for fit in fits}
    every = {payment.amount for payment in payments if card.covers(payment)} | fitting
    chance = math.prod(min(1.0, spans * _roundness(amount) / -amount) for amount in fitting)
    return chance * (tried * _SETS * math.comb(len(every), len(fitting)))


def _roundness(amount: int) -> int:
    return next(size for size in (1000, 100, 10, 1) if amount % size == 0)


def _disjoint_bills(families: Iterable[_Family], cards: dict[str, _Card]) -> Iterator[CardBill]:
    used: set[int] = set()
    for family in families:
        for fit in family.fits:
            rows = tuple(cards[family.card].rows[position] for position in fit.span.places)
            ids = {fit.bill.id, *(row.id for row in rows)}
            if not ids & used:
                used |= ids
                yield CardBill(fit.bill, rows, family.is_named)
