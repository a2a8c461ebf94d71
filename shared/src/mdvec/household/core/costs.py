"""Splits spending into fixed and variable costs: by tags, by what recurs, and by category."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from mdvec.household.core.expense_lists import ListRules
from mdvec.household.core.recurring import RecurringPayment
from mdvec.household.core.sums import percent
from mdvec.household.core.transaction import CountedRow, RowNote
from mdvec.household.core.wording import format_currency, format_percentage
from mdvec.text import shown_name

_BILL_DAYS = 28
"""A payment of varying amount is a bill if it comes no more often than this."""
_VARIABLE = "変動費"


@dataclass(frozen=True, slots=True)
class CostLine:
    """Rows of one shop (fixed) or category (variable): their sum in yen, and why they are so."""

    is_fixed: bool
    name: str
    why: str
    rows: int
    yen: int


def split_costs(
    rows: Iterable[CountedRow],
    series: Iterable[RecurringPayment],
    fixed: ListRules,
    notes: Mapping[int, RowNote],
) -> list[CostLine]:
    """Every row in one line, the fixed costs first, then the largest sum.

    The tags 固定費 and 変動費 decide; else a row is fixed that recurs, or by its category.
    """
    recurs = {
        row.id: payment.interval.name
        for payment in series
        if payment.is_fixed or payment.interval.days >= _BILL_DAYS
        for row in (*payment.rows, *payment.twice)
    }
    sums: dict[tuple[bool, str, str], list[int]] = {}
    for row in rows:
        why = _why_fixed(row, recurs, fixed, notes.get(row.id))
        name = f"{row.name}（{row.category_major}）" if why else row.category_major
        line = sums.setdefault((bool(why), name, why), [0, 0])
        line[0] += 1
        line[1] += row.yen
    lines = [CostLine(*key, count, yen) for key, (count, yen) in sums.items()]
    return sorted(lines, key=lambda line: (not line.is_fixed, -line.yen, line.name))


def _why_fixed(
    row: CountedRow, recurs: Mapping[int, str], fixed: ListRules, note: RowNote | None
) -> str:
    """Why a row is a fixed cost; "" for one that is variable."""
    if note is not None and (_VARIABLE in note.words or fixed.tagged(note) is False):
        return ""
    if note is not None and fixed.tagged(note):
        return "タグ"
    if row.id in recurs:
        return recurs[row.id]
    return "カテゴリ" if fixed.is_of_category(row.category_major, row.category_minor) else ""


def cost_lines(span: str, lines: Sequence[CostLine]) -> list[str]:
    """Both sums, which add up to the spending, and what they consist of."""
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
        text += [
            f"- {shown_name(line.name)} {format_currency(line.yen)}（{line.rows:,}件"
            f"{'、' if line.why else ''}{line.why}）"
            for line in part
        ]
    return [*text, "どちらかは、明細のタグ「固定費」「変動費」で決められます。"]
