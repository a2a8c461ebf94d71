"""The review of duplicates and transfers: search the ledger for candidates, and list them.

Nothing is marked without a decision by the user.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from typing import Final

from mdvec.database import snapshot
from mdvec.errors import MdvecError
from mdvec.household.core import review_wording
from mdvec.household.core.evidence import reasons_in_words
from mdvec.household.core.pair import (
    LIKELY,
    MAX_DATE_TOLERANCE,
    MAX_PAIRS,
    CandidateCounts,
    DetectionOptions,
    FoundPairs,
    PairKind,
    ReviewCandidate,
    StoredPair,
    arrange,
    listed_candidates,
)
from mdvec.household.core.review_wording import (
    CandidateList,
    Detection,
    DetectionParams,
    DuplicateCandidate,
    DuplicateStats,
)
from mdvec.household.core.transaction import Transaction
from mdvec.household.core.transfer_pairs import with_transfers
from mdvec.household.core.wording import InvalidPage, check_limit
from mdvec.household.interfaces import duplicate_checks
from mdvec.household.interfaces.accounts import booked_rows, distinct_accounts, plain_lists
from mdvec.household.interfaces.ledger import Ledger
from mdvec.household.interfaces.linked_again import counted_twice
from mdvec.household.interfaces.marks import record_decision, update_marks
from mdvec.household.overview import refuse_empty
from mdvec.household.shops import aliases_of

MAX_LIMIT: Final = 50
_DECIDED: Final = ("duplicate", "not_duplicate")
_WIDER: Final = 7
"""A search that finds no likely purchase suggests this tolerance in days, or twice its own."""


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


def detect(
    ledger: Ledger,
    options: DetectionOptions,
    transaction_ids: Collection[int] | None = None,
    *,
    by_user: bool = True,
) -> Detection:
    """Search the ledger for candidate pairs and store them; decided pairs keep their decision.

    A user's search of the whole ledger replaces the one before: it drops undecided pairs that it
    does not find. A search that is not ``by_user`` only drops pairs that a search with the same
    options had found, and bills that no longer fit; its new pairs are marked as unreported. New
    bills of cards whose bills the user always wants out of the sums are decided right away.
    ``transaction_ids`` limits the search to pairs with at least one of these rows, if it has any.

    Raises:
        EmptyLedger: there are no rows yet, and the search is ``by_user``.
        TransactionNotFound: the household has no row with one of these ids.
        DuplicateDetectionError: the tolerances match too many pairs.
    """
    if by_user:
        refuse_empty(ledger)
    transaction_ids = transaction_ids or None  # language models pass [] to mean no list
    if transaction_ids is not None:
        there = duplicate_checks.transactions_with_ids(ledger, transaction_ids)
        for missing in sorted(set(transaction_ids) - there.keys()):
            raise TransactionNotFound(missing)
    with ledger.connection:
        update_marks(ledger)
    # Comparing takes a second on a long ledger, so no transaction is held open meanwhile.
    detected = _detected(ledger, options, transaction_ids)
    dropped = 0
    with ledger.connection:
        known = duplicate_checks.decisions(ledger)
        duplicate_checks.store_pairs(ledger, detected.pairs, options, announced=by_user)
        if by_user:
            duplicate_checks.mark_announced(ledger)
        if transaction_ids is None:
            dropped = duplicate_checks.drop_unfound(
                ledger, detected.pairs, None if by_user else options
            )
        followed = _follow_decisions(ledger)
        listed = listed_candidates(arrange(duplicate_checks.open_pairs(ledger)))
    pairs = {pair.ids for pair in detected.pairs}
    new = pairs - known.keys()
    of_listed = [(candidate, {pair.rows for pair in candidate.pairs}) for candidate, _ in listed]
    candidates = [candidate for candidate, rows in of_listed if rows & pairs]
    counts = CandidateCounts.of(candidates)
    detection = Detection(
        candidates_count=len(candidates),
        likely_count=counts.purchases,
        new_count=sum(bool(rows & new) for _, rows in of_listed),
        decided_count=sum(known.get(pair) in _DECIDED for pair in pairs),
        below_threshold_count=detected.below,
        dropped_count=dropped,
        followed_count=followed,
    )
    wider = min(max(_WIDER, 2 * options.date_tolerance_days), MAX_DATE_TOLERANCE)
    message = review_wording.detection_message(
        detection, counts, least=options.min_similarity_score,
        wider_days=wider if wider > options.date_tolerance_days else 0,
        too_many=len(detected.pairs) + detected.below > MAX_PAIRS,
    )  # fmt: skip
    return replace(detection, message=message)


def _detected(
    ledger: Ledger, options: DetectionOptions, transaction_ids: Collection[int] | None
) -> FoundPairs:
    # Imported here because they load NumPy, which nothing else in this module needs.
    """The pairs of purchases, transfers and bills among the ledger's rows."""
    from mdvec.household.core.card_bills import find_bills, with_bills
    from mdvec.household.core.pairs import find_pairs

    rows = duplicate_checks.compared_rows(ledger)
    twice = {frozenset((each.row, each.other)) for each in counted_twice(ledger)}
    detected = find_pairs(
        rows, options, transaction_ids, distinct_accounts(ledger), twice,
        booked_rows(ledger), plain_lists(ledger),
    )  # fmt: skip
    detected = with_transfers(detected, rows, options, transaction_ids, aliases_of(ledger))
    return with_bills(detected, find_bills(rows), options, transaction_ids)


def _follow_decisions(ledger: Ledger) -> int:
    """Decide open bills as the user decided for all bills of their cards; returns how many."""
    always = duplicate_checks.always_decided(ledger)
    if not always:
        return 0
    followed: set[int] = set()
    for pair in duplicate_checks.open_pairs(ledger):
        accounts = frozenset((pair.first_payee[0], pair.second_payee[0]))
        if pair.bill_id is not None and pair.decision is None and accounts in always:
            batch = always[accounts]
            record_decision(ledger, pair.id, "duplicate", batch)
            followed.add(pair.bill_id)
    update_marks(ledger)
    return len(followed)


def list_candidates(
    ledger: Ledger, limit: int = 10, page: int = 1, *, skip_checked: bool = True
) -> CandidateList:
    """A page of the open candidates, likely ones first; without ``skip_checked`` of all pairs.

    Raises:
        EmptyLedger: there are no rows yet.
        InvalidChoice: ``limit`` is not 1 to 50.
        InvalidPage: there is no such page.
    """
    check_limit(limit, 1, MAX_LIMIT)
    with snapshot(ledger.connection):
        refuse_empty(ledger)
        listed = listed_candidates(arrange(duplicate_checks.open_pairs(ledger)))
        closed = [] if skip_checked else duplicate_checks.closed_checks(ledger)
        total = len(listed) + len(closed)
        pages = max(1, -(-total // limit))
        if not 1 <= page <= pages:
            raise InvalidPage(page, pages)
        first, last = (page - 1) * limit, page * limit
        candidates = [
            _candidate_of(ledger, candidate, alike) for candidate, alike in listed[first:last]
        ]
        candidates += [
            _candidate_of(ledger, candidate_of(ledger, check))
            for check in closed[max(first - len(listed), 0) : max(last - len(listed), 0)]
        ]
    counts = CandidateCounts.of(candidate for candidate, _ in listed)
    message = review_wording.list_message(total, counts, page, pages, open_only=skip_checked)
    return CandidateList(
        candidates=tuple(candidates),
        total_count=total,
        likely_count=counts.purchases,
        next_page=page + 1 if page < pages else None,
        message=message,
    )


def candidate_detail(ledger: Ledger, check_id: int) -> DuplicateCandidate:
    """The open candidate that a pair belongs to; for a closed pair, that pair or its card's bill.

    Raises:
        CheckNotFound: the household has no such pair.
    """
    with snapshot(ledger.connection):
        arranged = arrange(duplicate_checks.open_pairs(ledger))
        own = next((each for each in arranged if check_id in each.check_ids), None)
        if own is None:
            return _candidate_of(ledger, candidate_of(ledger, check_id))
        alike = sum(each.alike_key == own.alike_key for each in arranged) - 1
        return _candidate_of(ledger, own, alike)


def stats(ledger: Ledger) -> DuplicateStats:
    """The numbers of rows, marked rows, listed candidates, and rejected pairs.

    Raises:
        EmptyLedger: there are no rows yet.
    """
    with snapshot(ledger.connection):
        refuse_empty(ledger)
        rows, marked, rejected = duplicate_checks.review_counts(ledger)
        listed = listed_candidates(arrange(duplicate_checks.open_pairs(ledger)))
    rate = 100 * marked / rows if rows else 0.0
    return DuplicateStats(
        total_transactions=rows,
        marked_duplicates=marked,
        pending_checks=len(listed),
        confirmed_not_duplicate=rejected,
        duplicate_rate=round(rate, 2),
    )


def count_news(ledger: Ledger) -> CandidateCounts:
    """How many likely candidates imports have found that no answer has reported yet."""
    return CandidateCounts.of(
        arrange(duplicate_checks.open_pairs(ledger, LIKELY, unannounced=True))
    )


def take_news(ledger: Ledger) -> str:
    """A message about new likely candidates that imports found, given only once; "" if none."""
    with ledger.connection:
        news = count_news(ledger)
        if any(news):
            duplicate_checks.mark_announced(ledger)
    return review_wording.news_message(news)


def pair_of(ledger: Ledger, check_id: int) -> StoredPair:
    """A pair by its id.

    Raises:
        CheckNotFound: the household has no such pair.
    """
    pair = duplicate_checks.get_check(ledger, check_id)
    if pair is None:
        raise CheckNotFound(check_id)
    return pair


def row_of(ledger: Ledger, transaction_id: int) -> Transaction:
    """A row by its id.

    Raises:
        TransactionNotFound: the household has no such row.
    """
    rows = duplicate_checks.transactions_with_ids(ledger, [transaction_id])
    if transaction_id not in rows:
        raise TransactionNotFound(transaction_id)
    return rows[transaction_id]


def candidate_of(ledger: Ledger, check_id: int) -> ReviewCandidate:
    """A pair as a candidate, or the whole bill of a card that the pair belongs to.

    Raises:
        CheckNotFound: the household has no such pair.
    """
    pair = pair_of(ledger, check_id)
    if pair.bill_id is None:
        return ReviewCandidate(pair.rows, (pair,))
    pairs = duplicate_checks.pairs_of_bill(ledger, pair.bill_id)
    return ReviewCandidate((pair.bill_id, *(each.kept_id for each in pairs)), tuple(pairs))


def _candidate_of(ledger: Ledger, candidate: ReviewCandidate, alike: int = 0) -> DuplicateCandidate:
    known = duplicate_checks.transactions_with_ids(ledger, candidate.rows)
    rows = [known[row] for row in candidate.rows]
    amounts = [abs(row.amount) for row in rows if row.amount is not None]
    days = [row.date for row in rows]
    best = candidate.best
    amount_diff = max(amounts) - min(amounts) if len(amounts) == len(rows) else None
    codes = {code for pair in candidate.pairs for code in pair.reasons}
    if best.kind is PairKind.TRANSFER and sum(row.amount or 0 for row in rows) != 0:
        codes = {*codes, "moved_before"} - {"moved"}  # a later export changed an amount
    about: tuple[str, ...] = ()
    if best.kind is PairKind.CARD_BILL:
        about = (review_wording.bill_in_words(rows[0], rows[1:], best.reasons),)
        amount_diff = 0
    first, second, *others = map(review_wording.CandidateRow.of, rows)
    return DuplicateCandidate(
        check_id=min(candidate.check_ids),
        is_likely=candidate.is_likely,
        is_transfer=best.kind is not PairKind.PURCHASE,
        kind=review_wording.kind_of(best.kind, rows),
        transaction_1=first,
        transaction_2=second,
        others=tuple(others),
        reasons=(*about, *reasons_in_words(codes)),
        alike_count=alike,
        similarity_score=best.score,
        date_diff_days=(max(days) - min(days)).days,
        amount_diff=amount_diff,
        user_decision=best.decision,
        detection_params=DetectionParams(
            best.date_tolerance_days,
            float(best.amount_tolerance_abs),
            float(best.amount_tolerance_pct),
        ),
    )
