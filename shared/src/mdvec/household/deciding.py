"""Makes and undoes decisions about duplicates and transfers, for one candidate or similar ones."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Final

from mdvec.household.core.categories import UNCATEGORISED
from mdvec.household.core.pair import PairKind, ReviewCandidate, StoredPair, arrange
from mdvec.household.core.shown import shown_name
from mdvec.household.core.transaction import Transaction
from mdvec.household.core.wording import format_currency
from mdvec.household.interfaces import duplicate_checks, marks
from mdvec.household.interfaces.ledger import Ledger
from mdvec.household.review import DuplicateResolutionError, candidate_of, pair_of, row_of
from mdvec.log import record
from mdvec.tools import offered_name

_MAX_IDS = 20


@dataclass(frozen=True, slots=True)
class Confirmation:
    """The result of a decision: the rows that no longer count, and the first of them by itself."""

    success: bool
    """Always true, for programs that read it: a decision that fails raises an error."""
    message: str
    marked_transaction_id: int | None
    marked_transaction_ids: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Restoration:
    """The result of restoring a marked row."""

    success: bool
    message: str


def _decision_message(
    target: ReviewCandidate,
    decision: str,
    kept_id: int,
    rows: Sequence[Transaction],
    marked_before: Sequence[int],
    *,
    is_new: bool,
) -> str:
    if target.kind is not PairKind.PURCHASE:
        return _moved_message(target, decision, marked_before, is_new=is_new)
    ids = "、".join(str(row.id) for row in rows if row.id != kept_id)
    if is_new and decision == "duplicate":
        kept_row = next(row for row in rows if row.id == kept_id)
        chain = (
            f"取引ID {kept_id} も重複のため、残る取引は取引ID {kept_row.duplicate_of} です。"
            if kept_row.is_duplicate
            else ""
        )
        return (
            f"重複として記録しました。取引ID {kept_id} を残し、取引ID {ids} を今後の集計から"
            f"除外しました。{chain}"
            "取り消すには restore_duplicate に除外した取引IDを渡してください。"
        )
    if is_new:
        return _rejection_message(rows, marked_before, open_again=decision == "skip")
    return {
        "duplicate": (
            f"この組は既に重複として記録されています。取引ID {ids} は集計から除外されています。"
        ),
        "not_duplicate": "この組は既に重複ではないと記録されています。",
        "skip": "この組は既に保留になっています。候補に残ります。",
    }[decision]


def _moved_message(
    target: ReviewCandidate, decision: str, marked_before: Sequence[int], *, is_new: bool
) -> str:
    what = target.kind.in_words
    noted = "記録しました" if is_new else "既に記録されています"
    ids = "、".join(map(str, target.leaving()))
    freed = f"取引ID {ids} は再び集計に含まれます。" if marked_before else ""
    match decision:
        case "duplicate" if target.kind is PairKind.CARD_BILL:
            return (
                f"{what}として{noted}。取引ID {ids} は支出に入らず、カードの明細が"
                "入ります。取り消すには restore_duplicate にこの取引IDを渡してください。"
                "このカードの請求をいつもそうするときは、alike で判定してください。"
            )
        case "duplicate":
            return (
                f"{what}として{noted}。取引ID {ids} は収入にも支出にも入りません。"
                "取り消すには restore_duplicate にどちらかの取引IDを渡してください。"
            )
        case "not_duplicate":
            return f"{what}ではないと{noted}。この候補は今後出ません。{freed}"
    return f"保留にしました。この候補は残ります。{freed}"


def _bulk_message(
    target: ReviewCandidate, decision: str, candidates: int, marked: Sequence[int]
) -> str:
    what = target.kind.in_words
    match decision:
        case "duplicate":
            ids = "、".join(map(str, marked[:_MAX_IDS]))
            more = f"、ほか{len(marked) - _MAX_IDS}件" if len(marked) > _MAX_IDS else ""
            done = (
                f"{what}として記録し、取引{len(marked)}件（取引ID {ids}{more}）を今後の集計から"
                "除外しました"
            )
        case "not_duplicate":
            done = f"{what}ではないと記録しました。今後候補に出ません"
        case _:
            done = "保留にしました。候補に残ります"
    if target.kind is PairKind.CARD_BILL and decision == "duplicate":
        done += "。このカードの今後の請求も、カードの明細と一致すればそうします"
    return (
        f"{candidates}件の候補を{done}。まとめて戻すには、同じ check_id と alike で"
        "もう一度判定してください。"
    )


def _rejection_message(
    rows: Sequence[Transaction], marked_before: Sequence[int], *, open_again: bool
) -> str:
    """The message that a candidate was rejected or skipped (``open_again``), with freed marks."""
    word = "保留にしました。この組は候補に残ります。" if open_again else (
        "重複ではないと記録しました。この組は今後候補に出ません。"
    )  # fmt: skip
    for row in rows:
        if row.is_duplicate:
            return (
                f"{word}取引ID {row.id} は別の組で取引ID {row.duplicate_of} の重複と"
                "判定されているため、フラグはそのままです。"
            )
    freed = "、".join(str(row.id) for row in rows if row.id in marked_before)
    return f"{word}取引ID {freed} のフラグを外しました。" if freed else word


def _restoration_message(
    row: Transaction, marking: Sequence[StoredPair], shared: int | None, *, was_marked: bool
) -> str:
    """Message on restoring a row; ``shared`` is the other row of a decision across households."""
    if not was_marked and shared is not None:
        return (
            f"取引ID {row.id} は、取引ID {shared} との判定により、全家計簿の合計だけから"
            f"外れています。取り消すには {offered_name('confirm_duplicate')} に "
            f"transaction_ids=[{row.id}, {shared}] と decision=skip を渡してください。"
            "変更はありません。"
        )
    if not was_marked:
        return f"取引ID {row.id} は重複や振替としてマークされていません。変更はありません。"
    left_out = "計算対象外などの取引のため、集計には含まれません。"
    sums = "再び集計に含まれます。" if row.counts else left_out
    if any(pair.kind is PairKind.CARD_BILL for pair in marking):
        return f"取引ID {row.id} を戻しました。{sums}「カードの請求ではない」と記録しました。"
    transfers = [pair for pair in marking if pair.kind is PairKind.TRANSFER]
    if transfers:
        others = "、".join(str(sum(pair.rows) - row.id) for pair in transfers)
        return (
            f"取引ID {row.id} と、振替の相手の取引ID {others} を戻しました。"
            "この組のために集計から外すことは、もうありません。その組は「振替ではない」と記録しました。"
        )
    return (
        f"取引ID {row.id} を復元しました。{sums}重複としていた組は「重複ではない」と記録しました。"
    )


DECISIONS: Final = ("duplicate", "not_duplicate", "skip")


class InvalidDecision(DuplicateResolutionError):
    """The decision is not one of ``DECISIONS``."""

    def __init__(self, decision: str) -> None:
        super().__init__(
            f"判定値が不正です（duplicate/not_duplicate/skipのいずれか）: {decision[:40]}"
        )


class KeepInTransfer(DuplicateResolutionError):
    """Both rows of a transfer leave the sums, so none can be kept."""

    def __init__(self) -> None:
        super().__init__(
            "振替の候補です。判定すると両方の取引が集計から外れるため、keep は指定できません"
        )


class RowNotInCandidate(DuplicateResolutionError):
    """A row that was named does not belong to the candidate."""

    def __init__(self, name: str, rows: Collection[int]) -> None:
        ids = "、".join(map(str, rows))
        super().__init__(f"{name} には、この候補の取引ID（{ids}）から指定してください")


@dataclass(frozen=True, slots=True)
class ReviewDecision:
    """A user's decision.

    ``keep`` is the row that stays, ``rows`` are the candidate's rows that it is about (all if
    empty); ``alike``: it is also about all similar candidates.
    """

    decision: str
    keep: int | None = None
    rows: tuple[int, ...] = ()
    alike: bool = False


def confirm(ledger: Ledger, check_id: int, choice: ReviewDecision) -> Confirmation:
    """Store a decision and update the marks in the ledger, in one transaction.

    It applies to all rows of the open candidate that the pair belongs to, or to ``choice.rows`` of
    them; for a decided pair, only to that pair. ``duplicate`` marks all but the row to keep, by
    default the one with the smallest id; both rows of a transfer are marked and leave the sums.
    ``not_duplicate`` and ``skip`` undo an earlier mark by the same pair; a skipped pair stays open.

    With ``alike``, it also applies to all open candidates of the same accounts (likely ones) or
    shops (unlikely ones), as certain and for the same reasons, where the row of the kept row's
    account stays; the message says how many others stay open. For a decided pair, it applies to all
    pairs that the same request decided, and, if the decision is the same, to similar open ones. A
    pair that was decided again by itself still leads to those of its request, which leave it alone.
    ``duplicate`` marks a card's bill, and with ``alike`` also its later bills.

    Raises:
        InvalidDecision: the decision is none of these.
        CheckNotFound: the household has no such pair.
        RowNotInCandidate: a named row belongs to another candidate.
        KeepInTransfer: the candidate is a transfer, and ``keep`` was given.
    """
    if choice.decision not in DECISIONS:
        raise InvalidDecision(choice.decision)
    with ledger.connection:
        own, *alike = _targets(ledger, check_id, choice)
        _check_rows(own, choice)
        targets = [_restricted(ledger, own, choice.rows), *alike]
        before = [row for row in own.rows if _is_marked(ledger, row, own)]
        batch = marks.new_batch(ledger.connection)
        kept_ids = [_staying_row(ledger, target, choice, own) for target in targets]
        lost = ""
        if choice.decision == "duplicate" and own.kind is PairKind.PURCHASE:
            lost = _lost_categories(ledger, targets, kept_ids)
        changes = [
            _decide(ledger, target, choice, keep, batch)
            for target, keep in zip(targets, kept_ids, strict=True)
        ]
        if any(changes):
            if choice.alike:
                duplicate_checks.join_batch(ledger, own.pairs, batch)
            marks.update_marks(ledger)
        marked = [
            row
            for target, keep in zip(targets, kept_ids, strict=True)
            if choice.decision == "duplicate"
            for row in target.leaving(keep)
        ]
        is_of_card = own.kind is PairKind.CARD_BILL and choice.alike
        if is_of_card:
            pairs = [pair for target in targets for pair in target.pairs]
            is_always = choice.decision == "duplicate"
            duplicate_checks.keep_always(ledger.connection, pairs, is_always=is_always)
        message = _bulk_message(own, choice.decision, len(targets), marked)
        if len(targets) == 1 and not is_of_card:
            rows = [row_of(ledger, row) for row in targets[0].rows]
            message = _decision_message(
                targets[0], choice.decision, kept_ids[0], rows, before, is_new=any(changes)
            )
        if choice.alike and own.best.decision in (None, choice.decision):
            message += _left_open(ledger, targets)
    message += lost
    record("decision", household=ledger.tool_id, check=check_id, decision=choice.decision)
    return Confirmation(
        success=True,
        message=message,
        marked_transaction_id=marked[0] if marked else None,
        marked_transaction_ids=tuple(marked),
    )


def restore(ledger: Ledger, transaction_id: int) -> Restoration:
    """Remove a row's mark; the pairs that marked it become ``not_duplicate``.

    The other row of a transfer counts again, too. An unmarked row is left unchanged.

    Raises:
        TransactionNotFound: the household has no such row.
    """
    with ledger.connection:
        before = row_of(ledger, transaction_id)
        marking = duplicate_checks.pairs_that_mark(ledger, transaction_id)
        batch = marks.new_batch(ledger.connection)
        for check in marking:
            marks.record_decision(ledger, check.id, "not_duplicate", batch, is_alone=True)
        marks.update_marks(ledger)
        after = row_of(ledger, transaction_id)
        shared = duplicate_checks.left_out_of_all_with(ledger, transaction_id)
    record("restoration", household=ledger.tool_id, transaction=transaction_id)
    return Restoration(
        success=True,
        message=_restoration_message(
            after, marking, shared, was_marked=before.is_duplicate or bool(marking)
        ),
    )


def _targets(ledger: Ledger, check_id: int, choice: ReviewDecision) -> list[ReviewCandidate]:
    """The candidates that a decision applies to; the pair's own is first."""
    pair = pair_of(ledger, check_id)
    arranged = arrange(duplicate_checks.open_pairs(ledger))
    own = next((candidate for candidate in arranged if check_id in candidate.check_ids), None)
    targets = [own or candidate_of(ledger, check_id)]
    together = duplicate_checks.decided_with(ledger, pair) if choice.alike else []
    if own is not None:  # the others are only taken back: this one is open again
        is_back = choice.decision == "skip"
        together = [each for each in together if is_back and each.decision != "skip"]
    targets += [candidate_of(ledger, each.id) for each in together]
    keys = {own.alike_key} if own is not None else set()
    if own is None and choice.decision == pair.decision:  # then it applies to open ones, too
        keys = {each.alike_key for each in arrange([pair, *together]) if check_id in each.check_ids}
    if choice.alike:
        targets += [each for each in arranged if each.alike_key in keys]
    distinct: dict[tuple[int, ...], ReviewCandidate] = {}
    for each in targets:
        distinct.setdefault(each.rows, each)
    return list(distinct.values())


def _left_open(ledger: Ledger, targets: Sequence[ReviewCandidate]) -> str:
    """How many open candidates have the first target's payees, but none of the decisions; or ""."""
    decided = {check_id for target in targets for check_id in target.check_ids}
    left = sum(
        each.payees_key == targets[0].payees_key and each.check_ids.isdisjoint(decided)
        for each in arrange(duplicate_checks.open_pairs(ledger))
    )
    return f"同じ口座でも理由や確かさが違う{left}件の候補は、判定せずに残しました。" if left else ""


def _lost_categories(
    ledger: Ledger, targets: Sequence[ReviewCandidate], kept_ids: Sequence[int]
) -> str:
    """Which categories lose rows to a kept one of another, and how to keep those; or "".

    Those that the same decision has marked before are named again.
    """
    lost: dict[str, list[int]] = {}
    kept: dict[str, None] = {}
    again = ""
    for target, kept_id in zip(targets, kept_ids, strict=True):
        category = row_of(ledger, kept_id).category
        for row in (row_of(ledger, each) for each in target.leaving(kept_id)):
            has_category = row.category_major not in ("", UNCATEGORISED)
            is_other = row.is_duplicate and row.duplicate_of != kept_id
            counted = replace(row, is_duplicate=is_other).counts
            if counted and has_category and row.category != category:
                lost.setdefault(row.category, []).append(row.amount or 0)
                kept[category] = None
                if not again:
                    pair = duplicate_checks.add_pair(ledger, target.best, (kept_id, row.id))
                    again = f"check_id={pair.id} keep={row.id}"
    if not lost:
        return ""
    amounts = "、".join(
        f"{shown_name(name)} {format_currency(abs(sum(yen)))}（{len(yen):,}件）"
        for name, yen in lost.items()
    )
    if sum(map(len, lost.values())) > 1:
        again = f"1件ずつ、たとえば {again}"
    return (
        f"残した取引のカテゴリは {'、'.join(map(shown_name, kept))} なので、"
        f"次のカテゴリの合計が減ります: {amounts}。"
        f"そちらを残すには、{again} で判定し直してください。"
    )


def _is_marked(ledger: Ledger, row: int, target: ReviewCandidate) -> bool:
    """Whether a decision about the target, or another pair of the same kind, has marked the row."""
    if target.kind is not PairKind.PURCHASE:
        return any(pair.decision == "duplicate" for pair in target.pairs)
    return row_of(ledger, row).is_duplicate


def _check_rows(target: ReviewCandidate, choice: ReviewDecision) -> None:
    if choice.keep is not None and target.kind is not PairKind.PURCHASE:
        raise KeepInTransfer
    if choice.keep is not None and choice.keep not in (choice.rows or target.rows):
        raise RowNotInCandidate("keep", choice.rows or target.rows)
    named, rows = set(choice.rows), set(target.rows)
    is_part_of_bill = target.kind is PairKind.CARD_BILL and named != rows
    if named and (len(named) < 2 or named - rows or is_part_of_bill):
        raise RowNotInCandidate("transaction_ids", target.rows)


def _restricted(ledger: Ledger, target: ReviewCandidate, rows: tuple[int, ...]) -> ReviewCandidate:
    """The target with only these rows, if any are given."""
    if not rows or target.kind is PairKind.CARD_BILL:
        return target
    first, *others = sorted(set(rows))
    pairs = [pair for pair in target.pairs if {*pair.rows} <= {first, *others}]
    if not pairs:
        pairs = [duplicate_checks.add_pair(ledger, target.best, (first, other)) for other in others]
    return ReviewCandidate((first, *others), tuple(pairs))


def _staying_row(
    ledger: Ledger, target: ReviewCandidate, choice: ReviewDecision, own: ReviewCandidate
) -> int:
    """The row of a target that stays in the sums."""
    keep = choice.keep
    if keep is None and target.best.decision == "duplicate":
        return target.best.kept_id
    if keep is None and own.best.decision == "duplicate":
        keep = own.best.kept_id if own.best.kept_id != min(own.rows) else None
    if keep is None:
        return target.rows[0]
    if keep in target.rows:
        return keep
    account = row_of(ledger, keep).account
    same = [row for row in target.rows if row_of(ledger, row).account == account]
    return (same or target.rows)[0]


def _decide(
    ledger: Ledger, target: ReviewCandidate, choice: ReviewDecision, kept_id: int, batch: int
) -> bool:
    """Store the decision about a target's pairs; returns whether it changed."""
    decision = choice.decision
    wanted: Iterable[StoredPair] = target.pairs
    if decision == "duplicate" and target.kind is PairKind.PURCHASE:
        pairs = {frozenset(pair.rows): pair for pair in target.pairs}
        wanted = [
            pairs.get(frozenset((kept_id, row)))
            or duplicate_checks.add_pair(ledger, target.best, (kept_id, row))
            for row in target.rows
            if row != kept_id
        ]
    is_changed = False
    for pair in wanted:
        keeps = decision == "duplicate" and pair.kind is PairKind.PURCHASE
        if pair.decision != decision or (keeps and pair.kept_id != kept_id):
            keep = kept_id if keeps else None
            marks.record_decision(ledger, pair.id, decision, batch, keep, is_alone=not choice.alike)
            is_changed = True
    return is_changed
