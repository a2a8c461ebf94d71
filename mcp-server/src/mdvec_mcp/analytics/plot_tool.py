"""The tool that draws a query's result."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated

from mcp_types import CallToolResult
from mdvec.charts.chart import ImageFormat
from mdvec.charts.plot import Plot, PlotKind
from mdvec.errors import MdvecError
from pydantic import Field

from mdvec_mcp.analytics.core.guard import JsonAnswer, with_warnings
from mdvec_mcp.analytics.requested_data import RequestedData
from mdvec_mcp.analytics.service import Analytics
from mdvec_mcp.analytics.tools import Sql, call_within_guard
from mdvec_mcp.calls import READ_ONLY
from mdvec_mcp.charts.publishing import Published
from mdvec_mcp.offer import Offer

Publish = Callable[[Plot, ImageFormat | None], Published]


class NotDrawn(MdvecError):
    """A chart that could not be drawn."""


def add_plot_tool(offer: Offer, analytics: Analytics, publish: Publish) -> None:
    """Add plot, which draws what a query returns."""

    async def plot(
        query: Sql,
        kind: PlotKind,
        title: Annotated[str, Field(max_length=100)] = "",
        image_format: ImageFormat | None = None,
    ) -> CallToolResult:
        published: list[Published] = []

        def work() -> JsonAnswer:
            chart = analytics.plots.plot(query, kind, title)
            drawn = publish(chart, image_format)
            if drawn.trouble:
                raise NotDrawn(f"the chart could not be drawn: {drawn.trouble}")
            published.append(drawn)
            answer: JsonAnswer = {"kind": kind, "points": chart.points}
            if drawn.url:
                answer["url"] = drawn.url
            notes = [chart.note] if chart.note else []
            return with_warnings(answer, [*notes, *analytics.queries.take_warnings()])

        result = await call_within_guard(analytics, work, RequestedData(query))
        result.content.extend(block for drawn in published for block in drawn.blocks)
        return result

    offer.add_tool(
        plot,
        description="Draw a query: x in its first column (bar: names), then numbers, or a "
        "series' name and a number. histogram: one column; box: a name and a number; heatmap: x, "
        "y, number.",
        annotations=READ_ONLY,
        structured_output=False,
    )
