"""The household's categories, 大項目 and their 中項目, and the names that people give them."""

from __future__ import annotations

import difflib
import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from mdvec.errors import MdvecError

INCOME = "収入"
"""The 大項目 whose rows are income; all others are spending."""

Hierarchy = Mapping[str, Sequence[str]]
"""Each 大項目 and its 中項目."""

_NEAREST = 5
_CUTOFF = 0.5
_SHOWN = 40
_LISTED = 12


class UnknownCategory(MdvecError):
    """No category has that name; the message names the nearest and the choices."""

    def __init__(self, said: str, nearest: Sequence[str], choices: Iterable[str]) -> None:
        self.nearest = tuple(nearest)
        self.choices = tuple(choices)
        near = f"近い名前: {'、'.join(self.nearest)}。" if self.nearest else ""
        super().__init__(
            f"該当カテゴリが見つかりません（「{flat(said)}」）。{near}"
            f"選べる大項目: {'、'.join(self.choices) or 'なし'}"
        )


class AmbiguousCategory(UnknownCategory):
    """Several categories, or a category and a total, may be meant; the message lists them."""

    def __init__(self, said: str, choices: Sequence[str]) -> None:
        self.nearest = self.choices = tuple(choices)
        MdvecError.__init__(
            self,
            f"「{flat(said)}」に当てはまるカテゴリが複数あります。"
            f"次のどれかを指定してください: {_listed(self.choices)}",
        )


@dataclass(frozen=True, slots=True)
class Category:
    """A 大項目, or one 中項目 of it."""

    major: str
    minor: str | None = None

    @property
    def is_income(self) -> bool:
        """Whether its rows are income rather than spending."""
        return self.major == INCOME

    def __str__(self) -> str:
        return self.major if self.minor is None else f"{self.major} > {self.minor}"


def hierarchy_of(names: Iterable[tuple[str, str]]) -> dict[str, list[str]]:
    """Each 大項目 with its 中項目, in order, from pairs of them; what has no name is left out."""
    found: dict[str, list[str]] = {}
    for major, minor in sorted(set(names)):
        if major:
            minors = found.setdefault(major, [])
            if minor:
                minors.append(minor)
    return found


def named(said: str, hierarchy: Hierarchy) -> Category | None:
    """The category of a whole name: a 大項目, a 中項目, or both as in 「食費 > 食料品」.

    Other marks may stand between the two. Width, case, spaces and 「・」 make no difference; the
    exact spelling goes first, and a 大項目 before a 中項目 of its name. None where nothing has it.

    Raises:
        AmbiguousCategory: several have it.
    """
    if said in hierarchy:
        return Category(said)
    for found in (_majors(said, hierarchy), _minors(said, hierarchy), _paths(said, hierarchy)):
        if len(found) > 1:
            raise AmbiguousCategory(said, [str(category) for category in found])
        if found:
            return found[0]
    return None


def partly_named(said: str, hierarchy: Hierarchy) -> list[Category]:
    """Every 大項目 and 中項目 whose name a text is a part of.

    A 中項目 that repeats the name of its own 大項目 (「その他水道・光熱費」 below 「水道・光熱費」)
    counts only where the text is a part of what it adds.
    """
    wanted = folded(said)
    if not wanted:
        return []
    majors = [Category(major) for major in hierarchy if wanted in folded(major)]
    return majors + [one for one in _every_minor(hierarchy) if _is_part_of_minor(wanted, one)]


def _is_part_of_minor(wanted: str, category: Category) -> bool:
    major, minor = folded(category.major), folded(category.minor or "")
    if wanted in major:
        minor = minor.replace(major, " ")
    return wanted in minor


def homonyms(category: Category, hierarchy: Hierarchy) -> list[Category]:
    """The 中項目 of other 大項目 that have the name of a 大項目."""
    if category.minor is not None:
        return []
    wanted = folded(category.major)
    return [
        one for one in _every_minor(hierarchy)
        if one.major != category.major and folded(one.minor or "") == wanted
    ]  # fmt: skip


def _majors(said: str, hierarchy: Hierarchy) -> list[Category]:
    wanted = folded(said)
    return [Category(major) for major in hierarchy if folded(major) == wanted]


def _minors(said: str, hierarchy: Hierarchy) -> list[Category]:
    every = _every_minor(hierarchy)
    exact = [category for category in every if category.minor == said]
    wanted = folded(said)
    return exact or [category for category in every if folded(category.minor or "") == wanted]


def _every_minor(hierarchy: Hierarchy) -> list[Category]:
    return [Category(major, minor) for major, minors in hierarchy.items() for minor in minors]


def _paths(said: str, hierarchy: Hierarchy) -> list[Category]:
    """What 「大項目 > 中項目」 means, cut at each mark that may stand between the two."""
    return [
        Category(major.major, minor.minor)
        for left, right in _cuts(said)
        for major in _majors(left, hierarchy)
        for minor in _minors(right, {major.major: hierarchy[major.major]})
    ]


def _cuts(said: str) -> Iterator[tuple[str, str]]:
    if len(said) <= 4 * _SHOWN:
        for mark in re.finditer(r"[>＞/／→:：・]|の", said):
            yield said[: mark.start()], said[mark.end() :]


def nearest(said: str, hierarchy: Hierarchy) -> list[str]:
    """The names that are most like a text."""
    wanted = folded(said)[:_SHOWN]
    names: dict[str, str] = {}
    for major, minors in hierarchy.items():
        for name in (major, *minors):
            names.setdefault(folded(name), name)
    holding = [
        name for folded, name in names.items()
        if wanted and folded and (wanted in folded or folded in wanted)
    ]  # fmt: skip
    similar = difflib.get_close_matches(wanted, names, _NEAREST, _CUTOFF)
    return list(dict.fromkeys([*holding, *(names[folded] for folded in similar)]))[:_NEAREST]


def folded(name: str) -> str:
    """A name without what people write differently: width, case, spaces, 「・」, 「カテゴリ」."""
    plain = unicodedata.normalize("NFKC", name).casefold()
    return re.sub(r"[\s・]+", "", plain).removesuffix("カテゴリ")


def _listed(choices: Sequence[str]) -> str:
    more = f"（ほか{len(choices) - _LISTED}件）" if len(choices) > _LISTED else ""
    return "、".join(choices[:_LISTED]) + more


def flat(said: str) -> str:
    """What was said, fit to stand in a sentence."""
    line = "".join(sign if sign.isprintable() else " " for sign in said[:_SHOWN])
    return line if len(said) <= _SHOWN else line + "…"
