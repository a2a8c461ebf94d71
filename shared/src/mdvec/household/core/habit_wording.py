"""The Japanese texts about recurring payments and forecasts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from datetime import date, timedelta

from mdvec.dates import Month, MonthRange
from mdvec.household.core.forecast import MonthForecast
from mdvec.household.core.recurring import DuePayment, RecurringPayment
from mdvec.household.core.wording import format_currency
from mdvec.text import shown_name

RECENT = timedelta(days=365)
NO_RECURRING = (
    "定期的な支払いは見つかりませんでした。同じ店に一定の間隔で3回以上の支払いが要ります。"
)
NO_FORECAST = "見通しには、今月より前に3か月以上の明細が必要です。"


def recurring_lines(payments: Sequence[RecurringPayment], as_of: date) -> list[str]:
    """Each payment that goes on, with what to look at; then those that ended within a year."""
    if not payments:
        return [NO_RECURRING]
    going = [payment for payment in payments if payment.next_day is not None]
    spending = [payment for payment in going if not payment.is_income]
    yearly = sum(payment.per_year for payment in spending)
    lines = [
        f"定期的な支払いは {len(spending)}件、年に約 {format_currency(yearly)} です"
        f"（{as_of} までの明細から）。"
    ]
    lines += [line for payment in spending for line in _lines(payment, as_of)]
    if income := [payment for payment in going if payment.is_income]:
        lines += ["定期的な収入:", *(line for payment in income for line in _lines(payment, as_of))]
    ended = [
        payment
        for payment in payments
        if payment.next_day is None and as_of - payment.last_day <= RECENT
    ]
    if ended:
        lines.append("この1年に終わったらしいもの:")
        lines += [
            f"- {shown_name(payment.name)}: {payment.interval.name} "
            f"{format_currency(payment.amount)}、最後は {payment.last_day}"
            for payment in ended
        ]
    return lines


def as_shown(payment: RecurringPayment, as_of: date) -> RecurringPayment:
    """The payment with what its lines tell: changes and slips of the last year, and no rows."""
    return replace(
        payment,
        rows=(),
        changes=tuple(change for change in payment.changes if as_of - change.day <= RECENT),
        singles=tuple(row for row in payment.singles if as_of - row.day <= RECENT),
        missed=tuple(day for day in payment.missed if as_of - day <= RECENT),
        twice=tuple(row for row in payment.twice if as_of - row.day <= RECENT),
    )


def _lines(recurring: RecurringPayment, as_of: date) -> list[str]:
    about = "" if recurring.is_fixed else "約 "
    shown = as_shown(recurring, as_of)
    amount, per_year = format_currency(recurring.amount), format_currency(recurring.per_year)
    payment = f"{shown_name(recurring.name)}（{shown_name(recurring.category)}）"
    times = recurring.interval.per_year
    is_sum = recurring.per_year != recurring.amount * times
    year = f"過去1年 {per_year}" if is_sum else f"年 {about}{per_year}"
    often = "" if recurring.interval.months else f"年{times}回、"
    lines = [
        f"- {payment}: {recurring.interval.name} {about}{amount}、{year}"
        f"（{often}次は {recurring.next_day} ごろ）"
    ]
    lines += [
        f"  {renaming.day} から名前が変わったとみなしました: {shown_name(renaming.before)} → "
        f"{shown_name(renaming.after)}（口座・金額・間隔が同じで、一方が終わると他方が始まったため）"
        for renaming in recurring.renamings
    ]
    for change in shown.changes:
        word = "値上がり" if change.after > change.before else "値下がり"
        lines.append(
            f"  {change.day} から{word}: {format_currency(change.before)} → "
            f"{format_currency(change.after)}"
        )
    lines += [
        f"  {row.day} だけ {format_currency(row.yen)} [{row.id}]（1回だけの額は料金とみなしません）"
        for row in shown.singles
    ]
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


def due_lines(due: Sequence[DuePayment], until: date) -> list[str]:
    """What is expected until a day."""
    if not due:
        return [f"{until} までに予定される支払いはありません。"]
    total = format_currency(sum(payment.amount for payment in due))
    return [
        f"{until} までに予定される支払い（合計 {total}）:",
        *(f"- {payment.day} ごろ {due_names([payment])}" for payment in due),
    ]


def due_names(due: Sequence[DuePayment], most: int = 5) -> str:
    """The largest payments to come by name; beyond ``most`` names the number of the others."""
    times = Counter((payment.name, payment.amount, payment.is_fixed) for payment in due)
    largest = sorted(times.items(), key=lambda each: -each[0][1] * each[1])
    names = [
        f"{shown_name(name)} {'' if is_fixed else '約 '}{format_currency(amount)}"
        + f" ×{count}" * (count > 1)
        for (name, amount, is_fixed), count in largest[:most]
    ]
    others = sum(count for _, count in largest[most:])
    return "、".join([*names, *[f"ほか {others}件"] * bool(others)])


def forecast_lines(months: Sequence[MonthForecast], as_of: date) -> list[str]:
    """Each month's forecast with its band, and how wrong the method was on the past."""
    if not months:
        return [NO_FORECAST]
    lines = [f"支出の見通しです（{as_of} までの明細から）。"]
    ahead = [forecast for forecast in months if not _is_over(forecast, as_of)]
    for forecast in months:
        band = (
            "" if forecast.low is None or _is_over(forecast, as_of)
            else f"、8割の幅 {format_currency(forecast.low)}〜{format_currency(forecast.high)}"
        )  # fmt: skip
        due = forecast.due if forecast in ahead[:1] else ()
        items = f"（{due_names(due, 2)}）" if due else ""
        parts = [
            ("これまで", forecast.spent),
            (f"定期的な支払い{items}", forecast.recurring),
            ("そのほか", forecast.other),
        ]
        breakdown = "、".join(f"{name} {format_currency(yen)}" for name, yen in parts if yen)
        lines.append(
            f"- {forecast.month.in_words}: {format_currency(forecast.amount)}{band}（{breakdown}）"
        )
    return lines


def error_note(months: Sequence[MonthForecast], as_of: date) -> list[str]:
    """How wrong the method was on the past: one note, none without a forecast."""
    if not months:
        return []
    if all(forecast.typical_error is None for forecast in months):
        return ["過去が短く、この方法のずれはまだ確かめられません"]
    ahead = [
        (_ahead(at), forecast.typical_error, forecast.trials)
        for at, forecast in enumerate(months)
        if forecast.typical_error is not None and not _is_over(forecast, as_of)
    ]
    errors = "、".join(f"{when} {format_currency(yen)}" for when, yen, _ in ahead)
    trials = "・".join(dict.fromkeys(str(trials) for _, _, trials in ahead))
    return [f"この方法を過去に {trials}回試したずれの中央値: {errors}"] if errors else []


def _is_over(forecast: MonthForecast, as_of: date) -> bool:
    """Whether the month has ended: its spending is known, not forecast."""
    return forecast.month.last_day <= as_of


def _ahead(months: int) -> str:
    return "当月" if months == 0 else f"{months}か月先"
