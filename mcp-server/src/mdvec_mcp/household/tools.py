"""The two tools that report a household's money: by month, and as a trend, with charts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Literal

from mcp_types import CallToolResult
from mdvec.charts.chart import CATEGORY_KINDS, TREND_KINDS, ImageFormat
from mdvec.database.connection import Connection
from mdvec.household.core.categories import Hierarchy
from mdvec.household.month import HouseholdAnswer, monthly_household
from mdvec.household.trend import TrendAnswer
from pydantic import Field

from mdvec_mcp.calls import READ_ONLY, in_thread, text_result
from mdvec_mcp.database_trouble import trouble_in_japanese
from mdvec_mcp.household import schema as models
from mdvec_mcp.household.context import HouseholdContext, HouseholdName, today
from mdvec_mcp.household.pictures import (
    ChartPublisher,
    ChartRequest,
    GraphType,
    names_for,
    with_chart,
)
from mdvec_mcp.household.plan_tools import add_plan_tools

if TYPE_CHECKING:
    from mdvec_mcp.offer import Offer

INSTRUCTIONS = (
    "{names} holds the household's transactions. For sums, trends and charts call "
    "get_monthly_household and get_category_trend, for a shop, an amount or a day "
    "find_transactions, instead of adding up search results: they leave out transfers and "
    "duplicates. Tell the user which period and category the answer covers. "
    "Record a decision on a duplicate only after the user has made it."
)

Year = Annotated[int | None, Field(description="西暦。month と使う。")]
# The bounds only inform the model; the library refuses other values, in Japanese.
Month = Annotated[
    int | None, Field(description="月（1〜12）。", json_schema_extra={"minimum": 1, "maximum": 12})
]
PeriodWords = Annotated[
    str | None,
    Field(
        description="期間（例: 先月、先週、直近3か月、去年の夏、2025年6月〜7月、1月10日〜20日）。"
        "省略時は直近12か月。"
    ),
]
CategoryName = Annotated[
    str | None,
    Field(
        description="大項目か中項目（例: 食費）、または合計の 支出・収入・収支・貯蓄率。"
        "省略時は全体。"
    ),
]
MonthText = Annotated[str | None, Field(description="月（例: 2025-06、令和7年6月）。")]
Page = Annotated[
    int, Field(description="明細のページ（1ページ20件）。", json_schema_extra={"minimum": 1})
]
OutputFormat = Annotated[Literal["text", "image"], Field(description="image ならグラフも返す。")]
_GRAPH = "省略時は自動。"
MonthGraph = Annotated[
    GraphType | None,
    Field(description=_GRAPH, json_schema_extra={"enum": [*CATEGORY_KINDS, None]}),
]
TrendGraph = Annotated[
    GraphType | None, Field(description=_GRAPH, json_schema_extra={"enum": [*TREND_KINDS, None]})
]
ImageSize = Annotated[
    str | None,
    Field(description="画像の幅x高さ。省略時は800x600、最大1920x1080。"),
]
FileFormat = Annotated[ImageFormat | None, Field(description="SVG はURLで返る。")]


def add_household_tools(offer: Offer, context: HouseholdContext, charts: ChartPublisher) -> None:
    """Add the tools of months and trends, and those of plans."""
    _add_month(offer, context, charts)
    _add_trend(offer, context, charts)
    add_plan_tools(offer, context, charts)


def _add_month(offer: Offer, context: HouseholdContext, charts: ChartPublisher) -> None:
    async def get_monthly_household(
        year: Year = None,
        month: Month = None,
        category: CategoryName = None,
        period: PeriodWords = None,
        page: Page = 1,
        output_format: OutputFormat = "text",
        graph_type: MonthGraph = None,
        image_size: ImageSize = None,
        image_format: FileFormat = None,
        tool: HouseholdName = None,
    ) -> Annotated[CallToolResult, models.MonthlyHouseholdModel]:
        def work(connection: Connection, tool_id: int) -> tuple[HouseholdAnswer, Hierarchy]:
            answer = monthly_household(
                connection, tool_id, year=year, month=month, period=period, category=category,
                page=page, month_starts_on=context.month_starts_on, today=today(),
            )  # fmt: skip
            return answer, names_for(output_format, connection, tool_id)

        (answer, names), newer = await context.answer(tool, work)
        newer += await context.news(tool)
        if output_format == "text":
            return text_result(answer.text + newer, models.monthly(answer, None))
        request = ChartRequest(graph_type, image_size, image_format)
        chart = await in_thread(lambda: charts.month(answer, names, request), trouble_in_japanese)
        return with_chart(answer.text + newer, chart, models.monthly(answer, chart.model))

    offer.add_tool(
        get_monthly_household,
        description="家計簿の月（または期間）の収入・支出・収支、カテゴリ別の内訳と明細を返す。"
        "振替、計算対象外、重複とした行は合計に入らない。",
        annotations=READ_ONLY,
        structured_output=True,
    )


def _add_trend(offer: Offer, context: HouseholdContext, charts: ChartPublisher) -> None:
    async def get_category_trend(
        category: CategoryName = None,
        start_month: MonthText = None,
        end_month: MonthText = None,
        period: PeriodWords = None,
        output_format: OutputFormat = "text",
        graph_type: TrendGraph = None,
        image_size: ImageSize = None,
        image_format: FileFormat = None,
        tool: HouseholdName = None,
    ) -> CallToolResult:
        def work(connection: Connection, tool_id: int) -> tuple[TrendAnswer, Hierarchy]:
            answer = context.trend(
                connection, tool_id, category=category, start_month=start_month,
                end_month=end_month, period=period,
            )  # fmt: skip
            return answer, names_for(output_format, connection, tool_id)

        (answer, names), newer = await context.answer(tool, work)
        if output_format == "text":
            return text_result(answer.text + newer, models.trend(answer, None))
        request = ChartRequest(graph_type, image_size, image_format)
        chart = await in_thread(lambda: charts.trend(answer, names, request), trouble_in_japanese)
        return with_chart(answer.text + newer, chart, models.trend(answer, chart.model))

    offer.add_tool(
        get_category_trend,
        description="カテゴリの月ごとの推移を、前月比・前年同月比・12か月移動平均とともに返す。"
        "カテゴリを省くと、支出の多い3つ。",
        annotations=READ_ONLY,
        structured_output=False,
    )
