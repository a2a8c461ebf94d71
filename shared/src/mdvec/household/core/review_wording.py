"""The answers of a search for duplicates and of their list, with the messages in Japanese.

Each message states the result and the next possible step.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields
from typing import Literal

from mdvec.household.core.answers import answer_text
from mdvec.household.core.pair import CandidateCounts, PairKind
from mdvec.household.core.shown import shown_name, shown_path
from mdvec.household.core.transaction import Numbered, StatedRow, Transaction
from mdvec.tools import offered_name

CandidateKind = Literal["purchase", "transfer", "charge", "card_bill"]


@dataclass(frozen=True, slots=True)
class Detection:
    """The result of a search; ``candidates_count`` undecided candidates, counted as in their list.

    ``likely_count`` of them are likely single purchases; others may be transfers or cards' bills;
    ``new_count`` have a pair that had not been found before; ``decided_count`` further pairs are
    already decided; ``below_threshold_count`` further pairs are within the tolerances but score too
    low. ``dropped_count`` pairs of an earlier search are no candidates any more. ``followed_count``
    bills left the sums because of an earlier decision on all bills of a card.
    """

    candidates_count: int
    likely_count: int
    new_count: int
    decided_count: int
    below_threshold_count: int
    dropped_count: int
    followed_count: int
    message: str = ""
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class CandidateRow(StatedRow, Numbered):
    """A transaction as a review shows it."""

    source_file: str
    row_number: int
    is_duplicate: bool
    duplicate_of: int | None

    @classmethod
    def of(cls, row: Transaction) -> CandidateRow:
        """The transaction's own fields."""
        return cls(**{field.name: getattr(row, field.name) for field in fields(cls)})


@dataclass(frozen=True, slots=True)
class DetectionParams:
    """The tolerances with which a pair was found."""

    date_tolerance_days: int
    amount_tolerance_abs: float
    amount_tolerance_pct: float


@dataclass(frozen=True, slots=True)
class DuplicateCandidate:
    """Rows that may be the same purchase or a transfer; ``amount_diff`` is absolute, in yen.

    ``is_transfer`` is true for every ``kind`` but purchase. For a card's bill, ``transaction_1`` is
    the bill, which alone leaves the sums, and the others are the largest rows that it pays.
    ``others`` are the third and further rows. ``reasons`` explain why the rows are likely one
    purchase (``is_likely``), likely two, or a transfer; ``alike_count`` is the number of other open
    candidates that are similar to this one.
    """

    check_id: int
    is_likely: bool
    is_transfer: bool
    kind: CandidateKind
    transaction_1: CandidateRow
    transaction_2: CandidateRow
    others: tuple[CandidateRow, ...]
    reasons: tuple[str, ...]
    alike_count: int
    similarity_score: float
    date_diff_days: int
    amount_diff: int | None
    user_decision: str | None
    detection_params: DetectionParams


@dataclass(frozen=True, slots=True)
class CandidateList:
    """A page of the candidates; of ``total_count``, ``likely_count`` are likely one purchase.

    ``next_page`` is None on the last page.
    """

    candidates: tuple[DuplicateCandidate, ...]
    total_count: int
    likely_count: int
    next_page: int | None
    message: str
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class DuplicateStats:
    """Statistics of a ledger; ``duplicate_rate`` is the percentage of marked rows.

    ``pending_checks`` are the undecided candidates, counted as in their list.
    """

    total_transactions: int
    marked_duplicates: int
    pending_checks: int
    confirmed_not_duplicate: int
    duplicate_rate: float
    notes: tuple[str, ...] = ()


def detection_message(
    summary: Detection, counts: CandidateCounts, *, least: float, wider_days: int, too_many: bool
) -> str:
    """The message after a search: its numbers, and a wider search to try if no purchase is likely.

    ``least`` is the minimum score of the search, ``wider_days`` the tolerance of the wider one, or
    0 if there is none. ``too_many``: the same search with a minimum score of 0 is refused.
    """
    lower = "ると、似たものはまとめて"
    if too_many:
        lower = "、多いので日付や金額の許容誤差も小さくすると"
    total = summary.candidates_count
    first_sentence = "重複候補は見つかりませんでした。"
    if total:
        groups = _groups(total, counts)
        first_sentence = (
            f"{total}件の{_kind(counts)}が見つかりました{groups}。"
            "list_duplicate_candidates で一覧を確認できます。"
        )
    sentences = {
        f"今回初めて見つかったのは{summary.new_count}件です。": summary.new_count < total,
        f"date_tolerance_days を{wider_days}にすると、日付がもっと離れた組も探せます。": (
            wider_days and not counts.purchases
        ),
        f"判定済みの{summary.decided_count}組は除いています。": summary.decided_count,
        f"前の検索だけが見つけた未判定の{summary.dropped_count}組は候補から外しました。": (
            summary.dropped_count
        ),
        f"いつも外すと判定されたカードの請求{summary.followed_count}件を、集計から外しました。": (
            summary.followed_count
        ),
        f"ほかに類似度{least:g}未満の組が{summary.below_threshold_count}件あります"
        f"（min_similarity_score を下げ{lower}候補になります）。": (
            least > 0 and summary.below_threshold_count
        ),
    }
    return first_sentence + "".join(text for text, holds in sentences.items() if holds)


def list_message(
    total: int, counts: CandidateCounts, page: int, pages: int, *, open_only: bool
) -> str:
    """The message of a page of candidates: the number of each group, and the page's number."""
    kind = _kind(counts)
    kind = f"未確認の{kind}" if open_only else kind
    if not total:
        return f"{kind}はありません。{offered_name('detect_duplicates')} で検出できます。"
    parts = [f"{kind}は{total}件です"]
    if open_only:
        parts.append(_groups(total, counts))
    parts.append("。")
    if pages > 1:
        parts.append(f"{page}/{pages}ページです。")
    parts.append(f"{offered_name('confirm_duplicate')} で判定できます。")
    return "".join(parts)


def _kind(counts: CandidateCounts) -> str:
    return "重複・振替の候補" if counts.moved else "重複候補"


def _groups(total: int, counts: CandidateCounts) -> str:
    unlikely = total - counts.purchases - counts.moved
    moved = f"、口座間の移動かもしれない {counts.transfers}件" if counts.transfers else ""
    billed = f"、カードの請求らしい {counts.bills}件" if counts.bills else ""
    return (
        f"（同じ買い物らしい {counts.purchases}件、別の買い物らしい {unlikely}件{moved}{billed}）"
    )


def kind_of(kind: PairKind, rows: Iterable[Transaction]) -> CandidateKind:
    """A candidate's kind in an answer; a transfer is a charge if a row says チャージ."""
    if kind is PairKind.CARD_BILL:
        return "card_bill"
    if kind is PairKind.PURCHASE:
        return "purchase"
    texts = (unicodedata.normalize("NFKC", row.description) for row in rows)
    return "charge" if any("チャージ" in text for text in texts) else "transfer"


def bill_in_words(bill: Transaction, paid: Sequence[Transaction], reasons: Sequence[str]) -> str:
    """Which rows a card's bill pays, from the ``pays:`` code in ``reasons``; ``paid`` are shown."""
    paying = next(reason for reason in reasons if reason.startswith("pays:"))
    _, rows, first, last = paying.split(":")
    left = int(rows) - len(paid)
    more = f"（示すのは金額の大きい{len(paid):,}件、ほか{left:,}件）" if left > 0 else ""
    return (
        f"{shown_name(bill.account)}の支払いが、{shown_name(paid[0].account)}の"
        f"{first}〜{last}の明細{int(rows):,}件の合計 {-(bill.amount or 0):,}円と一致する{more}"
    )


def news_message(counts: CandidateCounts) -> str:
    """The sentence about candidates that an import found, for an answer about a month; or ""."""
    phrases = [
        f"{words}{count}件"
        for words, count in (
            ("同じ買い物が二度入っているらしい組が", counts.purchases),
            ("振替らしいのに収入や支出に入っている組が", counts.transfers),
            ("明細と二重になっているらしいカードの請求が", counts.bills),
        )
        if count
    ]
    if not phrases:
        return ""
    return (
        f"新しい明細に、{'、'.join(phrases)}あります（list_duplicate_candidates で確認できます）。"
    )


_KINDS: dict[CandidateKind, tuple[str, str, str]] = {
    "purchase": ("同じ買い物らしい", "別の買い物らしい", "重複"),
    "transfer": ("振替らしい", "振替かもしれない", "振替"),
    "charge": ("振替らしい", "振替かもしれない", "振替"),
    "card_bill": (("カードの請求らしい（判定すると請求だけを外す）",) * 2 + ("カードの請求",)),
}
"""The name of each kind: if it is likely, if it is not, and once it is decided."""


def candidates_text(answer: CandidateList) -> str:
    """The list of candidates as text; those that are likely two purchases are under a heading."""
    lines, likely = [answer.message], True
    for candidate in answer.candidates:
        is_open = candidate.user_decision in (None, "skip")
        if likely and not candidate.is_likely and candidate.kind == "purchase" and is_open:
            lines.append("別の買い物らしい候補:")
            likely = False
        lines += _candidate_lines(candidate)
    if answer.next_page:
        lines.append(f"続きは page={answer.next_page}（limit={len(answer.candidates)}）。")
    return answer_text(lines)


def candidate_text(pair: DuplicateCandidate) -> str:
    """A candidate as text, with the tolerances with which it was found."""
    params = pair.detection_params
    found_by = (
        f"検出条件: 日付 ±{params.date_tolerance_days}日、"
        f"金額 ±{params.amount_tolerance_abs:g}円・±{params.amount_tolerance_pct:g}%（0は指定なし）"
    )
    return answer_text([*_candidate_lines(pair), found_by])


def statistics_text(numbers: DuplicateStats) -> str:
    """The numbers as one line of text."""
    return (
        f"取引 {numbers.total_transactions:,}件のうち重複 {numbers.marked_duplicates:,}件"
        f"（{numbers.duplicate_rate:g}%）。判定待ちの候補 {numbers.pending_checks:,}件"
        "（list_duplicate_candidates の件数）、"
        f"重複ではないと判定された組 {numbers.confirmed_not_duplicate:,}件。"
    )


def _candidate_lines(pair: DuplicateCandidate) -> Iterable[str]:
    """A line of numbers, one of reasons, and one for each row."""
    amounts = "不明" if pair.amount_diff is None else f"{pair.amount_diff:,}円"
    likely, unlikely, decided = _KINDS[pair.kind]
    decisions = {"duplicate": decided, "not_duplicate": f"{decided}ではない", "skip": "保留"}
    decision = decisions.get(pair.user_decision or "")
    kind = ("チャージで、" if pair.kind == "charge" else "") + (
        likely if pair.is_likely else unlikely
    )
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
    source = f"{shown_path(row.source_file)}:{row.row_number}"
    return f"  取引ID {row.id}: {row.date} {amount} {words} ({source}){mark}"
