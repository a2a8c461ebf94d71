"""Lets each row be one purchase with at most one row of another account.

Two orders of one price in an app and two lines on its card make four likely pairs, of which two
are right: the best pair wins, and pairs that contradict it become unlikely.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from itertools import product
from typing import Final

from mdvec.household.core.compared import ComparedEntry
from mdvec.household.core.detection import LIKELY
from mdvec.household.core.pair import Pair

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
    one = groups.setdefault(pair.first.id, [pair.first])
    other = groups.setdefault(pair.second.id, [pair.second])
    if one is other:
        return pair
    for first, second in product(one, other):
        ids = (min(first.id, second.id), max(first.id, second.id))
        if first.account == second.account and ids not in likely:
            reasons = (*pair.reasons, "matched_otherwise")
            return replace(pair, score=_MATCHED_OTHERWISE, reasons=reasons)
    one.extend(other)
    for row in other:
        groups[row.id] = one
    return pair
