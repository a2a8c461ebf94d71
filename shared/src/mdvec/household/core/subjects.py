"""Resolves the subject of a question: a category, or one of the household's totals."""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import Enum

from mdvec.household.core.categories import (
    INCOME,
    AmbiguousCategory,
    Category,
    Hierarchy,
    UnknownCategory,
    find_by_part,
    find_category,
    folded_category,
    homonyms,
    nearest_categories,
)
from mdvec.text import bracketed_name, shortened, shown_name


class Total(Enum):
    """A figure over all categories; total income is the 大項目 収入 itself."""

    SPENDING = "支出"
    BALANCE = "収支"
    SAVINGS_RATE = "貯蓄率"

    @property
    def is_income(self) -> bool:
        """Always false; as ``Category.is_income``."""
        return False

    def __str__(self) -> str:
        return self.value


Subject = Category | Total


@dataclass(frozen=True, slots=True)
class ResolvedSubject:
    """The subject that a name stands for, with a remark if the name was not exact."""

    subject: Subject
    remark: str | None = None


_INCOME = Category(INCOME)
_WORDS: dict[str, Subject] = {
    "支出": Total.SPENDING, "出費": Total.SPENDING, "収入": _INCOME, "収支": Total.BALANCE,
    "差引": Total.BALANCE, "差し引き": Total.BALANCE, "差引収支": Total.BALANCE,
    "収支差": Total.BALANCE, "収支差額": Total.BALANCE, "貯蓄": Total.BALANCE,
    "貯金": Total.BALANCE, "貯蓄率": Total.SAVINGS_RATE, "貯金率": Total.SAVINGS_RATE,
}  # fmt: skip
_DECORATED = re.compile(
    rf"(?:総|全|合計|月間|年間)?({'|'.join(sorted(_WORDS, key=len, reverse=True))})"
    r"(?:の?(?:合計|総額|総計|全体|金額|計)|額)?"
)
_TOTALS: tuple[Subject, ...] = (Total.SPENDING, _INCOME, Total.BALANCE, Total.SAVINGS_RATE)


def resolve_subject(name: str, hierarchy: Hierarchy) -> ResolvedSubject:
    """The total or category with this name, or the only one whose name contains it.

    支出, 収入, 収支 and 貯蓄率 are totals, also as 「総支出」「支出の合計」. Width, case, spaces
    and 「・」 are ignored. A partial name, or a 大項目 that shares its name with a 中項目
    elsewhere, gets a remark that says how it was understood.

    Raises:
        AmbiguousCategory: several subjects match.
        UnknownCategory: no subject matches.
    """
    total = _total(name)
    try:
        category = find_category(name, hierarchy)
    except AmbiguousCategory as error:
        if total is None:
            raise
        raise AmbiguousCategory(name, [f"{total}合計", *error.choices]) from None
    if total is not None and category in (None, total):
        return _of_total(name, total)
    if category is None:
        return _resolve_by_part(name, hierarchy)
    if total is None or name.strip().endswith("カテゴリ"):
        return ResolvedSubject(category, _homonyms_remark(name, category, hierarchy))
    raise AmbiguousCategory(name, [f"{total}合計", _unmistakable_name(category)])


def exact_subject(name: str, hierarchy: Hierarchy) -> Subject | None:
    """The total, or else the category, that has just this name; None if none does."""
    return _WORDS.get(name) or find_category(name, hierarchy)


def _total(name: str) -> Subject | None:
    match = _DECORATED.fullmatch(folded_category(name))
    return None if match is None else _WORDS[match[1]]


def _of_total(name: str, total: Subject) -> ResolvedSubject:
    if str(total) in folded_category(name):
        return ResolvedSubject(total)
    meant = "収支（収入 − 支出）" if total is Total.BALANCE else str(total)
    return ResolvedSubject(total, f"「{shortened(name)}」は{meant}として集計しました")


def _unmistakable_name(category: Category) -> str:
    """A category in words that cannot be mistaken for a total."""
    return f"{category}カテゴリ" if category.minor is None else str(category)


def _homonyms_remark(name: str, category: Category, hierarchy: Hierarchy) -> str | None:
    others = homonyms(category, hierarchy)
    if not others:
        return None
    return (
        f"「{shortened(name)}」は大項目の{shown_name(category)}として集計しました"
        f"（同じ名前の中項目: {'、'.join(map(shown_name, others))}）"
    )


def _resolve_by_part(name: str, hierarchy: Hierarchy) -> ResolvedSubject:
    wanted = folded_category(name)
    matches: list[Subject] = [*find_by_part(name, hierarchy)]
    matches += [
        total for total in _TOTALS if wanted and wanted in str(total) and total not in matches
    ]
    if not matches:
        raise UnknownCategory(name, nearest_categories(name, hierarchy), hierarchy)
    if len(matches) > 1:
        raise AmbiguousCategory(name, [str(subject) for subject in matches])
    return ResolvedSubject(
        matches[0], f"「{shortened(name)}」は{bracketed_name(matches[0])}として集計しました"
    )
