"""The tool that finds a household's rows, and sums all that match."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

from mcp_types import CallToolResult
from mdvec.database.connection import Connection
from mdvec.household.core.found import FoundAnswer, FoundGroup
from mdvec.household.core.wording import PAGE_SIZE
from mdvec.household.finding import ListingOptions, Order, RowFilter, find_transactions
from mdvec.household.found_sums import GroupBy
from mdvec.household.month import row_fields
from mdvec.household.row_search import RowChoice
from pydantic import Field

from mdvec_mcp.calls import READ_ONLY, text_result
from mdvec_mcp.household.context import HouseholdContext, HouseholdName, today

if TYPE_CHECKING:
    from mdvec_mcp.offer import Offer

Words = Annotated[
    str | None,
    Field(description="店名、メモ、タグの言葉（例: Amazon）。文は不可。| は「または」。"),
]
Days = Annotated[str | None, Field(description="期間か日（例: 先月、12月31日）。省略時は全期間。")]
# The bounds only inform the model; the library refuses other values, in Japanese.
MinYen = Annotated[
    int | None, Field(description="金額（円、符号なし）。", json_schema_extra={"minimum": 0})
]
MaxYen = Annotated[int | None, Field(json_schema_extra={"minimum": 0})]
Account = Annotated[str | None, Field(description="口座名、またはその一部。")]
CategoryName = Annotated[str | None, Field(description="カテゴリ名。支出 なら収入以外。")]
WhichRows = Annotated[RowChoice, Field(description="counted: 集計対象だけ、left_out: 集計外だけ。")]
PageNumber = Annotated[int, Field(json_schema_extra={"minimum": 1})]
RowsOnPage = Annotated[int, Field(json_schema_extra={"minimum": 1, "maximum": PAGE_SIZE})]


def add_find_tool(offer: Offer, context: HouseholdContext) -> None:
    """Add the tool; its result has no schema, which would cost every conversation."""

    async def find(
        query: Words = None,
        period: Days = None,
        min_amount: MinYen = None,
        max_amount: MaxYen = None,
        account: Account = None,
        category: CategoryName = None,
        rows: WhichRows = "counted",
        sort: Order = "newest",
        group_by: GroupBy | None = None,
        page: PageNumber = 1,
        limit: RowsOnPage = PAGE_SIZE,
        tool: HouseholdName = None,
    ) -> CallToolResult:
        wanted = RowFilter(query, min_amount, max_amount, period, account, category, rows)
        listing = ListingOptions(sort, group_by, page, limit, context.month_starts_on)

        def work(connection: Connection, tool_id: int) -> FoundAnswer:
            return find_transactions(
                connection, tool_id, wanted, listing, context.columns, today(), context.embed
            )

        answer, newer = await context.answer(tool, work)
        return text_result(answer.text + newer, _structured(answer))

    offer.add_tool(
        find,
        name="find_transactions",
        description="明細を条件で探し、一致した全件の合計（group_by で内訳も）と明細を返す。"
        "「Amazonに今年いくら」「先月の高い買い物5つ」「12月31日に使ったもの」などに使う。",
        annotations=READ_ONLY,
        structured_output=False,
    )


def _structured(answer: FoundAnswer) -> dict[str, Any]:
    """The structured result: all sums are over every page, in yen, spending less refunds."""
    groups = [*answer.groups]
    if answer.other_groups is not None:
        groups.append(FoundGroup("そのほか", answer.other_groups))
    return {
        "understood": answer.understood,
        "total_rows": answer.totals.rows,
        "spending": answer.totals.spending,
        "income": answer.totals.income,
        "balance": answer.totals.balance,
        "left_out": answer.left_out,
        "groups": [
            {
                "name": group.name,
                "rows": group.totals.rows,
                "spending": group.totals.spending,
                "income": group.totals.income,
            }
            for group in groups
        ],
        "rows": [row_fields(row, answer.noted.get(row.id)) for row in answer.rows],
        "page": answer.page,
        "pages": answer.pages,
        "next_page": answer.next_page,
        "notes": list(answer.notes),
    }
