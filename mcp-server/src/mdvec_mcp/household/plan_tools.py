"""The tools about what a month is for: comparisons, budgets, habits and what comes next."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Annotated

from mcp_types import CallToolResult
from mdvec.household.comparison import LEVELS, compare_periods
from pydantic import Field

from mdvec_mcp.calls import READ_ONLY, text_result
from mdvec_mcp.household.context import HouseholdContext, today
from mdvec_mcp.household.plain import plain

if TYPE_CHECKING:
    from mdvec_mcp.offer import Offer

# The bounds only inform the model; the library refuses other values, in Japanese.
Level = Annotated[str, Field(json_schema_extra={"enum": list(LEVELS)})]
Base = Annotated[str | None, Field(description="比べる期間。省略時は直前、「前年」は1年前。")]


def add_plan_tools(offer: Offer, context: HouseholdContext) -> None:
    """Add the tools; their results have no schema, which would cost every conversation."""
    _add_comparison(offer, context)


def _add_comparison(offer: Offer, context: HouseholdContext) -> None:
    async def compare_periods_(
        period: str | None = None,
        base: Base = None,
        category: str | None = None,
        by: Level = "category",
        tool: str | None = None,
    ) -> CallToolResult:
        work = partial(
            compare_periods, period=period, base=base, category=category, by=by, today=today()
        )
        answer, newer = await context.answer(tool, work)
        return text_result(answer.text + newer, plain(answer))

    offer.add_tool(
        compare_periods_,
        name="compare_periods",
        description="家計簿の二つの期間を並べ、動いたものと動かした明細を返す。",
        annotations=READ_ONLY,
        structured_output=False,
    )
