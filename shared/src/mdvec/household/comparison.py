"""Two periods of a household side by side."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import date
from typing import Literal

import apsw

from mdvec.dates import ONE_DAY, Days, Month, MonthRange
from mdvec.errors import MdvecError
from mdvec.household.core import wording
from mdvec.household.core.answer_json import AnswerText, DayEnds
from mdvec.household.core.answer_text import answer_text
from mdvec.household.core.movements import (
    MAX_ROWS,
    MAX_SHOPS,
    Movement,
    as_shown,
    comparison_lines,
    movement_lines,
    movements,
)
from mdvec.household.core.periods import UnderstoodPeriod, resolve_period, span_in_words
from mdvec.household.core.subjects import Total
from mdvec.household.core.sums import RowCounts, counts_of
from mdvec.household.core.transaction import CountedRow
from mdvec.household.interfaces.ledger_sums import counted_rows, monthly_sums
from mdvec.household.overview import coverage, named_subject, one_state
from mdvec.household.shown import shown_days

ComparisonLevel = Literal["category", "shop"]
Detail = Literal["concise", "full"]
LEVELS: tuple[ComparisonLevel, ...] = ("category", "shop")
SHOWN: dict[Detail, int] = {"concise": 8, "full": 20}
"""How many movements are shown by default."""
MAX_MOVEMENTS = 200
_YEAR_BEFORE = frozenset({"前年", "前年同期", "前年同月", "去年", "昨年", "昨年同月", "去年同月"})


class UnknownLevel(MdvecError):
    """A comparison by something else than categories or shops."""

    def __init__(self, given: str) -> None:
        super().__init__(
            f"by「{given[:40]}」は使えません。{'、'.join(LEVELS)} を指定してください。"
        )


class InvalidMovements(MdvecError):
    """The number of movements to show is out of range."""

    def __init__(self, limit: int) -> None:
        super().__init__(f"limit {limit} は使えません。1〜{MAX_MOVEMENTS} を指定してください。")


class NotComparable(MdvecError):
    """A comparison of a total that has no rows of its own."""

    def __init__(self, total: Total) -> None:
        super().__init__(f"{total}は比べられません。カテゴリか、支出・収入を指定してください。")


@dataclass(frozen=True, slots=True)
class ComparisonAnswer:
    """Two periods side by side, in yen.

    ``spending`` and ``income`` are (before, after). ``movements`` are the largest of
    ``total_movements``, with what the text shows of each. ``same_days`` are the figures of
    ``spending`` up to the same day of both periods if the later one is still running, else None.
    ``counts`` are of the rows of both.
    """

    before: DayEnds
    after: DayEnds
    spending: tuple[int, int]
    income: tuple[int, int]
    same_days: tuple[int, int] | None
    movements: tuple[Movement, ...]
    total_movements: int
    counts: RowCounts
    notes: tuple[str, ...]
    age: str
    text: AnswerText


def compare_periods(
    connection: apsw.Connection,
    tool_id: int,
    *,
    period: str | None = None,
    base: str | None = None,
    category: str | None = None,
    by: str = "category",
    detail: Detail = "concise",
    limit: int | None = None,
    month_starts_on: int = 1,
    today: date,
) -> ComparisonAnswer:
    """A period beside an earlier one: by 大項目 (中項目 within a category) or by shop.

    In full, the text has the rows behind each movement; else the shops. At most ``limit``
    movements are shown. ``period`` defaults to the latest month with data, ``base`` to the period
    of equal length just before it; 「前年」 is the same months a year earlier.

    Raises:
        EmptyLedger: there are no rows yet.
        InvalidPeriod: a period was not understood.
        UnknownCategory: no category, or several, have that name.
        InsufficientData: the ledger has nothing for one of the periods.
        UnknownLevel: ``by`` is neither category nor shop.
        InvalidMovements: the limit is out of range.
        NotComparable: the category is 収支 or 貯蓄率.
    """
    if by not in LEVELS:
        raise UnknownLevel(by)
    most = SHOWN[detail] if limit is None else limit
    if not 1 <= most <= MAX_MOVEMENTS:
        raise InvalidMovements(most)
    with one_state(connection):
        covered = coverage(connection, tool_id, today, month_starts_on)
        after = resolve_period(today, covered.default_range, period=period or str(covered.latest))
        named, notes = named_subject(connection, tool_id, category)
        if named in (Total.BALANCE, Total.SAVINGS_RATE):
            raise NotComparable(Total(str(named)))
        days, after_notes = shown_days(connection, tool_id, after, named, covered, today)
        asked_base = None if base is None or base.strip() in ("", *_YEAR_BEFORE) else base
        earlier = (
            _before(days, month_starts_on, years=1 if base and base.strip() else 0)
            if asked_base is None
            else resolve_period(today, covered.default_range, period=asked_base)
        )
        base_days, base_notes = shown_days(connection, tool_id, earlier, named, covered, today)
        rows = counted_rows(connection, tool_id, days.first, days.last, named)
        base_rows = counted_rows(connection, tool_id, base_days.first, base_days.last, named)
        sums = [
            cell
            for part in _joined(base_days, days)
            for cell in monthly_sums(connection, tool_id, part, named, by_minor=False)
        ]
    within_category = category is not None and named is not None and named is not Total.SPENDING
    name_of = (
        _shop_names([*base_rows, *rows])
        if by == "shop"
        else _category_name(within_category=within_category)
    )
    moved = movements(base_rows, rows, name_of)
    moved = [movement for movement in moved if movement.difference]
    notes = list(dict.fromkeys([*notes, *after_notes, *base_notes]))
    notes += [after.understood] if period else []
    notes += [earlier.understood] if asked_base else []
    notes += wording.removed_notes(sums)
    return _answer(
        base_rows, rows, (base_days, days), moved, counts_of(sums), notes, month_starts_on, today,
        by=by, detail=detail, most=most, age=covered.age(today, after if period else None),
    )  # fmt: skip


def _answer(
    base_rows: list[CountedRow],
    rows: list[CountedRow],
    spans: tuple[Days, Days],
    moved: list[Movement],
    counts: RowCounts,
    notes: list[str],
    starts_on: int,
    today: date,
    *,
    by: str,
    detail: Detail,
    most: int,
    age: str,
) -> ComparisonAnswer:
    spending, income = _sums(base_rows, rows)
    months = [MonthRange.around(days, starts_on) for days in spans]
    is_whole = [month_range.days == days for month_range, days in zip(months, spans, strict=True)]
    lengths = [
        len(month_range) if all(is_whole) else (days.last - days.first).days + 1
        for month_range, days in zip(months, spans, strict=True)
    ]
    if lengths[0] != lengths[1]:
        unit = "か月" if all(is_whole) else "日"
        notes.append(
            f"期間の長さが違います（{lengths[0]}{unit}と {lengths[1]}{unit}）。"
            "金額は期間の合計どうしの比較です"
        )
    same_days = _same_days(base_rows, rows, spans, today) if lengths[0] == lengths[1] else None
    before, after = (
        span_in_words(days, month_range) for days, month_range in zip(spans, months, strict=True)
    )
    is_full = detail == "full"
    shown_rows = MAX_ROWS if is_full else 0
    shown_shops = 0 if is_full or by == "shop" else MAX_SHOPS
    level = "店" if by == "shop" else "カテゴリ"
    lines = comparison_lines(before, after, spending, income, same_days)
    lines += movement_lines(moved[:most], len(moved), level, is_full=is_full)
    return ComparisonAnswer(
        before=spans[0],
        after=spans[1],
        spending=spending,
        income=income,
        same_days=same_days,
        movements=tuple(
            as_shown(movement, rows=shown_rows, shops=shown_shops) for movement in moved[:most]
        ),
        total_movements=len(moved),
        counts=counts,
        notes=tuple(notes),
        age=age,
        text=answer_text(lines, [*notes, wording.counts_text(counts)], age=age),
    )


def _joined(before: Days, after: Days) -> list[Days]:
    """Both spans, or one of both where they overlap, so that no row is counted twice."""
    if before.within(after) is None:
        return [before, after]
    return [Days(min(before.first, after.first), max(before.last, after.last))]


def _before(days: Days, starts_on: int, *, years: int) -> UnderstoodPeriod:
    """The period of equal length just before, or these days some years earlier."""
    months = MonthRange.around(days, starts_on)
    if months.days == days:
        back = -12 * years or -len(months)
        days = MonthRange(months.first.plus(back), months.last.plus(back)).days
    elif years:
        days = Days(_year_earlier(days.first, years), _year_earlier(days.last, years))
    else:
        length = days.last - days.first + ONE_DAY
        days = Days(days.first - length, days.last - length)
    return UnderstoodPeriod(days, MonthRange.around(days, starts_on), "")


def _year_earlier(day: date, years: int) -> date:
    """The same day of the calendar some years earlier; 28 February for the 29th."""
    month = Month(day.year - years, day.month)
    return month.last_day.replace(day=min(day.day, month.last_day.day))


def _shop_names(rows: Iterable[CountedRow]) -> Callable[[CountedRow], str]:
    """The shop of each row; as written, if all its rows have one description."""
    written: dict[str, set[str]] = {}
    for row in rows:
        written.setdefault(row.shop, set()).add(row.name)
    shown = {shop: min(names) if len(names) == 1 else shop for shop, names in written.items()}
    return lambda row: shown[row.shop]


def _category_name(*, within_category: bool) -> Callable[[CountedRow], str]:
    if within_category:
        return lambda row: row.category_minor or "（中項目なし）"
    return lambda row: row.category_major


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
    before: list[CountedRow], after: list[CountedRow], spans: tuple[Days, Days], today: date
) -> tuple[int, int] | None:
    """Spending up to the same day of both periods, if the later one is still running."""
    base, days = spans
    if not days.first <= today < days.last:
        return None
    cut = base.first + (today - days.first)
    return (
        sum(row.yen for row in before if not row.is_income and row.day <= cut),
        sum(row.yen for row in after if not row.is_income and row.day <= today),
    )
