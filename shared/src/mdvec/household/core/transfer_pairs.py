"""Finds transfers between accounts that statements do not mark as such.

Both rows count, so a transfer counts as spending and as income. Its rows have opposite signs, the
same amount, near days and different accounts. Words such as 振替 or チャージ make it likely;
without them it may be a purchase and an unrelated refund. When a wallet is charged or paid out, its
file may mark its own row as a transfer, so that only the bank's row counts; that row has to name
the wallet, or have such words. Without words, such a pair is likely only if the text of each row is
the name of the other row's account, and neither row is in another such pair.
"""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_left, bisect_right
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Sequence

from mdvec.household.core.categories import INCOME
from mdvec.household.core.pair import (
    LIKELY,
    ComparedRow,
    DetectionOptions,
    FoundPairs,
    Pair,
    PairKind,
)

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


def transfer_pairs(
    rows: Iterable[ComparedRow], max_days: int = MAX_DAYS, charges: Collection[ComparedRow] = ()
) -> list[Pair]:
    """The pairs among rows that count, each row in one pair at most; the likely ones first.

    ``charges`` are rows that do not count, as their files mark them. Of several partners, a row
    gets the likeliest, then a partner whose account is named, then the nearest in days.
    """
    filed = {charge.id for charge in charges}
    opposites = [
        (out, into)
        for out, into in _opposites(rows, max_days, charges)
        if out.account != into.account
        and (into.id not in filed or _words(out) or _names(out, into.account))
        and (out.id not in filed or _words(into) or _names(into, out.account))
    ]
    named = _only_named((out, into) for out, into in opposites if {out.id, into.id} & filed)
    candidates = {
        (pair.score < LIKELY, not _names(out, into.account), pair.days, out.id, into.id): pair
        for out, into in opposites
        for pair in [_pair(out, into, is_named=(out.id, into.id) in named)]
    }
    pairs: list[Pair] = []
    used: set[int] = set()
    for _, pair in sorted(candidates.items()):
        if used.isdisjoint(pair.ids):
            pairs.append(pair)
            used.update(pair.ids)
    return pairs


def unmatched_charges(rows: Iterable[ComparedRow]) -> list[ComparedRow]:
    """The rows that files mark as transfers and for which no opposite row is marked."""
    filed = [row._replace(counts=True) for row in rows if row.is_filed]
    matched = {row.id for pair in transfer_pairs(filed) for row in (pair.first, pair.second)}
    return [row for row in filed if row.amount and row.id not in matched]


def with_transfers(
    found_pairs: FoundPairs,
    rows: Collection[ComparedRow],
    options: DetectionOptions,
    only: Collection[int] | None = None,
) -> FoundPairs:
    """The pairs of a search and those that may be transfers, best score first.

    Likely transfers score higher, and the higher the nearer their days. ``only`` limits them to
    pairs with a row of these ids.
    """
    max_days = min(options.date_tolerance_days, MAX_DAYS)
    moves = [
        pair
        for pair in transfer_pairs(rows, max_days, unmatched_charges(rows))
        if only is None or any(row_id in only for row_id in pair.ids)
    ]
    shown = [pair for pair in moves if options.shows(pair)]
    pairs = sorted((*found_pairs.pairs, *shown), key=lambda pair: (-pair.score, *pair.ids))
    return FoundPairs(tuple(pairs), found_pairs.below + len(moves) - len(shown))


def _opposites(
    rows: Iterable[ComparedRow], max_days: int, charges: Collection[ComparedRow]
) -> Iterable[tuple[ComparedRow, ComparedRow]]:
    """Every pair of an outgoing and an incoming row of one amount, at most ``max_days`` apart.

    At least one of the two counts.
    """
    incoming: dict[int, list[ComparedRow]] = defaultdict(list)
    outgoing: list[ComparedRow] = []
    filed = {charge.id for charge in charges}
    for row in (*charges, *(row for row in rows if row.counts and row.amount)):
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
            near = partners[begin:end]
            yield from ((out, into) for into in near if not {out.id, into.id} <= filed)


def _only_named(charges: Iterable[tuple[ComparedRow, ComparedRow]]) -> set[tuple[int, int]]:
    """The ids of pairs in which each row's text names the other's account, if unambiguous."""
    named = [
        (out.id, into.id)
        for out, into in charges
        if _is_name(out.description, into.account) and _is_name(into.description, out.account)
    ]
    times = Counter(row_id for ids in named for row_id in ids)
    return {ids for ids in named if all(times[row_id] == 1 for row_id in ids)}


def _pair(out: ComparedRow, into: ComparedRow, *, is_named: bool) -> Pair:
    speaks = _words(out) or _words(into)
    against = _PURCHASE.search(_folded_text(into)) or (
        into.category_major == INCOME and _SALARY.search(_folded_text(into))
    )
    seen = {"moving_words": speaks, "each_named": is_named, "refund": against}
    reasons = ("moved", *(code for code, holds in seen.items() if holds))
    score = _LIKELY_SCORE if (speaks or is_named) and not against else _UNLIKELY_SCORE
    score -= abs((into.date - out.date).days) * _PER_DAY
    first, second = sorted((out, into), key=lambda row: row.id)
    return Pair(first, second, round(score, 2), reasons, PairKind.TRANSFER)


def _words(row: ComparedRow) -> bool:
    """Whether a row's text or category suggests a transfer between one's own accounts."""
    return row.category_major in _OWN_MONEY or _WORDS.search(_folded_text(row)) is not None


def _names(row: ComparedRow, account: str) -> bool:
    """Whether a row's description or 中項目 contains the name of an account."""
    return bool(account) and _plain_text(account) in _folded_text(row)


def _is_name(text: str, account: str) -> bool:
    return bool(account) and _plain_text(text) == _plain_text(account)


def _folded_text(row: ComparedRow) -> str:
    return _plain_text(f"{row.description} {row.category_minor}")


def _plain_text(text: str) -> str:
    return unicodedata.normalize("NFKC", text).casefold()
