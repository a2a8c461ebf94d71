"""Two periods of a household side by side."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import date
from typing import Literal

import apsw

from mdvec.dates.months import Month, MonthRange
from mdvec.errors import MdvecError
from mdvec.household.core import wording
from mdvec.household.core.counted_row import CountedRow
from mdvec.household.core.movement_wording import movements_text
from mdvec.household.core.movements import Movement, movements
from mdvec.household.core.periods import resolve_period
from mdvec.household.core.subjects import Total
from mdvec.household.interfaces.counted_rows import counted_rows
from mdvec.household.overview import coverage, named_subject, one_state, shown_months

Level = Literal["category", "shop"]
LEVELS: tuple[Level, ...] = ("category", "shop")
MAX_MOVEMENTS = 20
_YEAR_BEFORE = frozenset({"前年", "前年同期", "前年同月", "去年", "昨年", "昨年同月", "去年同月"})


class UnknownLevel(MdvecError):
    """A comparison by something else than categories or shops."""

    def __init__(self, given: str) -> None:
        super().__init__(
            f"by「{given[:40]}」は使えません。{'、'.join(LEVELS)} を指定してください。"
        )


class NotComparable(MdvecError):
    """A comparison of a total that has no rows of its own."""

    def __init__(self, total: Total) -> None:
        super().__init__(f"{total}は比べられません。カテゴリか、支出・収入を指定してください。")


@dataclass(frozen=True, slots=True)
class ComparisonAnswer:
    """Two periods side by side, in yen.

    ``spending`` and ``income`` are (before, after). ``movements`` are the largest
    ``MAX_MOVEMENTS`` of ``total_movements``. ``same_days`` are the figures of ``spending`` up to
    the same day of both periods if the later one is still running, else None.
    """

    before: MonthRange
    after: MonthRange
    spending: tuple[int, int]
    income: tuple[int, int]
    same_days: tuple[int, int] | None
    movements: tuple[Movement, ...]
    total_movements: int
    notes: tuple[str, ...]
    text: str


def compare_periods(
    connection: apsw.Connection,
    tool_id: int,
    *,
    period: str | None = None,
    base: str | None = None,
    category: str | None = None,
    by: str = "category",
    today: date,
) -> ComparisonAnswer:
    """A period beside an earlier one: by 大項目 (中項目 within a category) or by shop.

    ``period`` defaults to the latest month with data, ``base`` to the period of equal length just
    before it; 「前年」 is the same months a year earlier.

    Raises:
        EmptyLedger: there are no rows yet.
        InvalidPeriod: a period was not understood.
        UnknownCategory: no category, or several, have that name.
        InsufficientData: the ledger has nothing for one of the periods.
        UnknownLevel: ``by`` is neither category nor shop.
        NotComparable: the category is 収支 or 貯蓄率.
    """
    if by not in LEVELS:
        raise UnknownLevel(by)
    with one_state(connection):
        covered = coverage(connection, tool_id, today)
        after = resolve_period(today, covered.default_range, period=period or str(covered.latest))
        named, notes = named_subject(connection, tool_id, category)
        if named in (Total.BALANCE, Total.SAVINGS_RATE):
            raise NotComparable(Total(str(named)))
        months, range_notes = shown_months(connection, tool_id, after, named, covered, today)
        earlier = resolve_period(today, covered.default_range, period=_base_phrase(months, base))
        base_months, base_notes = shown_months(connection, tool_id, earlier, named, covered, today)
        rows, base_rows = (
            counted_rows(connection, tool_id, _first_day(one), one.last.last_day, named)
            for one in (months, base_months)
        )
    within_category = category is not None and named is not None and named is not Total.SPENDING
    moved = movements(base_rows, rows, _name_of(by, within_category=within_category))
    same_days = _same_days(base_rows, rows, base_months, months, today)
    notes = list(dict.fromkeys([*notes, *range_notes, *base_notes]))
    notes += [after.understood] if period else []
    notes += [earlier.understood] if base and base.strip() not in _YEAR_BEFORE else []
    if len(months) != len(base_months):
        notes.append(
            f"期間の長さが違います（{len(base_months)}か月と {len(months)}か月）。"
            "金額は期間の合計どうしの比較です"
        )
    spending, income = _sums(base_rows, rows)
    moved = [one for one in moved if one.difference]
    shown = tuple(moved[:MAX_MOVEMENTS])
    body = movements_text(
        base_months, months, spending, income, same_days, shown, len(moved),
        "店" if by == "shop" else "カテゴリ",
    )  # fmt: skip
    return ComparisonAnswer(
        before=base_months,
        after=months,
        spending=spending,
        income=income,
        same_days=same_days,
        movements=shown,
        total_movements=len(moved),
        notes=tuple(notes),
        text="\n".join(part for part in (body, wording.notes_text(notes)) if part),
    )


def _base_phrase(months: MonthRange, base: str | None) -> str:
    if base is not None and base.strip() and base.strip() not in _YEAR_BEFORE:
        return base
    back = -12 if base is not None and base.strip() else -len(months)
    return f"{months.first.plus(back)}〜{months.last.plus(back)}"


def _name_of(by: str, *, within_category: bool) -> Callable[[CountedRow], str]:
    if by == "shop":
        return lambda row: row.shop
    if within_category:
        return lambda row: row.category_minor or "（中項目なし）"
    return lambda row: row.category_major


def _first_day(months: MonthRange) -> date:
    return date(months.first.year, months.first.month, 1)


def _sums(
    before: list[CountedRow], after: list[CountedRow]
) -> tuple[tuple[int, int], tuple[int, int]]:
    def of(rows: list[CountedRow], *, income: bool) -> int:
        return sum(row.yen for row in rows if row.is_income is income)

    return (
        (of(before, income=False), of(after, income=False)),
        (of(before, income=True), of(after, income=True)),
    )


def _same_days(
    before: list[CountedRow],
    after: list[CountedRow],
    base_months: MonthRange,
    months: MonthRange,
    today: date,
) -> tuple[int, int] | None:
    """Spending up to the same day of the last months, if the later one is still running."""
    running = months.last == Month.of(today)
    if not running or len(months) != len(base_months):
        return None
    cut = min(today.day, base_months.last.last_day.day)
    ends = base_months.last.last_day.replace(day=cut), today
    return (
        sum(row.yen for row in before if not row.is_income and row.day <= ends[0]),
        sum(row.yen for row in after if not row.is_income and row.day <= ends[1]),
    )
