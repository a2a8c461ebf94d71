"""The tool that records what the user decides: budgets, rules, shops' spellings, notes on rows."""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Annotated, Literal

from mcp.server.mcpserver.exceptions import ToolError
from mdvec.database import Connection
from mdvec.household import (
    MAX_ROWS,
    SPANS,
    NotesAnswer,
    aliases,
    categorize_rows,
    list_notes,
    mapping_answer,
    note_row,
    rules,
    set_budget,
)
from pydantic import Field

from mdvec_mcp.calls import WRITES, ToolReply
from mdvec_mcp.household.answer_data import EditAnswer, json_of
from mdvec_mcp.household.context import HouseholdContext, refuse_others, today
from mdvec_mcp.household.report_tool import listed_rules

if TYPE_CHECKING:
    from mdvec_mcp.offer import Offer

What = Literal["budget", "rule", "alias", "note", "mapping"]
Action = Literal["list", "try", "add", "remove"]
TAKES: dict[What, tuple[str, ...]] = {
    "budget": ("category", "amount", "per", "tool"),
    "rule": ("action", "shop", "category", "tool"),
    "alias": ("action", "shop", "spelling", "tool"),
    "note": ("transaction_id", "note", "tags", "category", "tool"),
    "mapping": ("file", "toml", "tool"),
}
"""The arguments of each kind of edit."""
NEEDS: dict[What, tuple[str, ...]] = {"budget": ("category", "amount"), "mapping": ("file",)}

# The choices only inform the model; other values are refused in Japanese.
Yen = Annotated[int | None, Field(description="円。0でやめる。")]
Span = Annotated[str | None, Field(json_schema_extra={"enum": list(SPANS)})]
RuleAction = Annotated[Action | None, Field(description="rule、alias だけ。")]
RowId = Annotated[int | None, Field(description="省略時は一覧。")]


@dataclass(frozen=True, slots=True)
class Edit:
    """The arguments of a call beside what to edit; None for those that were not given."""

    category: str | None
    amount: int | None
    per: str | None
    action: Action | None
    shop: str | None
    spelling: str | None
    transaction_id: int | None
    note: str | None
    tags: list[str] | None
    tool: str | None
    file: str | None
    toml: str | None


def add_edit_tool(offer: Offer, context: HouseholdContext) -> None:
    """Add the tool."""

    async def edit_household(
        what: What,
        category: str | None = None,
        amount: Yen = None,
        per: Span = None,
        action: RuleAction = None,
        shop: str | None = None,
        spelling: str | None = None,
        transaction_id: RowId = None,
        note: str | None = None,
        tags: list[str] | None = None,
        tool: str | None = None,
        file: str | None = None,
        toml: str | None = None,
    ) -> ToolReply:
        edit = Edit(
            category=category, amount=amount, per=per, action=action, shop=shop, spelling=spelling,
            transaction_id=transaction_id, note=note, tags=tags, tool=tool, file=file, toml=toml,
        )  # fmt: skip
        refuse_others(
            f"edit_household の what={what}", TAKES[what], asdict(edit), NEEDS.get(what, ())
        )
        if what == "budget":
            return await _budget(context, edit)
        if what == "alias":
            return await _alias(context, edit)
        if what == "mapping":
            return await _mapping(context, edit)
        return await (_rule(context, edit) if what == "rule" else _note(context, edit))

    offer.add_tool(
        edit_household,
        description="Household: set a budget, a category rule (of a shop, or category='old = new')"
        ", a shop's spelling, a row's category, note and tags, a CSV mapping. 家計簿の予算、"
        "カテゴリの規則、店の別の書き方（try を見せてから add）、明細の分類、メモ。",
        annotations=WRITES,
        answer=EditAnswer,
    )


async def _budget(context: HouseholdContext, edit: Edit) -> ToolReply:
    work = partial(
        set_budget, category=edit.category or "", amount=edit.amount or 0,
        per=edit.per or "month", month_starts_on=context.month_starts_on, today=today(),
    )  # fmt: skip
    done = await context.run(edit.tool, "write", work)
    return ToolReply(done.message, partial(json_of, done))


async def _mapping(context: HouseholdContext, edit: Edit) -> ToolReply:
    work = partial(
        mapping_answer, file=edit.file or "", stated=(edit.toml or "").splitlines(), save=True
    )
    done = await context.in_folder(edit.tool, work)
    return ToolReply(done.text, partial(json_of, done))


async def _rule(context: HouseholdContext, edit: Edit) -> ToolReply:
    shop, category = edit.shop or "", edit.category or ""

    def look(connection: Connection, tool_id: int) -> rules.RuleTrial | rules.RuleList:
        if edit.action == "try":
            tried = rules.try_rule(connection, tool_id, shop=shop, category=category)
            return replace(tried, rows=tried.rows[-MAX_ROWS:])
        return listed_rules(connection, tool_id)

    def decide(connection: Connection, tool_id: int) -> rules.RuleChange:
        if edit.action == "add":
            return rules.set_rule(connection, tool_id, shop=shop, category=category)
        return rules.remove_rule(connection, tool_id, shop=shop, category=category)

    if edit.action in ("add", "remove"):
        done = await context.run(edit.tool, "write", decide)
        return ToolReply(done.text, partial(json_of, done))
    if edit.action is None and (shop or category):
        raise ToolError(
            "what=rule の action を try、add、remove から指定してください（省略時は list）"
        )
    seen, newer = await context.answer(edit.tool, look)
    return ToolReply(seen.text + newer, partial(json_of, seen, newer))


async def _alias(context: HouseholdContext, edit: Edit) -> ToolReply:
    shop, spelling = edit.shop or "", edit.spelling or ""

    def work(connection: Connection, tool_id: int) -> aliases.AliasTrial | aliases.AliasList:
        match edit.action:
            case "try":
                return aliases.try_alias(connection, tool_id, shop=shop, spelling=spelling)
            case "add":
                return aliases.add_alias(connection, tool_id, shop=shop, spelling=spelling)
            case "remove":
                return aliases.remove_alias(connection, tool_id, shop=shop, spelling=spelling)
        return aliases.list_aliases(connection, tool_id)

    if edit.action is None and (shop or spelling):
        raise ToolError(
            "what=alias の action を try、add、remove から指定してください（省略時は list）"
        )
    is_change = edit.action in ("add", "remove")
    answer = await context.run(edit.tool, "write" if is_change else "read", work)
    return ToolReply(answer.text, partial(json_of, answer))


async def _note(context: HouseholdContext, edit: Edit) -> ToolReply:
    tags = edit.tags or []
    if edit.transaction_id is None and len(tags) > 1:
        raise ToolError("what=note の一覧は tags を 1つだけ指定できます")
    given = (edit.note, edit.tags, edit.category)
    if edit.transaction_id is None and (edit.note is not None or edit.category is not None):
        raise ToolError("what=note の note と category には transaction_id が必要です")
    if edit.transaction_id is not None and given == (None, None, None):
        raise ToolError(
            'note か tags か category を付けてください。note=""、tags=[]、category="" で消えます'
        )

    def work(connection: Connection, tool_id: int) -> NotesAnswer:
        if edit.transaction_id is None:
            return list_notes(connection, tool_id, tag=tags[0] if tags else None)
        row_id, category = edit.transaction_id, edit.category
        with connection:
            if category is not None:
                done = categorize_rows(
                    connection, tool_id, transaction_ids=[row_id], category=category
                )
            if edit.note is not None or edit.tags is not None:
                done = note_row(
                    connection, tool_id, transaction_id=row_id, note=edit.note, tags=edit.tags
                )
        return done

    answer = await context.run(edit.tool, "read" if edit.transaction_id is None else "write", work)
    return ToolReply(answer.text, partial(json_of, answer))
