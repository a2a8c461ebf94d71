"""The tool that finds a household's rows, and sums all that match."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Annotated

from mdvec.database import Connection
from mdvec.household import (
    FOUND_PAGE_SIZE,
    FoundAnswer,
    GroupBy,
    ListingOptions,
    Order,
    RowChoice,
    RowFilter,
    find_transactions,
)
from pydantic import Field

from mdvec_mcp.calls import READ_ONLY, ToolReply
from mdvec_mcp.household.answer_data import json_of
from mdvec_mcp.household.context import HouseholdContext, today

if TYPE_CHECKING:
    from mdvec_mcp.offer import Offer

# The library refuses what is out of bounds, in Japanese.
Words = Annotated[str | None, Field(description="店名、メモ、タグの言葉。| はまたは、- は除外。")]
Days = Annotated[str | None, Field(description="例: 先月、12月31日。省略時は全期間。")]
MinYen = Annotated[int | None, Field(description="円、符号なし。")]
Categories = Annotated[list[str] | None, Field(description="支出 なら収入以外。")]
RowsOnPage = Annotated[
    int | None, Field(description=f"省略時は{FOUND_PAGE_SIZE}、group_by なら0。")
]


def add_find_tool(offer: Offer, context: HouseholdContext) -> None:
    """Add the tool."""

    async def find(
        query: Words = None,
        since: str | None = None,
        until: str | None = None,
        period: Days = None,
        min_amount: MinYen = None,
        max_amount: int | None = None,
        account: str | None = None,
        category: Categories = None,
        exclude_category: list[str] | None = None,
        shop: list[str] | None = None,
        exclude_shop: list[str] | None = None,
        rows: RowChoice = "counted",
        sort: Order = "newest",
        group_by: GroupBy | None = None,
        page: int = 1,
        limit: RowsOnPage = None,
        tool: str | None = None,
    ) -> ToolReply:
        wanted = RowFilter(
            query, min_amount, max_amount, period, account, category, rows, since, until,
            exclude_category, shop, exclude_shop,
        )  # fmt: skip
        listing = ListingOptions(sort, group_by, page, limit, context.month_starts_on)

        def work(connection: Connection, tool_id: int) -> FoundAnswer:
            return find_transactions(connection, tool_id, wanted, listing, today(), context.embed)

        answer, newer = await context.answer(tool, work)
        return ToolReply(answer.text + newer, partial(json_of, answer, newer))

    offer.add_tool(
        find,
        name="find_transactions",
        description="Household: find transactions by shop, memo, amount, account, days (since, "
        "until in ISO), with the exact sum of all matches, or sums by group_by: how much at Amazon "
        "this year, largest purchases. 家計簿の明細・取引を探す（店名、金額、日、口座）、合計する"
        "「Amazonに今年いくら」。",
        annotations=READ_ONLY,
        answer=FoundAnswer,
    )
