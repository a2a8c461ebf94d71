"""The tools that answer about a household: its months and its trends, in words and pictures."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import anyio.to_thread
from mcp_types import CallToolResult, TextContent, ToolAnnotations
from mdvec.database.connection import Connection
from mdvec.household.interfaces.rows import data_version
from mdvec.household.month import HouseholdAnswer, monthly_household
from mdvec.household.overview import AvailableMonth, available_months
from mdvec.household.trend import TrendAnswer, TrendCache
from pydantic import Field

from mdvec_mcp.charts.chart import CATEGORY_KINDS, TREND_KINDS
from mdvec_mcp.household import schema as models
from mdvec_mcp.household.context import Household, Households, asked, refused
from mdvec_mcp.household.pictures import (
    Charting,
    GraphType,
    ImageFormat,
    Picture,
    Published,
)

if TYPE_CHECKING:
    from mcp.server.mcpserver import MCPServer

_READS = ToolAnnotations(read_only_hint=True, idempotent_hint=True, open_world_hint=False)

Year = Annotated[int | None, Field(description="西暦の年。month と一緒に使う。")]
# Bounds are for the model to read; what lies beyond them is refused in Japanese by the library.
Month = Annotated[
    int | None, Field(description="月（1〜12）。", json_schema_extra={"minimum": 1, "maximum": 12})
]
PeriodWords = Annotated[
    str | None,
    Field(
        description="期間。「先月」「直近3か月」「去年の夏」「2025年6月〜7月」「令和7年6月」の"
        "ように書ける（日の指定はできない）。省略時は今月までの、データのある直近12か月。"
    ),
]
CategoryName = Annotated[
    str | None,
    Field(
        description="大項目か中項目の名前（例: 食費）、または合計の 支出・収入・収支・貯蓄率。"
        "省略時は全体。"
    ),
]
MonthText = Annotated[str | None, Field(description="月（例: 2025-06、令和7年6月）。")]
Page = Annotated[
    int, Field(description="明細のページ（1から、1ページ20件）。", json_schema_extra={"minimum": 1})
]
OutputFormat = Annotated[Literal["text", "image"], Field(description="image ならグラフも返す。")]
_GRAPH = "グラフの種類。省略時はこのツールの既定。"
MonthGraph = Annotated[
    GraphType | None,
    Field(description=_GRAPH, json_schema_extra={"enum": [*CATEGORY_KINDS, None]}),
]
TrendGraph = Annotated[
    GraphType | None, Field(description=_GRAPH, json_schema_extra={"enum": [*TREND_KINDS, None]})
]
ImageSize = Annotated[
    str | None,
    Field(description="画像の大きさ（ピクセル、幅x高さ）。省略時は800x600、最大1920x1080。"),
]
Format = Annotated[ImageFormat | None, Field(description="画像の形式。SVG はURLで返る。")]


@dataclass(frozen=True, slots=True)
class Asking:
    """What the household's tools and resources work with."""

    database: Path
    households: Households
    trends: TrendCache = field(default_factory=TrendCache)

    def trend(self, connection: Connection, tool_id: int, **question: str | None) -> TrendAnswer:
        """A trend, remembered until the ledger changes."""
        version = data_version(connection, tool_id)
        return self.trends.category_trend(connection, tool_id, version, today=_today(), **question)

    def summary(self, connection: Connection, tool_id: int) -> TrendAnswer:
        """All categories over the latest twelve months, remembered too."""
        version = data_version(connection, tool_id)
        return self.trends.category_trend_summary(connection, tool_id, version, today=_today())

    def months(self, connection: Connection, tool_id: int) -> tuple[AvailableMonth, ...]:
        """The months that there are, as seen today."""
        return available_months(connection, tool_id, _today())


def add_household_tools(server: MCPServer, asking: Asking, charting: Charting) -> None:
    """Offer the two tools of questions about money."""
    _add_month(server, asking, charting)
    _add_trend(server, asking, charting)


def _add_month(server: MCPServer, asking: Asking, charting: Charting) -> None:
    async def get_monthly_household(
        year: Year = None,
        month: Month = None,
        category: CategoryName = None,
        period: PeriodWords = None,
        page: Page = 1,
        output_format: OutputFormat = "text",
        graph_type: MonthGraph = None,
        image_size: ImageSize = None,
        image_format: Format = None,
        tool: Household = None,
    ) -> Annotated[CallToolResult, models.MonthlyHouseholdModel]:
        def work(connection: Connection, tool_id: int) -> HouseholdAnswer:
            return monthly_household(
                connection, tool_id, year=year, month=month, period=period, category=category,
                page=page, today=_today(),
            )  # fmt: skip

        answer = await asked(asking.database, asking.households, tool, "read", work)
        picture = Picture(graph_type, image_size, image_format)
        drawn = (
            await _drawn(lambda: charting.month(answer, picture))
            if output_format == "image"
            else None
        )
        return _result(answer.text, drawn, lambda chart: models.monthly(answer, chart))

    server.add_tool(
        get_monthly_household,
        description="家計簿の月（または期間）の収入・支出・収支、カテゴリ別の内訳と明細を返す。"
        "振替、計算対象外、重複とした行は合計に入らない。",
        annotations=_READS,
        structured_output=True,
    )


def _add_trend(server: MCPServer, asking: Asking, charting: Charting) -> None:
    async def get_category_trend(
        category: CategoryName = None,
        start_month: MonthText = None,
        end_month: MonthText = None,
        period: PeriodWords = None,
        output_format: OutputFormat = "text",
        graph_type: TrendGraph = None,
        image_size: ImageSize = None,
        image_format: Format = None,
        tool: Household = None,
    ) -> Annotated[CallToolResult, models.TrendModel]:
        def work(connection: Connection, tool_id: int) -> TrendAnswer:
            return asking.trend(
                connection, tool_id, category=category, start_month=start_month,
                end_month=end_month, period=period,
            )  # fmt: skip

        answer = await asked(asking.database, asking.households, tool, "read", work)
        picture = Picture(graph_type, image_size, image_format)
        drawn = (
            await _drawn(lambda: charting.trend(answer, picture))
            if output_format == "image"
            else None
        )
        return _result(answer.text, drawn, lambda chart: models.trend(answer, chart))

    server.add_tool(
        get_category_trend,
        description="カテゴリの月ごとの推移を、前月比・前年同月比・12か月移動平均とともに返す。"
        "カテゴリを省くと、支出の多い3つ。",
        annotations=_READS,
        structured_output=True,
    )


async def _drawn(work: Callable[[], Published]) -> Published:
    with refused():
        return await anyio.to_thread.run_sync(work, abandon_on_cancel=True)


def _result(
    text: str,
    drawn: Published | None,
    structured: Callable[[models.ChartModel | None], dict[str, Any]],
) -> CallToolResult:
    chart, blocks = drawn or (None, [])
    if chart is not None and chart.type == "text":
        text = f"{chart.message}\n{text}"
    return CallToolResult(
        content=[TextContent(type="text", text=text), *blocks],
        structured_content=structured(chart),
    )


def _today() -> date:
    """The household's own day."""
    return date.today()  # noqa: DTZ011
