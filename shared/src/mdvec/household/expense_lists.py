"""A year's lists for the tax office, and a period's fixed and variable costs.

A row is listed by its category, which the user's rules decide, by a tag, or by an unambiguous word
in its shop's name. Rows with ambiguous words are listed below it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Literal, NamedTuple

from mdvec.dates import Month, MonthRange
from mdvec.household.core import wording
from mdvec.household.core.answers import DayEnds, LedgerAnswer, ListLines, answer_words, first_rows
from mdvec.household.core.categories import Total, folded_category
from mdvec.household.core.found import row_line
from mdvec.household.core.periods import UnderstoodPeriod, span_in_words
from mdvec.household.core.recurring import RecurringPayment, recurring_payments
from mdvec.household.core.shop_names import shop_of, shops_of
from mdvec.household.core.shown import bracketed_name, shown_name
from mdvec.household.core.sums import Totals, percent
from mdvec.household.core.transaction import (
    NO_NOTE,
    CountedRow,
    ListedRow,
    RowNote,
    StatedRow,
    listed_row,
)
from mdvec.household.core.wording import format_currency, format_percentage
from mdvec.household.interfaces.ledger import Ledger
from mdvec.household.interfaces.ledger_sums import page_of_rows
from mdvec.household.interfaces.plans import all_notes, renamed_notes
from mdvec.household.interfaces.row_sums import with_ids
from mdvec.household.ledger_view import doubt_notes, doubt_notes_on, ledger_view
from mdvec.household.overview import data_of

ListName = Literal["medical", "furusato"]
NOBODY = "（人の区別なし）"
_PERSON = ("人:", "人：", "person:")
_LASTING = ("not_target", "no_category")
"""Reasons for which a row that was really paid is outside the sums."""
_MAX_SHOPS, _MAX_IDS = 12, 5


@dataclass(frozen=True, slots=True)
class ListRules:
    """A list's title and the normalised names that select its rows, from ``expense_lists.toml``."""

    title: str
    categories: frozenset[str]
    shops: tuple[str, ...]
    near: frozenset[str]
    near_shops: tuple[str, ...]

    def tagged(self, note: RowNote) -> bool | None:
        """Whether a tag (or a note like it) puts a row in the list or out of it; None without."""
        words = {word.lstrip("#＃") for word in note.words}
        if f"-{self.title}" in words:
            return False
        return True if self.title in words else None

    def is_of_category(self, major: str, minor: str) -> bool:
        """Whether rows of a category are in the list."""
        return not self.categories.isdisjoint(_names(major, minor))

    def holds(self, row: ListedRow, shop: str) -> bool:
        """Whether an untagged, paid row is in the list; ``shop`` is its normalised shop."""
        names_it = any(word in shop for word in self.shops)
        return names_it or self.is_of_category(row.category_major, row.category_minor)

    def is_near(self, row: ListedRow, shop: str) -> bool:
        """Whether an untagged row that is not in the list might belong to it."""
        return (
            any(word in shop for word in self.near_shops)
            or not self.near.isdisjoint(_names(row.category_major, row.category_minor))
            or any(self.title in word for word in (*row.noted.words, row.memo))
        )


def _names(major: str, minor: str) -> set[str]:
    return set(map(folded_category, (major, minor, f"{major} > {minor}"))) - {""}


class ChosenRows(NamedTuple):
    """The rows of a list by person, those that might belong to it, and those taken out by a tag."""

    by_person: dict[str, list[ListedRow]]
    near: list[ListedRow]
    taken_out: list[ListedRow]


def choose(rows: Iterable[ListedRow], rules: ListRules) -> ChosenRows:
    """Select the rows of a list; tagged rows that are no counted payments are only near."""
    rows = [row for row in rows if row.amount is not None]
    shops = shops_of(row.description for row in rows)
    chosen = ChosenRows({}, [], [])
    for row in rows:
        shop, tagged = shops[row.description], rules.tagged(row.noted)
        is_held = rules.holds(row, shop) if tagged is None else tagged
        if tagged is False:
            chosen.taken_out.append(row)
        elif row.is_income or row.left_out not in (None, *_LASTING):
            if tagged:
                chosen.near.append(row)
        elif is_held and (row.left_out is None or tagged):
            chosen.by_person.setdefault(_person_of(row), []).append(row)
        elif is_held or rules.is_near(row, shop):
            chosen.near.append(row)
    return chosen


def _person_of(row: ListedRow) -> str:
    """The person of a row: by a tag 人:花子, or else the folder of its file."""
    for tag in row.tags:
        for begin in _PERSON:
            if tag.startswith(begin) and tag != begin:
                return tag.removeprefix(begin).strip()
    folder, slash, _ = row.source_file.partition("/")
    return folder if slash else NOBODY


def _total_of(rows: Iterable[StatedRow]) -> int:
    return -sum(row.amount or 0 for row in rows)


def _list_lines(title: str, span: str, chosen: ChosenRows, limit: int | None) -> list[str]:
    every = [row for rows in chosen.by_person.values() for row in rows]
    total = format_currency(_total_of(every))
    listed: ListLines = [f"{span}の{title}の一覧です: {len(every):,}件、合計 {total}。"]
    for person, rows in chosen.by_person.items():
        listed.append(f"{shown_name(person)}: {len(rows):,}件 {format_currency(_total_of(rows))}")
        listed += [(f"{row_line(row)} [{row.id}]",) for row in rows]
    lines = first_rows(listed, limit)
    if chosen.near:
        yen = format_currency(_total_of(chosen.near))
        lines.append(f"合計に入れていない、近いもの（{len(chosen.near):,}件 {yen}）:")
        lines += _near_lines(chosen.near)
    return lines


def _near_lines(near: Sequence[ListedRow]) -> list[str]:
    shops: dict[tuple[str, str, str], list[ListedRow]] = {}
    for row in near:
        why = wording.left_out_in_words(row.left_out)
        shops.setdefault((row.description, row.category, why), []).append(row)
    largest = sorted(shops.items(), key=lambda shop: -abs(_total_of(shop[1])))
    lines = []
    for (shop, category, why), rows in largest[:_MAX_SHOPS]:
        ids = " ".join(str(row.id) for row in rows[:_MAX_IDS]) + (
            " …" if len(rows) > _MAX_IDS else ""
        )
        yen = format_currency(_total_of(rows))
        name = f"{shown_name(shop)}（{shown_name(category)}）"
        lines.append(f"- {name}{len(rows):,}件 {yen}{why} [{ids}]")
    more = [row for _, rows in largest[_MAX_SHOPS:] for row in rows]
    yen = format_currency(_total_of(more))
    return lines + ([f"- ほか {len(largest) - _MAX_SHOPS}店 {len(more):,}件 {yen}"] if more else [])


_BILL_DAYS = 28
"""A recurring payment of varying amount is a fixed cost if its interval has at least so many
days."""
_VARIABLE = "変動費"


@dataclass(frozen=True, slots=True)
class CostLine:
    """The sum in yen of a category's rows; for fixed costs, of a single ``shop``, and ``why``."""

    category: str
    shop: str
    why: str
    rows: int
    yen: int

    @property
    def is_fixed(self) -> bool:
        """Whether the rows are fixed costs."""
        return bool(self.why)

    @property
    def name(self) -> str:
        """The line's name in answers."""
        return f"{self.shop}（{self.category}）" if self.is_fixed else self.category


def _split_costs(
    rows: Iterable[CountedRow],
    series: Iterable[RecurringPayment],
    fixed: ListRules,
    notes: Mapping[int, RowNote],
) -> list[CostLine]:
    """Sum up every row in one of the lines: fixed costs first, then by the largest sum.

    The tags 固定費 and 変動費 decide; otherwise a row is fixed if it recurs, or by its category.
    """
    recurs = {
        row.id: payment.interval.name
        for payment in series
        if payment.is_fixed or payment.interval.days >= _BILL_DAYS
        for row in (*payment.rows, *payment.twice)
    }
    amounts: dict[tuple[str, str, str], list[int]] = defaultdict(list)
    for row in rows:
        why = _why_fixed(row, recurs, fixed, notes.get(row.id, NO_NOTE))
        amounts[row.category_major, row.shop if why else "", why].append(row.yen)
    lines = [CostLine(*key, len(yen), sum(yen)) for key, yen in amounts.items()]
    return sorted(lines, key=lambda line: (not line.is_fixed, -line.yen, line.name))


def _why_fixed(row: CountedRow, recurs: Mapping[int, str], fixed: ListRules, note: RowNote) -> str:
    """Why a row is a fixed cost; "" for a variable cost."""
    if _VARIABLE in note.words or fixed.tagged(note) is False:
        return ""
    if fixed.tagged(note):
        return "タグ"
    if row.id in recurs:
        return recurs[row.id]
    return "カテゴリ" if fixed.is_of_category(row.category_major, row.category_minor) else ""


def _cost_lines(span: str, lines: Sequence[CostLine], limit: int | None) -> list[str]:
    parts = [[line for line in lines if line.is_fixed is is_so] for is_so in (True, False)]
    sums = [sum(line.yen for line in part) for part in parts]
    whole = sum(sums)
    text = [
        f"{span}の支出 {format_currency(whole)} = 固定費 {format_currency(sums[0])} + "
        f"変動費 {format_currency(sums[1])}"
    ]
    for name, yen, part in zip(("固定費", _VARIABLE), sums, parts, strict=True):
        share = f"（{format_percentage(percent(yen, whole), signed=False)}）" if whole > 0 else ""
        text.append(f"{name} {format_currency(yen)}{share}:")
        each = (
            f"- {shown_name(line.name)} {format_currency(line.yen)}（{line.rows:,}件"
            f"{'、' if line.why else ''}{line.why}）"
            for line in part
        )
        text += first_rows([(line,) for line in each], limit)
    return [*text, "どちらかは、明細のタグ「固定費」「変動費」で決められます。"]


_ALL = 2**31
_SEEN_BEFORE, _SEEN_AFTER = 25, 12
"""How many months before and after a period are searched for recurring payments."""


@dataclass(frozen=True, slots=True)
class ExpenseList(LedgerAnswer):
    """The rows of a list with each one's person, their sum in yen, and near rows."""

    title: str
    days: DayEnds
    rows: tuple[tuple[str, ListedRow], ...]
    total: int
    by_person: dict[str, int]
    near: tuple[ListedRow, ...]
    near_total: int


@dataclass(frozen=True, slots=True)
class CostsAnswer(LedgerAnswer):
    """The spending of some days, split into fixed and variable costs, with the reasons."""

    days: DayEnds
    spending: int
    fixed: int
    variable: int
    lines: tuple[CostLine, ...]


def expense_list(
    ledger: Ledger,
    name: ListName,
    *,
    since: str | None = None,
    until: str | None = None,
    period: str | None = None,
    year: int | None = None,
    limit: int | None = None,
) -> ExpenseList:
    """The rows for 医療費控除 or ふるさと納税 by person, of a period or a calendar ``year``.

    The default is the latest year. The text has the first ``limit`` of them.

    Raises:
        EmptyLedger, InvalidPeriod, AmbiguousPeriod: as in ``LedgerView``.
        InsufficientData: the ledger has nothing for these months.
    """
    with ledger_view(ledger.in_calendar_months) as view:  # as tax years have
        if since or until or period:
            requested = view.period(since, until, period)
        else:
            year = year or view.covered.latest.year
            months = MonthRange(Month(year, 1), Month(year, 12))
            requested = UnderstoodPeriod(months.days, months, "")
        days, notes = view.covered_days(requested)
        noted = all_notes(ledger)
        rows = [
            listed_row(row, noted.get(row.id))
            for row in page_of_rows(ledger, days, None, offset=0, limit=_ALL)
        ]
        rules = _rules(name)
        chosen = choose(rows, rules)
        every = [(person, row) for person, own in chosen.by_person.items() for row in own]
        ids = [row.id for _, row in every]
        planned = [row for _, row in every if row.date > ledger.today]
        notes += wording.planned_notes(
            Totals(len(planned), _total_of(planned), 0), wording.PLANNED_INCLUDED
        )
        notes += renamed_notes(ledger, partial(with_ids, ids))
        notes += doubt_notes_on(ledger, days, set(ids).intersection)
    if chosen.taken_out:
        notes.append(f"タグで外した明細が {len(chosen.taken_out):,}件あります")
    notes.append(requested.understood)
    notes += [
        f"カテゴリ（規則で変えられます）とタグで選びました。タグ{bracketed_name(rules.title)}で入れ、"
        f"「-{rules.title}」で外し、「人:名前」で人を決められます"
    ]
    lines = _list_lines(rules.title, span_in_words(days), chosen, limit)
    return ExpenseList(
        title=rules.title,
        days=days,
        rows=tuple(every),
        total=sum(map(_total_of, chosen.by_person.values())),
        by_person={person: _total_of(own) for person, own in chosen.by_person.items()},
        near=tuple(chosen.near),
        near_total=_total_of(chosen.near),
        **answer_words(lines, notes, view.age(requested)),
    )


def fixed_and_variable_costs(
    ledger: Ledger,
    *,
    since: str | None = None,
    until: str | None = None,
    period: str | None = None,
    limit: int | None = None,
) -> CostsAnswer:
    """The spending of a period, by default the latest month, as fixed and variable costs.

    The text has the first ``limit`` lines of each kind.

    Raises:
        EmptyLedger, InvalidPeriod, AmbiguousPeriod: as in ``LedgerView``.
        InsufficientData: the ledger has nothing for these months.
    """
    with ledger_view(ledger) as view:
        covered = view.covered
        requested = view.period(since, until, period, default=covered.latest)
        days, notes = view.shown_days(requested, Total.SPENDING)
        first = requested.months.first.plus(-_SEEN_BEFORE).first_day
        last = min(
            requested.months.last.plus(_SEEN_AFTER).last_day, max(covered.last_day, days.last)
        )
        rows = view.rows(first, last, Total.SPENDING)
        noted = all_notes(ledger)
        notes += doubt_notes(ledger, days, Total.SPENDING)
    series = recurring_payments(rows, min(last, covered.last_day))
    own = [row for row in rows if days.first <= row.day <= days.last]
    lines = _split_costs(own, series, _rules("fixed"), noted)
    fixed = sum(line.yen for line in lines if line.is_fixed)
    spending = sum(row.yen for row in own)
    notes.append(requested.understood)
    text = _cost_lines(span_in_words(days, ledger.month_starts_on), lines, limit)
    words = answer_words(text, notes, view.age(requested))
    return CostsAnswer(days, spending, fixed, spending - fixed, tuple(lines), **words)


def _rules(name: str) -> ListRules:
    """The rules of a list in ``expense_lists.toml``."""
    names = data_of("expense_lists.toml")[name]
    categories, near = (
        frozenset(map(folded_category, names.get(key, ()))) for key in ("categories", "near")
    )
    shops, near_shops = (tuple(map(shop_of, names.get(key, ()))) for key in ("shops", "near_shops"))
    return ListRules(names["title"], categories, shops, near, near_shops)
