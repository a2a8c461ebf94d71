"""The answers of a review of duplicates, with their Japanese messages.

Each message states the result and the next possible step.
"""

from __future__ import annotations

from dataclasses import dataclass

from mdvec.household.core.transaction import Transaction


@dataclass(frozen=True, slots=True)
class Detection:
    """The result of a search: ``candidates_count`` undecided pairs.

    ``new_count`` of them had not been found before; ``decided_count`` further pairs are already
    decided; ``below_threshold_count`` further pairs are within the tolerances but score too low.
    """

    candidates_count: int
    new_count: int
    decided_count: int
    below_threshold_count: int
    message: str


@dataclass(frozen=True, slots=True)
class CandidateRow:
    """A transaction as a review shows it; ``amount`` in yen, ``date`` as YYYY-MM-DD."""

    id: int
    date: str
    amount: int | None
    description: str
    category_major: str
    category_minor: str
    account: str
    memo: str
    source_file: str
    row_number: int
    is_duplicate: bool
    duplicate_of: int | None


@dataclass(frozen=True, slots=True)
class DetectionParams:
    """The tolerances with which a pair was found."""

    date_tolerance_days: int
    amount_tolerance_abs: float
    amount_tolerance_pct: float


@dataclass(frozen=True, slots=True)
class Candidate:
    """A pair that may be the same purchase; ``amount_diff`` is absolute, in yen."""

    check_id: int
    transaction_1: CandidateRow
    transaction_2: CandidateRow
    similarity_score: float
    date_diff_days: int
    amount_diff: int | None
    user_decision: str | None
    detection_params: DetectionParams


@dataclass(frozen=True, slots=True)
class CandidateList:
    """The pairs with the best scores, out of ``total_count``."""

    candidates: tuple[Candidate, ...]
    total_count: int
    message: str


@dataclass(frozen=True, slots=True)
class Confirmation:
    """The result of a decision; ``marked_transaction_id`` is the row that no longer counts."""

    success: bool
    message: str
    marked_transaction_id: int | None


@dataclass(frozen=True, slots=True)
class Restoration:
    """The result of restoring a marked row."""

    success: bool
    message: str


@dataclass(frozen=True, slots=True)
class DuplicateStats:
    """Statistics of a ledger; ``duplicate_rate`` is the percentage of marked rows."""

    total_transactions: int
    marked_duplicates: int
    pending_checks: int
    confirmed_not_duplicate: int
    duplicate_rate: float


def candidate_row(row: Transaction) -> CandidateRow:
    """Converts a transaction for a review's answer."""
    return CandidateRow(
        id=row.id,
        date=row.date.isoformat(),
        amount=row.amount,
        description=row.description,
        category_major=row.category_major,
        category_minor=row.category_minor,
        account=row.account,
        memo=row.memo,
        source_file=row.source_file,
        row_number=row.row_number,
        is_duplicate=row.is_duplicate,
        duplicate_of=row.duplicate_of,
    )


def detection_message(candidates: int, decided: int, below: int, least: float) -> str:
    """Message after a search: how many pairs are candidates, decided, or below the score."""
    parts = [
        "重複候補は見つかりませんでした。"
        "引き落としが数日ずれることもあるので、date_tolerance_days を3にして試せます。"
    ]
    if candidates:
        parts = [
            f"{candidates}件の重複候補が見つかりました。",
            "list_duplicate_candidates で一覧を確認できます。",
        ]
    if decided:
        parts.append(f"判定済みの{decided}件は除いています。")
    if below:
        parts.append(
            f"ほかに類似度{least:g}未満の組が{below}件あります"
            "（min_similarity_score を下げると候補になります）。"
        )
    return "".join(parts)


def list_message(shown: int, total: int, *, open_only: bool) -> str:
    """Message of a list: how many pairs there are, and how many are shown."""
    kind = "未確認の重複候補" if open_only else "重複候補"
    if not total:
        return f"{kind}はありません。detect_duplicates で検出できます。"
    if shown < total:
        return f"{kind}は{total}件です（上位{shown}件を表示）。confirm_duplicate で判定できます。"
    return f"{kind}は{total}件です。confirm_duplicate で判定できます。"


def mark_message(first: Transaction, second: Transaction) -> str:
    """Message after the second row was marked."""
    chain = ""
    if second.duplicate_of != first.id:
        chain = f"取引ID {first.id} も重複のため、残る取引は取引ID {second.duplicate_of} です。"
    return (
        f"重複として記録しました。取引ID {second.id} にフラグが設定されました。"
        f"今後の集計から除外されます。{chain}"
        f"取り消すには restore_duplicate に取引ID {second.id} を渡してください。"
    )


def already_marked_message(second: Transaction) -> str:
    """Message if another pair had already marked the second row."""
    return (
        f"この取引は既に重複としてマークされています（取引ID {second.id} は"
        f"取引ID {second.duplicate_of} の重複）。この組の判定も記録しました。"
    )


def rejection_message(second: Transaction, *, was_marked: bool, open_again: bool) -> str:
    """Message after a pair was rejected or skipped; its second row may have been marked before."""
    word = "保留にしました。この組は候補に残ります。" if open_again else (
        "重複ではないと記録しました。この組は今後候補に出ません。"
    )  # fmt: skip
    if second.is_duplicate:
        return (
            f"{word}取引ID {second.id} は別の組で"
            f"取引ID {second.duplicate_of} の重複と判定されているため、フラグはそのままです。"
        )
    return f"{word}取引ID {second.id} のフラグを外しました。" if was_marked else word


def already_decided_message(decision: str, second: Transaction) -> str:
    """Message if the same decision had already been made."""
    match decision:
        case "duplicate":
            return (
                "この組は既に重複として記録されています。"
                f"取引ID {second.id} は集計から除外されています。"
            )
        case "not_duplicate":
            return "この組は既に重複ではないと記録されています。"
    return "この組は既に保留になっています。候補に残ります。"


def restoration_message(row: Transaction, *, was_marked: bool) -> str:
    """Message after a row was restored, or had not been marked."""
    if not was_marked:
        return f"取引ID {row.id} は重複としてマークされていません。変更はありません。"
    sums = (
        "再び集計に含まれます。"
        if row.counts
        else "計算対象外などの取引のため、集計には含まれません。"
    )
    return (
        f"取引ID {row.id} を復元しました。{sums}重複としていた組は「重複ではない」と記録しました。"
    )
