"""Finds transfers that no statement marks: out of one account and, within days, into another.

A pair is likely if its outgoing row has words such as 振替 or チャージ, or if its incoming row has
them and one row names the other's account; others may be a purchase and its refund.
A wallet's charge that its file marks is paired with a row that has such words or names the wallet;
it is likely only if one row names the other's account, as it may have come from another bank.
"""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Collection, Iterable, Sequence
from functools import lru_cache, partial

from mdvec.household.core.categories import INCOME
from mdvec.household.core.evidence import names_account
from mdvec.household.core.pair import (
    LIKELY,
    ComparedRow,
    DetectionOptions,
    FoundPairs,
    Pair,
    PairKind,
)
from mdvec.household.core.shop_names import reading, whole_name

MAX_DAYS = 3
"""How many days a transfer may take; a weekend lies between the two bookings."""

_LIKELY_SCORE, _UNLIKELY_SCORE, _PER_DAY = 0.9, 0.4, 0.05

_WORDS = re.compile(
    r"振替|振り替え|振込|振り込み|フリカエ|フリコミ|送金|資金移動|口座間|入金|出金|引出|引き出し"
    r"|オートチャージ|チャージ|atm|引落|引き落とし|transfer|カード(?:支払|払)|現金・カード"
)
_PURCHASE = re.compile(r"返品|返金|キャンセル|払い戻し|払戻|還付|refund")
_OWN_MONEY = frozenset({"現金・カード", "振替", "資金移動"})
_SALARY = re.compile(r"給与|給料|賞与|年金|利息|配当")
_name_of = lru_cache(maxsize=16_384)(partial(whole_name, reading=reading))


def transfer_pairs(
    rows: Iterable[ComparedRow],
    max_days: int = MAX_DAYS,
    charges: Collection[ComparedRow] = (),
) -> list[Pair]:
    """The pairs among rows that count, each row in one pair at most; the likely ones first.

    ``charges`` are incoming rows that do not count. Of several partners a row gets the likeliest,
    then one that names the other's account, then the nearest in days.
    """
    filed = {charge.id for charge in charges}
    candidates = {
        (pair.score < LIKELY, "named_account" not in pair.reasons, pair.days, out.id, into.id): pair
        for out, into in _opposites(rows, max_days, charges)
        if out.account != into.account
        and (into.id not in filed or _words(out) or _names(out, into.account))
        for pair in [_pair(out, into, is_filed=into.id in filed)]
    }
    pairs: list[Pair] = []
    used: set[int] = set()
    for _, pair in sorted(candidates.items()):
        if used.isdisjoint(pair.ids):
            pairs.append(pair)
            used.update(pair.ids)
    return pairs


def unmatched_charges(rows: Iterable[ComparedRow]) -> list[ComparedRow]:
    """The incoming rows that files mark as transfers, but whose outgoing end is not marked."""
    filed = [row._replace(counts=True) for row in rows if row.is_filed]
    matched = {row.id for pair in transfer_pairs(filed) for row in (pair.first, pair.second)}
    return [row for row in filed if row.amount > 0 and row.id not in matched]


def with_transfers(
    found_pairs: FoundPairs,
    rows: Iterable[ComparedRow],
    options: DetectionOptions,
    only: Collection[int] | None = None,
    charges: Collection[ComparedRow] = (),
) -> FoundPairs:
    """The pairs of a search and those that may be transfers, best score first.

    Likely transfers score higher, and the higher the nearer their days. ``only`` limits them to
    pairs with a row of these ids. ``charges`` are incoming rows that do not count.
    """
    moves = [
        pair
        for pair in transfer_pairs(rows, min(options.date_tolerance_days, MAX_DAYS), charges)
        if only is None or any(row_id in only for row_id in pair.ids)
    ]
    shown = [pair for pair in moves if options.shows(pair)]
    pairs = sorted((*found_pairs.pairs, *shown), key=lambda pair: (-pair.score, *pair.ids))
    return FoundPairs(tuple(pairs), found_pairs.below + len(moves) - len(shown))


def _opposites(
    rows: Iterable[ComparedRow], max_days: int, charges: Iterable[ComparedRow]
) -> Iterable[tuple[ComparedRow, ComparedRow]]:
    """Every pair of an outgoing row and an incoming one of the same amount within some days."""
    incoming: dict[int, list[ComparedRow]] = defaultdict(list)
    outgoing: list[ComparedRow] = []
    for charge in charges:
        incoming[charge.amount].append(charge)
    for row in rows:
        if row.counts and row.amount:
            if row.amount > 0:
                incoming[row.amount].append(row)
            else:
                outgoing.append(row)
    days: dict[int, list[int]] = {}
    for amount, of_amount in incoming.items():
        of_amount.sort(key=lambda row: (row.date, row.id))
        days[amount] = [row.date.toordinal() for row in of_amount]
    for out in outgoing:
        partners: Sequence[ComparedRow] = incoming.get(-out.amount, ())
        if partners:
            at, known = out.date.toordinal(), days[-out.amount]
            begin, end = bisect_left(known, at - max_days), bisect_right(known, at + max_days)
            yield from ((out, into) for into in partners[begin:end])


def _pair(out: ComparedRow, into: ComparedRow, *, is_filed: bool) -> Pair:
    has_words = _words(out) or _words(into)
    # その他入金 is the category of any money that comes in, so it does not confirm a name.
    confirms_name = is_filed or _words(out) or _words(into._replace(category_minor=""))
    is_named = confirms_name and (_names(out, into.account) or _names(into, out.account))
    is_refund = _PURCHASE.search(_folded_text(into)) or (
        into.category_major == INCOME and _SALARY.search(_folded_text(into))
    )
    seen = {"moving_words": has_words, "named_account": is_named, "refund": is_refund}
    reasons = ("moved", *(code for code, holds in seen.items() if holds))
    # A wallet may have been charged from an account unknown here.
    is_likely = is_named or (_words(out) and not is_filed)
    score = _LIKELY_SCORE if is_likely and not is_refund else _UNLIKELY_SCORE
    score -= abs((into.date - out.date).days) * _PER_DAY
    first, second = sorted((out, into), key=lambda row: row.id)
    return Pair(first, second, round(score, 2), reasons, PairKind.TRANSFER)


def _words(row: ComparedRow) -> bool:
    """Whether a row's text or category suggests a transfer between one's own accounts."""
    return row.category_major in _OWN_MONEY or _WORDS.search(_folded_text(row)) is not None


def _names(row: ComparedRow, account: str) -> bool:
    """Whether a row's text names an account."""
    return names_account(_name_of, account, row.description)


def _folded_text(row: ComparedRow) -> str:
    return unicodedata.normalize("NFKC", f"{row.description} {row.category_minor}").casefold()
