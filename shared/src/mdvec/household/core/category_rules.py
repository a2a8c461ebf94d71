"""Rules that give a shop's rows a category, and suggestions for rows without one."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from mdvec.household.core.answer_json import CategoryText
from mdvec.household.core.categories import Category

UNCATEGORISED = "未分類"
_MIN_LIKENESS = 0.6
_MIN_CONFIDENCE = 0.3
_MAX_SHOPS = 100


@dataclass(frozen=True, slots=True)
class CategoryRule:
    """Rows whose normalised shop contains ``shop`` belong to ``category``."""

    shop: str
    category: CategoryText


@dataclass(frozen=True, slots=True)
class Suggestion:
    """A category for the rows of a shop that have none, from the user's own history.

    ``confidence`` is from 0 to 1. ``like`` is the shop whose categories speak for it: the same
    one, or one whose name is similar.
    """

    shop: str
    rows: int
    yen: int
    category: CategoryText
    confidence: float
    like: str


def rule_for(shop: str, rules: Iterable[CategoryRule]) -> CategoryRule | None:
    """The rule for a normalised shop: of several, the one that names the most of it."""
    matching = [rule for rule in rules if rule.shop in shop]
    return max(matching, key=lambda rule: (len(rule.shop), rule.shop), default=None)


@dataclass(frozen=True, slots=True)
class ShopTotal:
    """The rows of a shop in one category: its name as written, how many, and their yen."""

    shop: str
    name: str
    category_major: str
    category_minor: str
    rows: int
    yen: int


def suggestions(totals: Iterable[ShopTotal]) -> list[Suggestion]:
    """Categories for the hundred largest shops without one, the largest sum first."""
    known: dict[str, Counter[Category]] = defaultdict(Counter)
    open_: dict[str, list[ShopTotal]] = defaultdict(list)
    for one in totals:
        if one.category_major in ("", UNCATEGORISED):
            open_[one.shop].append(one)
        else:
            known[one.shop][Category(one.category_major, one.category_minor or None)] += one.rows
    likely = _Likeness(known)
    largest = sorted(open_, key=lambda shop: -abs(sum(one.yen for one in open_[shop])))
    found = [_suggest(shop, open_[shop], known, likely) for shop in largest[:_MAX_SHOPS]]
    return sorted(
        (one for one in found if one is not None), key=lambda one: (-abs(one.yen), one.shop)
    )


class _Likeness:
    """How alike a shop's name and the known ones are: the Dice coefficient of letter pairs."""

    def __init__(self, known: Iterable[str]) -> None:
        self._sizes: dict[str, int] = {}
        self._holders: dict[str, list[str]] = defaultdict(list)
        for shop in known:
            pairs = _letter_pairs(shop)
            self._sizes[shop] = len(pairs)
            for pair in pairs:
                self._holders[pair].append(shop)

    def of(self, shop: str) -> dict[str, float]:
        """The likeness of each known shop that shares letters; 1 for the shop itself."""
        own = _letter_pairs(shop)
        shared = Counter(one for pair in own for one in self._holders.get(pair, ()))
        found = {one: 2 * n / (len(own) + self._sizes[one]) for one, n in shared.items()}
        return found | ({shop: 1.0} if shop in self._sizes else {})


def _suggest(
    shop: str,
    totals: Sequence[ShopTotal],
    known: Mapping[str, Counter[Category]],
    likely: _Likeness,
) -> Suggestion | None:
    likeness = likely.of(shop)
    like = max(likeness, key=lambda one: (likeness[one], known[one].total(), one), default=None)
    if like is None or likeness[like] < _MIN_LIKENESS:
        return None
    counts = known[like]
    category, times = counts.most_common(1)[0]
    confidence = likeness[like] * times / (counts.total() + 1)  # one more might be another
    if confidence < _MIN_CONFIDENCE:
        return None
    return Suggestion(
        shop=totals[0].name,
        rows=sum(one.rows for one in totals),
        yen=sum(one.yen for one in totals),
        category=category,
        confidence=round(confidence, 2),
        like=like,
    )


def _letter_pairs(shop: str) -> frozenset[str]:
    """The pairs of adjacent letters of a normalised shop."""
    letters = "".join(char for char in shop if char.isalnum()) or shop
    return frozenset(map(str.__add__, letters, letters[1:])) or frozenset(letters)
