"""The months that a ledger covers, without stray rows, and notes on what an answer covers."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from mdvec.dates import Month, MonthRange
from mdvec.household.core.sums import MonthlySum, income_and_spending
from mdvec.household.core.transaction import Transaction
from mdvec.household.core.wording import format_currency
from mdvec.text import shortened


def shortened_note(shown: MonthRange) -> str:
    """Says that only the last months of a long period are shown."""
    return f"期間が長いため、最後の {len(shown)}か月（{shown.in_words}）だけを示しました"


def whole_months_note(shown: MonthRange) -> str:
    """Says that a trend shows whole months, though a part of one was requested."""
    return f"推移は月ごとのため、{shown.in_words}を月の初めから終わりまで示しました"


PLANNED_INCLUDED = "上の金額に含みます"
PLANNED_LEFT_OUT = "上の金額には含めていません"
PLANNED_DUE = "使った金額には含めていません。期間内のものは「これからの支払い」に数えます"


def planned_note(sums: Sequence[MonthlySum], where: str) -> str:
    """Names rows dated after today, and says where they are in the figures."""
    income, spending = income_and_spending(sums)
    return planned_totals_note(
        sum(cell.rows for cell in sums),
        -sum(cell.amount for cell in spending) if spending else None,
        sum(cell.amount for cell in income) if income else None,
        where,
    )


def planned_totals_note(rows: int, spending: int | None, income: int | None, where: str) -> str:
    """The same of totals; None for those without a row."""
    amounts = "".join(
        f"、{name} {format_currency(yen)}"
        for name, yen in (("支出", spending), ("収入", income))
        if yen is not None
    )
    return f"予定（今日より後の日付の明細）: {rows:,}件{amounts}（{where}）"


def astray_note(total: int, rows: Sequence[Transaction]) -> str:
    """Names rows dated years away from all others, which the figures leave out."""
    named = "、".join(
        f"{row.date} {shortened(row.description)} {format_currency(row.amount)}"
        f"（{shortened(row.source_file)} {row.row_number}行目）"
        for row in rows
    )
    more = f"、ほか {total - len(rows):,}件" if total > len(rows) else ""
    return (
        f"日付がほかから何年も離れた明細 {total:,}件は含めていません: {named}{more}。"
        "日付の誤りなら、直して取り込み直してください。正しければ、その年月を指定すると集計できます"
    )


MAX_GAP_MONTHS = 36
"""More months than this between two rows separate two runs of months."""
MAX_ASTRAY_ROWS = 10
"""A run with more rows than this belongs to the ledger, however far away it lies."""


@dataclass(frozen=True, slots=True)
class MonthRun:
    """A run of months with rows at most ``MAX_GAP_MONTHS`` apart, and its number of rows."""

    months: MonthRange
    rows: int

    def is_astray(self, now: Month) -> bool:
        """Whether its dates are probably wrong: only a few rows, and far from today."""
        near = (
            self.months.last.plus(MAX_GAP_MONTHS) >= now
            and self.months.first.plus(-MAX_GAP_MONTHS) <= now
        )
        return self.rows <= MAX_ASTRAY_ROWS and not near


def runs_of(months: Iterable[Month]) -> list[MonthRange]:
    """Groups months, given in order, into runs."""
    runs: list[MonthRange] = []
    for month in months:
        if runs and month.since(runs[-1].last) <= MAX_GAP_MONTHS:
            runs[-1] = MonthRange(runs[-1].first, month)
        else:
            runs.append(MonthRange(month, month))
    return runs


def body_of(runs: Sequence[MonthRun], now: Month) -> MonthRange:
    """The months of the ledger without stray runs at either end.

    If all runs are stray, the last that has begun by ``now``, or else the first.
    """
    body = [run.months for run in runs if not run.is_astray(now)]
    if not body:
        begun = [run.months for run in runs if run.months.first <= now]
        body = begun[-1:] or [runs[0].months]
    return MonthRange(body[0].first, body[-1].last)


def latest_of(months: Sequence[Month], body: MonthRange, now: Month) -> Month:
    """The last month with rows that has begun by ``now``; if none has, the last of the body."""
    begun = [month for month in months if month in body and month <= now]
    return begun[-1] if begun else body.last
