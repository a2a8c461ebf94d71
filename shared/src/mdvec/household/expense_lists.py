"""Lists of a year for the tax office, and a period's fixed and variable costs."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date

import apsw

from mdvec.dates import MonthRange
from mdvec.household.core import expense_lists
from mdvec.household.core.answer_json import AnswerText, DayEnds
from mdvec.household.core.answer_text import answer_text
from mdvec.household.core.costs import CostLine, cost_lines, split_costs
from mdvec.household.core.expense_lists import ListName, ListRules, choose, total_of
from mdvec.household.core.periods import resolve_period, span_in_words
from mdvec.household.core.recurring import recurring_payments
from mdvec.household.core.subjects import Total
from mdvec.household.core.transaction import ListedRow, listed_row
from mdvec.household.doubt import doubt_notes, doubt_notes_on
from mdvec.household.interfaces.category_words import data_of
from mdvec.household.interfaces.ledger_sums import counted_rows, page_of_rows
from mdvec.household.interfaces.plans import all_notes
from mdvec.household.overview import coverage, one_state
from mdvec.household.shown import shown_days

_ALL = 2**31
_SEEN_BEFORE, _SEEN_AFTER = 25, 12
"""The months around a period in which payments are seen to recur."""


@dataclass(frozen=True, slots=True)
class ExpenseList:
    """The rows of a list with the person of each, their sum, and rows that look near, in yen."""

    title: str
    days: DayEnds
    rows: tuple[tuple[str, ListedRow], ...]
    total: int
    by_person: dict[str, int]
    near: tuple[ListedRow, ...]
    near_total: int
    notes: tuple[str, ...]
    age: str
    text: AnswerText


@dataclass(frozen=True, slots=True)
class CostsAnswer:
    """The spending of some days in two parts, which add up to it, with what speaks for each."""

    days: DayEnds
    spending: int
    fixed: int
    variable: int
    lines: tuple[CostLine, ...]
    notes: tuple[str, ...]
    age: str
    text: AnswerText


def expense_list(
    connection: apsw.Connection,
    tool_id: int,
    name: ListName,
    *,
    since: str | None = None,
    until: str | None = None,
    period: str | None = None,
    today: date,
) -> ExpenseList:
    """The rows for 医療費控除 or ふるさと納税 by person, by default of the latest calendar year.

    Raises:
        EmptyLedger: there are no rows yet.
        InvalidPeriod: the period was not understood.
        AmbiguousPeriod: it was given in two ways.
        InsufficientData: the ledger has nothing for these months.
    """
    with one_state(connection):
        covered = coverage(connection, tool_id, today)  # a tax year is of calendar months
        if not (since or until or period):
            since, until = (f"{covered.latest.year:04d}-{month}" for month in ("01", "12"))
        asked = resolve_period(
            today, covered.default_range, since=since, until=until, period=period
        )
        days, notes = shown_days(connection, tool_id, asked, Total.SPENDING, covered, today)
        rows = page_of_rows(connection, tool_id, days, None, offset=0, limit=_ALL)
        noted = all_notes(connection, tool_id)
        rules = _rules(name)
        chosen = choose(rows, noted, rules)
        every = [
            (person, listed_row(row, noted.get(row.id)))
            for person, own in chosen.by_person.items()
            for row in own
        ]
        notes += doubt_notes_on(connection, tool_id, lambda: [row.id for _, row in every])
    if chosen.taken_out:
        notes.append(f"タグで外した明細が {len(chosen.taken_out):,}件あります")
    notes += [asked.understood, expense_lists.how_to_change(rules.title)]
    age = covered.age(today, asked)
    span = span_in_words(days, MonthRange.around(days, covered.starts_on))
    lines = expense_lists.list_lines(rules.title, span, chosen, noted)
    return ExpenseList(
        title=rules.title,
        days=days,
        rows=tuple(every),
        total=sum(map(total_of, chosen.by_person.values())),
        by_person={person: total_of(own) for person, own in chosen.by_person.items()},
        near=tuple(listed_row(row, noted.get(row.id)) for row in chosen.near),
        near_total=total_of(chosen.near),
        notes=tuple(notes),
        age=age,
        text=answer_text(lines, notes, age=age),
    )


def fixed_and_variable_costs(
    connection: apsw.Connection,
    tool_id: int,
    *,
    since: str | None = None,
    until: str | None = None,
    period: str | None = None,
    month_starts_on: int = 1,
    today: date,
) -> CostsAnswer:
    """The spending of a period, by default the latest month, as fixed and variable costs.

    Raises:
        EmptyLedger: there are no rows yet.
        InvalidPeriod: the period was not understood.
        AmbiguousPeriod: it was given in two ways.
        InsufficientData: the ledger has nothing for these months.
    """
    with one_state(connection):
        covered = coverage(connection, tool_id, today, month_starts_on)
        asked = resolve_period(
            today, covered.default_range, since=since, until=until, period=period,
            default=covered.latest,
        )  # fmt: skip
        days, notes = shown_days(connection, tool_id, asked, Total.SPENDING, covered, today)
        first = asked.months.first.plus(-_SEEN_BEFORE).first_day
        last = min(asked.months.last.plus(_SEEN_AFTER).last_day, max(covered.last_day, days.last))
        rows = counted_rows(connection, tool_id, first, last, Total.SPENDING)
        noted = all_notes(connection, tool_id)
        notes += doubt_notes(connection, tool_id, days, Total.SPENDING)
    series = recurring_payments(rows, min(last, covered.last_day))
    own = [row for row in rows if days.first <= row.day <= days.last]
    lines = split_costs(own, series, _rules("fixed"), noted)
    fixed = sum(line.yen for line in lines if line.is_fixed)
    spending = sum(row.yen for row in own)
    notes += [asked.understood] if asked.understood else []
    age = covered.age(today, asked)
    text = cost_lines(span_in_words(days, MonthRange.around(days, covered.starts_on)), lines)
    return CostsAnswer(
        days, spending, fixed, spending - fixed, tuple(lines), tuple(notes), age,
        answer_text(text, notes, age=age),
    )  # fmt: skip


def _rules(name: str) -> ListRules:
    """A list that comes with mdvec."""
    return ListRules(**data_of("expense_lists.toml")[name])
