"""The tool of a household's reports, from a comparison of two periods to its net worth."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from inspect import signature
from typing import TYPE_CHECKING, Annotated, Any, Literal

from mdvec.charts import Chart
from mdvec.household import (
    LEVELS,
    BudgetAnswer,
    ComparisonAnswer,
    Detail,
    Hierarchy,
    NetWorthAnswer,
    accounts_report,
    budget_status,
    combined_households,
    compare_periods,
    expense_list,
    find_anomalies,
    fixed_and_variable_costs,
    forecast_spending,
    list_notes,
    list_recurring_payments,
    list_rules,
    mapping_answer,
    net_worth,
)
from pydantic import Field

from mdvec_mcp.calls import READ_ONLY, ToolReply
from mdvec_mcp.household.answer_data import ReportAnswer, reply
from mdvec_mcp.household.context import HouseholdContext, refuse_others
from mdvec_mcp.household.pictures import (
    ChartPublisher,
    budget_chart,
    comparison_chart,
    net_worth_chart,
)

if TYPE_CHECKING:
    from mdvec_mcp.offer import Offer

Report = Literal[
    "compare", "budget", "costs", "recurring", "forecast", "anomalies", "households", "net_worth",
    "medical", "furusato", "rules", "notes", "mapping", "accounts",
]  # fmt: skip
REPORTS: dict[Report, Callable[..., Any]] = {
    "compare": compare_periods,
    "budget": budget_status,
    "costs": fixed_and_variable_costs,
    "recurring": list_recurring_payments,
    "forecast": forecast_spending,
    "anomalies": find_anomalies,
    "households": combined_households,
    "net_worth": net_worth,
    "medical": partial(expense_list, name="medical"),
    "furusato": partial(expense_list, name="furusato"),
    "rules": list_rules,
    "notes": list_notes,
    "mapping": mapping_answer,
    "accounts": accounts_report,
}
"""What makes each report: its parameters are the arguments that the report takes."""
DRAWN: tuple[Report, ...] = ("compare", "budget", "net_worth")
UNDATED: tuple[Report, ...] = ("rules", "notes", "accounts")
"""Reports that no newer file would change, so that none is named."""

# The choices only inform the model; other values are refused in Japanese.
Base = Annotated[str | None, Field(description="previous、previous_year か日付。")]
Level = Annotated[str | None, Field(json_schema_extra={"enum": list(LEVELS)})]
Size = Annotated[Detail | None, Field(description="full は compare の明細、net_worth の内訳も。")]


def add_report_tool(offer: Offer, context: HouseholdContext, charts: ChartPublisher) -> None:
    """Add the tool."""

    async def household_report(
        report: Report,
        since: str | None = None,
        until: str | None = None,
        period: str | None = None,
        base: Base = None,
        category: str | None = None,
        by: Level = None,
        detail: Size = None,
        limit: int | None = None,
        output_format: Literal["text", "image"] | None = None,
        tool: str | None = None,
        file: str | None = None,
    ) -> ToolReply:
        asked = {
            "since": since, "until": until, "period": period, "base": base, "category": category,
            "by": by, "detail": detail, "limit": limit, "file": file,
        }  # fmt: skip
        make = REPORTS[report]
        takes = [name for name in signature(make).parameters if name in asked]
        takes += ["output_format"] * (report in DRAWN) + ["tool"] * (report != "households")
        refuse_others(
            f"household_report の report={report}", tuple(takes),
            {**asked, "output_format": output_format, "tool": tool},
            ("file",) if report == "mapping" else (),
        )  # fmt: skip
        given = {name: value for name, value in asked.items() if value is not None}
        work = partial(make, **given, **context.settings_of(make))
        if report == "mapping":
            return reply(await context.in_folder(tool, work))
        if report == "households":
            return reply(await context.run_over_all("read", work))
        if report in UNDATED:
            return reply(await context.run(tool, "read", work))
        is_picture = output_format == "image"
        answer, names, newer = await context.with_categories(tool, work, wanted=is_picture)
        chart = _chart_of(answer, names) if is_picture else None
        return reply(answer, newer) if chart is None else await charts.reply(answer, newer, chart)

    offer.add_tool(
        household_report,
        description="Household reports, since, until in ISO: compare this month or year with "
        "last, budget, costs, recurring payments, forecast, anomalies, households, account "
        "balances, net worth, rules, notes, mapping. 家計簿の比較（前年比）、予算、口座の残高、"
        "固定費と変動費、サブスク、見通し、純資産の推移、医療費控除とふるさと納税の一覧。",
        annotations=READ_ONLY,
        answer=ReportAnswer,
    )


def _chart_of(
    answer: ComparisonAnswer | BudgetAnswer | NetWorthAnswer, names: Hierarchy
) -> Callable[[], Chart] | None:
    """Makes the chart of a report; None if there is nothing to draw."""
    match answer:
        case ComparisonAnswer(movements=shown):
            return partial(comparison_chart, answer) if shown else None
        case BudgetAnswer(statuses=budgets):
            return partial(budget_chart, answer, names) if budgets else None
        case NetWorthAnswer():
            return partial(net_worth_chart, answer)
