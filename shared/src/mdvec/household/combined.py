"""Several households of one family in one view."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date

import apsw

from mdvec.dates import MonthRange
from mdvec.household.core import wording
from mdvec.household.core.answers import AnswerText, DayEnds, age_line, answer_text
from mdvec.household.core.periods import UnderstoodPeriod, resolve_period
from mdvec.household.core.sums import (
    CategoryShare,
    MonthlySum,
    RowCounts,
    counts_of,
    income_and_spending,
    shares,
)
from mdvec.household.core.wording import EmptyLedger, InsufficientData, format_currency
from mdvec.household.interfaces import ledger_sums
from mdvec.household.ledger_view import doubt_notes
from mdvec.household.overview import Coverage, coverage, one_state
from mdvec.household.sharing import SharedPair, left_out_of_the_sum, pairs_across, told_pairs
from mdvec.text import shown_name

_NONE_SHARED = "両方の家計簿にある同じ買い物は二度数えますが、それらしい組は見つかりませんでした"


@dataclass(frozen=True, slots=True)
class HouseholdFigures:
    """A household's spending and income in yen, both positive."""

    name: str
    spending: int
    income: int

    @property
    def balance(self) -> int:
        """Income minus spending."""
        return self.income - self.spending


@dataclass(frozen=True, slots=True)
class CombinedAnswer:
    """Each household's figures, and those of all together, by 大項目.

    ``counts`` are of the rows of all together.
    """

    days: DayEnds
    households: tuple[HouseholdFigures, ...]
    spending: int
    income: int
    spending_by_category: tuple[CategoryShare, ...]
    shared: tuple[SharedPair, ...]
    counts: RowCounts
    notes: tuple[str, ...]
    age: str
    text: AnswerText


def combined_households(
    connection: apsw.Connection,
    tools: Mapping[str, int],
    *,
    since: str | None = None,
    until: str | None = None,
    period: str | None = None,
    month_starts_on: int = 1,
    today: date,
) -> CombinedAnswer:
    """The households of ``tools`` (tool ids by name) in a period, by default the latest month.

    A purchase that is in two of them counts twice in the sum over all until the user has decided:
    ``shared`` has the pairs that are likely one, or a transfer between them, with a row in the
    period.

    Raises:
        EmptyLedger: no household has rows yet.
        InvalidPeriod: the period was not understood.
        InsufficientData: no household has rows in these months.
    """
    with one_state(connection):
        covered = {
            name: span
            for name in tools
            if (span := _coverage(connection, tools[name], today, month_starts_on))
        }
        if not covered:
            raise EmptyLedger(next(iter(tools), ""))
        latest = max(span.latest for span in covered.values())
        available = MonthRange(min(span.body.first for span in covered.values()), latest)
        requested = resolve_period(
            today, available, since=since, until=until, period=period, default=latest
        )
        days = requested.days
        cells = {
            name: ledger_sums.monthly_sums(connection, tools[name], days, None, by_minor=False)
            for name in tools
        }
        pending = [
            note
            for name, tool_id in tools.items()
            for note in wording.pending_removal_notes(
                ledger_sums.counted_sums(connection, tool_id, days, None, 1, pending_only=True),
                name,
            )
        ]
        doubts = [
            f"{name}: {note}" if len(tools) > 1 else note
            for name, tool_id in tools.items()
            for note in doubt_notes(connection, tool_id, days, None)
        ]
        left_out = left_out_of_the_sum(connection, tools, days)
        across = pairs_across(connection, tools, days) if len(tools) > 1 else []
    if not any(cells.values()):
        raise InsufficientData(requested.in_words, available)
    notes = [f"{name} にはこの期間の明細がありません" for name, sums in cells.items() if not sums]
    if across is None:
        notes.append("両方の家計簿にある同じ買い物は二度数えています（行が多く、探せませんでした）")
    elif len(tools) > 1 and not across and not left_out.text:
        notes.append(_NONE_SHARED)
    notes += [left_out.text] if left_out.text else []
    notes += pending + doubts
    notes += [requested.understood] if requested.understood else []
    last = requested.days.last if requested.understood else None
    age = "".join(
        age_line(span.last_day, today, last, f"{name} の明細") for name, span in covered.items()
    )
    return _answer(requested, cells, left_out.cells, across or [], notes, age)


def _coverage(
    connection: apsw.Connection, tool_id: int, today: date, starts_on: int
) -> Coverage | None:
    try:
        return coverage(connection, tool_id, today, starts_on)
    except EmptyLedger:
        return None


def _answer(
    period: UnderstoodPeriod,
    cells: Mapping[str, list[MonthlySum]],
    left_out: Sequence[MonthlySum],
    across: list[SharedPair],
    notes: list[str],
    age: str,
) -> CombinedAnswer:
    households = [_figures(name, sums) for name, sums in cells.items()]
    every = [*left_out, *(cell for sums in cells.values() for cell in sums)]
    by_category = tuple(
        category_share
        for category_share in shares(income_and_spending(every)[1], by_minor=False)
        if category_share.rows
    )
    together = _figures("合計", every)
    lines = [f"{period.in_words}の {len(households)}つの家計簿です。"]
    lines += [
        f"- {figures.name}: 支出 {format_currency(figures.spending)}、"
        f"収入 {format_currency(figures.income)}、"
        f"収支 {format_currency(figures.balance, signed=True)}"
        for figures in (*households, together)
    ]
    if by_category:
        lines.append("合わせたカテゴリ別の支出:")
        lines += [
            f"- {shown_name(share.category)}: {format_currency(share.amount)}"
            f"（{wording.format_percentage(share.share, signed=False)}, {share.rows:,}件）"
            for share in by_category
        ]
    lines += told_pairs(across)
    counts = counts_of(every)
    notes = [*notes, *wording.removed_notes(every)]
    text = answer_text(lines, [*notes, wording.counts_text(counts)], age=age)
    return CombinedAnswer(
        period.days, tuple(households), together.spending, together.income, by_category,
        tuple(across), counts, tuple(notes), age, text,
    )  # fmt: skip


def _figures(name: str, sums: Sequence[MonthlySum]) -> HouseholdFigures:
    earned, spent = (
        sum(share.amount for share in shares(part, by_minor=False))
        for part in income_and_spending(sums)
    )
    return HouseholdFigures(name, spent, earned)
