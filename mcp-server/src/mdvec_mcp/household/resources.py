"""The household's resources: its categories, its months, and the trend of each category."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from mcp.server.mcpserver.exceptions import ToolError
from mdvec.database.connection import Connection
from mdvec.household.overview import category_hierarchy
from mdvec.tools.rows import Tool

from mdvec_mcp.database_trouble import emptied_in_japanese, is_emptied
from mdvec_mcp.household import schema as models
from mdvec_mcp.household.context import NO_HOUSEHOLD, asked, refused
from mdvec_mcp.household.tools import Asking

if TYPE_CHECKING:
    from mcp.server.mcpserver import MCPServer

Work = Callable[[Connection, int], Any]


def add_household_resources(server: MCPServer, asking: Asking) -> None:
    """Offer the four resources; with several households each answers by the household's name."""

    async def categories() -> str:
        return await _read(asking, category_hierarchy)

    async def months() -> str:
        return await _read(
            asking, lambda c, tool_id: [asdict(month) for month in asking.months(c, tool_id)]
        )

    async def trends() -> str:
        return await _read(asking, lambda c, tool_id: models.trend(asking.summary(c, tool_id)))

    for uri, description, read in (
        ("data://category_hierarchy", "大項目から中項目への辞書", categories),
        ("data://household_categories", "カテゴリの一覧（category_hierarchy と同じ）", categories),
        (
            "data://available_months",
            "データのある年月。行のない月（is_gap）、まだ増えそうな月（may_be_filling）、"
            "来月以降（is_planned）、日付がほかから何年も離れた月（is_astray）の印つき",
            months,
        ),
        ("data://category_trend_summary", "今月までの直近12か月の、全カテゴリの月別の指標", trends),
    ):
        name = uri.removeprefix("data://")
        server.resource(uri, name=name, description=description, mime_type="application/json")(read)


async def _read(asking: Asking, work: Work) -> str:
    """The answer as JSON: of the one household, or of each by name."""
    try:
        with refused():
            there = asking.households()
    except ToolError as error:
        return json.dumps({"error": str(error)}, ensure_ascii=False, separators=(",", ":"))
    if not there and is_emptied(asking.database):
        found = {"error": emptied_in_japanese(asking.database)}
    elif not there:
        found = {"error": NO_HOUSEHOLD}
    elif len(there) == 1:
        found = await _of(asking, there[0], work)
    else:
        found = {tool.name: await _of(asking, tool, work) for tool in there}
    return json.dumps(found, ensure_ascii=False, separators=(",", ":"))


async def _of(asking: Asking, tool: Tool, work: Work) -> Any:  # noqa: ANN401 - any JSON value
    """What is refused comes as a sentence: a resource has no other way, and the others answer."""
    try:
        return await asked(asking.database, asking.households, tool.name, "read", work)
    except ToolError as error:
        return {"error": str(error)}
