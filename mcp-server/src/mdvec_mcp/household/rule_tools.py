"""The tools that record what the user decides about rows: rules for categories, notes, tags."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Annotated, Any, Literal

from mcp_types import CallToolResult
from mdvec.database.connection import Connection
from mdvec.household import rules
from mdvec.household.notes import list_notes, note_row
from pydantic import Field

from mdvec_mcp.calls import text_result
from mdvec_mcp.household.context import HouseholdContext
from mdvec_mcp.household.plain import plain
from mdvec_mcp.household.plan_tools import WRITES

if TYPE_CHECKING:
    from mdvec_mcp.offer import Offer

Action = Literal["list", "try", "add", "remove"]
RowId = Annotated[int | None, Field(description="省略時は一覧。")]


def add_rule_tools(offer: Offer, context: HouseholdContext) -> None:
    """Add both tools."""
    _add_rules(offer, context)
    _add_notes(offer, context)


def _add_rules(offer: Offer, context: HouseholdContext) -> None:
    async def set_category_rule(
        action: Action = "list",
        shop: str = "",
        category: str = "",
        tool: str | None = None,
    ) -> CallToolResult:
        named = {"shop": shop, "category": category}
        if action in ("list", "try"):
            looking: Any = partial(rules.try_rule, **named) if action == "try" else rules.list_rules
            seen, newer = await context.answer(tool, looking)
            return text_result(seen.text + newer, plain(seen))
        deciding: Any = (
            partial(rules.set_rule, **named) if action == "add"
            else partial(rules.remove_rule, shop=shop)
        )  # fmt: skip
        done = await context.run(tool, "write", deciding)
        return text_result(done.text, plain(done))

    offer.add_tool(
        set_category_rule,
        description="店の名前が shop を含む明細のカテゴリの規則。list は規則と未分類への提案。"
        "try を見せ、ユーザーが決めてから add する。",
        annotations=WRITES,
        structured_output=False,
    )


def _add_notes(offer: Offer, context: HouseholdContext) -> None:
    async def note_transaction(
        transaction_id: RowId = None,
        note: str = "",
        tags: list[str] | None = None,
        tool: str | None = None,
    ) -> CallToolResult:
        def work(connection: Connection, tool_id: int) -> Any:  # noqa: ANN401 - either answer
            if transaction_id is None:
                return list_notes(connection, tool_id, tag=(tags or [None])[0])
            return note_row(
                connection, tool_id, transaction_id=transaction_id, note=note, tags=tags or ()
            )

        answer = await context.run(tool, "write", work)
        return text_result(answer.text, plain(answer))

    offer.add_tool(
        note_transaction,
        description="明細のメモとタグを置き換える。",
        annotations=WRITES,
        structured_output=False,
    )
