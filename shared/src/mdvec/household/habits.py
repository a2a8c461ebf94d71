"""A household's recurring payments, its forecast of spending, and unusual amounts."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, timedelta

from mdvec.dates import Days, Month
from mdvec.household.core.anomalies import Anomaly, anomaly_lines, history_notes, month_anomalies
from mdvec.household.core.answers import LedgerAnswer, ListLines, answer_words, first_rows
from mdvec.household.core.forecast import (
    AHEAD,
    HABIT,
    DuePayment,
    MonthForecast,
    due_names,
    due_until,
    forecast,
)
from mdvec.household.core.periods import InvalidDates
from mdvec.household.core.recurring import RecurringPayment, recurring_payments
from mdvec.household.core.shown import shown_name
from mdvec.household.core.transaction import CountedRow
from mdvec.household.core.wording import NO_SPENDING, InsufficientData, format_currency
from mdvec.household.interfaces import accounts, duplicate_checks
from mdvec.household.interfaces.ledger import Ledger
from mdvec.household.ledger_view import LedgerView, doubt_notes, ledger_view

RECENT = timedelta(days=365)


def _recurring_lines(payments: Sequence[RecurringPayment], as_of: date, age: str) -> ListLines:
    """Each payment that continues, then those that ended within a year."""
    if not payments:
        return [
            "定期的な支払いは見つかりませんでした。"
            "同じ店に一定の間隔で3回以上、年に1度の同じ額なら2回の支払いが要ります。"
        ]
    going = [payment for payment in payments if payment.next_day is not None]
    spending = [payment for payment in going if not payment.is_income]
    yearly = sum(payment.per_year for payment in spending)
    lines: ListLines = [
        f"定期的な支払いは {len(spending)}件、年に約 {format_currency(yearly)} です"
        f"{_made_from(as_of, age)}。"
    ]
    lines += map(_row, spending)
    if income := [payment for payment in going if payment.is_income]:
        lines.append(f"定期的な収入 {len(income)}件:")
        lines += map(_row, income)
    ended = [
        payment
        for payment in payments
        if payment.next_day is None and as_of - payment.last_day <= RECENT
    ]
    if ended:
        lines.append(f"この1年に終わったらしいもの {len(ended)}件:")
        lines += [
            (
                f"- {shown_name(payment.name)}{_of_account(payment)}: {payment.interval.name} "
                f"{format_currency(payment.amount)}、最後は {payment.last_day}",
            )
            for payment in ended
        ]
    return lines


def _without_decided(
    payment: RecurringPayment, apart: Collection[tuple[int, int]]
) -> RecurringPayment:
    """The payment without double ones that the user decided are none: pairs ``apart``."""

    def is_decided(repeated: CountedRow) -> bool:
        return any(
            (row.id, repeated.id) in apart or (repeated.id, row.id) in apart for row in payment.rows
        )

    return replace(payment, twice=tuple(row for row in payment.twice if not is_decided(row)))


def as_shown(payment: RecurringPayment, as_of: date) -> RecurringPayment:
    """The payment as lines show it: only the last year's changes and slips, and no rows."""
    return replace(
        payment,
        rows=(),
        changes=tuple(change for change in payment.changes if as_of - change.day <= RECENT),
        singles=tuple(row for row in payment.singles if as_of - row.day <= RECENT),
        missed=tuple(day for day in payment.missed if as_of - day <= RECENT),
        twice=tuple(row for row in payment.twice if as_of - row.day <= RECENT),
    )


def _older_note(payments: Sequence[RecurringPayment], as_of: date) -> list[str]:
    """A note on changes and irregularities of continuing payments that are too old to be shown."""
    older = sum(
        as_of - day > RECENT
        for payment in payments
        if payment.next_day is not None
        for day in (
            *(change.day for change in payment.changes),
            *(row.day for row in (*payment.singles, *payment.twice)),
            *payment.missed,
        )
    )
    about = "金額の変化や支払いの抜け、二重は、この1年のものだけを示しました"
    return [f"{about}（前のもの {older:,}件）"] if older else []


def _row(recurring: RecurringPayment) -> tuple[str, ...]:
    about = "" if recurring.is_fixed else "約 "
    amount, per_year = format_currency(recurring.amount), format_currency(recurring.per_year)
    about_it = filter(None, (recurring.category, recurring.account))
    payment = f"{shown_name(recurring.name)}（{'、'.join(map(shown_name, about_it))}）"
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
    for change in recurring.changes:
        words = ("減額", "増額") if recurring.is_income else ("値下がり", "値上がり")
        word = words[change.after > change.before]
        lines.append(
            f"  {change.day} から{word}: {format_currency(change.before)} → "
            f"{format_currency(change.after)}"
        )
    lines += [
        f"  {row.day} だけ {format_currency(row.yen)} [{row.id}]（1回だけの額は料金とみなしません）"
        for row in recurring.singles
    ]
    lines += [f"  {day} ごろの支払いがありません" for day in recurring.missed]
    lines += [
        f"  二重かもしれません: {row.day} にも {format_currency(row.yen)} [{row.id}]"
        for row in recurring.twice
    ]
    return tuple(lines)


def _due_lines(due: Sequence[DuePayment], until: date) -> ListLines:
    if not due:
        return [f"{until} までに予定される支払いはありません。"]
    total = format_currency(sum(payment.amount for payment in due))
    return [
        f"{until} までに予定される支払い（合計 {total}）:",
        *(
            (f"- {payment.day} ごろ {due_names([payment])}{_of_account(payment)}",)
            for payment in due
        ),
    ]


def _of_account(payment: RecurringPayment | DuePayment) -> str:
    """The account in brackets that tells a shop's payment from that of another account."""
    return payment.account and f"（{shown_name(payment.account)}）"


def _made_from(as_of: date, age: str) -> str:
    return "" if age else f"（{as_of} までの明細から）"


def _forecast_lines(months: Sequence[MonthForecast], as_of: date, age: str) -> list[str]:
    """Each month's forecast with its band."""
    if not months:
        return ["見通しには、今月より前に3か月以上の明細が必要です。"]
    lines = [f"支出の見通しです{_made_from(as_of, age)}。"]
    ahead = [figure for figure in months if not _is_over(figure, as_of)]
    for figure in months:
        band = (
            "" if figure.low is None or _is_over(figure, as_of)
            else f"、8割の幅 {format_currency(figure.low)}〜{format_currency(figure.high)}"
        )  # fmt: skip
        due = figure.due if figure in ahead[:1] else ()
        items = f"（{due_names(due, 2)}）" if due else ""
        has_planned = any(payment.is_planned for payment in figure.due)
        coming = "予定と定期的な支払い" if has_planned else "定期的な支払い"
        parts = [
            ("これまで", figure.spent),
            (f"{coming}{items}", figure.recurring),
            ("そのほか", figure.other),
        ]
        breakdown = "、".join(f"{name} {format_currency(yen)}" for name, yen in parts if yen)
        line = f"- {figure.month.in_words}: {format_currency(figure.amount)}{band}"
        lines.append(f"{line}（{breakdown}）" if breakdown else line)
    return lines


def _error_note(months: Sequence[MonthForecast], as_of: date) -> list[str]:
    if not months:
        return []
    if all(figure.typical_error is None for figure in months):
        return ["過去が短く、この方法のずれはまだ確かめられません"]
    ahead = [
        (f"{at}か月先" if at else "当月", figure.typical_error, figure.trials)
        for at, figure in enumerate(months)
        if figure.typical_error is not None and not _is_over(figure, as_of)
    ]
    errors = "、".join(f"{when} {format_currency(yen)}" for when, yen, _ in ahead)
    trials = "・".join(dict.fromkeys(str(trials) for _, _, trials in ahead))
    return [f"この方法を過去に {trials}回試したずれの中央値: {errors}"] if errors else []


def _is_over(figure: MonthForecast, as_of: date) -> bool:
    """Whether the month has ended: its spending is known, not forecast."""
    return figure.month.last_day <= as_of


_MONTHS_READ = 37


@dataclass(frozen=True, slots=True)
class RecurringAnswer(LedgerAnswer):
    """The recurring payments and income, and the payments due until the month's end."""

    as_of: date
    payments: tuple[RecurringPayment, ...]
    due: tuple[DuePayment, ...]


@dataclass(frozen=True, slots=True)
class ForecastAnswer(LedgerAnswer):
    """The running month and the next three; empty with fewer than three months before."""

    as_of: date
    months: tuple[MonthForecast, ...]


@dataclass(frozen=True, slots=True)
class AnomaliesAnswer(LedgerAnswer):
    """The unusual amounts in the month of ``as_of``."""

    as_of: date
    anomalies: tuple[Anomaly, ...]


def list_recurring_payments(ledger: Ledger, *, limit: int | None = None) -> RecurringAnswer:
    """The recurring payments of the ledger's last three years, as of its last row up to today.

    The text has the first ``limit`` payments, and as many that are due.

    Raises:
        EmptyLedger: there are no rows yet.
    """
    with ledger_view(ledger) as view:
        as_of, age = min(view.covered.last_day, ledger.today), view.age()
        rows = view.rows(_first_day(view, as_of, _MONTHS_READ), as_of)
        doubts = _doubts(view, as_of, _MONTHS_READ)
        decided = duplicate_checks.decisions(ledger)
        ends = accounts.ends_of_own_files(ledger)
    apart = {pair for pair, decision in decided.items() if decision == "not_duplicate"}
    payments = [_without_decided(each, apart) for each in recurring_payments(rows, as_of)]
    payments, unknown = _without_unknown(payments, rows, as_of)
    payments, late = _without_later(payments, ends, as_of)
    until = Month.of(as_of, ledger.month_starts_on).last_day
    due = due_until(payments, until)
    shown = tuple(as_shown(payment, as_of) for payment in payments)
    lines = first_rows(_recurring_lines(shown, as_of, age), limit)
    lines += first_rows(_due_lines(due, until), limit) if payments and as_of < until else []
    months = "、".join(month.in_words for month in unknown)  # where no payment counts as missed
    notes = [f"{months}には集計に入る明細が 1件もないため、支払いの抜けは示していません"]
    notes = _older_note(payments, as_of) + notes * bool(unknown) + late + doubts
    return RecurringAnswer(as_of, shown, tuple(due), **answer_words(lines, notes, age))


def _without_unknown(
    payments: list[RecurringPayment], rows: list[CountedRow], as_of: date
) -> tuple[list[RecurringPayment], list[Month]]:
    """The payments, without missed days in months that have no rows, and the recent such months."""
    known = {Month.of(row.day) for row in rows}
    recent = as_of - RECENT
    unknown = {
        Month.of(day) for payment in payments for day in payment.missed if day >= recent
    } - known
    cleaned = [
        replace(payment, missed=tuple(day for day in payment.missed if Month.of(day) in known))
        for payment in payments
    ]
    return cleaned, sorted(unknown)


def _without_later(
    payments: list[RecurringPayment], ends: Mapping[str, date], as_of: date
) -> tuple[list[RecurringPayment], list[str]]:
    """The payments, without missed days after their account's files end; notes on these accounts.

    A card's file often ends weeks before the bank's: the card's payments are not missed then.
    """
    cleaned, late = list[RecurringPayment](), set[str]()
    for payment in payments:
        account = payment.rows[-1].account
        known = ends.get(account, as_of) - timedelta(days=payment.interval.slack)
        missed = tuple(day for day in payment.missed if day < max(known, payment.last_day))
        has_ended = payment.next_day is None and as_of - payment.last_day <= RECENT
        due = payment.interval.after(payment.last_day, 1, payment.last_day.day)
        if missed != payment.missed or (has_ended and due >= known):
            late.add(account)
        cleaned.append(replace(payment, missed=missed))
    return cleaned, [
        f"{shown_name(account)} の明細は {ends[account]} までで、"
        "その後に支払いが抜けたか終わったかは分かりません"
        for account in sorted(late & ends.keys())
    ]


def forecast_spending(ledger: Ledger) -> ForecastAnswer:
    """The spending of the ledger's latest month and the next three, with the expected error.

    Raises:
        EmptyLedger: there are no rows yet.
    """
    with ledger_view(ledger) as view:
        as_of, age = min(view.covered.last_day, ledger.today), view.age()
        last = Month.of(as_of, ledger.month_starts_on).plus(AHEAD).last_day
        first, late = _first_whole(view, as_of)
        rows = view.rows(first, last)
        doubts = [*late, *_doubts(view, as_of, HABIT)]
    months = forecast(rows, as_of, ledger.month_starts_on)
    lines = _forecast_lines(months, as_of, age)
    if rows and all(row.is_income for row in rows):
        lines = [f"{NO_SPENDING}。"]
    notes = [*_error_note(months, as_of), *doubts]
    return ForecastAnswer(as_of, tuple(months), **answer_words(lines, notes, age))


def find_anomalies(
    ledger: Ledger, *, since: str | None = None, until: str | None = None, period: str | None = None
) -> AnomaliesAnswer:
    """Unusual categories and shops of a month up to a day, by default of the latest month.

    Raises:
        EmptyLedger, InvalidPeriod, AmbiguousPeriod: as in ``LedgerView``.
        InvalidDates: the period is neither a month nor a month up to a day.
        InsufficientData: the ledger has nothing for that month.
    """
    with ledger_view(ledger) as view:
        covered = view.covered
        span = view.period(since, until, period, default=covered.latest)
        month = span.months.first
        if len(span.months) > 1 or span.days.first != month.first_day:
            raise InvalidDates(
                "anomalies の期間は、ひと月か、月の初日からその月のある日までを指定してください。"
            )
        if month not in covered.present:
            raise InsufficientData(span.in_words, covered.default_range)
        as_of = min(covered.last_day, ledger.today, span.days.last)
        first, late = _first_whole(view, as_of)
        rows = view.rows(first, as_of)
        doubts = late + doubt_notes(view.ledger, Days(min(month.first_day, as_of), as_of), None)
    anomalies = month_anomalies(rows, as_of, ledger.month_starts_on)
    lines, history = anomaly_lines(anomalies), history_notes(anomalies)
    if rows and all(row.is_income for row in rows):
        lines, history = [f"{NO_SPENDING}。"], []
    notes = (*filter(None, [span.understood]), *history, *doubts)
    words = answer_words(lines, notes, view.age(span))
    return AnomaliesAnswer(as_of, anomalies.unusual, **words)


def _doubts(view: LedgerView, as_of: date, months: int) -> list[str]:
    """Notes on the rows of the last months that an answer was made from."""
    first = _first_day(view, as_of, months)
    return doubt_notes(view.ledger, Days(min(first, as_of), as_of), None)


def _first_day(view: LedgerView, as_of: date, months: int) -> date:
    earliest = Month.of(as_of, view.ledger.month_starts_on).plus(-months)
    return max(earliest, view.covered.body.first).first_day


def _first_whole(view: LedgerView, as_of: date) -> tuple[date, list[str]]:
    """The first day of the months to compare with; a note if days of the first one are missing.

    Such a month would look cheap. It is left out if a file's name states where it begins; a late
    first row may only mean that nothing was bought.
    """
    covered, first = view.covered, _first_day(view, as_of, _MONTHS_READ)
    month = Month.of(first, view.ledger.month_starts_on)
    if month.last_day >= as_of or not covered.begins_late(month):
        return first, []
    whole = month.plus(1).first_day if covered.is_stated else first
    return whole, view.begin_notes(month.days)
