"""The household's resources: its categories, its months, and a trend of every category."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from mcp.server.mcpserver.exceptions import ToolError
from mdvec.database import Connection
from mdvec.household import available_months, category_hierarchy, data_in_english

from mdvec_mcp.calls import in_thread
from mdvec_mcp.database_trouble import trouble_in_japanese
from mdvec_mcp.household.answer_data import json_of
from mdvec_mcp.household.context import HouseholdContext, today

if TYPE_CHECKING:
    from mdvec_mcp.offer import Offer

Work = Callable[[Connection, int], Any]


def add_household_resources(offer: Offer, context: HouseholdContext) -> None:
    """Add the four resources; with several households, each holds one entry per household."""

    async def categories() -> str:
        return await _read(context, category_hierarchy)

    async def months() -> str:
        return await _read(context, _in_months(context.month_starts_on))

    async def trends() -> str:
        return await _read(context, lambda *ledger: json_of(context.trend_summary(*ledger)))

    for uri, description, read in (
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
        offer.add_resource(uri, description, "application/json", read)


def _in_months(starts_on: int) -> Work:
    def work(connection: Connection, tool_id: int) -> list[dict[str, Any]]:
        return [
            asdict(month) for month in available_months(connection, tool_id, today(), starts_on)
        ]

    return work


async def _read(context: HouseholdContext, work: Work) -> str:
    """The result of ``work`` as JSON: for the only household, or for each under its name."""
    try:
        households = await in_thread(context.households, trouble_in_japanese)
    except ToolError as error:
        answer: Any = {"error": str(error)}
    else:
        each = {tool.name: await _of_one(context, tool.name, work) for tool in households}
        answer = each if len(each) > 1 else each[households[0].name]
    if context.language == "en":
        answer = data_in_english(answer)
    text = json.dumps(answer, ensure_ascii=False, separators=(",", ":"))
    # JSON leaves line separators and direction marks as they are; escaped, they mean the same.
    return "".join(char if char.isprintable() else json.dumps(char)[1:-1] for char in text)


async def _of_one(context: HouseholdContext, name: str, work: Work) -> Any:  # noqa: ANN401 - any JSON
    """One household's result, or its error as data, so that the others still arrive."""
    try:
        return await context.run(name, "read", work)
    except ToolError as error:
        return {"error": str(error)}
