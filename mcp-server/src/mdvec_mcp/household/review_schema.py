"""Output schemas of the duplicate tools, and the texts of their answers."""

from __future__ import annotations

from mdvec.household.core.review_wording import (
    CandidateList,
    CandidateRow,
    DuplicateCandidate,
    DuplicateStats,
)
from mdvec.text.one_line import on_one_line
from pydantic import BaseModel, ConfigDict, Field

_TRANSFER_DECISIONS = {"duplicate": "振替", "not_duplicate": "振替ではない", "skip": "保留"}
_DECISIONS = {"duplicate": "重複", "not_duplicate": "重複ではない", "skip": "保留"}


class DetectionModel(BaseModel):
    """How many pairs a detection found."""

    candidates_count: int = Field(description="判定待ちの組")
    likely_count: int = Field(description="そのうち同じ買い物らしいもの")
    new_count: int = Field(description="そのうち今回見つかったもの")
    decided_count: int = Field(description="判定済みのため除いたもの")
    below_threshold_count: int = Field(description="類似度が min_similarity_score 未満のもの")
    dropped_count: int = Field(description="候補から外した前の検索の組")
    message: str


class CandidateRowModel(BaseModel):
    """One transaction of a pair."""

    id: int = Field(description="取引ID")
    date: str
    amount: int | None = Field(description="円、支出は負")
    description: str
    category_major: str
    category_minor: str
    account: str
    memo: str
    source_file: str
    row_number: int
    is_duplicate: bool
    duplicate_of: int | None = Field(description="重複元の取引ID")


class DetectionParamsModel(BaseModel):
    """The tolerances by which a pair was found."""

    date_tolerance_days: int
    amount_tolerance_abs: float
    amount_tolerance_pct: float


class CandidateModel(BaseModel):
    """Transactions that may record the same payment."""

    check_id: int
    is_likely: bool = Field(description="同じ買い物（か振替）らしい")
    is_transfer: bool = Field(description="口座間の移動の候補")
    transaction_1: CandidateRowModel
    transaction_2: CandidateRowModel
    others: list[CandidateRowModel]
    reasons: list[str]
    alike_count: int = Field(description="口座や店が同じほかの候補")
    similarity_score: float = Field(ge=0, le=1)
    date_diff_days: int
    amount_diff: int | None
    user_decision: str | None = Field(description="未判定は null")
    detection_params: DetectionParamsModel


class CandidateDetailModel(BaseModel):
    """One candidate, with the fields that a list gives; named once, in the list's schema."""

    model_config = ConfigDict(extra="allow")
    check_id: int


class CandidateListModel(BaseModel):
    """Candidates, likely ones first."""

    candidates: list[CandidateModel]
    total_count: int
    likely_count: int
    next_page: int | None
    message: str


class ConfirmationModel(BaseModel):
    """The result of a decision."""

    success: bool
    message: str
    marked_transaction_id: int | None = Field(description="集計から除外した取引")
    marked_transaction_ids: list[int]


class RestorationModel(BaseModel):
    """The result of a restoration."""

    success: bool
    message: str


class DuplicateStatsModel(BaseModel):
    """How many duplicates a ledger has, and how many pairs await a decision."""

    total_transactions: int
    marked_duplicates: int
    pending_checks: int
    confirmed_not_duplicate: int
    duplicate_rate: float = Field(description="%")


def list_as_text(answer: CandidateList) -> str:
    """The list of candidates as text, those that are likely two purchases under a heading."""
    lines, likely = [answer.message], True
    for one in answer.candidates:
        if (
            likely
            and not one.is_likely
            and not one.is_transfer
            and one.user_decision in (None, "skip")
        ):
            lines.append("別の買い物らしい候補:")
            likely = False
        lines.append(candidate_as_text(one))
    if answer.next_page:
        lines.append(f"続きは page={answer.next_page}。")
    return "\n".join(lines)


def candidate_as_text(pair: DuplicateCandidate) -> str:
    """A candidate: a line of numbers, one of reasons, and one for each row."""
    amounts = "不明" if pair.amount_diff is None else f"{pair.amount_diff:,}円"
    words = _TRANSFER_DECISIONS if pair.is_transfer else _DECISIONS
    decision = words.get(pair.user_decision or "")
    kind = "同じ買い物らしい" if pair.is_likely else "別の買い物らしい"
    if pair.is_transfer:
        kind = "振替らしい" if pair.is_likely else "振替かもしれない"
    lines = [
        f"[check_id {pair.check_id}] {kind}（類似度 {pair.similarity_score:.0%}）、"
        f"日付差 {pair.date_diff_days}日、金額差 {amounts}"
        + (f"、似た候補ほかに{pair.alike_count}件" if pair.alike_count else "")
        + (f"、判定: {decision}" if decision else "")
    ]
    if pair.reasons:
        lines.append(f"  理由: {'。'.join(pair.reasons)}。")
    rows = (pair.transaction_1, pair.transaction_2, *pair.others)
    return "\n".join([*lines, *map(_row_as_text, rows)])


def detail_as_text(pair: DuplicateCandidate) -> str:
    """A pair as text, with the tolerances it was found by."""
    params = pair.detection_params
    return (
        f"{candidate_as_text(pair)}\n検出条件: 日付 ±{params.date_tolerance_days}日、"
        f"金額 ±{params.amount_tolerance_abs:g}円・±{params.amount_tolerance_pct:g}%（0は指定なし）"
    )


def stats_as_text(numbers: DuplicateStats) -> str:
    """The numbers as one line of text."""
    return (
        f"取引 {numbers.total_transactions:,}件のうち重複 {numbers.marked_duplicates:,}件"
        f"（{numbers.duplicate_rate:g}%）。判定待ちの候補 {numbers.pending_checks:,}件、"
        f"重複ではないと判定された組 {numbers.confirmed_not_duplicate:,}件。"
    )


def _row_as_text(row: CandidateRow) -> str:
    amount = "金額なし" if row.amount is None else f"{row.amount:,}円"
    category = "/".join(filter(None, (row.category_major, row.category_minor)))
    words = (row.description, category, row.account, row.memo)
    said = " | ".join(on_one_line(word) for word in words if word)
    mark = f" 重複（元: 取引ID {row.duplicate_of}）" if row.is_duplicate else ""
    source = f"{on_one_line(row.source_file)}:{row.row_number}"
    return f"  取引ID {row.id}: {row.date} {amount} {said} ({source}){mark}"
