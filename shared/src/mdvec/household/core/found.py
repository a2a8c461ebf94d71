"""What ``find_transactions`` answers: totals over all matches, groups, a page of rows, its text."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from mdvec.dates import Days
from mdvec.errors import MdvecError
from mdvec.household.core.answer_json import AnswerText
from mdvec.household.core.answer_text import answer_text
from mdvec.household.core.row_wording import Paging, page_lines
from mdvec.household.core.transaction import ListedRow, RowNote, Transaction
from mdvec.household.core.wording import REASONS_IN_WORDS, format_currency
from mdvec.text import bracketed_name, shortened, shown_name

MAX_GROUPS = 20
OTHERS = "そのほか"
"""The name of the group of all further groups."""
_MAX_NAMED = 8


class InvalidRowFilter(MdvecError):
    """A filter's value is not usable; the message says what is."""


class UnknownAccount(MdvecError):
    """No account has this name."""

    def __init__(self, name: str, accounts: Sequence[str]) -> None:
        known = "、".join(map(shown_name, accounts[:_MAX_NAMED])) or "なし"
        more = f"（ほか{len(accounts) - _MAX_NAMED}件）" if len(accounts) > _MAX_NAMED else ""
        super().__init__(
            f"口座「{shortened(name)}」は見つかりません。指定できる口座: {known}{more}"
        )


@dataclass(frozen=True, slots=True)
class Totals:
    """The sums of some rows: their number, spending less refunds, and income, in yen."""

    rows: int
    spending: int
    income: int

    @property
    def balance(self) -> int:
        """Income minus spending."""
        return self.income - self.spending

    @property
    def in_words(self) -> str:
        """The number of rows and the sums in Japanese; a sum of nothing is left out."""
        sums = [("支出", self.spending), ("収入", self.income)]
        words = [f"{name} {format_currency(yen)}" for name, yen in sums if yen]
        if self.spending and self.income:
            words.append(f"収支 {format_currency(self.balance, signed=True)}")
        return "、".join([f"{self.rows:,}件", *(words or ["合計 0円"] * bool(self.rows))])


@dataclass(frozen=True, slots=True)
class Mean:
    """Spending and income per day or month, rounded to whole yen, ``over`` so many of them.

    ``is_whole`` is false if some of the months are only partly of the period.
    """

    unit: Literal["day", "month"]
    over: int
    spending: int
    income: int
    is_whole: bool = True

    @property
    def in_words(self) -> str:
        """The means in Japanese, and what they are over."""
        unit, units = ("1日", "日") if self.unit == "day" else ("1か月", "か月")
        sums = [("支出", self.spending), ("収入", self.income)]
        amounts = [f"{name} {format_currency(yen)}" for name, yen in sums if yen]
        part = "" if self.is_whole else "、途中からの月を含む"
        return f"{unit}平均 {'、'.join(amounts) or '0円'}（{self.over:,}{units}{part}）"


@dataclass(frozen=True, slots=True)
class FoundGroup(Totals):
    """The matches that share a shop, category, account, person or part of time.

    ``mean`` is that of a weekday's days, or of a year's months.
    """

    name: str
    mean: Mean | None = None


@dataclass(frozen=True, slots=True)
class FoundAnswer:
    """The rows that match, summed in yen, grouped, and a page of them.

    ``left_out`` has the number of rows that match but are not in the sums, by why they do not
    count; it is empty if only such rows were asked for. ``groups`` are all parts of time, or at
    most ``MAX_GROUPS`` and ``OTHERS``, which sums the others. ``means`` are those of all rows,
    where the groups are parts of time. ``next_page`` is None on the last page.
    ``age`` says that the ledger ends long before today, or is "".
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
    notes: tuple[str, ...]
    age: str
    text: AnswerText


def found_text(
    understood: str,
    totals: Totals,
    groups: Sequence[FoundGroup],
    means: Sequence[Mean],
    notes: Sequence[str],
    rows: Sequence[Transaction],
    noted: Mapping[int, RowNote],
    paging: Paging,
    age: str,
) -> str:
    """The answer in Japanese; from the second page on, the rows alone."""
    if paging.number > 1:
        return answer_text(page_lines(rows, noted, paging, f"{understood}: "))
    lines = [f"{understood}: {totals.in_words}"]
    lines += [f"平均: {'、'.join(mean.in_words for mean in means)}"] * bool(means)
    lines += [
        f"- {shown_name(group.name)}: {group.in_words}"
        + (f"、{group.mean.in_words}" if group.mean else "")
        for group in groups
    ]
    return answer_text(lines, notes, page_lines(rows, noted, paging), age=age)


def no_rows_note(span: Days) -> str:
    """Note: the ledger, whose rows are of these days, has none in the period."""
    return f"この期間の明細は 1件もありません（明細があるのは {span.first}〜{span.last}）"


def left_out_note(left_out: dict[str, int]) -> str:
    """Note: matching rows that are neither listed nor in the totals, by reason."""
    reasons = "、".join(
        f"{REASONS_IN_WORDS[reason]} {count:,}件" for reason, count in left_out.items()
    )
    total = sum(left_out.values())
    return f"ほかに集計外の明細が {total:,}件あり、合計に入れていません（{reasons}）"


def names_note(names: Sequence[FoundGroup]) -> str:
    """Note: the shops that were taken for the words asked for."""
    return f"一致した店: {_listed(names)}"


def spellings_note(spellings: Iterable[str], *, excluded: bool = False) -> str:
    """Note: the other spellings of a shop that named rows, which were taken or left out."""
    done = "除きました" if excluded else "含めました"
    return f"別の書き方の店も{done}: {'、'.join(map(shown_name, spellings))}"


def inside_note(words: str, names: Sequence[FoundGroup], *, of_query: bool = True) -> str:
    """Note: shops that only have the letters inside another word, and are not in the totals."""
    to_include = _to_include(words) if of_query else "含めるときは shop にその店名を足してください"
    return (
        f"名前の途中に「{shortened(words)}」がある店は合計に入れていません: {_listed(names)}。"
        f"{to_include}"
    )


def excluded_note(names: Sequence[FoundGroup]) -> str:
    """Note: the shops that were left out because the question says so."""
    return f"除いた店: {_listed(names)}" if names else "除くように言われた店の明細はありません"


def not_excluded_note(words: str, names: Sequence[FoundGroup]) -> str:
    """Note: shops with the letters to exclude inside another word, which are in the totals."""
    return (
        f"名前の途中に「{shortened(words)}」がある店は除いていません: {_listed(names)}。"
        "除くときは exclude_shop にその店名を足してください"
    )


def category_kept_note(name: str, totals: Totals) -> str:
    """Note: rows of a category whose name is a word that shops must not have."""
    return (
        f"カテゴリ{bracketed_name(name)}の明細は除いていません（{totals.in_words}）。"
        "カテゴリを除くには exclude_category を使います"
    )


def near_note(words: str, names: Sequence[FoundGroup]) -> str:
    """Note: shops that are near in meaning to the words asked for, and are not in the totals."""
    return f"意味の近い店は合計に入れていません: {_listed(names)}。{_to_include(words)}"


def category_note(name: str, totals: Totals) -> str:
    """Note: rows of the category with the name asked for, which the words do not name."""
    return (
        f"カテゴリ{bracketed_name(name)}のほかの明細は合計に入れていません（{totals.in_words}）。"
        "カテゴリ全体は category で選べます"
    )


def _to_include(words: str) -> str:
    return f"含めるときは query を「{shortened(words)}|店名」に"


def _listed(names: Sequence[FoundGroup]) -> str:
    listed = "、".join(
        f"{shown_name(group.name)}（{group.in_words}）" for group in names[:_MAX_NAMED]
    )
    return listed + (f"、ほか{len(names) - _MAX_NAMED}店" if len(names) > _MAX_NAMED else "")
