"""The tools that record what the user decides about rows: rules for categories, notes, tags."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Literal

from mcp_types import CallToolResult
from mdvec.database.connection import Connection
from mdvec.household import rules
from mdvec.household.notes import NotesAnswer, list_notes, note_row
from pydantic import Field

from mdvec_mcp.calls import WRITES, text_result
from mdvec_mcp.household.context import HouseholdContext
from mdvec_mcp.household.json_values import json_value

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
        def look(connection: Connection, tool_id: int) -> rules.RuleTrial | rules.RuleList:
            if action == "try":
                return rules.try_rule(connection, tool_id, shop=shop, category=category)
            return rules.list_rules(connection, tool_id)

        def decide(connection: Connection, tool_id: int) -> rules.RuleChange:
            if action == "add":
                return rules.set_rule(connection, tool_id, shop=shop, category=category)
            return rules.remove_rule(connection, tool_id, shop=shop)

        if action in ("list", "try"):
            seen, newer = await context.answer(tool, look)
            return text_result(seen.text + newer, json_value(seen))
        done = await context.run(tool, "write", decide)
        return text_result(done.text, json_value(done))

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
        def work(connection: Connection, tool_id: int) -> NotesAnswer:
            if transaction_id is None:
                return list_notes(connection, tool_id, tag=tags[0] if tags else None)
            return note_row(
                connection, tool_id, transaction_id=transaction_id, note=note, tags=tags or ()
            )

        answer = await context.run(tool, "write", work)
        return text_result(answer.text, json_value(answer))

    offer.add_tool(
        note_transaction,
        description="明細のメモとタグを置き換える。",
        annotations=WRITES,
        structured_output=False,
    )
