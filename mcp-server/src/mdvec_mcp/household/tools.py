"""The two tools that report a household's money: by month, and as a trend, with charts."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Annotated, Literal

from mdvec.charts import CATEGORY_KINDS, TREND_KINDS, ImageFormat
from mdvec.database import Connection
from mdvec.household import (
    PAGE_SIZE,
    Hierarchy,
    HouseholdAnswer,
    TrendAnswer,
    monthly_household,
)
from pydantic import Field

from mdvec_mcp.calls import READ_ONLY, ToolReply, in_thread
from mdvec_mcp.database_trouble import trouble_in_japanese
from mdvec_mcp.household.answer_data import DrawnMonth, DrawnTrend, drawn, json_of
from mdvec_mcp.household.context import HouseholdContext, today
from mdvec_mcp.household.edit_tool import add_edit_tool
from mdvec_mcp.household.pictures import (
    ChartPublisher,
    ChartRequest,
    GraphType,
    names_for,
    with_chart,
)
from mdvec_mcp.household.report_tool import add_report_tool

if TYPE_CHECKING:
    from mdvec_mcp.offer import Offer

# Every conversation pays for descriptions, so only what a name and its values do not say is there.
# The choices only inform the model; the library refuses other values, in Japanese.
PeriodWords = Annotated[str | None, Field(description="例: 先月。省略時は直近12か月。")]
CategoryName = Annotated[
    str | None, Field(description="例: 食費。または 支出、収入、収支、貯蓄率。")
]
FirstDay = Annotated[str | None, Field(description="ISO の日か月。until も含む。")]
Limit = Annotated[
    int | None,
    Field(description=f"明細の数。省略時は{PAGE_SIZE}、image なら0。"),
]
OutputFormat = Literal["text", "image"]
MonthGraph = Annotated[GraphType | None, Field(json_schema_extra={"enum": list(CATEGORY_KINDS)})]
TrendGraph = Annotated[GraphType | None, Field(json_schema_extra={"enum": list(TREND_KINDS)})]


def add_household_tools(offer: Offer, context: HouseholdContext, charts: ChartPublisher) -> None:
    """Add the tools of months and trends, of reports, and of what the user decides."""
    _add_month(offer, context, charts)
    _add_trend(offer, context, charts)
    add_report_tool(offer, context, charts)
    add_edit_tool(offer, context)


def _add_month(offer: Offer, context: HouseholdContext, charts: ChartPublisher) -> None:
    async def get_monthly_household(
        year: int | None = None,
        month: int | None = None,
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
        size = limit if limit is not None else PAGE_SIZE if output_format == "text" else 0

        def work(connection: Connection, tool_id: int) -> tuple[HouseholdAnswer, Hierarchy]:
            answer = monthly_household(
                connection, tool_id, year=year, month=month, since=since, until=until,
                period=period, category=category, page=page, page_size=size,
                month_starts_on=context.month_starts_on, today=today(),
            )  # fmt: skip
            return answer, names_for(output_format, connection, tool_id)

        (answer, names), newer = await context.answer(tool, work)
        newer += await context.news(tool)
        if output_format == "text":
            return ToolReply(
                answer.text + newer, partial(json_of, drawn(DrawnMonth, answer), newer)
            )
        request = ChartRequest(graph_type, image_size, image_format)
        chart = await in_thread(lambda: charts.month(answer, names, request), trouble_in_japanese)
        data = partial(json_of, drawn(DrawnMonth, answer, chart.model), newer)
        return with_chart(answer.text + newer, chart, data)

    offer.add_tool(
        get_monthly_household,
        description="Household, from since to until: how much was spent: total spending, "
        "income and categories, with rows and a pie chart. Month "
        "by month: get_category_trend; a shop, amount or word: find_transactions. 月の家計簿の集計"
        "（収入、支出、収支、内訳、明細）。",
        annotations=READ_ONLY,
        answer=DrawnMonth,
    )


def _add_trend(offer: Offer, context: HouseholdContext, charts: ChartPublisher) -> None:
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
        def work(connection: Connection, tool_id: int) -> tuple[TrendAnswer, Hierarchy]:
            answer = context.trend(
                connection, tool_id, category=category, start_month=start_month,
                end_month=end_month, since=since, until=until, period=period,
            )  # fmt: skip
            return answer, names_for(output_format, connection, tool_id)

        (answer, names), newer = await context.answer(tool, work)
        if output_format == "text":
            return ToolReply(
                answer.text + newer, partial(json_of, drawn(DrawnTrend, answer), newer)
            )
        request = ChartRequest(graph_type, image_size, image_format)
        chart = await in_thread(lambda: charts.trend(answer, names, request), trouble_in_japanese)
        data = partial(json_of, drawn(DrawnTrend, answer, chart.model), newer)
        return with_chart(answer.text + newer, chart, data)

    offer.add_tool(
        get_category_trend,
        description="Household trend from since to until: a category, spending, income or savings "
        "rate month by month, with changes, 12-month averages and a line chart; by default the top "
        "3 categories. "
        "家計簿の月ごとの推移（前月比、前年同月比、移動平均）。",
        annotations=READ_ONLY,
        answer=DrawnTrend,
    )
