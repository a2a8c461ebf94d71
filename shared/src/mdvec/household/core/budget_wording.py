"""The Japanese texts about budgets."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import ROUND_HALF_UP, Decimal

from mdvec.household.core.budgets import Budget, BudgetStatus
from mdvec.household.core.habit_wording import due_names
from mdvec.household.core.wording import format_currency
from mdvec.text import shown_name
from mdvec.tools import offered_name

PER = {"month": "毎月", "year": "毎年"}
_PASSED = {"month": "月", "year": "年"}


def name_of(budget: Budget) -> str:
    """A budget in words: 食費（毎月）."""
    return f"{shown_name(budget.subject)}（{PER[budget.per]}）"


def whole_percent(percent: Decimal) -> str:
    """A percentage without decimals: 63 %."""
    return f"{percent.quantize(Decimal(1), ROUND_HALF_UP)} %"


def status_line(status: BudgetStatus) -> str:
    """One budget: spent, used, left, how much of its time has passed, and a warning."""
    span = "期間" if len(status.months) > 1 and status.budget.per == "month" else None
    span = span or _PASSED[status.budget.per]
    used = whole_percent(status.used)
    line = (
        f"- {name_of(status.budget)}: 予算 {format_currency(status.amount)} のうち "
        f"{format_currency(status.spent)}"
    )
    if status.expected is None:
        line += f"（{used}）"
    else:
        line += f"（{span}の {whole_percent(status.elapsed)}が過ぎて {used}）"
    if status.warning == "exceeded":
        return f"{line}、{format_currency(-status.left)} 超過"
    line += f"、残り {format_currency(status.left)}"
    if status.warning == "ahead":
        line += f"。このままだと {format_currency(status.expected)} になりそうです"
    elif status.expected is not None:
        line += f"、見込み {format_currency(status.expected)}"
    return line


def status_lines(
    months: str, statuses: Sequence[BudgetStatus], unbudgeted: int | None
) -> list[str]:
    """Every budget's line, and what was spent outside of all of them."""
    if not statuses:
        return [
            f"予算はまだありません。{offered_name('edit_household')}（what=budget）で、"
            "たとえば category=食費、amount=50000 のように決められます。"
        ]
    warned = sum(1 for status in statuses if status.warning)
    summary = f"注意が必要なものは {warned}件です。" if warned else "どれも予算のうちです。"
    lines = [f"{months}の予算と実績です。{summary}"]
    for status in statuses:
        lines += [status_line(status), *_free_lines(status)]
    if unbudgeted is not None:
        lines.append(f"- 予算のないカテゴリの支出: {format_currency(unbudgeted)}")
    return lines


def _free_lines(status: BudgetStatus) -> list[str]:
    """What may still be spent beside the payments that will come, each named; none without any."""
    if not status.due:
        return []
    due = sum(payment.amount for payment in status.due)
    is_sure = all(payment.is_fixed for payment in status.due)
    about = "" if is_sure else "約 "
    kind = "" if any(payment.is_planned for payment in status.due) else "定期的な"
    return [
        f"  これからの{kind}支払い {about}{format_currency(due)}（{due_names(status.due)}）を"
        f"除くと、あと使えるのは {about}{format_currency(status.free)}"
    ]


def budget_set_text(budget: Budget, before: int | None, typical: int | None) -> str:
    """Says what was set, what it was before, and what the category usually comes to."""
    was = "" if before is None else f"（これまで {format_currency(before)}）"
    usual = (
        "" if typical is None or budget.per == "year"
        else f"直近6か月の中央値は {format_currency(typical)} です。"
    )  # fmt: skip
    name, amount = shown_name(budget.subject), format_currency(budget.amount)
    return f"{name}の予算を{PER[budget.per]} {amount} にしました{was}。{usual}"
