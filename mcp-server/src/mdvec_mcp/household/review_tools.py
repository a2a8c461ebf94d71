"""The tools that record decisions of the user: on duplicates, budgets, rules, shops and notes."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any, Literal

from mcp.server.mcpserver.exceptions import ToolError
from mdvec import household
from mdvec.household import (
    MAX_DATE_TOLERANCE,
    SPANS,
    DetectionOptions,
    Ledger,
    budget_status,
    deciding,
    review,
    rules,
    set_budget,
    sharing,
    shops,
)
from pydantic import Field

from mdvec_mcp.calls import READ_ONLY, WRITES, ToolReply, errors_for_the_model, trouble_in_japanese
from mdvec_mcp.household.context import EditAnswer, HouseholdContext, refuse_others, reply

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
        "try": shops.try_alias, "add": shops.add_alias, "remove": shops.remove_alias
    },
}  # fmt: skip
"""The function of each action on names."""

# The choices only inform the model; other values are refused in Japanese.
BudgetYen = Annotated[int | None, Field(description="円。0でやめる。")]
Span = Annotated[str | None, Field(json_schema_extra={"enum": list(SPANS)})]
RuleAction = Annotated[Action | None, Field(description="rule、alias だけ。")]
RowId = Annotated[int | None, Field(description="省略時は一覧。")]


def add_edit_tool(offer: Offer, context: HouseholdContext) -> None:
    """Add the tool."""

    @offer.tool(
        description="Household: set a budget, a category rule (of a shop, or category='old = new')"
        ", a shop's spelling, a row's category, note and tags, a CSV mapping. 家計簿の予算、"
        "カテゴリの規則、店の別の書き方（try を見せてから add）、明細の分類、メモ。",
        annotations=WRITES,
        answer=EditAnswer,
    )
    async def edit_household(
        what: What,
        category: str | None = None,
        amount: BudgetYen = None,
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
        arguments = {
            "category": category, "amount": amount, "per": per, "action": action, "shop": shop,
            "spelling": spelling, "transaction_id": transaction_id, "note": note, "tags": tags,
            "tool": tool, "file": file, "toml": toml,
        }  # fmt: skip
        lists = what == "budget" and (category, amount, per) == (None, None, None)
        needs = () if lists else NEEDS.get(what, ())
        refuse_others(f"edit_household の what={what}", TAKES[what], arguments, needs)
        match what:
            case "budget" if lists:
                return reply(*await context.answer(tool, budget_status))
            case "budget":
                work = partial(
                    set_budget, category=category or "", amount=amount or 0, per=per or "month"
                )
                return reply(await context.run(tool, "write", work))
            case "mapping":
                stated = (toml or "").splitlines()
                keep = partial(household.mapping_answer, file=file or "", stated=stated, save=True)
                return reply(await context.in_folder(tool, keep))
            case "note":
                return await _note(context, tool, transaction_id, note, tags, category)
        other = {"category": category or ""} if what == "rule" else {"spelling": spelling or ""}
        return await _edit_names(context, tool, what, action, {"shop": shop or "", **other})


async def _edit_names(
    context: HouseholdContext,
    tool: str | None,
    what: What,
    action: Action | None,
    names: dict[str, str],
) -> ToolReply:
    """List the rules or other spellings, try one, or add or remove one."""
    if action is None and any(names.values()):
        raise ToolError(
            f"what={what} の action を try、add、remove から指定してください（省略時は list）"
        )
    listed = rules.list_rules if what == "rule" else shops.list_aliases
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
    """List notes, or set a row's note, tags or own category."""
    if row is None:
        if len(tags or ()) > 1:
            raise ToolError("what=note の一覧は tags を 1つだけ指定できます")
        if note is not None or category is not None:
            raise ToolError("what=note の note と category には transaction_id が必要です")
        listed = partial(household.list_notes, tag=next(iter(tags or ()), None))
        return reply(await context.run(tool, "read", listed))
    if (note, tags, category) == (None, None, None):
        raise ToolError(
            'note か tags か category を付けてください。note=""、tags=[]、category="" で消えます'
        )

    def work(ledger: Ledger) -> household.NotesAnswer:
        return household.note_row(
            ledger, transaction_id=row, note=note, tags=tags, category=category
        )

    return reply(await context.run(tool, "write", work))


# The bounds only inform the model; the library refuses other values, in Japanese.
Days = Annotated[
    int, Field(description="±日数", json_schema_extra={"minimum": 0, "maximum": MAX_DATE_TOLERANCE})
]
Yen = Annotated[
    float,
    Field(
        description="±円。0は使わない。割合と両方なら両方を満たす組。",
        json_schema_extra={"minimum": 0},
    ),
]
Percent = Annotated[float, Field(description="±%。0は使わない。", json_schema_extra={"minimum": 0})]
MinScore = Annotated[float, Field(json_schema_extra={"minimum": 0, "maximum": 1})]
TransactionIds = Annotated[list[int] | None, Field(description="これらを含む組だけを探す。")]
Limit = Annotated[int, Field(json_schema_extra={"minimum": 1, "maximum": review.MAX_LIMIT})]
SkipChecked = Annotated[bool, Field(description="false なら判定済みの組も。")]
CheckIdOrNone = Annotated[int | None, Field(description="家計簿のあいだの組では省く。")]
Decision = Annotated[
    str,
    Field(
        description="duplicate: 重複（keep 以外を除外）か振替（両方を除外）か請求、skip: 保留。",
        json_schema_extra={"enum": list(deciding.DECISIONS)},
    ),
]
Keep = Annotated[int | None, Field(description="残す取引ID。省略時は最初。")]
Rows = Annotated[list[int] | None, Field(description="家計簿のあいだの組の2件か、候補の一部。")]
Alike = Annotated[
    bool,
    Field(description="口座（か店）・理由・確かさの同じ候補も（判定済みなら変更、請求は今後も）。"),
]
Page = Annotated[int, Field(json_schema_extra={"minimum": 1})]


def add_review_tools(offer: Offer, context: HouseholdContext, defaults: DetectionOptions) -> None:
    """Add the six tools; ``defaults`` are the tolerances unless a call states others."""
    _add_detection(offer, context, defaults)
    _add_lists(offer, context)
    _add_decisions(offer, context)


def _add_detection(offer: Offer, context: HouseholdContext, defaults: DetectionOptions) -> None:
    @offer.tool(
        description="Household: detect duplicate transactions (double charges), unmarked "
        "transfers, card bills, then list_duplicate_candidates. "
        "家計簿の重複・二重計上と振替の候補を検出する。",
        annotations=WRITES,
        answer=household.Detection,
    )
    async def detect_duplicates(
        date_tolerance_days: Days = defaults.date_tolerance_days,
        amount_tolerance_abs: Yen = float(defaults.amount_tolerance_abs),
        amount_tolerance_pct: Percent = float(defaults.amount_tolerance_pct),
        transaction_ids: TransactionIds = None,
        min_similarity_score: MinScore = defaults.min_similarity_score,
        tool: str | None = None,
    ) -> ToolReply:
        with errors_for_the_model(trouble_in_japanese):
            options = DetectionOptions(
                date_tolerance_days,
                Decimal(str(amount_tolerance_abs)),
                Decimal(str(amount_tolerance_pct)),
                min_similarity_score,
            )
        work = partial(review.detect, options=options, transaction_ids=transaction_ids)
        return reply(*await context.answer(tool, work, "write"))


def _add_lists(offer: Offer, context: HouseholdContext) -> None:
    @offer.tool(
        description="Household: list the duplicate candidates found, likely ones first, with "
        "reasons. 重複候補の一覧。",
        annotations=READ_ONLY,
        answer=household.CandidateList,
    )
    async def list_duplicate_candidates(
        limit: Limit = 10,
        page: Page = 1,
        skip_checked: SkipChecked = True,  # noqa: FBT002 - a tool's arguments have names
        tool: str | None = None,
    ) -> ToolReply:
        work = partial(review.list_candidates, limit=limit, page=page, skip_checked=skip_checked)
        listed, newer = await context.answer(tool, work)
        return reply(listed, newer, household.candidates_text(listed))

    @offer.tool(
        description="Household: one duplicate candidate with its detection parameters. "
        "重複候補1件の詳細。",
        annotations=READ_ONLY,
        answer=household.DuplicateCandidate,
    )
    async def get_duplicate_candidate_detail(check_id: int, tool: str | None = None) -> ToolReply:
        work = partial(review.candidate_detail, check_id=check_id)
        pair = await context.run(tool, "read", work)
        return reply(pair, text=household.candidate_text(pair))

    @offer.tool(
        description="Household: how many duplicates and open candidates. 重複の件数。",
        annotations=READ_ONLY,
        answer=household.DuplicateStats,
    )
    async def get_duplicate_stats(tool: str | None = None) -> ToolReply:
        numbers, newer = await context.answer(tool, review.stats)
        return reply(numbers, newer, household.statistics_text(numbers))


def _add_decisions(offer: Offer, context: HouseholdContext) -> None:
    @offer.tool(
        description="Household: mark a candidate as a duplicate or not, as the user "
        "decided; ask first. 重複候補へのユーザーの判定を記録する。",
        annotations=WRITES,
        answer=household.Confirmation,
    )
    async def confirm_duplicate(
        decision: Decision,
        check_id: CheckIdOrNone = None,
        keep: Keep = None,
        transaction_ids: Rows = None,
        alike: Alike = False,  # noqa: FBT002 - a tool's arguments have names
        tool: str | None = None,
    ) -> ToolReply:
        ids = tuple(transaction_ids or ())
        if check_id is None:
            shared = partial(sharing.decide_shared, rows=ids, decision=decision, keep=keep)
            return reply(await context.run_over_all("write", shared))
        choice = deciding.ReviewDecision(decision, keep, ids, alike)
        work = partial(deciding.confirm, check_id=check_id, choice=choice)
        return reply(await context.run(tool, "write", work))

    @offer.tool(
        description="Household: undo a duplicate or transfer mark; the transaction counts "
        "again. 重複とした取引を集計に戻す。",
        annotations=WRITES,
        answer=household.Restoration,
    )
    async def restore_duplicate(transaction_id: int, tool: str | None = None) -> ToolReply:
        work = partial(deciding.restore, transaction_id=transaction_id)
        return reply(await context.run(tool, "write", work))
