"""The Japanese texts about recurring payments and forecasts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import date, timedelta

from mdvec.dates import Month, MonthRange
from mdvec.household.core.forecast import MonthForecast
from mdvec.household.core.recurring import RecurringPayment
from mdvec.household.core.wording import format_currency
from mdvec.text import shown_name

RECENT = timedelta(days=365)
NO_RECURRING = (
    "定期的な支払いは見つかりませんでした。同じ店に一定の間隔で3回以上の支払いが要ります。"
)
NO_FORECAST = "見通しには、今月より前に3か月以上の明細が必要です。"


def recurring_lines(found: Sequence[RecurringPayment], as_of: date) -> list[str]:
    """Each payment that goes on, with what to look at; then those that ended within a year."""
    if not found:
        return [NO_RECURRING]
    going = [one for one in found if one.next_day is not None]
    spending = [one for one in going if not one.is_income]
    yearly = sum(one.per_year for one in spending)
    lines = [
        f"定期的な支払いは {len(spending)}件、年に約 {format_currency(yearly)} です"
        f"（{as_of} までの明細から）。"
    ]
    lines += [line for one in spending for line in _lines(one, as_of)]
    if income := [one for one in going if one.is_income]:
        lines += ["定期的な収入:", *(line for one in income for line in _lines(one, as_of))]
    ended = [one for one in found if one.next_day is None and as_of - one.last_day <= RECENT]
    if ended:
        lines.append("この1年に終わったらしいもの:")
        lines += [
            f"- {shown_name(one.name)}: {one.interval.name} {format_currency(one.amount)}、"
            f"最後は {one.last_day}"
            for one in ended
        ]
    return lines


def as_shown(one: RecurringPayment, as_of: date) -> RecurringPayment:
    """The payment with what its lines tell: changes and slips of the last year, and no rows."""
    return replace(
        one,
        rows=(),
        changes=tuple(change for change in one.changes if as_of - change.day <= RECENT),
        missed=tuple(day for day in one.missed if as_of - day <= RECENT),
        twice=tuple(row for row in one.twice if as_of - row.day <= RECENT),
    )


def _lines(one: RecurringPayment, as_of: date) -> list[str]:
    about = "" if one.is_fixed else "約 "
    shown = as_shown(one, as_of)
    amount, per_year = format_currency(one.amount), format_currency(one.per_year)
    payment = f"{shown_name(one.name)}（{shown_name(one.category)}）"
    lines = [
        f"- {payment}: {one.interval.name} {about}{amount}、年 {about}{per_year}"
        f"（次は {one.next_day} ごろ）"
    ]
    for change in shown.changes:
        word = "値上がり" if change.after > change.before else "値下がり"
        lines.append(
            f"  {change.day} から{word}: {format_currency(change.before)} → "
            f"{format_currency(change.after)}"
        )
    lines += [f"  {day} ごろの支払いがありません" for day in shown.missed]
    lines += [
        f"  二重かもしれません: {row.day} にも {format_currency(row.yen)} [{row.id}]"
        for row in shown.twice
    ]
    return lines


def unknown_note(months: Sequence[Month]) -> str:
    """Says that payments cannot be missed in months of which the ledger has no row."""
    named = "、".join(MonthRange(month, month).in_words for month in months)
    return f"{named}には集計に入る明細が 1件もないため、支払いの抜けは示していません"


def due_lines(due: Sequence[tuple[date, str, int]], until: date) -> list[str]:
    """What is expected until a day."""
    if not due:
        return [f"{until} までに予定される支払いはありません。"]
    total = format_currency(sum(yen for _, _, yen in due))
    lines = [f"{until} までに予定される支払い（合計 {total}）:"]
    lines += [f"- {day} ごろ {shown_name(name)} {format_currency(yen)}" for day, name, yen in due]
    return lines


def forecast_lines(months: Sequence[MonthForecast], as_of: date) -> list[str]:
    """Each month's forecast with its band, and how wrong the method was on the past."""
    if not months:
        return [NO_FORECAST]
    lines = [f"支出の見通しです（{as_of} までの明細から）。"]
    for one in months:
        band = (
            "" if one.low is None or _is_over(one, as_of)
            else f"、8割の幅 {format_currency(one.low)}〜{format_currency(one.high)}"
        )  # fmt: skip
        parts = [
            ("これまで", one.spent), ("定期的な支払い", one.recurring), ("そのほか", one.other)
        ]  # fmt: skip
        told = "、".join(f"{name} {format_currency(yen)}" for name, yen in parts if yen)
        lines.append(f"- {one.month.in_words}: {format_currency(one.amount)}{band}（{told}）")
    return lines


def error_note(months: Sequence[MonthForecast], as_of: date) -> list[str]:
    """How wrong the method was on the past: one note, none without a forecast."""
    if not months:
        return []
    if all(one.typical_error is None for one in months):
        return ["過去が短く、この方法のずれはまだ確かめられません"]
    ahead = [
        (_ahead(at), one.typical_error, one.trials)
        for at, one in enumerate(months)
        if one.typical_error is not None and not _is_over(one, as_of)
    ]
    errors = "、".join(f"{when} {format_currency(yen)}" for when, yen, _ in ahead)
    trials = "・".join(dict.fromkeys(str(trials) for _, _, trials in ahead))
    return [f"この方法を過去に {trials}回試したずれの中央値: {errors}"] if errors else []


def _is_over(one: MonthForecast, as_of: date) -> bool:
    """Whether the month has ended: its spending is known, not forecast."""
    return one.month.last_day <= as_of


def _ahead(months: int) -> str:
    return "当月" if months == 0 else f"{months}か月先"
