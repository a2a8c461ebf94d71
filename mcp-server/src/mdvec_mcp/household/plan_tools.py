"""The tools for planning: comparisons, budgets, recurring payments and the outlook."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any, Literal

from mcp_types import CallToolResult
from mdvec.database.connection import Connection
from mdvec.household.budgeting import BudgetAnswer, budget_status
from mdvec.household.budgeting import set_budget as put_budget
from mdvec.household.combined import combined_households
from mdvec.household.comparison import LEVELS, compare_periods
from mdvec.household.core.budgets import SPANS
from mdvec.household.core.categories import Hierarchy
from mdvec.household.habits import find_anomalies, forecast_spending
from mdvec.household.habits import list_recurring_payments as recurring
from mdvec.household.net_worth import net_worth
from pydantic import Field

from mdvec_mcp.calls import READ_ONLY, WRITES, in_thread, text_result
from mdvec_mcp.database_trouble import trouble_in_japanese
from mdvec_mcp.household.context import HouseholdContext, today
from mdvec_mcp.household.json_values import json_value
from mdvec_mcp.household.pictures import names_for, with_chart
from mdvec_mcp.household.rule_tools import add_rule_tools

if TYPE_CHECKING:
    from mdvec_mcp.household.pictures import ChartPublisher
    from mdvec_mcp.offer import Offer

# The bounds only inform the model; the library refuses other values, in Japanese.
Level = Annotated[str, Field(json_schema_extra={"enum": list(LEVELS)})]
Base = Annotated[str | None, Field(description="比べる期間。省略時は直前、「前年」は1年前。")]
Span = Annotated[str, Field(json_schema_extra={"enum": list(SPANS)})]
Yen = Annotated[int, Field(description="円。0でやめる。")]
Outlook = Literal["forecast", "anomalies", "households", "net_worth"]

_OUTLOOKS: dict[str, Callable[..., Any]] = {
    "forecast": forecast_spending,
    "anomalies": find_anomalies,
}


def add_plan_tools(offer: Offer, context: HouseholdContext, charts: ChartPublisher) -> None:
    """Add the tools; their results have no schema, which would cost every conversation."""
    _add_comparison(offer, context)
    _add_budgets(offer, context, charts)
    _add_habits(offer, context, charts)
    add_rule_tools(offer, context)


def _add_comparison(offer: Offer, context: HouseholdContext) -> None:
    async def compare_periods_(
        period: str | None = None,
        base: Base = None,
        category: str | None = None,
        by: Level = "category",
        tool: str | None = None,
    ) -> CallToolResult:
        work = partial(
            compare_periods,
            period=period,
            base=base,
            category=category,
            by=by,
            month_starts_on=context.month_starts_on,
            today=today(),
        )
        answer, newer = await context.answer(tool, work)
        return text_result(answer.text + newer, json_value(answer))

    offer.add_tool(
        compare_periods_,
        name="compare_periods",
        description="家計簿の二つの期間を並べ、動いたものと動かした明細を返す。",
        annotations=READ_ONLY,
        structured_output=False,
    )


def _add_budgets(offer: Offer, context: HouseholdContext, charts: ChartPublisher) -> None:
    async def set_budget(
        category: str, amount: Yen, per: Span = "month", tool: str | None = None
    ) -> CallToolResult:
        work = partial(
            put_budget,
            category=category,
            amount=amount,
            per=per,
            month_starts_on=context.month_starts_on,
            today=today(),
        )
        done = await context.run(tool, "write", work)
        return text_result(done.message, json_value(done))

    async def get_budget_status(
        period: str | None = None,
        output_format: Literal["text", "image"] = "text",
        tool: str | None = None,
    ) -> CallToolResult:
        status = partial(
            budget_status, period=period, month_starts_on=context.month_starts_on, today=today()
        )

        def work(connection: Connection, tool_id: int) -> tuple[BudgetAnswer, Hierarchy]:
            return status(connection, tool_id), names_for(output_format, connection, tool_id)

        (answer, names), newer = await context.answer(tool, work)
        if output_format == "text" or not answer.statuses:
            return text_result(answer.text + newer, json_value(answer))
        chart = await in_thread(lambda: charts.budgets(answer, names), trouble_in_japanese)
        return with_chart(answer.text + newer, chart, json_value(answer))

    offer.add_tool(
        set_budget,
        description="カテゴリか「支出」全体の予算を、ユーザーの言うとおりに決める。",
        annotations=WRITES,
        structured_output=False,
    )
    offer.add_tool(
        get_budget_status,
        description="予算と実績を、月日の経過と並べて返す。省略時は最新の月。",
        annotations=READ_ONLY,
        structured_output=False,
    )


def _add_habits(offer: Offer, context: HouseholdContext, charts: ChartPublisher) -> None:
    async def list_recurring_payments(tool: str | None = None) -> CallToolResult:
        answer, newer = await context.answer(
            tool, partial(recurring, month_starts_on=context.month_starts_on, today=today())
        )
        return text_result(answer.text + newer, json_value(answer))

    async def get_household_outlook(
        what: Outlook,
        period: str | None = None,
        output_format: Literal["text", "image"] = "text",
        tool: str | None = None,
    ) -> CallToolResult:
        if what == "households":
            combined = partial(
                combined_households, period=period, month_starts_on=context.month_starts_on,
                today=today(),
            )  # fmt: skip
            together = await context.run_over_all("read", combined)
            return text_result(together.text, json_value(together))
        if what == "net_worth":
            owned, newer = await context.answer(
                tool, partial(net_worth, period=period, today=today())
            )
            if output_format == "text":
                return text_result(owned.text + newer, json_value(owned))
            chart = await in_thread(partial(charts.net_worth, owned), trouble_in_japanese)
            return with_chart(owned.text + newer, chart, json_value(owned))
        work = partial(_OUTLOOKS[what], month_starts_on=context.month_starts_on, today=today())
        answer, newer = await context.answer(tool, work)
        return text_result(answer.text + newer, json_value(answer))

    offer.add_tool(
        list_recurring_payments,
        description="定期的な支払い（値上がり、抜け、二重、年額、月末までの予定）を返す。",
        annotations=READ_ONLY,
        structured_output=False,
    )
    offer.add_tool(
        get_household_outlook,
        description="今月と3か月先までの支出の見通し（forecast）、いつもと違う支出（anomalies）、"
        "期間の全家計簿の合計（households）、純資産の推移（net_worth、画像も）を返す。",
        annotations=READ_ONLY,
        structured_output=False,
    )
