"""The six tools that review a household's duplicates: detect, list, decide, restore."""

from __future__ import annotations

from decimal import Decimal
from functools import partial
from typing import TYPE_CHECKING, Annotated

from mdvec.household import (
    MAX_DATE_TOLERANCE,
    CandidateList,
    Confirmation,
    Detection,
    DetectionOptions,
    DuplicateCandidate,
    DuplicateStats,
    Restoration,
    candidate_text,
    candidates_text,
    deciding,
    review,
    sharing,
    statistics_text,
)
from pydantic import Field

from mdvec_mcp.calls import READ_ONLY, WRITES, ToolReply, errors_for_the_model, trouble_in_japanese
from mdvec_mcp.household.answer_data import json_of, reply
from mdvec_mcp.household.context import HouseholdContext

if TYPE_CHECKING:
    from mdvec_mcp.offer import Offer

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
Rows = Annotated[list[int] | None, Field(description="家計簿のあいだの組の2件、または候補の一部。")]
Alike = Annotated[
    bool, Field(description="似た候補も同じ判定に（判定済みなら変更、請求は今後も）。")
]
Page = Annotated[int, Field(json_schema_extra={"minimum": 1})]


def add_review_tools(offer: Offer, context: HouseholdContext, defaults: DetectionOptions) -> None:
    """Add the six tools; ``defaults`` are the tolerances that a call does not name."""
    _add_detection(offer, context, defaults)
    _add_lists(offer, context)
    _add_decisions(offer, context)


def _add_detection(offer: Offer, context: HouseholdContext, defaults: DetectionOptions) -> None:
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

    offer.add_tool(
        detect_duplicates,
        description="Household: detect duplicate transactions (double charges), unmarked "
        "transfers, card bills, then list_duplicate_candidates. "
        "家計簿の重複・二重計上と振替の候補を検出する。",
        annotations=WRITES,
        answer=Detection,
    )


def _add_lists(offer: Offer, context: HouseholdContext) -> None:
    async def list_duplicate_candidates(
        limit: Limit = 10,
        page: Page = 1,
        skip_checked: SkipChecked = True,  # noqa: FBT002 - a tool's arguments have names
        tool: str | None = None,
    ) -> ToolReply:
        work = partial(review.list_candidates, limit=limit, page=page, skip_checked=skip_checked)
        listed, newer = await context.answer(tool, work)
        return ToolReply(candidates_text(listed) + newer, partial(json_of, listed, newer))

    async def get_duplicate_candidate_detail(check_id: int, tool: str | None = None) -> ToolReply:
        work = partial(review.candidate_detail, check_id=check_id)
        pair = await context.run(tool, "read", work)
        return ToolReply(candidate_text(pair), partial(json_of, pair))

    async def get_duplicate_stats(tool: str | None = None) -> ToolReply:
        numbers, newer = await context.answer(tool, review.stats)
        return ToolReply(statistics_text(numbers) + newer, partial(json_of, numbers, newer))

    offer.add_tool(
        list_duplicate_candidates,
        description="Household: list the duplicate candidates found, likely ones first, with "
        "reasons. 重複候補の一覧。",
        annotations=READ_ONLY,
        answer=CandidateList,
    )
    offer.add_tool(
        get_duplicate_candidate_detail,
        description="Household: one duplicate candidate with its detection parameters. "
        "重複候補1件の詳細。",
        annotations=READ_ONLY,
        answer=DuplicateCandidate,
    )
    offer.add_tool(
        get_duplicate_stats,
        description="Household: how many duplicates and open candidates. 重複の件数。",
        annotations=READ_ONLY,
        answer=DuplicateStats,
    )


def _add_decisions(offer: Offer, context: HouseholdContext) -> None:
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

    async def restore_duplicate(transaction_id: int, tool: str | None = None) -> ToolReply:
        work = partial(deciding.restore, transaction_id=transaction_id)
        return reply(await context.run(tool, "write", work))

    offer.add_tool(
        confirm_duplicate,
        description="Household: mark a candidate as a duplicate or not, as the user "
        "decided; ask first. 重複候補へのユーザーの判定を記録する。",
        annotations=WRITES,
        answer=Confirmation,
    )
    offer.add_tool(
        restore_duplicate,
        description="Household: undo a duplicate or transfer mark, so that the transaction "
        "counts again. 重複とした取引を集計に戻す。",
        annotations=WRITES,
        answer=Restoration,
    )
