"""The household's tools and resources for months, trends, rows and reports, with charts."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import asdict
from functools import partial
from inspect import signature
from typing import TYPE_CHECKING, Annotated, Any, Literal

from mcp.server.mcpserver.exceptions import ToolError
from mdvec import household
from mdvec.charts import CATEGORY_KINDS, TREND_KINDS, ImageFormat, Plot
from mdvec.household import Ledger
from pydantic import Field

from mdvec_mcp.calls import READ_ONLY, ToolReply, in_thread, trouble_in_japanese
from mdvec_mcp.compact_schema import TEXTS_GO_IN
from mdvec_mcp.household.context import (
    DRAWN,
    HouseholdContext,
    ReportAnswer,
    json_of,
    refuse_others,
    reply,
)
from mdvec_mcp.household.pictures import (
    GraphType,
    budget_chart,
    comparison_chart,
    drawn_reply,
    month_chart,
    net_worth_chart,
    trend_chart,
)
from mdvec_mcp.household.review_tools import add_edit_tool

if TYPE_CHECKING:
    from mdvec_mcp.charts import ChartServer
    from mdvec_mcp.offer import Offer

# Descriptions cost tokens in every conversation, so they only say what names and values do not.
# The choices only inform the model; the library refuses other values, in Japanese.
PeriodWords = Annotated[str | None, Field(description="例: 先月。省略時は直近12か月。")]
CategoryName = Annotated[
    str | None, Field(description="例: 食費。または 支出、収入、収支、貯蓄率。")
]
FirstDay = Annotated[str | None, Field(description="ISO の日か月。until も含む。")]
PartOfDate = Annotated[int | None, Field(json_schema_extra={TEXTS_GO_IN: "since, until"})]
Limit = Annotated[
    int | None, Field(description=f"明細の数。省略時は{household.PAGE_SIZE}、image なら0。")
]
OutputFormat = Literal["text", "image"]
MonthGraph = Annotated[GraphType | None, Field(json_schema_extra={"enum": list(CATEGORY_KINDS)})]
TrendGraph = Annotated[GraphType | None, Field(json_schema_extra={"enum": list(TREND_KINDS)})]
Words = Annotated[str | None, Field(description="店名、メモ、タグの言葉。| はまたは、- は除外。")]
AnyDays = Annotated[str | None, Field(description="例: 先月、12月31日。省略時は全期間。")]
MinYen = Annotated[int | None, Field(description="円、符号なし。")]
Categories = Annotated[list[str] | None, Field(description="支出 なら収入以外。")]
RowsOnPage = Annotated[
    int | None, Field(description=f"省略時は{household.FOUND_PAGE_SIZE}、group_by なら0。")
]


def add_household_tools(offer: Offer, context: HouseholdContext, charts: ChartServer) -> None:
    """Add the tools for months, trends, reports and decisions of the user."""
    _add_month(offer, context, charts)
    _add_trend(offer, context, charts)
    add_report_tool(offer, context, charts)
    add_edit_tool(offer, context)


def _add_month(offer: Offer, context: HouseholdContext, charts: ChartServer) -> None:
    @offer.tool(
        description="Household, from since to until: how much was spent: total spending, "
        "income and categories, with rows and a pie chart. Month "
        "by month: get_category_trend; a shop, amount or word: find_transactions. 月の家計簿の集計"
        "（収入、支出、収支、内訳、明細）。",
        annotations=READ_ONLY,
        answer=DRAWN[household.HouseholdAnswer],
    )
    async def get_monthly_household(
        year: PartOfDate = None,
        month: PartOfDate = None,
        category: CategoryName = None,
        since: FirstDay = None,
        until: str | None = None,
        period: PeriodWords = None,
        page: int = 1,
        limit: Limit = None,
        output_format: OutputFormat = "text",
        graph_type: MonthGraph = None,
        image_size: str | None = None,
        image_format: ImageFormat | None = None,
        tool: str | None = None,
    ) -> ToolReply:
        is_picture = output_format == "image"
        size = limit if limit is not None else 0 if is_picture else household.PAGE_SIZE
        work = partial(
            household.monthly_household, year=year, month=month, since=since, until=until,
            period=period, category=category, page=page, page_size=size,
        )  # fmt: skip
        answer, names, newer = await context.with_categories(tool, work, wanted=is_picture)
        newer += await context.news(tool)
        chart = partial(month_chart, answer, graph_type, names) if is_picture else None
        return await drawn_reply(charts, answer, newer, chart, image_size, image_format)


def _add_trend(offer: Offer, context: HouseholdContext, charts: ChartServer) -> None:
    @offer.tool(
        description="Household trend from since to until: a category, spending, income or savings "
        "rate month by month, with changes, 12-month averages and a line chart; by default the top "
        "3 categories. "
        "家計簿の月ごとの推移（前月比、前年同月比、移動平均）。",
        annotations=READ_ONLY,
        answer=DRAWN[household.TrendAnswer],
    )
    async def get_category_trend(
        category: CategoryName = None,
        start_month: str | None = None,
        end_month: str | None = None,
        since: str | None = None,
        until: str | None = None,
        period: PeriodWords = None,
        output_format: OutputFormat = "text",
        graph_type: TrendGraph = None,
        image_size: str | None = None,
        image_format: ImageFormat | None = None,
        tool: str | None = None,
    ) -> ToolReply:
        is_picture = output_format == "image"
        work = partial(
            context.trend, household.category_trend, category=category,
            start_month=start_month, end_month=end_month, since=since, until=until, period=period,
        )  # fmt: skip
        answer, names, newer = await context.with_categories(tool, work, wanted=is_picture)
        chart = partial(trend_chart, answer, graph_type, names) if is_picture else None
        return await drawn_reply(charts, answer, newer, chart, image_size, image_format)


def add_find_tool(offer: Offer, context: HouseholdContext) -> None:
    """Add the tool that finds a household's rows, and sums all that match."""

    @offer.tool(
        name="find_transactions",
        description="Household: find transactions by shop, memo, amount, account, days (since, "
        "until in ISO), with the exact sum of all matches, or sums by group_by: how much at Amazon "
        "this year, largest purchases. 家計簿の明細・取引を探す（店名、金額、日、口座）、合計する"
        "「Amazonに今年いくら」。",
        annotations=READ_ONLY,
        answer=household.FoundAnswer,
    )
    async def find(
        query: Words = None,
        since: str | None = None,
        until: str | None = None,
        period: AnyDays = None,
        min_amount: MinYen = None,
        max_amount: int | None = None,
        account: str | None = None,
        category: Categories = None,
        exclude_category: list[str] | None = None,
        shop: list[str] | None = None,
        exclude_shop: list[str] | None = None,
        rows: household.RowChoice = "counted",
        sort: household.Order | None = None,
        group_by: household.GroupBy | None = None,
        page: int = 1,
        limit: RowsOnPage = None,
        tool: str | None = None,
    ) -> ToolReply:
        wanted = household.RowFilter(
            query, min_amount, max_amount, period, account, category, rows, since, until,
            exclude_category, shop, exclude_shop,
        )  # fmt: skip
        listing = household.ListingOptions(sort, group_by, page, limit)

        work = partial(
            household.find_transactions, wanted=wanted, listing=listing, embed=context.embed
        )
        return reply(*await context.answer(tool, work))


Work = Callable[[Ledger], Any]


def add_household_resources(offer: Offer, context: HouseholdContext) -> None:
    """Add the four resources; with several households, each holds one entry per household."""

    def months(ledger: Ledger) -> list[dict[str, Any]]:
        return list(map(asdict, household.available_months(ledger)))

    def trends(ledger: Ledger) -> dict[str, Any]:
        return json_of(context.trend(household.category_trend_summary, ledger))

    categories = household.category_hierarchy
    for uri, description, work in (
        ("data://category_hierarchy", "大項目から中項目への辞書", categories),
        ("data://household_categories", "カテゴリの一覧（category_hierarchy と同じ）", categories),
        (
            "data://available_months",
            "データのある年月と印: 明細のない月（is_gap）、まだ増えそうな月（may_be_filling）、"
            "来月以降（is_planned）、ほかから何年も離れた月（is_astray）",
            months,
        ),
        ("data://category_trend_summary", "今月までの直近12か月の、全カテゴリの月別の指標", trends),
    ):
        read = partial(_read, context, work)
        offer.add_resource(uri, description, "application/json", read)


async def _read(context: HouseholdContext, work: Work) -> str:
    """The result of ``work`` as JSON; for several households, an object of results by name."""
    try:
        households = await in_thread(context.households, trouble_in_japanese)
    except ToolError as error:
        answer: Any = {"error": str(error)}
    else:
        each = {tool.name: await _of_one(context, tool.name, work) for tool in households}
        answer = each if len(each) > 1 else each[households[0].name]
    if context.language == "en":
        answer = household.data_in_english(answer)
    text = json.dumps(answer, ensure_ascii=False, separators=(",", ":"))
    # Escape line separators and direction marks, which json.dumps leaves unchanged.
    return "".join(char if char.isprintable() else json.dumps(char)[1:-1] for char in text)


async def _of_one(context: HouseholdContext, name: str, work: Work) -> Any:  # noqa: ANN401 - any JSON
    """One household's result, or its error as data, so that the others are still returned."""
    try:
        return await context.run(name, "read", work)
    except ToolError as error:
        return {"error": str(error)}


Report = Literal[
    "compare", "budget", "costs", "recurring", "forecast", "anomalies", "households", "net_worth",
    "medical", "furusato", "rules", "notes", "mapping", "accounts",
]  # fmt: skip
REPORTS: dict[Report, Callable[..., Any]] = {
    "compare": household.compare_periods,
    "budget": household.budget_status,
    "costs": household.fixed_and_variable_costs,
    "recurring": household.list_recurring_payments,
    "forecast": household.forecast_spending,
    "anomalies": household.find_anomalies,
    "households": household.combined_households,
    "net_worth": household.net_worth,
    "medical": partial(household.expense_list, name="medical"),
    "furusato": partial(household.expense_list, name="furusato"),
    "rules": household.list_rules,
    "notes": household.list_notes,
    "mapping": household.mapping_answer,
    "accounts": household.accounts_report,
}
"""The function that makes each report; its parameters are the arguments of the report."""
CHARTED: tuple[Report, ...] = ("compare", "budget", "net_worth")
INSTEAD: dict[Report, str] = {
    "recurring": "期間の固定費（定期的な支払い）は report=costs が答えます",
    "forecast": "見通しは、最後の明細の月とその先 3か月です。過ぎた期間は report=costs が答えます",
}
"""What answers for a period in place of a report that takes none."""
UNDATED: tuple[Report, ...] = ("rules", "notes", "accounts")
"""Reports that newer files do not change, so that they do not mention such files."""

# The choices only inform the model; other values are refused in Japanese.
Base = Annotated[str | None, Field(description="previous、previous_year か日付。")]
Level = Annotated[str | None, Field(json_schema_extra={"enum": list(household.LEVELS)})]
Size = Annotated[
    household.Detail | None, Field(description="full は compare の明細、net_worth の内訳も。")
]


def add_report_tool(offer: Offer, context: HouseholdContext, charts: ChartServer) -> None:
    """Add the tool."""

    @offer.tool(
        description="Household reports, since, until in ISO: compare this month or year with "
        "last, budget, costs, recurring payments, forecast, anomalies, households, account "
        "balances, net worth, rules, notes, mapping. 家計簿の比較（前年比）、予算、口座の残高、"
        "固定費と変動費、サブスク、見通し、純資産の推移、医療費控除とふるさと納税の一覧。",
        annotations=READ_ONLY,
        answer=ReportAnswer,
    )
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
        arguments = {
            "since": since, "until": until, "period": period, "base": base, "category": category,
            "by": by, "detail": detail, "limit": limit, "file": file,
        }  # fmt: skip
        make = REPORTS[report]
        takes = [name for name in signature(make).parameters if name in arguments]
        takes += ["output_format"] * (report in CHARTED) + ["tool"] * (report != "households")
        refuse_others(
            f"household_report の report={report}", tuple(takes),
            {**arguments, "output_format": output_format, "tool": tool},
            ("file",) if report == "mapping" else (), INSTEAD.get(report, ""),
        )  # fmt: skip
        present = {name: value for name, value in arguments.items() if value is not None}
        work = partial(make, **present)
        if report == "mapping":
            return reply(await context.in_folder(tool, work))
        if report == "households":
            return reply(await context.run_over_all("read", work))
        if report in UNDATED:
            return reply(await context.run(tool, "read", work))
        is_picture = output_format == "image"
        answer, names, newer = await context.with_categories(tool, work, wanted=is_picture)
        chart = _chart_of(answer, names) if is_picture else None
        return await drawn_reply(charts, answer, newer, chart)


def _chart_of(
    answer: household.ComparisonAnswer | household.BudgetAnswer | household.NetWorthAnswer,
    names: household.Hierarchy,
) -> Callable[[], Plot] | None:
    """A function that makes the chart of a report; None if there is nothing to draw."""
    match answer:
        case household.ComparisonAnswer(movements=shown):
            return partial(comparison_chart, answer) if shown else None
        case household.BudgetAnswer(statuses=budgets):
            return partial(budget_chart, answer, names) if budgets else None
        case household.NetWorthAnswer():
            return partial(net_worth_chart, answer)
