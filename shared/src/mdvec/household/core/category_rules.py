"""Rules that give a shop's rows a category, and suggestions for rows without one."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from mdvec.household.core.categories import Category
from mdvec.household.core.counted_row import CountedRow

UNCATEGORISED = "未分類"
_MIN_LIKENESS = 0.6
_MIN_CONFIDENCE = 0.3
_MAX_SHOPS = 100


@dataclass(frozen=True, slots=True)
class CategoryRule:
    """Rows whose normalised shop contains ``shop`` belong to ``category``."""

    shop: str
    category: Category


@dataclass(frozen=True, slots=True)
class Suggestion:
    """A category for the rows of a shop that have none, from the user's own history.

    ``confidence`` is from 0 to 1. ``like`` is the shop whose categories speak for it: the same
    one, or one whose name is similar.
    """

    shop: str
    rows: int
    yen: int
    category: Category
    confidence: float
    like: str


def rule_for(shop: str, rules: Iterable[CategoryRule]) -> CategoryRule | None:
    """The rule for a normalised shop: of several, the one that names the most of it."""
    matching = [rule for rule in rules if rule.shop in shop]
    return max(matching, key=lambda rule: (len(rule.shop), rule.shop), default=None)


def suggestions(rows: Iterable[CountedRow]) -> list[Suggestion]:
    """Categories for the hundred largest shops without one, the largest sum first."""
    known: dict[str, Counter[Category]] = defaultdict(Counter)
    open_: dict[str, list[CountedRow]] = defaultdict(list)
    for row in rows:
        if row.category_major in ("", UNCATEGORISED):
            open_[row.shop].append(row)
        else:
            known[row.shop][Category(row.category_major, row.category_minor or None)] += 1
    letters = {shop: _letter_pairs(shop) for shop in known}
    largest = sorted(open_, key=lambda shop: -abs(sum(row.yen for row in open_[shop])))
    found = [_suggest(shop, open_[shop], known, letters) for shop in largest[:_MAX_SHOPS]]
    return sorted(
        (one for one in found if one is not None), key=lambda one: (-abs(one.yen), one.shop)
    )


def _suggest(
    shop: str,
    rows: Sequence[CountedRow],
    known: Mapping[str, Counter[Category]],
    letters: Mapping[str, frozenset[str]],
) -> Suggestion | None:
    own = _letter_pairs(shop)
    likeness = {one: 1.0 if one == shop else _likeness(own, letters[one]) for one in known}
    like = max(likeness, key=lambda one: (likeness[one], known[one].total(), one), default=None)
    if like is None or likeness[like] < _MIN_LIKENESS:
        return None
    counts = known[like]
    category, times = counts.most_common(1)[0]
    confidence = likeness[like] * times / (counts.total() + 1)  # one more might be another
    if confidence < _MIN_CONFIDENCE:
        return None
    return Suggestion(
        shop=rows[0].name,
        rows=len(rows),
        yen=sum(row.yen for row in rows),
        category=category,
        confidence=round(confidence, 2),
        like=like,
    )


def _letter_pairs(shop: str) -> frozenset[str]:
    """The pairs of adjacent letters of a normalised shop."""
    letters = "".join(char for char in shop if char.isalnum()) or shop
    return frozenset(map(str.__add__, letters, letters[1:])) or frozenset(letters)


def _likeness(one: frozenset[str], other: frozenset[str]) -> float:
    """The Dice coefficient of two sets of letter pairs."""
    return 2 * len(one & other) / max(len(one) + len(other), 1)
