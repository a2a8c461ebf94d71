"""Sets a household's budgets, and compares them with what was spent."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import date

from mdvec.dates import Days, Month, MonthRange
from mdvec.errors import MdvecError
from mdvec.household.core.answers import LedgerAnswer, MonthEnds, answer_words, safe_line
from mdvec.household.core.budgets import (
    PER,
    SPANS,
    Budget,
    BudgetStatus,
    budget_months,
    budget_set_text,
    covers,
    status_lines,
    status_of_budget,
    typical_month,
    worst_first,
)
from mdvec.household.core.categories import Category, Subject, Total, folded_category
from mdvec.household.core.category_rules import renamed
from mdvec.household.core.recurring import recurring_payments
from mdvec.household.core.shown import bracketed_name, shown_name
from mdvec.household.core.transaction import CountedRow
from mdvec.household.core.wording import check_choice
from mdvec.household.interfaces import plans
from mdvec.household.interfaces.ledger import Ledger
from mdvec.household.interfaces.ledger_sums import category_names, counted_rows
from mdvec.household.ledger_view import doubt_notes, ledger_view
from mdvec.household.overview import Coverage, coverage, named_subject

MAX_AMOUNT = 10**10
_MONTHS_READ = 37
"""How many earlier months are read to compute expected spending and recurring payments."""


class InvalidBudget(MdvecError):
    """A budget that cannot be set; the message says why."""


@dataclass(frozen=True, slots=True)
class BudgetSet:
    """A budget that was set, or removed (``amount`` 0), and its former amount, if any."""

    subject: str
    per: str
    amount: int
    before: int | None
    message: str


@dataclass(frozen=True, slots=True)
class BudgetAnswer(LedgerAnswer):
    """Each budget's status, the most urgent first.

    ``unbudgeted`` is the spending in ``months`` that no budget of a category covers; None if
    there is none, or no budget at all.
    """

    months: MonthEnds
    statuses: tuple[BudgetStatus, ...]
    unbudgeted: int | None


def set_budget(ledger: Ledger, *, category: str, amount: int, per: str = "month") -> BudgetSet:
    """Set the yen to spend on a category, or on 支出, per month or year; 0 removes the budget.

    Raises:
        EmptyLedger: there are no rows yet.
        UnknownCategory: no category, or several, have that name.
        InvalidChoice: the span is neither month nor year.
        InvalidBudget: the amount or the category cannot be used for a budget.
    """
    check_choice("per", per, SPANS)
    if not 0 <= amount <= MAX_AMOUNT:
        raise InvalidBudget(
            f"予算 {amount:,}円は使えません。0〜{MAX_AMOUNT:,} の整数で指定してください。"
        )
    with ledger.connection:
        covered = coverage(ledger)
        budgets = plans.budgets_of(ledger)
        folded = folded_category(category)
        own = [each.subject for each in budgets if folded_category(str(each.subject)) == folded]
        subject, notes = own[0] if own and not amount else None, list[str]()
        if subject is None:
            subject, notes = named_subject(ledger, category, is_exact=True)
        if subject is None or subject.is_income or subject in (Total.BALANCE, Total.SAVINGS_RATE):
            raise InvalidBudget("予算は、支出のカテゴリか「支出」（全体）に決められます。")
        known: dict[tuple[Subject, str], int] = {
            (each.subject, each.per): each.amount for each in budgets
        }
        before = known.get((subject, per))
        remark = "".join(f"※ {note}。" for note in notes)
        if amount == 0:
            plans.delete_budget(ledger, subject, per)
            name = shown_name(subject)
            message = f"{name}の予算をやめました。" if before else f"{name}の予算はありません。"
            others = [span for span in SPANS if (subject, span) in known and not before]
            if others:
                (other,) = others
                message = (
                    f"{name}の予算は、{PER[other]}のものだけです（per={other} と amount=0 で"
                    "やめられます）。"
                )
            return BudgetSet(str(subject), per, 0, before, safe_line(message + remark))
        budget = Budget(subject, "month" if per == "month" else "year", amount)
        plans.put_budget(ledger, budget)
        rows = _rows(ledger, MonthRange(covered.latest, covered.latest), subject)
        before_it = min(Month.of(ledger.today, ledger.month_starts_on), covered.latest.plus(1))
        typical = typical_month(_spent_on(subject, rows), before_it)
    message = budget_set_text(budget, before, typical)
    return BudgetSet(str(subject), per, amount, before, safe_line(message + remark))


def budget_status(
    ledger: Ledger, *, since: str | None = None, until: str | None = None, period: str | None = None
) -> BudgetAnswer:
    """Every budget and its spending in a month or period, by default the latest month.

    The status is as of the period's last day, or of today if that is earlier. A yearly budget is
    compared with the spending up to that day in the year of the period's last month.

    Raises:
        EmptyLedger, InvalidPeriod, AmbiguousPeriod: as in ``LedgerView``.
        InvalidBudget: the period begins within a month.
        InsufficientData: the ledger has nothing for these months.
    """
    with ledger_view(ledger) as view:
        requested = view.period(since, until, period, default=view.covered.latest)
        first_day = requested.months.first.first_day
        if requested.days.first != first_day:
            raise InvalidBudget(
                f"予算は月ごとなので、期間は月の初日から指定してください（since={first_day}）。"
            )
        as_of = min(ledger.today, requested.days.last)
        whole = replace(requested, days=requested.months.days)
        months, notes = view.shown_months(whole, Total.SPENDING, until_today=True)
        budgets = plans.budgets_of(ledger)
        spans = [budget_months(budget, months) for budget in budgets]
        covered = view.covered
        empty = _without_rows(ledger, budgets)
        notes += [*_empty_notes(ledger, empty), *_late_begin_notes(covered, spans, months)]
        rows = _rows(ledger, months, Total.SPENDING) if budgets else []
        first = min(span.days.first for span in (months, *spans))
        if budgets and first <= as_of:
            notes += doubt_notes(ledger, Days(first, as_of), Total.SPENDING)
    known = min(as_of, covered.last_day)
    past = [row for row in rows if row.day <= known]
    is_running = any(known < span.days.last for span in spans)
    recurring = recurring_payments(past, known) if is_running else []
    rows_so_far = rows if as_of == ledger.today else [row for row in rows if row.day <= as_of]
    statuses = [
        status_of_budget(
            budget,
            span,
            _spent_on(budget.subject, rows_so_far),
            as_of,
            Days(min(covered.begins, known), known),
            recurring,
        )
        for budget, span in zip(budgets, spans, strict=True)
    ]
    outside = _unbudgeted_yen(rows, budgets, months, as_of) if budgets else None
    notes.append(requested.understood)
    ranked = worst_first(statuses)
    without = sum(budget.subject in empty for budget in budgets)
    lines = status_lines(months.in_words, ranked, outside, without, known)
    words = answer_words(lines, notes, view.age(requested))
    return BudgetAnswer(months, tuple(ranked), outside, **words)


def _late_begin_notes(
    covered: Coverage, spans: Iterable[MonthRange], months: MonthRange
) -> list[str]:
    """A note if the ledger begins within the year of a yearly budget."""
    if not any(
        span != months
        and covered.body.first in span
        and (span.first < covered.body.first or covered.begins_late(span.first))
        for span in spans
    ):
        return []
    return [
        f"毎年の予算では、明細のない {covered.begins} より前を、使った金額にも見込みにも"
        "数えていません"
    ]


def _without_rows(ledger: Ledger, budgets: list[Budget]) -> list[Category]:
    """The categories of budgets that no row has, such as those that a rule has renamed."""
    names = category_names(ledger) if budgets else []
    known = [Category(major, minor or None) for major, minor in names]
    subjects = dict.fromkeys(each.subject for each in budgets)
    return [
        subject
        for subject in subjects
        if isinstance(subject, Category)
        and not any(covers(subject, category) for category in known)
    ]


def _empty_notes(ledger: Ledger, empty: list[Category]) -> list[str]:
    """Notes on budgets of categories without rows, with the new name if a rule renamed one."""
    rules = plans.rules_of(ledger) if empty else []
    now = {subject: renamed(subject, rules) for subject in empty}
    notes = [
        f"予算のカテゴリ{bracketed_name(before)}は、規則で{bracketed_name(after)}になったので、"
        "使った金額を数えていません（いまのカテゴリで決め直してください）"
        for before, after in now.items()
        if after != before
    ]
    if empty:
        names = "、".join(map(shown_name, empty))
        notes.append(
            f"予算のカテゴリのうち、どの明細のカテゴリでもないもの: {names}"
            "（amount=0 でやめられます）"
        )
    return notes


def _rows(ledger: Ledger, months: MonthRange, subject: Subject) -> list[CountedRow]:
    """The rows of these months and their years, and of earlier months for estimates.

    The January of the next year is included for payments that were delayed into it.
    """
    year, starts_on = months.last.year, months.last.starts_on
    first = min(months.first.plus(-_MONTHS_READ), Month(year, 1, starts_on))
    last = Month(year + 1, 1, starts_on).last_day
    return counted_rows(ledger, first.first_day, last, subject)


def _spent_on(subject: Subject, rows: Iterable[CountedRow]) -> list[CountedRow]:
    """The rows of spending that are part of a budget's subject."""
    return [row for row in rows if covers(subject, row.full_category)]


def _unbudgeted_yen(
    rows: list[CountedRow], budgets: list[Budget], months: MonthRange, today: date
) -> int | None:
    subjects = [budget.subject for budget in budgets if budget.subject is not Total.SPENDING]
    if not subjects:
        return None
    last = min(months.days.last, today)
    outside = [
        row.yen
        for row in rows
        if months.days.first <= row.day <= last
        and not any(covers(subject, row.full_category) for subject in subjects)
    ]
    return sum(outside) if outside else None
