"""The tool that records what the user decides: budgets, rules, shops' spellings, notes on rows."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any, Literal

from mcp.server.mcpserver.exceptions import ToolError
from mdvec.database import Connection
from mdvec.household import (
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
from mdvec_mcp.household.answer_data import EditAnswer, reply
from mdvec_mcp.household.context import HouseholdContext, refuse_others

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
ACTIONS: dict[What, dict[Action, Callable[..., Any]]] = {
    "rule": {"try": rules.try_rule, "add": rules.set_rule, "remove": rules.remove_rule},
    "alias": {
        "try": aliases.try_alias, "add": aliases.add_alias, "remove": aliases.remove_alias
    },
}  # fmt: skip
"""What each action does with the names that it is given."""

# The choices only inform the model; other values are refused in Japanese.
Yen = Annotated[int | None, Field(description="円。0でやめる。")]
Span = Annotated[str | None, Field(json_schema_extra={"enum": list(SPANS)})]
RuleAction = Annotated[Action | None, Field(description="rule、alias だけ。")]
RowId = Annotated[int | None, Field(description="省略時は一覧。")]


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
        given = {
            "category": category, "amount": amount, "per": per, "action": action, "shop": shop,
            "spelling": spelling, "transaction_id": transaction_id, "note": note, "tags": tags,
            "tool": tool, "file": file, "toml": toml,
        }  # fmt: skip
        refuse_others(f"edit_household の what={what}", TAKES[what], given, NEEDS.get(what, ()))
        match what:
            case "budget":
                work = partial(
                    set_budget, category=category or "", amount=amount or 0, per=per or "month",
                    **context.settings_of(set_budget),
                )  # fmt: skip
                return reply(await context.run(tool, "write", work))
            case "mapping":
                stated = (toml or "").splitlines()
                keep = partial(mapping_answer, file=file or "", stated=stated, save=True)
                return reply(await context.in_folder(tool, keep))
            case "note":
                return await _note(context, tool, transaction_id, note, tags, category)
        other = {"category": category or ""} if what == "rule" else {"spelling": spelling or ""}
        return await _named(context, tool, what, action, {"shop": shop or "", **other})

    offer.add_tool(
        edit_household,
        description="Household: set a budget, a category rule (of a shop, or category='old = new')"
        ", a shop's spelling, a row's category, note and tags, a CSV mapping. 家計簿の予算、"
        "カテゴリの規則、店の別の書き方（try を見せてから add）、明細の分類、メモ。",
        annotations=WRITES,
        answer=EditAnswer,
    )


async def _named(
    context: HouseholdContext,
    tool: str | None,
    what: What,
    action: Action | None,
    names: dict[str, str],
) -> ToolReply:
    """A list, a trial or a change of rules or spellings."""
    if action is None and any(names.values()):
        raise ToolError(
            f"what={what} の action を try、add、remove から指定してください（省略時は list）"
        )
    listed = rules.list_rules if what == "rule" else aliases.list_aliases
    work = partial(ACTIONS[what][action], **names) if action in ACTIONS[what] else listed
    if action in ("add", "remove"):
        return reply(await context.run(tool, "write", work))
    if what == "alias":
        return reply(await context.run(tool, "read", work))
    return reply(*await context.answer(tool, work))


async def _note(
    context: HouseholdContext,
    tool: str | None,
    row: int | None,
    note: str | None,
    tags: list[str] | None,
    category: str | None,
) -> ToolReply:
    """A list of notes, or what the user says of a row: a note, tags, a category of its own."""
    if row is None:
        if len(tags or ()) > 1:
            raise ToolError("what=note の一覧は tags を 1つだけ指定できます")
        if note is not None or category is not None:
            raise ToolError("what=note の note と category には transaction_id が必要です")
        listed = partial(list_notes, tag=next(iter(tags or ()), None))
        return reply(await context.run(tool, "read", listed))
    if (note, tags, category) == (None, None, None):
        raise ToolError(
            'note か tags か category を付けてください。note=""、tags=[]、category="" で消えます'
        )

    def work(connection: Connection, tool_id: int) -> NotesAnswer:
        with connection:
            if category is not None:
                done = categorize_rows(
                    connection, tool_id, transaction_ids=[row], category=category
                )
            if note is not None or tags is not None:
                done = note_row(connection, tool_id, transaction_id=row, note=note, tags=tags)
        return done

    return reply(await context.run(tool, "write", work))
