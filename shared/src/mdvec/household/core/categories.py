"""Categories (大項目 and their 中項目), totals, and how names that people type are matched."""

from __future__ import annotations

import difflib
import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum

from mdvec.errors import MdvecError
from mdvec.household.core.shown import bracketed_name, shown_name
from mdvec.text import shortened

INCOME = "収入"
"""The one 大項目 of income; all others are spending."""
UNCATEGORISED = "未分類"
"""The 大項目 of rows that have none."""

Hierarchy = Mapping[str, Sequence[str]]
"""Each 大項目 and its 中項目."""

_MAX_NEAREST = 5
_MIN_CLOSENESS = 0.5
_MAX_COMPARED = 40
_MAX_LISTED = 12


class UnknownCategory(MdvecError):
    """No category has that name; the message lists similar names and all 大項目."""

    def __init__(
        self, name: str, nearest: Sequence[str], choices: Iterable[str], hint: str = ""
    ) -> None:
        self.nearest = tuple(nearest)
        self.choices = tuple(choices)
        self.hint = hint
        near = f"近い名前: {'、'.join(map(shown_name, self.nearest))}。" if self.nearest else ""
        super().__init__(
            f"該当カテゴリが見つかりません（「{shortened(name)}」）。{near}"
            f"選べる大項目: {'、'.join(map(shown_name, self.choices)) or 'なし'}{hint}"
        )


class AmbiguousCategory(UnknownCategory):
    """A name matches several categories, or a category and a total; the message lists them."""

    def __init__(self, name: str, choices: Sequence[str]) -> None:
        self.nearest = self.choices = tuple(choices)
        self.hint = ""
        MdvecError.__init__(
            self,
            f"「{shortened(name)}」に当てはまるカテゴリが複数あります。"
            f"次のどれかを指定してください: {first_names(self.choices, _MAX_LISTED)}",
        )


@dataclass(frozen=True, slots=True)
class Category:
    """A 大項目, or one of its 中項目."""

    major: str
    minor: str | None = None

    @property
    def is_income(self) -> bool:
        """Whether its rows are income rather than spending."""
        return self.major == INCOME

    def __str__(self) -> str:
        return self.major if self.minor is None else f"{self.major} > {self.minor}"


def hierarchy_of(names: Iterable[tuple[str, str]]) -> dict[str, list[str]]:
    """Groups pairs of 大項目 and 中項目 by 大項目, sorted; rows without one are 未分類."""
    hierarchy: dict[str, list[str]] = {}
    named = {pair if pair[0] else (UNCATEGORISED, "") for pair in names}
    for major, minor in sorted(named):
        minors = hierarchy.setdefault(major, [])
        if minor:
            minors.append(minor)
    return hierarchy


def find_category(name: str, hierarchy: Hierarchy) -> Category | None:
    """The category with this full name: a 大項目, a 中項目, or both as in 「食費 > 食料品」.

    Other marks than > may join the two. Width, case, spaces and 「・」 are ignored; an exact
    spelling wins, including the form in which answers show it, and a 大項目 wins over a 中項目 of
    the same name. None if no category matches.

    Raises:
        AmbiguousCategory: several categories match.
    """
    spelled = [candidate for candidate in _every_minor(hierarchy) if str(candidate) == name]
    if name in hierarchy and spelled:  # a 大項目 with > in its name
        path = [f"{candidate.major}/{candidate.minor}" for candidate in spelled]
        raise AmbiguousCategory(name, [f"{name}カテゴリ", *path])
    if name in hierarchy or len(spelled) == 1:
        return Category(name) if name in hierarchy else spelled[0]
    for matches in (_majors(name, hierarchy), _minors(name, hierarchy), _paths(name, hierarchy)):
        if len(matches) > 1:
            raise AmbiguousCategory(name, [str(category) for category in matches])
        if matches:
            return matches[0]
    return None


def find_by_part(name: str, hierarchy: Hierarchy) -> list[Category]:
    """Every 大項目 and 中項目 whose name contains a text.

    If a 中項目 repeats the name of its 大項目 (「その他水道・光熱費」 below 「水道・光熱費」), only
    the rest of its name is searched.
    """
    wanted = folded_category(name)
    if not wanted:
        return []
    parts = [Category(major) for major in hierarchy if wanted in folded_category(major)]
    for category in _every_minor(hierarchy):
        major, minor = folded_category(category.major), folded_category(category.minor or "")
        if wanted in (minor.replace(major, " ") if wanted in major else minor):
            parts.append(category)
    return parts


def categories_called(name: str, hierarchy: Hierarchy) -> list[Category]:
    """The 大項目 of this whole name, or else every 中項目 of it."""
    return _majors(name, hierarchy) or _minors(name, hierarchy)


def _majors(name: str, hierarchy: Hierarchy) -> list[Category]:
    wanted = folded_category(name)
    return [Category(major) for major in hierarchy if folded_category(major) == wanted]


def _minors(name: str, hierarchy: Hierarchy) -> list[Category]:
    every = _every_minor(hierarchy)
    exact = [category for category in every if category.minor == name]
    wanted = folded_category(name)
    return exact or [
        category for category in every if folded_category(category.minor or "") == wanted
    ]


def _every_minor(hierarchy: Hierarchy) -> list[Category]:
    return [Category(major, minor) for major, minors in hierarchy.items() for minor in minors]


def _paths(name: str, hierarchy: Hierarchy) -> list[Category]:
    """The categories that 「大項目 > 中項目」 can mean, split at every possible separator."""
    if len(name) > 4 * _MAX_COMPARED:
        return []
    return [
        Category(major.major, minor.minor)
        for mark in re.finditer(r"[>＞/／→:：・]|の", name)
        for major in _majors(name[: mark.start()], hierarchy)
        for minor in _minors(name[mark.end() :], {major.major: hierarchy[major.major]})
    ]


def nearest_categories(name: str, hierarchy: Hierarchy) -> list[str]:
    """The category names most similar to a text, best first."""
    wanted = folded_category(name)[:_MAX_COMPARED]
    known: dict[str, str] = {}
    for major, minors in hierarchy.items():
        for each in (major, *minors):
            known.setdefault(folded_category(each), each)
    containing = [
        each for folded, each in known.items()
        if wanted and folded and (wanted in folded or folded in wanted)
    ]  # fmt: skip
    similar = difflib.get_close_matches(wanted, known, _MAX_NEAREST, _MIN_CLOSENESS)
    return list(dict.fromkeys([*containing, *(known[folded] for folded in similar)]))[:_MAX_NEAREST]


def folded_category(name: str) -> str:
    """A name normalised for comparison: no width, case, spaces, 「・」 or trailing 「カテゴリ」."""
    plain = unicodedata.normalize("NFKC", name).casefold()
    return re.sub(r"[\s・]+", "", plain).removesuffix("カテゴリ")


def first_names(names: Sequence[str], most: int) -> str:
    """The first ``most`` names for a sentence, and how many others there are."""
    more = f"（ほか{len(names) - most}件）" if len(names) > most else ""
    return "、".join(map(shown_name, names[:most])) + more


class Total(Enum):
    """A figure over all categories; total income is the 大項目 収入 itself."""

    SPENDING = "支出"
    BALANCE = "収支"
    SAVINGS_RATE = "貯蓄率"

    @property
    def is_income(self) -> bool:
        """Always false; the counterpart of ``Category.is_income``."""
        return False

    def __str__(self) -> str:
        return self.value


Subject = Category | Total


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


def resolve_subject(
    name: str, hierarchy: Hierarchy, *, is_exact: bool = False
) -> tuple[Subject, str | None]:
    """The total or category with this name, or the only one whose name contains it.

    If the name has to be exact (``is_exact``), categories that contain it are only listed in the
    error. 支出, 収入, 収支 and 貯蓄率 are totals, also as 「総支出」「支出の合計」. Width, case,
    spaces and 「・」 are ignored. A remark says how the name was understood if it is partial, or is
    a 大項目 whose name a 中項目 of another 大項目 has too; else it is None.

    Raises:
        AmbiguousCategory: several subjects match.
        UnknownCategory: no subject matches.
    """
    match = _DECORATED.fullmatch(folded_category(name))
    total = None if match is None else _WORDS[match[1]]
    try:
        category = find_category(name, hierarchy)
    except AmbiguousCategory as error:
        if total is None:
            raise
        raise AmbiguousCategory(name, [f"{total}合計", *error.choices]) from None
    if total is not None and category in (None, total):
        meaning = "収支（収入 − 支出）" if total is Total.BALANCE else str(total)
        remark = f"「{shortened(name)}」は{meaning}として集計しました"
        return total, None if str(total) in folded_category(name) else remark
    if category is None and is_exact:
        parts = [str(part) for part in find_by_part(name, hierarchy)][:_MAX_NEAREST]
        raise UnknownCategory(name, parts or nearest_categories(name, hierarchy), hierarchy)
    if category is None:
        return _resolve_by_part(name, hierarchy)
    if total is None or name.strip().endswith("カテゴリ"):
        return category, _homonyms_remark(name, category, hierarchy)
    raise AmbiguousCategory(
        name, [f"{total}合計", f"{category}カテゴリ" if category.minor is None else str(category)]
    )


def stated_category(name: str) -> Category | None:
    """The category of a text like 「大項目 > 中項目」, whether it exists or not; else None."""
    parts = [part.strip() for part in re.split("[>＞]", name)]
    return Category(*parts) if len(parts) == 2 and all(parts) else None


def exact_subject(name: str, hierarchy: Hierarchy) -> Subject | None:
    """The total, or else the category, with exactly this name; None if there is none."""
    return _WORDS.get(name) or find_category(name, hierarchy)


def _homonyms_remark(name: str, category: Category, hierarchy: Hierarchy) -> str | None:
    """A remark on 中項目 elsewhere that have the name of a 大項目; None without any."""
    wanted = folded_category(category.major)
    others = [
        other for other in _every_minor(hierarchy)
        if other.major != category.major and folded_category(other.minor or "") == wanted
    ]  # fmt: skip
    if category.minor is not None or not others:
        return None
    return (
        f"「{shortened(name)}」は大項目の{shown_name(category)}として集計しました"
        f"（同じ名前の中項目: {'、'.join(map(shown_name, others))}）"
    )


def _resolve_by_part(name: str, hierarchy: Hierarchy) -> tuple[Subject, str]:
    wanted = folded_category(name)
    matches: list[Subject] = [*find_by_part(name, hierarchy)]
    matches += [
        total for total in _TOTALS if wanted and wanted in str(total) and total not in matches
    ]
    if not matches:
        raise UnknownCategory(name, nearest_categories(name, hierarchy), hierarchy)
    if len(matches) > 1:
        raise AmbiguousCategory(name, [str(subject) for subject in matches])
    return matches[0], f"「{shortened(name)}」は{bracketed_name(matches[0])}として集計しました"
