"""Answers of find_transactions: its pages of rows, the words that select them, and its texts."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from functools import partial

from mdvec.errors import MdvecError
from mdvec.household.core.answers import LedgerAnswer, answer_text
from mdvec.household.core.categories import first_names
from mdvec.household.core.naming import Aliases, Naming, WordsAsked, excluded_word, plain_text
from mdvec.household.core.row_sums import (
    MAX_GROUPS,
    FoundGroup,
    Mean,
    ShopOf,
    group_lines,
    groups_by,
)
from mdvec.household.core.shown import shown_name, shown_path
from mdvec.household.core.sums import RowSum, Totals
from mdvec.household.core.transaction import ListedRow
from mdvec.household.core.wording import (
    PAGE_SIZE,
    REASONS_IN_WORDS,
    InvalidPage,
    format_currency,
    left_out_in_words,
    totals_in_words,
)
from mdvec.text import shortened


@dataclass(frozen=True, slots=True)
class Paging:
    """The page ``number`` of ``total`` rows in pages of ``size``; size 0 is a page without rows.

    A page also has ``size`` of the ``groups``, but at least ``MAX_GROUPS``. A call that names no
    size gets the ``usual`` one.

    Raises:
        InvalidPage: the page does not exist.
    """

    number: int
    size: int
    total: int
    groups: int = 0
    usual: int = PAGE_SIZE

    def __post_init__(self) -> None:
        if not 1 <= self.number <= self.pages:
            raise InvalidPage(self.number, self.pages)

    @property
    def pages(self) -> int:
        """How many pages there are, at least one."""
        of_rows = -(-self.total // self.size) if self.size else 1
        return max(1, of_rows, -(-self.groups // self._group_size))

    @property
    def _group_size(self) -> int:
        return max(self.size, MAX_GROUPS)

    @property
    def of_groups(self) -> slice:
        """The slice of the groups that are on the page."""
        return slice((self.number - 1) * self._group_size, self.number * self._group_size)

    @property
    def offset(self) -> int:
        """How many rows are on the pages before."""
        return (self.number - 1) * self.size

    @property
    def next(self) -> int | None:
        """The next page; None on the last."""
        return self.number + 1 if self.number < self.pages else None

    def more(self, shown_up_to: int, total: int, of: str = "") -> list[str]:
        """A line on how to get the next page; none if all ``total`` rows are shown."""
        same = "" if self.size == self.usual else f"、limit={self.size}"
        return [f"{of}続きは page={self.number + 1}{same}。"] if shown_up_to < total else []


def row_line(row: ListedRow) -> str:
    """One line for a row: date, shop, amount, category, why it does not count, account, notes."""
    where = shown_name(row.category)
    why = left_out_in_words(row.left_out)
    shop = shown_name(row.description)
    account = f" {shown_name(row.account)}" if row.account else ""
    memo = f"（メモ: {shown_name(row.memo)}）" if row.memo else ""
    amount = format_currency(row.amount)
    return f"- {row.date} {shop} {amount} {where}{why}{account}{memo}{row.noted.in_words}"


def page_lines(rows: Sequence[ListedRow], paging: Paging, about: str = "") -> list[str]:
    """A page of rows with accounts, memos, notes, ids and file lines, and how to get the next page.

    ``about`` describes the rows if no sums precede them.
    """
    if not paging.total or (paging.size and not rows):
        return []
    if not paging.size:
        some = min(paging.total, PAGE_SIZE)
        return [f"明細は全 {paging.total:,}件です（limit={some} で示します）。"]
    files = enumerate(dict.fromkeys(row.source_file for row in rows))
    letters = {name: chr(ord("A") + at) if at < 26 else f"F{at + 1}" for at, name in files}
    first, last = paging.offset + 1, paging.offset + len(rows)
    lines = [f"{about}明細 {first:,}〜{last:,}件目（全 {paging.total:,}件、[取引ID ファイル:行]）:"]
    lines += [
        f"{row_line(row)} [{row.id} {letters[row.source_file]}"
        + (f":{row.row_number}]" if row.row_number else "]")
        for row in rows
    ]
    lines.append(
        f"ファイル: {'、'.join(f'{letter}={shown_path(name)}' for name, letter in letters.items())}"
    )
    return lines + paging.more(last, paging.total)


_MAX_NAMED = 8


class InvalidRowFilter(MdvecError):
    """A filter's value cannot be used; the message says why."""


class UnknownAccount(MdvecError):
    """No account has this name."""

    def __init__(self, name: str, accounts: Sequence[str]) -> None:
        known = first_names(accounts, _MAX_NAMED) or "なし"
        super().__init__(f"口座「{shortened(name)}」は見つかりません。指定できる口座: {known}")


@dataclass(frozen=True, slots=True)
class FoundAnswer(LedgerAnswer):
    """The rows that match, summed in yen, grouped, and a page of them.

    ``left_out`` has the number of rows that match but are not in the sums, by the reason; it is
    empty if only such rows were asked for. If all are transfers, ``spending`` and ``income`` are
    the money that moved out and in. ``groups`` are all parts of time, or those of the page
    and one that sums the others. ``means`` are over all rows, if the groups are parts of time.
    ``next_page``, of rows or groups, is None on the last page.
    """

    understood: str
    total_rows: int
    spending: int
    income: int
    balance: int
    left_out: dict[str, int]
    groups: tuple[FoundGroup, ...]
    means: tuple[Mean, ...]
    rows: tuple[ListedRow, ...]
    page: int
    pages: int
    next_page: int | None


def found_text(
    answer: FoundAnswer, totals: Totals, paging: Paging, grouped: str, *, moved: bool
) -> str:
    """The answer in Japanese; from the second page on without notes and age.

    ``grouped`` is the word for groups that are on pages; ``moved``: the rows are transfers.
    """
    understood, notes, age = answer.understood, answer.notes, answer.age
    if paging.number > 1 and not (paging.groups and answer.groups):
        return answer_text(page_lines(answer.rows, paging, f"{understood}: "))
    lines = [f"{understood}: {totals_in_words(totals, moved=moved)}"]
    if answer.means:
        lines.append(f"平均: {'、'.join(mean.told(moved=moved) for mean in answer.means)}")
    lines += group_lines(answer.groups, by_time=not grouped, moved=moved)
    lines += paging.more(paging.of_groups.stop, paging.groups, f"{grouped}の")
    if paging.number > 1:
        notes, age = (), ""
    return answer_text(lines, notes, page_lines(answer.rows, paging), age=age)


def left_out_note(left_out: dict[str, int]) -> str:
    """A note on the matching rows that are neither listed nor in the totals, by reason."""
    reasons = "、".join(
        f"{REASONS_IN_WORDS[reason]} {count:,}件" for reason, count in left_out.items()
    )
    total = sum(left_out.values())
    return f"ほかに集計外の明細が {total:,}件あり、合計に入れていません（{reasons}）"


_TO_INCLUDE = "含めるときは、query の代わりに、合計する店の名前をすべて shop に並べてください"


def near_note(names: Sequence[FoundGroup], *, moved: bool) -> str:
    """A note on shops that are near the words in meaning and are not in the totals."""
    return f"意味の近い店は合計に入れていません: {_group_list(names, moved=moved)}。{_TO_INCLUDE}"


def _group_list(names: Sequence[FoundGroup], *, moved: bool) -> str:
    listed = "、".join(
        f"{shown_name(group.name)}（{group.told(moved=moved)}）" for group in names[:_MAX_NAMED]
    )
    return listed + _other_shops(names)


_IN_LIST = re.compile(r"\s*(?:[,，、]|または|(?<!\S)(?:OR|or)(?!\S))\s*")
"""Separators that people put between alternatives; a space means that all words are required."""
_BETWEEN_WORDS = re.compile(r"[\s|｜]+")
_IN_BRACKETS = re.compile("^[(（「]([^()（）「」]*)[)）」]$")


def _other_shops(shops: Sequence[object]) -> str:
    return f"、ほか{len(shops) - _MAX_NAMED}店" if len(shops) > _MAX_NAMED else ""


def _shop_words(shops: Sequence[str]) -> str:
    """The shops that were asked for, as an answer repeats them."""
    named = "、".join(f"「{shortened(shop)}」" for shop in shops[:_MAX_NAMED])
    return f"店{named}{_other_shops(shops)}"


class RowWords:
    """The words of a question, and the shops to include and to exclude.

    ``query`` is looked for in all of a row's texts, shops in its description alone.
    """

    def __init__(
        self, query: str | None, shops: Sequence[str], without: Sequence[str], aliases: Aliases
    ) -> None:
        self.query = query if query and query.strip() else None
        self.shops, self.without, self._aliases = shops, without, aliases
        self._words = None if self.query is None else _asked("query", self.query, aliases)
        self._shops = [_asked("shop", shop, aliases, is_name=True) for shop in shops]
        self._without = [_asked("exclude_shop", shop, aliases, is_name=True) for shop in without]
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
    def in_words(self) -> list[str]:
        """The words as an answer repeats them."""
        parts = [f"「{shortened(self.query)}」"] if self.query else []
        if self.shops:
            parts.append(_shop_words(self.shops))
        if self.without:
            parts.append(f"{_shop_words(self.without)}を除く")
        return parts

    @property
    def excluded_words(self) -> list[str]:
        """All words and shops that rows must not have."""
        parts = _BETWEEN_WORDS.split(self.query or "")
        return [*self.without, *filter(None, map(excluded_word, parts))]

    @property
    def wanted_words(self) -> list[str]:
        """The single words of the question, without those that rows must not have."""
        parts = _BETWEEN_WORDS.split(self.query or "")
        return [part for part in parts if part and excluded_word(part) is None]

    def each_alone(self, reasons: Collection[str | None], *, moved: bool) -> list[str]:
        """A note with the rows of each single word, if no row has all words of the question."""
        if any(row_sum.left_out in reasons for row_sum in (*self.named, *self._excluded)):
            return []
        every = (self.query or "").split()
        words_left = (word for word in every if excluded_word(word) is None)
        phrase = _IN_BRACKETS.sub(r"\1", " ".join(words_left))
        between = _IN_LIST if _IN_LIST.search(phrase) else _BETWEEN_WORDS
        words = dict.fromkeys(_IN_BRACKETS.sub(r"\1", word) for word in between.split(phrase))
        rows = [
            row_sum for row_sum in (*self._inside, *self.unnamed) if row_sum.left_out in reasons
        ]
        alone = []
        for word in filter(None, words) if len(words) > 1 else ():
            alike = WordsAsked(word, self._aliases)
            of_word = (
                row_sum for row_sum in rows if self._named_by(alike, row_sum) is Naming.NAMED
            )
            alone.append(FoundGroup.of(word, of_word))
        if not any(group.rows for group in alone):
            return []
        listed = _group_list(alone, moved=moved)
        return [
            f"すべての言葉がある明細はありません。言葉ごとでは: {listed}。"
            "どれかでよいときは query の言葉の間を | に、"
            "時期は query でなく period に書いてください"
        ]

    def as_amount(self, reasons: Collection[str | None]) -> list[str]:
        """How to ask for an amount or a year, if the question is a number that names no row."""
        yen = plain_text(self.query or "").strip().removesuffix("円").replace(",", "")
        if not yen.isdecimal() or any(each.left_out in reasons for each in self.named):
            return []
        return ["金額は query でなく min_amount・max_amount、時期は period で探します"]

    def choose(self, sums: Iterable[RowSum]) -> None:
        """Sort rows into lists by whether the words name them, exclude them, or neither."""
        for chosen in (self.named, self._inside, self.unnamed, self._excluded, self._kept):
            chosen.clear()
        judged: dict[tuple[str, ...], list[RowSum]] = {}
        excludes = bool(self._without or (self._words and self._words.excluded))
        for row_sum in sums:
            texts = row_sum.texts
            target = judged.get(texts)
            if target is None:
                target = judged[texts] = self._target(row_sum)
            target.append(row_sum)
            if excludes and target is self.named and Naming.INSIDE in self._excluding(row_sum):
                self._kept.append(row_sum)

    def _target(self, row_sum: RowSum) -> list[RowSum]:
        """The list that rows with the texts of ``row_sum`` belong to."""
        naming = self._named_by(self._words, row_sum)
        if Naming.NAMED in self._excluding(row_sum):
            # Excluded rows are not offered either.
            return self._excluded if naming is Naming.NAMED else []
        lists = {Naming.NAMED: self.named, Naming.INSIDE: self._inside, Naming.NOT: self.unnamed}
        return lists[naming]

    def _named_by(self, words: WordsAsked | None, row_sum: RowSum) -> Naming:
        """How ``words``, and the shops to include, name a row."""
        naming = Naming.NAMED if words is None else words.naming(row_sum.texts)
        if self._shops and naming is not Naming.NOT:
            naming = min(naming, max(each.naming(row_sum.texts[:1]) for each in self._shops))
        return naming

    def _excluding(self, row_sum: RowSum) -> list[Naming]:
        namings = [each.naming(row_sum.texts[:1]) for each in self._without]
        if self._words is not None and self._words.excluded is not None:
            namings.append(self._words.excluded.naming(row_sum.texts))
        return namings

    def notes(self, reasons: Collection[str | None], shop: ShopOf, *, moved: bool) -> list[str]:
        """Which shops were taken, in which spellings, and which were left out, with their sums."""

        def groups(sums: Iterable[RowSum]) -> list[FoundGroup]:
            left_out = (row_sum for row_sum in sums if row_sum.left_out in reasons)
            return groups_by(left_out, lambda row_sum: shop(row_sum.description), moved=moved)

        named_groups = partial(_group_list, moved=moved)
        matched, inside, not_excluded = groups(self.named), groups(self._inside), groups(self._kept)
        taken = [*([self._words] if self._words else []), *self._shops]
        lines = [
            f"「{shortened(shop)}」という名前の店はありません。"
            "除く店は exclude_shop に指定してください"
            for shop, words in zip(self.shops, self._shops, strict=True)
            if excluded_word(shop.strip())
            and not any(words.naming(each.texts[:1]) is Naming.NAMED for each in self.named)
        ]
        if matched and (self.shops or self.query):
            lines.append(f"一致した店: {named_groups(matched)}")
        without = self._without if self._excluded else ()
        for asked_words, done in ((taken, "含めました"), (without, "除きました")):
            spellings = [*dict.fromkeys(each for words in asked_words for each in words.used)]
            if spellings:
                named = "、".join(map(shown_name, spellings[:_MAX_NAMED])) + _other_shops(spellings)
                lines.append(f"別の書き方の店も{done}: {named}")
        if inside:
            to_include = "含めるときは shop にその店名を足してください"
            lines.append(
                "探した言葉が別の言葉の一部にしかない店は合計に入れていません: "
                f"{named_groups(inside)}。{to_include if self.shops else _TO_INCLUDE}"
            )
        if self.excluded_words:
            left_out = groups(self._excluded)
            lines.append(
                f"除いた店: {named_groups(left_out)}"
                if left_out
                else "条件に合う明細に、除くように言われた店のものはありません"
            )
        if not_excluded:
            lines.append(
                "除く言葉が別の言葉の一部にしかない店は除いていません: "
                f"{named_groups(not_excluded)}。除くときは exclude_shop にその店名を足してください"
            )
        return lines


def _asked(name: str, words: str, aliases: Aliases, *, is_name: bool = False) -> WordsAsked:
    asked_words = WordsAsked(words, aliases, is_name=is_name)
    if asked_words.is_empty:
        raise InvalidRowFilter(f"{name}「{shortened(words)}」に探せる言葉がありません。")
    return asked_words
