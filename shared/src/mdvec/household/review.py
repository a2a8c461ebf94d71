"""The review of duplicates: find candidate pairs, list them, decide, and undo decisions.

Nothing is marked without a decision by the user.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Final

import apsw

from mdvec.database.connection import snapshot
from mdvec.errors import MdvecError
from mdvec.household.core import review_wording as answers
from mdvec.household.core.pairs import DetectionOptions, find_pairs
from mdvec.household.core.review_wording import (
    Candidate,
    CandidateList,
    Confirmation,
    Detection,
    DetectionParams,
    DuplicateStats,
    Restoration,
)
from mdvec.household.core.transaction import Transaction
from mdvec.household.interfaces import checks as duplicate_checks
from mdvec.household.interfaces.checks import Check
from mdvec.log.activity import record

MAX_LIMIT: Final = 50
DECISIONS: Final = ("duplicate", "not_duplicate", "skip")


class DuplicateResolutionError(MdvecError):
    """A request in a review of duplicates is invalid."""


class CheckNotFound(DuplicateResolutionError):
    """The household has no pair with this id."""

    def __init__(self, check_id: int) -> None:
        super().__init__(
            f"指定された重複候補が見つかりません（check_id {check_id}）。"
            "list_duplicate_candidates で check_id を確認してください"
        )


class TransactionNotFound(DuplicateResolutionError):
    """The household has no transaction with this id."""

    def __init__(self, transaction_id: int) -> None:
        super().__init__(
            f"指定された取引が見つかりません（取引ID {transaction_id}）。"
            "list_duplicate_candidates で取引IDを確認してください"
        )


class InvalidDecision(DuplicateResolutionError):
    """The decision is not one of ``DECISIONS``."""

    def __init__(self, decision: str) -> None:
        super().__init__(
            f"判定値が不正です（duplicate/not_duplicate/skipのいずれか）: {decision[:40]}"
        )


class InvalidLimit(DuplicateResolutionError):
    """The limit of a list is out of range."""

    def __init__(self, limit: int) -> None:
        super().__init__(f"limit は1〜{MAX_LIMIT}で指定してください（指定値: {limit}）")


def detect(
    connection: apsw.Connection,
    tool_id: int,
    options: DetectionOptions,
    transaction_ids: Collection[int] | None = None,
) -> Detection:
    """Search the ledger for candidate pairs and store them; decided pairs keep their decision.

    ``transaction_ids`` limits the search to pairs with at least one of these rows; an empty
    collection finds nothing.

    Raises:
        TransactionNotFound: the household has no row with one of these ids.
        DuplicateDetectionError: the tolerances match too many pairs.
    """
    if transaction_ids is not None:
        there = duplicate_checks.find_transactions(connection, tool_id, transaction_ids)
        for missing in sorted(set(transaction_ids) - there.keys()):
            raise TransactionNotFound(missing)
    with connection:
        duplicate_checks.update_marks(connection, tool_id)
    # Comparing takes a second on a long ledger, so no transaction is held open meanwhile.
    rows = duplicate_checks.compared_rows(connection, tool_id)
    found = find_pairs(rows, options, transaction_ids)
    with connection:
        known = duplicate_checks.known_pairs(connection, tool_id)
        duplicate_checks.store_pairs(connection, tool_id, found.pairs, options)
    decisions = [known.get((pair.first.id, pair.second.id), "new") for pair in found.pairs]
    decided = sum(decision in ("duplicate", "not_duplicate") for decision in decisions)
    count = len(found.pairs) - decided
    return Detection(
        candidates_count=count,
        new_count=decisions.count("new"),
        decided_count=decided,
        below_threshold_count=found.below,
        message=answers.detection_message(
            count, decided, found.below, options.min_similarity_score
        ),
    )


def list_candidates(
    connection: apsw.Connection, tool_id: int, limit: int = 10, *, skip_checked: bool = True
) -> CandidateList:
    """The undecided pairs by score; without ``skip_checked`` all pairs, decided ones last.

    Raises:
        InvalidLimit: ``limit`` is not 1 to 50.
    """
    if not 1 <= limit <= MAX_LIMIT:
        raise InvalidLimit(limit)
    with snapshot(connection):
        checks = duplicate_checks.list_checks(connection, tool_id, limit, open_only=skip_checked)
        counts = duplicate_checks.count(connection, tool_id)
        candidates = tuple(_candidate(connection, tool_id, check) for check in checks)
    total = counts.open if skip_checked else counts.pairs
    return CandidateList(
        candidates=candidates,
        total_count=total,
        message=answers.list_message(len(candidates), total, open_only=skip_checked),
    )


def candidate_detail(connection: apsw.Connection, tool_id: int, check_id: int) -> Candidate:
    """A pair with its rows.

    Raises:
        CheckNotFound: the household has no such pair.
    """
    with snapshot(connection):
        return _candidate(connection, tool_id, _check(connection, tool_id, check_id))


def confirm(
    connection: apsw.Connection, tool_id: int, check_id: int, decision: str
) -> Confirmation:
    """Store a decision and update the marks in the ledger, in one transaction.

    ``duplicate`` marks the pair's second row; ``not_duplicate`` and ``skip`` undo an earlier mark
    by the same pair. A skipped pair stays open.

    Raises:
        InvalidDecision: the decision is none of these.
        CheckNotFound: the household has no such pair.
    """
    if decision not in DECISIONS:
        raise InvalidDecision(decision)
    with connection:
        check = _check(connection, tool_id, check_id)
        _, before = _rows(connection, tool_id, check)
        if check.decision != decision:
            duplicate_checks.record_decision(connection, tool_id, check_id, decision)
        first, second = _rows(connection, tool_id, check)
    record("decision", household=tool_id, check=check_id, decision=decision)
    if check.decision == decision:
        message = answers.already_decided_message(decision, second)
    elif decision != "duplicate":
        message = answers.rejection_message(
            second, was_marked=before.is_duplicate, open_again=decision == "skip"
        )
    elif before.is_duplicate:
        message = answers.already_marked_message(second)
    else:
        message = answers.mark_message(first, second)
    return Confirmation(
        success=True,
        message=message,
        marked_transaction_id=second.id if decision == "duplicate" else None,
    )


def restore(connection: apsw.Connection, tool_id: int, transaction_id: int) -> Restoration:
    """Remove a row's mark; the pairs that marked it become ``not_duplicate``.

    An unmarked row is left unchanged.

    Raises:
        TransactionNotFound: the household has no such row.
    """
    with connection:
        before = _row(connection, tool_id, transaction_id)
        for check in duplicate_checks.checks_that_mark(connection, tool_id, transaction_id):
            duplicate_checks.record_decision(connection, tool_id, check.id, "not_duplicate")
        duplicate_checks.update_marks(connection, tool_id)
        after = _row(connection, tool_id, transaction_id)
    record("restoration", household=tool_id, transaction=transaction_id)
    return Restoration(
        success=True, message=answers.restoration_message(after, was_marked=before.is_duplicate)
    )


def stats(connection: apsw.Connection, tool_id: int) -> DuplicateStats:
    """Numbers of rows, marked rows, undecided pairs and rejected pairs."""
    with snapshot(connection):
        counts = duplicate_checks.count(connection, tool_id)
    rate = 100 * counts.marked / counts.transactions if counts.transactions else 0.0
    return DuplicateStats(
        total_transactions=counts.transactions,
        marked_duplicates=counts.marked,
        pending_checks=counts.open,
        confirmed_not_duplicate=counts.not_duplicate,
        duplicate_rate=round(rate, 2),
    )


def _check(connection: apsw.Connection, tool_id: int, check_id: int) -> Check:
    check = duplicate_checks.get_check(connection, tool_id, check_id)
    if check is None:
        raise CheckNotFound(check_id)
    return check


def _row(connection: apsw.Connection, tool_id: int, transaction_id: int) -> Transaction:
    found = duplicate_checks.find_transactions(connection, tool_id, [transaction_id])
    if transaction_id not in found:
        raise TransactionNotFound(transaction_id)
    return found[transaction_id]


def _rows(
    connection: apsw.Connection, tool_id: int, check: Check
) -> tuple[Transaction, Transaction]:
    return (
        _row(connection, tool_id, check.first_id),
        _row(connection, tool_id, check.second_id),
    )


def _candidate(connection: apsw.Connection, tool_id: int, check: Check) -> Candidate:
    first, second = _rows(connection, tool_id, check)
    difference = None
    if first.amount is not None and second.amount is not None:
        difference = abs(first.amount - second.amount)
    return Candidate(
        check_id=check.id,
        transaction_1=answers.candidate_row(first),
        transaction_2=answers.candidate_row(second),
        similarity_score=check.score,
        date_diff_days=abs((first.date - second.date).days),
        amount_diff=difference,
        user_decision=check.decision,
        detection_params=DetectionParams(
            check.date_tolerance_days,
            float(check.amount_tolerance_abs),
            float(check.amount_tolerance_pct),
        ),
    )
