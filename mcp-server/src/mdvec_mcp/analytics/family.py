"""Everything that the analytics family offers beside the datasets' own tools."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mdvec_mcp.analytics.plot_tool import Publish, add_plot_tool
from mdvec_mcp.analytics.prompt import add_analytics_prompt
from mdvec_mcp.analytics.question_tools import add_question_tools
from mdvec_mcp.analytics.resources import add_table_resources
from mdvec_mcp.analytics.service import Analytics
from mdvec_mcp.analytics.tools import add_analytics_tools

if TYPE_CHECKING:
    from mdvec_mcp.offer import Offer


def add_analytics(offer: Offer, analytics: Analytics, publish: Publish) -> None:
    """Add the tools, the resources and the prompt."""
    add_analytics_tools(offer, analytics)
    add_question_tools(offer, analytics)
    add_plot_tool(offer, analytics, publish)
    add_table_resources(offer, analytics)
    add_analytics_prompt(offer)
