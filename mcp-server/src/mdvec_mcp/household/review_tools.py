"""The six tools that review a household's duplicates: detect, list, decide, restore."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict
from decimal import Decimal
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any

from mcp_types import CallToolResult, ToolAnnotations
from mdvec.household import deciding, review, sharing
from mdvec.household.core.detection import MAX_DATE_TOLERANCE, DetectionOptions
from pydantic import Field

from mdvec_mcp.calls import READ_ONLY, errors_for_the_model, text_result
from mdvec_mcp.database_trouble import trouble_in_japanese
from mdvec_mcp.household import review_schema as models
from mdvec_mcp.household.context import HouseholdContext, HouseholdName

if TYPE_CHECKING:
    from mdvec_mcp.offer import Offer

# The bounds only inform the model; the library refuses other values, in Japanese.
Days = Annotated[
    int,
    Field(
        description="日付の許容差（±日数）。0は同じ日だけ。",
        json_schema_extra={"minimum": 0, "maximum": MAX_DATE_TOLERANCE},
    ),
]
Yen = Annotated[
    float,
    Field(
        description="金額の許容差（±円）。0は使わない。割合も指定すると、両方を満たす組だけ。",
        json_schema_extra={"minimum": 0},
    ),
]
Percent = Annotated[
    float,
    Field(
        description="金額の許容差（2件の平均に対する±%）。0は使わない。",
        json_schema_extra={"minimum": 0},
    ),
]
MinScore = Annotated[
    float,
    Field(
        description="候補とする最小の類似度。",
        json_schema_extra={"minimum": 0, "maximum": 1},
    ),
]
TransactionIds = Annotated[
    list[int] | None,
    Field(description="これらの取引のどれかを含む組だけを探す。省略時は全件。"),
]
Limit = Annotated[
    int,
    Field(
        description="取得件数の上限。",
        json_schema_extra={"minimum": 1, "maximum": review.MAX_LIMIT},
    ),
]
SkipChecked = Annotated[bool, Field(description="false なら判定済みの組も最後に並べる。")]
CheckId = Annotated[int, Field(description="候補の check_id。")]
CheckIdOrNone = Annotated[
    int | None, Field(description="候補の check_id。家計簿のあいだの組では省く。")
]
TransactionId = Annotated[int, Field(description="復元する取引のID。")]
Decision = Annotated[
    str,
    Field(
        description="duplicate: 重複（keep 以外を集計から除外）か振替（両方を除外）、"
        "not_duplicate: どちらでもない、skip: 保留。",
        json_schema_extra={"enum": list(deciding.DECISIONS)},
    ),
]
Keep = Annotated[int | None, Field(description="残す取引のID。省略時は transaction_1。")]
Rows = Annotated[
    list[int] | None,
    Field(description="家計簿のあいだの組の2件、または3件以上の候補の一部の取引ID。"),
]
Alike = Annotated[
    bool,
    Field(
        description="true なら似た候補（alike_count）も同じ判定に。判定済みの組ならまとめて変更。"
    ),
]
Page = Annotated[int, Field(description="ページ。", json_schema_extra={"minimum": 1})]

_WRITES = ToolAnnotations(
    read_only_hint=False, destructive_hint=False, idempotent_hint=True, open_world_hint=False
)


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
        tool: HouseholdName = None,
    ) -> Annotated[CallToolResult, models.DetectionModel]:
        with errors_for_the_model(trouble_in_japanese):
            options = DetectionOptions(
                date_tolerance_days,
                Decimal(str(amount_tolerance_abs)),
                Decimal(str(amount_tolerance_pct)),
                min_similarity_score,
            )
        work = partial(review.detect, options=options, transaction_ids=transaction_ids)
        found, newer = await context.answer(tool, work, "write")
        return text_result(found.message + newer, asdict(found))

    offer.add_tool(
        detect_duplicates,
        description="家計簿から重複と、印のない振替の候補を検出し、判定待ちにする（取引は変えず、判定済みの組は"
        "除く）。全件の検索は前の検索の未判定の候補と入れ替わる。次に list_duplicate_candidates。",
        annotations=_WRITES,
        structured_output=True,
    )


def _add_lists(offer: Offer, context: HouseholdContext) -> None:
    async def list_duplicate_candidates(
        limit: Limit = 10,
        page: Page = 1,
        skip_checked: SkipChecked = True,  # noqa: FBT002 - a tool's arguments have names
        tool: HouseholdName = None,
    ) -> Annotated[CallToolResult, models.CandidateListModel]:
        work = partial(review.list_candidates, limit=limit, page=page, skip_checked=skip_checked)
        listed, newer = await context.answer(tool, work)
        return text_result(models.list_as_text(listed) + newer, asdict(listed))

    async def get_duplicate_candidate_detail(
        check_id: CheckId, tool: HouseholdName = None
    ) -> Annotated[CallToolResult, models.CandidateDetailModel]:
        work = partial(review.candidate_detail, check_id=check_id)
        pair = await context.run(tool, "read", work)
        return text_result(models.detail_as_text(pair), asdict(pair))

    async def get_duplicate_stats(
        tool: HouseholdName = None,
    ) -> Annotated[CallToolResult, models.DuplicateStatsModel]:
        numbers, newer = await context.answer(tool, review.stats)
        return text_result(models.stats_as_text(numbers) + newer, asdict(numbers))

    descriptions: dict[Callable[..., Any], str] = {
        list_duplicate_candidates: "重複候補を、同じ買い物らしいもの、別の買い物らしいものの順に、"
        "理由とともに返す。",
        get_duplicate_candidate_detail: "重複候補1件の詳細（一覧と同じ形）と、検出条件を返す。",
        get_duplicate_stats: "重複と判定待ちの件数を返す。",
    }
    for function, description in descriptions.items():
        offer.add_tool(
            function, description=description, annotations=READ_ONLY, structured_output=True
        )


def _add_decisions(offer: Offer, context: HouseholdContext) -> None:
    async def confirm_duplicate(
        decision: Decision,
        check_id: CheckIdOrNone = None,
        keep: Keep = None,
        transaction_ids: Rows = None,
        alike: Alike = False,  # noqa: FBT002 - a tool's arguments have names
        tool: HouseholdName = None,
    ) -> Annotated[CallToolResult, models.ConfirmationModel]:
        ids = tuple(transaction_ids or ())
        if check_id is None:
            shared = partial(sharing.decide_shared, rows=ids, decision=decision, keep=keep)
            done = await context.run_over_all("write", shared)
            return text_result(done.message, asdict(done))
        choice = deciding.ReviewDecision(decision, keep, ids, alike)
        work = partial(deciding.confirm, check_id=check_id, choice=choice)
        done = await context.run(tool, "write", work)
        return text_result(done.message, asdict(done))

    async def restore_duplicate(
        transaction_id: TransactionId, tool: HouseholdName = None
    ) -> Annotated[CallToolResult, models.RestorationModel]:
        work = partial(deciding.restore, transaction_id=transaction_id)
        done = await context.run(tool, "write", work)
        return text_result(done.message, asdict(done))

    descriptions: dict[Callable[..., Any], str] = {
        confirm_duplicate: "重複候補（の全取引）へのユーザーの判定を記録する。必ず"
        "ユーザーに確認してから使う。",
        restore_duplicate: "重複や振替とした取引を集計に戻す。",
    }
    for function, description in descriptions.items():
        offer.add_tool(
            function, description=description, annotations=_WRITES, structured_output=True
        )
