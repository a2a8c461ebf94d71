"""Chooses rows by the words and shops asked for, and says which it took and which it left out."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence

from mdvec.household.core.aliases import Aliases
from mdvec.household.core.found import (
    FoundGroup,
    InvalidRowFilter,
    excluded_note,
    inside_note,
    names_note,
    not_excluded_note,
    spellings_note,
)
from mdvec.household.core.naming import Naming, WordsAsked
from mdvec.household.core.row_sums import RowSum, ShopOf, groups_by
from mdvec.text import shortened

_LIST = "、"


class RowWords:
    """The words of a question, and the shops to take and to leave out.

    ``query`` is looked for in all of a row's texts, shops in its description alone.
    """

    def __init__(
        self, query: str | None, shops: Sequence[str], without: Sequence[str], aliases: Aliases
    ) -> None:
        self.query = query if query and query.strip() else None
        self.shops, self.without = shops, without
        self._words = None if self.query is None else _asked("query", self.query, aliases)
        self._shops = [_asked("shop", shop, aliases) for shop in shops]
        self._without = [_asked("exclude_shop", shop, aliases) for shop in without]
        self.named: list[RowSum] = []
        self._inside: list[RowSum] = []
        self.unnamed: list[RowSum] = []
        self._excluded: list[RowSum] = []
        self._kept: list[RowSum] = []

    @property
    def restrict(self) -> bool:
        """Whether there are any words."""
        return bool(self._words or self._shops or self._without)

    @property
    def told(self) -> list[str]:
        """The words as an answer repeats them."""
        parts = [f"「{shortened(self.query)}」"] if self.query else []
        if self.shops:
            parts.append(f"店{_LIST.join(f'「{shortened(shop)}」' for shop in self.shops)}")
        if self.without:
            parts.append(f"店{_LIST.join(f'「{shortened(shop)}」' for shop in self.without)}を除く")
        return parts

    @property
    def excluded_words(self) -> list[str]:
        """All words that rows must not have."""
        parts = (self.query or "").replace("|", " ").split()
        return [*self.without, *(word[1:] for word in parts if word[:1] in ("-", "\u2212"))]

    def choose(self, sums: Iterable[RowSum]) -> None:
        """Sort rows by how the words name them."""
        judged: dict[tuple[str, ...], list[RowSum]] = {}
        for row_sum in sums:
            texts = row_sum.texts
            target = judged.get(texts)
            if target is None:
                target = judged[texts] = self._target(row_sum)
            target.append(row_sum)
            if target is self.named and self._is_near_excluded(row_sum):
                self._kept.append(row_sum)

    def _target(self, row_sum: RowSum) -> list[RowSum]:
        """The list that rows with these texts belong to."""
        shop = row_sum.texts[:1]
        naming = Naming.NAMED if self._words is None else self._words.naming(row_sum.texts)
        if self._shops and naming is not Naming.NOT:
            shops = [each.naming(shop) for each in self._shops]
            if Naming.NAMED not in shops:
                naming = Naming.INSIDE if Naming.INSIDE in shops else Naming.NOT
        if naming is Naming.NOT:
            return self.unnamed
        if naming is Naming.INSIDE:
            return self._inside
        return self._excluded if Naming.NAMED in self._excluding(row_sum) else self.named

    def _excluding(self, row_sum: RowSum) -> list[Naming]:
        namings = [each.naming(row_sum.texts[:1]) for each in self._without]
        if self._words is not None and self._words.excluded is not None:
            namings.append(self._words.excluded.naming(row_sum.texts))
        return namings

    def _is_near_excluded(self, row_sum: RowSum) -> bool:
        return Naming.INSIDE in self._excluding(row_sum)

    def notes(self, reasons: Collection[str | None], shop: ShopOf) -> list[str]:
        """Which shops were taken, in which spellings, and which were left out, with their sums."""

        def groups(sums: Iterable[RowSum]) -> list[FoundGroup]:
            asked = (one for one in sums if one.left_out in reasons)
            return groups_by(asked, lambda one: shop(one.description))

        words = " ".join([*([self.query] if self.query else []), *self.shops])
        matched, inside, not_excluded = groups(self.named), groups(self._inside), groups(self._kept)
        taken = [*([self._words] if self._words else []), *self._shops]
        lines = [names_note(matched)] if matched and (self.shops or self.query) else []
        if spellings := _spellings(taken):
            lines.append(spellings_note(spellings))
        if spellings := _spellings(self._without):
            lines.append(spellings_note(spellings, excluded=True))
        lines += [inside_note(words, inside, of_query=not self.shops)] if inside else []
        if self.excluded_words:
            lines.append(excluded_note(groups(self._excluded)))
        if not_excluded:
            lines.append(not_excluded_note(_LIST.join(self.excluded_words), not_excluded))
        return lines


def _spellings(asked: Iterable[WordsAsked]) -> list[str]:
    return list(dict.fromkeys(spelling for words in asked for spelling in words.used))


def _asked(name: str, words: str, aliases: Aliases) -> WordsAsked:
    asked_words = WordsAsked(words, aliases)
    if asked_words.is_empty:
        raise InvalidRowFilter(f"{name}「{shortened(words)}」に探せる言葉がありません。")
    return asked_words
