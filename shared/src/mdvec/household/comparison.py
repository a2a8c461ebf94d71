"""Two periods of a household side by side."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import date
from typing import Literal

import apsw

from mdvec.dates import Days, MonthRange, PeriodContext
from mdvec.errors import MdvecError
from mdvec.household.core import wording
from mdvec.household.core.answer_json import AnswerText, DayEnds
from mdvec.household.core.answer_text import answer_text
from mdvec.household.core.bases import base_period, long_before
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
from mdvec.household.doubt import doubt_notes
from mdvec.household.interfaces.ledger_sums import counted_rows, monthly_sums
from mdvec.household.overview import coverage, named_subject, one_state
from mdvec.household.shown import shown_days
from mdvec.text import shortened

ComparisonLevel = Literal["category", "shop"]
Detail = Literal["concise", "full"]
LEVELS: tuple[ComparisonLevel, ...] = ("category", "shop")
SHOWN: dict[Detail, int] = {"concise": 8, "full": 20}
"""How many movements are shown by default."""
MAX_MOVEMENTS = 200


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
    since: str | None = None,
    until: str | None = None,
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
    movements are shown. The period defaults to the latest month with data; ``base`` is read from
    it, as ``base_period`` does.

    Raises:
        EmptyLedger: there are no rows yet.
        InvalidPeriod: a period was not understood.
        AmbiguousPeriod: it was given in two ways.
        AmbiguousBase: ``base`` has two readings.
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
        after, long_ago = (
            resolve_period(
                day, covered.default_range, since=since, until=until, period=period,
                default=covered.latest,
            )
            for day in (today, long_before(today))
        )  # fmt: skip
        named, notes = named_subject(connection, tool_id, category)
        if named in (Total.BALANCE, Total.SAVINGS_RATE):
            raise NotComparable(Total(str(named)))
        days, after_notes = shown_days(connection, tool_id, after, named, covered, today)
        is_stated = bool(since or until) or after.days == long_ago.days
        before = base_period(
            base, after, days, PeriodContext(today, covered.default_range),
            is_relative=after.follows_data or not is_stated,
        )  # fmt: skip
        earlier = _understood(base, before, month_starts_on)
        base_days, base_notes = shown_days(connection, tool_id, earlier, named, covered, today)
        rows = counted_rows(connection, tool_id, days.first, days.last, named)
        base_rows = counted_rows(connection, tool_id, base_days.first, base_days.last, named)
        sums = [
            cell
            for part in _joined(base_days, days)
            for cell in monthly_sums(connection, tool_id, part, named, by_minor=False)
        ]
        doubts = [
            f"{part.in_words}の{note}"
            for part in _joined(base_days, days)
            for note in doubt_notes(connection, tool_id, part, named)
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
    notes += [after.understood] if after.understood else []
    notes += [earlier.understood] if earlier.understood else []
    notes += [*wording.removed_notes(sums), *doubts]
    return _answer(
        base_rows, rows, (base_days, days), moved, counts_of(sums), notes, month_starts_on, today,
        by=by, detail=detail, most=most, age=covered.age(today, after),
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


def _understood(base: str | None, days: Days, starts_on: int) -> UnderstoodPeriod:
    months = MonthRange.around(days, starts_on)
    said = (base or "").strip()
    words = f"「{shortened(said)}」を {span_in_words(days, months)} と解釈しました" if said else ""
    return UnderstoodPeriod(days, months, words)


def _joined(before: Days, after: Days) -> list[Days]:
    """Both spans, or one of both where they overlap, so that no row is counted twice."""
    if before.within(after) is None:
        return [before, after]
    return [Days(min(before.first, after.first), max(before.last, after.last))]


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
