"""The tool of a household's reports, from a comparison of two periods to its net worth."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import asdict, dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Annotated, Literal

from mdvec.database import Connection
from mdvec.household import (
    LEVELS,
    MAX_SUGGESTIONS,
    BudgetAnswer,
    ComparisonAnswer,
    Detail,
    Hierarchy,
    ListName,
    NetWorthAnswer,
    RuleList,
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

from mdvec_mcp.calls import READ_ONLY, ToolReply, in_thread
from mdvec_mcp.database_trouble import trouble_in_japanese
from mdvec_mcp.household.answer_data import (
    DrawnBudgets,
    DrawnComparison,
    DrawnNetWorth,
    ReportAnswer,
    drawn,
    json_of,
)
from mdvec_mcp.household.context import HouseholdContext, refuse_others, today
from mdvec_mcp.household.pictures import PublishedChart, names_for, with_chart

if TYPE_CHECKING:
    from mdvec_mcp.household.pictures import ChartPublisher
    from mdvec_mcp.offer import Offer

Report = Literal[
    "compare", "budget", "costs", "recurring", "forecast", "anomalies", "households", "net_worth",
    "medical", "furusato", "rules", "notes", "mapping", "accounts",
]  # fmt: skip
TAKES: dict[Report, tuple[str, ...]] = {
    "compare": (
        "since",
        "until",
        "period",
        "base",
        "category",
        "by",
        "detail",
        "limit",
        "output_format",
        "tool",
    ),
    "budget": ("since", "until", "period", "output_format", "tool"),
    "costs": ("since", "until", "period", "tool"),
    "recurring": ("tool",),
    "forecast": ("tool",),
    "anomalies": ("since", "until", "period", "tool"),
    "households": ("since", "until", "period"),
    "net_worth": ("since", "until", "period", "detail", "output_format", "tool"),
    "medical": ("since", "until", "period", "tool"),
    "furusato": ("since", "until", "period", "tool"),
    "rules": ("tool",),
    "notes": ("tool",),
    "mapping": ("file", "tool"),
    "accounts": ("tool",),
}
"""The arguments of each report."""

# The choices only inform the model; other values are refused in Japanese.
Base = Annotated[
    str | None,
    Field(description="previous、previous_year か日付。"),
]
Level = Annotated[str | None, Field(json_schema_extra={"enum": list(LEVELS)})]
Size = Annotated[Detail | None, Field(description="full は compare の明細、net_worth の内訳も。")]


@dataclass(frozen=True, slots=True)
class Asked:
    """The arguments of a call beside the report's name; None for those that were not given."""

    since: str | None
    until: str | None
    period: str | None
    base: str | None
    category: str | None
    by: str | None
    detail: Detail | None
    limit: int | None
    output_format: Literal["text", "image"] | None
    tool: str | None
    file: str | None


def add_report_tool(offer: Offer, context: HouseholdContext, charts: ChartPublisher) -> None:
    """Add the tool."""
    reports = Reports(context, charts)

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
        request = Asked(
            since=since, until=until, period=period, base=base, category=category, by=by,
            detail=detail, limit=limit, output_format=output_format, tool=tool, file=file,
        )  # fmt: skip
        needs = ("file",) if report == "mapping" else ()
        refuse_others(f"household_report の report={report}", TAKES[report], asdict(request), needs)
        return await reports.told(report, request)

    offer.add_tool(
        household_report,
        description="Household reports, since, until in ISO: compare this month or year with "
        "last, budget, costs, recurring payments, forecast, anomalies, households, account "
        "balances, net worth, rules, notes, mapping. 家計簿の比較（前年比）、予算、口座の残高、"
        "固定費と変動費、サブスク、見通し、純資産の推移、医療費控除とふるさと納税の一覧。",
        annotations=READ_ONLY,
        answer=ReportAnswer,
    )


@dataclass(frozen=True, slots=True)
class Reports:
    """Makes the reports."""

    context: HouseholdContext
    charts: ChartPublisher

    async def told(self, report: Report, request: Asked) -> ToolReply:
        """The answer with a report."""
        makers: dict[Report, Callable[[Asked], Awaitable[ToolReply]]] = {
            "compare": self._comparison,
            "budget": self._budgets,
            "costs": self._costs,
            "recurring": self._recurring,
            "forecast": self._forecast,
            "anomalies": self._anomalies,
            "households": self._households,
            "net_worth": self._net_worth,
            "medical": partial(self._expenses, "medical"),
            "furusato": partial(self._expenses, "furusato"),
            "rules": self._rules,
            "notes": self._notes,
            "mapping": self._mapping,
            "accounts": self._accounts,
        }
        return await makers[report](request)

    async def _comparison(self, request: Asked) -> ToolReply:
        detail = request.detail or "concise"
        work = partial(
            compare_periods, since=request.since, until=request.until, period=request.period,
            base=request.base, category=request.category, by=request.by or "category",
            detail=detail, limit=request.limit,
            month_starts_on=self.context.month_starts_on, today=today(),
        )  # fmt: skip
        answer, newer = await self.context.answer(request.tool, work)
        publish = partial(self.charts.comparison, answer) if answer.movements else None
        return await _pictured(request, answer, newer, DrawnComparison, publish)

    async def _budgets(self, request: Asked) -> ToolReply:
        status = partial(
            budget_status, since=request.since, until=request.until, period=request.period,
            month_starts_on=self.context.month_starts_on, today=today(),
        )  # fmt: skip

        def work(connection: Connection, tool_id: int) -> tuple[BudgetAnswer, Hierarchy]:
            names = names_for(request.output_format or "text", connection, tool_id)
            return status(connection, tool_id), names

        (answer, names), newer = await self.context.answer(request.tool, work)
        publish = partial(self.charts.budgets, answer, names) if answer.statuses else None
        return await _pictured(request, answer, newer, DrawnBudgets, publish)

    async def _costs(self, request: Asked) -> ToolReply:
        work = partial(
            fixed_and_variable_costs, since=request.since, until=request.until,
            period=request.period, month_starts_on=self.context.month_starts_on, today=today(),
        )  # fmt: skip
        answer, newer = await self.context.answer(request.tool, work)
        return ToolReply(answer.text + newer, partial(json_of, answer, newer))

    async def _expenses(self, name: ListName, request: Asked) -> ToolReply:
        work = partial(
            expense_list, name=name, since=request.since, until=request.until,
            period=request.period, today=today(),
        )  # fmt: skip
        answer, newer = await self.context.answer(request.tool, work)
        return ToolReply(answer.text + newer, partial(json_of, answer, newer))

    async def _recurring(self, request: Asked) -> ToolReply:
        work = partial(
            list_recurring_payments, month_starts_on=self.context.month_starts_on, today=today()
        )
        answer, newer = await self.context.answer(request.tool, work)
        return ToolReply(answer.text + newer, partial(json_of, answer, newer))

    async def _forecast(self, request: Asked) -> ToolReply:
        work = partial(
            forecast_spending, month_starts_on=self.context.month_starts_on, today=today()
        )
        answer, newer = await self.context.answer(request.tool, work)
        return ToolReply(answer.text + newer, partial(json_of, answer, newer))

    async def _anomalies(self, request: Asked) -> ToolReply:
        work = partial(
            find_anomalies, since=request.since, until=request.until, period=request.period,
            month_starts_on=self.context.month_starts_on, today=today(),
        )  # fmt: skip
        answer, newer = await self.context.answer(request.tool, work)
        return ToolReply(answer.text + newer, partial(json_of, answer, newer))

    async def _households(self, request: Asked) -> ToolReply:
        work = partial(
            combined_households, since=request.since, until=request.until, period=request.period,
            month_starts_on=self.context.month_starts_on, today=today(),
        )  # fmt: skip
        answer = await self.context.run_over_all("read", work)
        return ToolReply(answer.text, partial(json_of, answer))

    async def _net_worth(self, request: Asked) -> ToolReply:
        is_full = request.detail == "full"
        work = partial(
            net_worth,
            since=request.since,
            until=request.until,
            period=request.period,
            is_full=is_full,
            today=today(),
        )
        answer, newer = await self.context.answer(request.tool, work)
        publish = partial(self.charts.net_worth, answer)
        return await _pictured(request, answer, newer, DrawnNetWorth, publish)

    async def _rules(self, request: Asked) -> ToolReply:
        answer = await self.context.run(request.tool, "read", listed_rules)
        return ToolReply(answer.text, partial(json_of, answer))

    async def _notes(self, request: Asked) -> ToolReply:
        answer = await self.context.run(request.tool, "read", list_notes)
        return ToolReply(answer.text, partial(json_of, answer))

    async def _accounts(self, request: Asked) -> ToolReply:
        work = partial(accounts_report, today=today())
        answer = await self.context.run(request.tool, "read", work)
        return ToolReply(answer.text, partial(json_of, answer))

    async def _mapping(self, request: Asked) -> ToolReply:
        work = partial(mapping_answer, file=request.file or "")
        answer = await self.context.in_folder(request.tool, work)
        return ToolReply(answer.text, partial(json_of, answer))


async def _pictured(
    request: Asked,
    answer: ComparisonAnswer | BudgetAnswer | NetWorthAnswer,
    newer: str,
    kind: Callable[..., DrawnComparison | DrawnBudgets | DrawnNetWorth],
    publish: Callable[[], PublishedChart] | None,
) -> ToolReply:
    """The answer, with its picture if one was asked for and there is something to draw."""
    text = answer.text + newer
    if request.output_format != "image" or publish is None:
        return ToolReply(text, partial(json_of, drawn(kind, answer), newer))
    chart = await in_thread(publish, trouble_in_japanese)
    return with_chart(text, chart, partial(json_of, drawn(kind, answer, chart.model), newer))


def listed_rules(connection: Connection, tool_id: int) -> RuleList:
    """The rules of a household, and as many suggestions as an answer has room for."""
    listed = list_rules(connection, tool_id)
    return replace(listed, suggestions=listed.suggestions[:MAX_SUGGESTIONS])
