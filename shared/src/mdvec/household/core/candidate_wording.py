"""The Japanese texts of candidates for duplicates: lists, one in detail, and statistics."""

from __future__ import annotations

from collections.abc import Iterable

from mdvec.household.core.answer_text import answer_text
from mdvec.household.core.review_wording import (
    CandidateList,
    CandidateRow,
    DuplicateCandidate,
    DuplicateStats,
)
from mdvec.text.one_line import shown_name

_TRANSFER_DECISIONS = {"duplicate": "振替", "not_duplicate": "振替ではない", "skip": "保留"}
_DECISIONS = {"duplicate": "重複", "not_duplicate": "重複ではない", "skip": "保留"}


def list_text(answer: CandidateList) -> str:
    """The list of candidates as text, those that are likely two purchases under a heading."""
    lines, likely = [answer.message], True
    for one in answer.candidates:
        is_open = one.user_decision in (None, "skip")
        if likely and not one.is_likely and not one.is_transfer and is_open:
            lines.append("別の買い物らしい候補:")
            likely = False
        lines += _candidate_lines(one)
    if answer.next_page:
        lines.append(f"続きは page={answer.next_page}（limit={len(answer.candidates)}）。")
    return answer_text(lines)


def detail_text(pair: DuplicateCandidate) -> str:
    """A candidate as text, with the tolerances with which it was found."""
    params = pair.detection_params
    found_by = (
        f"検出条件: 日付 ±{params.date_tolerance_days}日、"
        f"金額 ±{params.amount_tolerance_abs:g}円・±{params.amount_tolerance_pct:g}%（0は指定なし）"
    )
    return answer_text([*_candidate_lines(pair), found_by])


def stats_text(numbers: DuplicateStats) -> str:
    """The numbers as one line of text."""
    return (
        f"取引 {numbers.total_transactions:,}件のうち重複 {numbers.marked_duplicates:,}件"
        f"（{numbers.duplicate_rate:g}%）。判定待ちの候補 {numbers.pending_checks:,}件、"
        f"重複ではないと判定された組 {numbers.confirmed_not_duplicate:,}件。"
    )


def _candidate_lines(pair: DuplicateCandidate) -> Iterable[str]:
    """A line of numbers, one of reasons, and one for each row."""
    amounts = "不明" if pair.amount_diff is None else f"{pair.amount_diff:,}円"
    words = _TRANSFER_DECISIONS if pair.is_transfer else _DECISIONS
    decision = words.get(pair.user_decision or "")
    kind = "同じ買い物らしい" if pair.is_likely else "別の買い物らしい"
    if pair.is_transfer:
        kind = "振替らしい" if pair.is_likely else "振替かもしれない"
    yield (
        f"[check_id {pair.check_id}] {kind}（類似度 {pair.similarity_score:.0%}）、"
        f"日付差 {pair.date_diff_days}日、金額差 {amounts}"
        + (f"、似た候補ほかに{pair.alike_count}件" if pair.alike_count else "")
        + (f"、判定: {decision}" if decision else "")
    )
    if pair.reasons:
        yield f"  理由: {'。'.join(pair.reasons)}。"
    yield from map(_row_line, (pair.transaction_1, pair.transaction_2, *pair.others))


def _row_line(row: CandidateRow) -> str:
    amount = "金額なし" if row.amount is None else f"{row.amount:,}円"
    category = "/".join(filter(None, (row.category_major, row.category_minor)))
    words = " | ".join(
        map(shown_name, filter(None, (row.description, category, row.account, row.memo)))
    )
    mark = f" 重複（元: 取引ID {row.duplicate_of}）" if row.is_duplicate else ""
    source = f"{shown_name(row.source_file)}:{row.row_number}"
    return f"  取引ID {row.id}: {row.date} {amount} {words} ({source}){mark}"
