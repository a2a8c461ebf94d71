"""Notes under an answer about planned rows, rows with stray dates, and shortened periods."""

from __future__ import annotations

from collections.abc import Sequence

from mdvec.dates.months import MonthRange
from mdvec.household.core.sums import MonthlySum, income_and_spending
from mdvec.household.core.transaction import Transaction
from mdvec.household.core.wording import format_currency
from mdvec.text.one_line import shortened


def shortened_note(shown: MonthRange) -> str:
    """Says that only the last months of a long period are shown."""
    return f"期間が長いため、最後の {len(shown)}か月（{shown.in_words}）だけを示しました"


def whole_months_note(shown: MonthRange) -> str:
    """Says that a trend shows whole months, though a part of one was requested."""
    return f"推移は月ごとのため、{shown.in_words}を月の初めから終わりまで示しました"


def planned_note(sums: Sequence[MonthlySum], *, included: bool) -> str:
    """Names rows dated after today, and says whether the figures include them."""
    income, spending = income_and_spending(sums)
    amounts = [
        f"{name} {format_currency(sign * sum(cell.amount for cell in cells))}"
        for name, sign, cells in (("支出", -1, spending), ("収入", 1, income))
        if cells
    ]
    rows = sum(cell.rows for cell in sums)
    where = "上の金額に含みます" if included else "上の金額には含めていません"
    return f"予定（今日より後の日付の明細）: {rows:,}件、{'、'.join(amounts)}（{where}）"


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
