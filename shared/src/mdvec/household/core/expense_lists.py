"""Chooses the rows of a list for the tax office, and those of fixed costs: by facts, not guesses.

A category, which the user's rules decide, and a tag are facts. A word in a shop's name is one only
where it can mean nothing else; rows that other words name are told beside the list.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Literal, NamedTuple

from mdvec.household.core.categories import folded_category
from mdvec.household.core.row_wording import row_line
from mdvec.household.core.shop_names import shop_of, shops_of
from mdvec.household.core.transaction import RowNote, Transaction
from mdvec.household.core.wording import format_currency
from mdvec.text import bracketed_name, shown_name

ListName = Literal["medical", "furusato"]
NOBODY = "（人の区別なし）"
_PERSON = ("人:", "人：", "person:")
_LASTING = ("not_target", "no_category")
"""Why rows do not count that were paid nevertheless."""
_MAX_SHOPS, _MAX_IDS = 12, 5
_NO_NOTE = RowNote("", ())


class ListRules:
    """A list's title, and the names that choose its rows: see ``expense_lists.toml``."""

    def __init__(
        self,
        title: str,
        categories: Sequence[str],
        shops: Sequence[str] = (),
        near: Sequence[str] = (),
        near_shops: Sequence[str] = (),
    ) -> None:
        self.title = title
        self._categories, self._near = (
            frozenset(map(folded_category, names)) for names in (categories, near)
        )
        self._shops, self._near_shops = (
            tuple(map(shop_of, names)) for names in (shops, near_shops)
        )

    def tagged(self, note: RowNote) -> bool | None:
        """Whether the user's tags, or a note of nothing else, put a row in or out of the list."""
        words = {word.lstrip("#＃") for word in note.words}
        if f"-{self.title}" in words:
            return False
        return True if self.title in words else None

    def is_of_category(self, major: str, minor: str) -> bool:
        """Whether rows of a category are in the list."""
        return not self._categories.isdisjoint(_names(major, minor))

    def holds(self, row: Transaction, shop: str, note: RowNote) -> bool:
        """Whether a row that was paid is in the list; ``shop`` is its normalised shop."""
        tagged = self.tagged(note)
        if tagged is not None:
            return tagged
        names_it = any(word in shop for word in self._shops)
        return names_it or self.is_of_category(row.category_major, row.category_minor)

    def is_near(self, row: Transaction, shop: str, note: RowNote) -> bool:
        """Whether a row that is not in the list looks as if it might be."""
        if self.tagged(note) is not None:
            return False
        return (
            any(word in shop for word in self._near_shops)
            or not self._near.isdisjoint(_names(row.category_major, row.category_minor))
            or any(self.title in word for word in (*note.words, row.memo))
        )


def _names(major: str, minor: str) -> set[str]:
    return set(map(folded_category, (major, minor, f"{major} > {minor}"))) - {""}


class ChosenRows(NamedTuple):
    """The rows of a list by person, those that look near, and those that the user took out."""

    by_person: dict[str, list[Transaction]]
    near: list[Transaction]
    taken_out: list[Transaction]


def choose(
    rows: Iterable[Transaction], notes: Mapping[int, RowNote], rules: ListRules
) -> ChosenRows:
    """The rows of a list; of those that were not paid or do not count, tagged ones are near."""
    rows = [row for row in rows if row.amount is not None]
    shops = shops_of(row.description for row in rows)
    chosen = ChosenRows({}, [], [])
    for row in rows:
        note, shop = notes.get(row.id, _NO_NOTE), shops[row.description]
        is_held, tagged = rules.holds(row, shop, note), rules.tagged(note)
        if tagged is False:
            chosen.taken_out.append(row)
        elif row.is_income or not (row.counts or row.left_out in _LASTING):
            if tagged:
                chosen.near.append(row)
        elif is_held and (row.counts or tagged):
            chosen.by_person.setdefault(person_of(row, note), []).append(row)
        elif is_held or rules.is_near(row, shop, note):
            chosen.near.append(row)
    return chosen


def person_of(row: Transaction, note: RowNote) -> str:
    """Whose a row is: a tag 人:花子, or else the folder of its file."""
    for tag in note.tags:
        for begin in _PERSON:
            if tag.startswith(begin) and tag != begin:
                return tag.removeprefix(begin).strip()
    folder, slash, _ = row.source_file.partition("/")
    return folder if slash else NOBODY


def total_of(rows: Iterable[Transaction]) -> int:
    """What was paid in yen, less refunds."""
    return -sum(row.amount or 0 for row in rows)


def list_lines(
    title: str, span: str, chosen: ChosenRows, notes: Mapping[int, RowNote]
) -> list[str]:
    """The rows by person with their sums, and those that look near by shop."""
    every = [row for rows in chosen.by_person.values() for row in rows]
    total = format_currency(total_of(every))
    lines = [f"{span}の{title}の一覧です: {len(every):,}件、合計 {total}。"]
    for person, rows in chosen.by_person.items():
        lines.append(f"{shown_name(person)}: {len(rows):,}件 {format_currency(total_of(rows))}")
        lines += [f"{row_line(row, notes.get(row.id))} [{row.id}]" for row in rows]
    if chosen.near:
        yen = format_currency(total_of(chosen.near))
        lines.append(f"合計に入れていない、近いもの（{len(chosen.near):,}件 {yen}）:")
        lines += _near_lines(chosen.near)
    return lines


def _near_lines(near: Sequence[Transaction]) -> list[str]:
    shops: dict[tuple[str, str], list[Transaction]] = {}
    for row in near:
        shops.setdefault((row.description, row.category), []).append(row)
    largest = sorted(shops.items(), key=lambda shop: -abs(total_of(shop[1])))
    lines = []
    for (shop, category), rows in largest[:_MAX_SHOPS]:
        ids = " ".join(str(row.id) for row in rows[:_MAX_IDS]) + " …" * (len(rows) > _MAX_IDS)
        yen = format_currency(total_of(rows))
        lines.append(f"- {shown_name(shop)}（{shown_name(category)}）{len(rows):,}件 {yen} [{ids}]")
    more = [row for _, rows in largest[_MAX_SHOPS:] for row in rows]
    yen = format_currency(total_of(more))
    return lines + [f"- ほか {len(largest) - _MAX_SHOPS}店 {len(more):,}件 {yen}"] * bool(more)


def how_to_change(title: str) -> str:
    """Note: how the user decides about rows."""
    return (
        f"カテゴリ（規則で変えられます）とタグで選びました。タグ{bracketed_name(title)}で入れ、"
        f"「-{title}」で外し、「人:名前」で人を決められます"
    )
