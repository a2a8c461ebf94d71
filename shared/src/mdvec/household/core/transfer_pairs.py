"""Finds transfers between accounts that statements do not mark as such.

Both rows count, so a transfer counts as spending and as income. Its rows have opposite signs, the
same amount, near days and different accounts. Words such as 振替 or チャージ make it likely;
without them it may be a purchase and an unrelated refund. When a wallet is charged or paid out, its
file may mark its own row as a transfer, so that only the bank's row counts; that row has to name
the wallet, or have such words. Without words, such a pair is likely only if the bank's row says the
wallet's name and nothing else, the wallet's row does not say another bank, and neither row is in
another such pair; a pair whose rows say each other's accounts goes before one in which one does.
"""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_left, bisect_right
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Sequence
from functools import cache

from mdvec.household.core.categories import INCOME
from mdvec.household.core.evidence import is_instrument
from mdvec.household.core.naming import NO_ALIASES, Aliases, spelling_key
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
    rows: Iterable[ComparedRow],
    max_days: int = MAX_DAYS,
    charges: Collection[ComparedRow] = (),
    aliases: Aliases = NO_ALIASES,
) -> list[Pair]:
    """The pairs among rows that count, each row in one pair at most; the likely ones first.

    ``charges`` are rows that do not count, as their files mark them. Of several partners, a row
    gets the likeliest, then a partner whose account is named, then the nearest in days. ``aliases``
    are other spellings of the accounts' names.
    """
    filed = {charge.id for charge in charges}
    name = _Names(aliases)
    opposites = [
        (out, into)
        for out, into in _opposites(rows, max_days, charges)
        if out.account != into.account
        and (into.id not in filed or _words(out) or name.occurs(out, into.account))
        and (out.id not in filed or _words(into) or name.occurs(into, out.account))
    ]
    with_charge = [(out, into) for out, into in opposites if {out.id, into.id} & filed]
    named = _only_named(with_charge, filed, name)
    candidates = {
        (pair.score < LIKELY, not name.occurs(out, into.account), pair.days, out.id, into.id): pair
        for out, into in opposites
        for pair in [_pair(out, into, named.get((out.id, into.id), ""))]
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
    aliases: Aliases = NO_ALIASES,
) -> FoundPairs:
    """The pairs of a search and those that may be transfers, best score first.

    Likely transfers score higher, and the higher the nearer their days. ``only`` limits them to
    pairs with a row of these ids.
    """
    max_days = min(options.date_tolerance_days, MAX_DAYS)
    moves = [
        pair
        for pair in transfer_pairs(rows, max_days, unmatched_charges(rows), aliases)
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


def _only_named(
    pairs: Iterable[tuple[ComparedRow, ComparedRow]], filed: Collection[int], name: _Names
) -> dict[tuple[int, int], str]:
    """A reason for each pair, by its ids, in which the row that counts is the wallet's name.

    Neither row may be in another such pair, unless only this one's rows name each other's accounts.
    """
    found: dict[str, list[tuple[int, int]]] = {"each_named": [], "named_account": []}
    for out, into in pairs:
        charge, row = (out, into) if out.id in filed else (into, out)
        if name.is_whole(row.description, charge.account):
            if name.is_whole(charge.description, row.account):
                found["each_named"].append((out.id, into.id))
            else:
                said, own = _plain_text(charge.description), _plain_text(row.account)
                is_bank = is_instrument(said) and is_instrument(own)
                if not is_bank or said in own or own in said:  # else it says another bank
                    found["named_account"].append((out.id, into.id))
    times = Counter[int]()
    reasons: dict[tuple[int, int], str] = {}
    for reason, ids in found.items():
        times.update(row_id for pair in ids for row_id in pair)
        reasons |= {pair: reason for pair in ids if all(times[row_id] == 1 for row_id in pair)}
    return reasons


def _pair(out: ComparedRow, into: ComparedRow, named: str) -> Pair:
    """The pair of two opposite rows; ``named`` is the reason if their texts name the accounts."""
    speaks = _words(out) or _words(into)
    against = _PURCHASE.search(_folded_text(into)) or (
        into.category_major == INCOME and _SALARY.search(_folded_text(into))
    )
    seen = {"moving_words": speaks, named: named, "refund": against}
    reasons = ("moved", *(code for code, holds in seen.items() if holds))
    score = _LIKELY_SCORE if (speaks or named) and not against else _UNLIKELY_SCORE
    score -= abs((into.date - out.date).days) * _PER_DAY
    first, second = sorted((out, into), key=lambda row: row.id)
    return Pair(first, second, round(score, 2), reasons, PairKind.TRANSFER)


class _Names:
    """Compares texts with the names of accounts, in any spelling that ``aliases`` know."""

    def __init__(self, aliases: Aliases) -> None:
        self._keys = cache(
            lambda account: frozenset(map(spelling_key, (account, *aliases.of(account)))) - {""}
        )

    def is_whole(self, text: str, account: str) -> bool:
        """Whether a text is the name of an account, and nothing else."""
        return spelling_key(text) in self._keys(account)

    def occurs(self, row: ComparedRow, account: str) -> bool:
        """Whether a row's description or 中項目 contains the name of an account, or is it."""
        is_in = bool(account) and _plain_text(account) in _folded_text(row)
        return is_in or self.is_whole(row.description, account)


def _words(row: ComparedRow) -> bool:
    """Whether a row's text or category suggests a transfer between one's own accounts."""
    return row.category_major in _OWN_MONEY or _WORDS.search(_folded_text(row)) is not None


def _folded_text(row: ComparedRow) -> str:
    return _plain_text(f"{row.description} {row.category_minor}")


def _plain_text(text: str) -> str:
    return unicodedata.normalize("NFKC", text).casefold()
