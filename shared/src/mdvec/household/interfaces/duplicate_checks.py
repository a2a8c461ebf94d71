"""The table of pairs that may be duplicates or transfers."""

from __future__ import annotations

import json
from collections.abc import Iterable
from datetime import date
from functools import cache, partial

import apsw

from mdvec.household.core.pair import ComparedRow, DetectionOptions, Pair, PairKind, StoredPair
from mdvec.household.core.transaction import Transaction
from mdvec.household.interfaces.ledger import Ledger
from mdvec.household.interfaces.ledger_sums import counts, in_ledger, transactions
from mdvec.household.interfaces.marks import PAIRS_WITH_ROWS

_UNDECIDED = "(user_decision IS NULL OR user_decision = 'skip')"
_TRANSFER, _BILL = PairKind.TRANSFER.value, PairKind.CARD_BILL.value
"""Values of ``of_transfer``; the ``kept_id`` of a card's bill is the row that it pays."""
_FILED = "({0}.is_transfer AND NOT {0}.is_moved AND NOT {0}.is_duplicate)"
"""Whether a row is of a transfer that its file marks, and is in no decided pair."""
_BOTH_COUNT = (
    f"CASE c.of_transfer WHEN {_BILL} THEN CASE c.kept_id WHEN a.id "
    f"THEN {counts('b')} AND {in_ledger('a')} ELSE {counts('a')} AND {in_ledger('b')} END "
    f"WHEN {_TRANSFER} THEN ({counts('a')} AND ({counts('b')} OR {_FILED.format('b')} "
    f"AND {in_ledger('b')})) OR ({counts('b')} AND {_FILED.format('a')} AND {in_ledger('a')}) "
    f"ELSE {counts('a')} AND {counts('b')} END"
)
_OPEN = f"{_UNDECIDED} AND {_BOTH_COUNT}"
_TOLERANCES = (
    "detection_date_tolerance, detection_amount_tolerance_abs, detection_amount_tolerance_pct"
)
_FOUND = f"similarity_score, {_TOLERANCES}, reasons, of_transfer, kept_id"
"""The columns that each search writes for a pair."""


def compared_rows(ledger: Ledger) -> list[ComparedRow]:
    """The compared columns of the rows that count, or that bills and transfers may be matched with.

    A row that was decided to be a duplicate is among them if the row that stays is of another
    account.
    """
    is_duplicate_of_others = (
        "t.is_duplicate AND NOT EXISTS (SELECT 1 FROM transactions AS o "
        "WHERE o.id = t.duplicate_of AND o.account = t.account)"
    )
    # Almost every row counts: an index would only add a lookup for each.
    rows = ledger.execute(
        "SELECT id, date, amount, description, category_major, category_minor, account, mf_id, "
        f"coalesce(statement_id, source_file), {counts('t')}, is_moved, is_duplicate, is_transfer "
        "FROM transactions AS t NOT INDEXED WHERE tool_id = ? "
        f"AND amount IS NOT NULL AND {in_ledger('t')} AND CASE WHEN t.is_transfer "
        "THEN NOT t.is_moved AND NOT t.is_duplicate AND account <> '' "
        f"ELSE NOT t.is_duplicate OR {is_duplicate_of_others} END"
    )
    day_of = cache(date.fromisoformat)  # a ledger has far fewer days than rows
    make = partial(tuple.__new__, ComparedRow)  # like ComparedRow._make, but twice as fast
    same = dict[str, str]().setdefault  # makes equal texts one object, so that comparing is fast
    return [
        make((number, day_of(day), amount, same(text, text), major, minor, same(account, account),
              mf_id, statement, counted, moved, duplicate, filed))
        for number, day, amount, text, major, minor, account,
            mf_id, statement, counted, moved, duplicate, filed in rows
    ]  # fmt: skip


def transactions_with_ids(ledger: Ledger, ids: Iterable[int]) -> dict[int, Transaction]:
    """The tool's rows with these ids, by id; unknown ids are skipped."""
    wanted = json.dumps(list(filter(_is_storable, ids)))
    where = "WHERE +tool_id = ? AND id IN (SELECT value FROM json_each(?))"
    return {row.id: row for row in transactions(ledger.connection, where, (ledger.tool_id, wanted))}


def store_pairs(
    ledger: Ledger, pairs: Iterable[Pair], options: DetectionOptions, *, announced: bool
) -> None:
    """Add new pairs, and update undecided ones; ``announced``: the user is told of them now.

    Pairs whose rows were deleted during the search are skipped.
    """
    now_found = ", ".join(f"excluded.{column}" for column in _FOUND.split(", "))
    ledger.connection.executemany(
        "INSERT INTO duplicate_checks (tool_id, transaction_id_1, transaction_id_2, is_announced, "
        f"{_FOUND}) SELECT ?, a.id, b.id, ?, ?, ?, ?, ?, ?, ?, ? "
        "FROM transactions AS a, transactions AS b WHERE a.id = ? AND b.id = ? "
        "ON CONFLICT (transaction_id_1, transaction_id_2) DO UPDATE SET "
        f"({_FOUND}) = ({now_found}), detected_at = CURRENT_TIMESTAMP WHERE {_UNDECIDED}",
        (
            (
                ledger.tool_id, announced, pair.score, options.date_tolerance_days,
                str(options.amount_tolerance_abs), str(options.amount_tolerance_pct),
                " ".join(pair.reasons), pair.kind.value, pair.paid_id, *pair.ids,
            )
            for pair in pairs
        ),
    )  # fmt: skip


def drop_unfound(
    ledger: Ledger, pairs: Iterable[Pair], options: DetectionOptions | None = None
) -> int:
    """Delete undecided pairs that are not among the ``pairs`` of a search; returns how many.

    With ``options``, only bills are deleted, and open pairs that an earlier search with these
    options found.
    """
    found_ids = {pair.ids for pair in pairs}
    every = DetectionOptions() if options is None else options
    undecided = ledger.execute(
        f"SELECT c.id, c.transaction_id_1, c.transaction_id_2 {PAIRS_WITH_ROWS} "
        f"AND c.user_decision IS NULL AND (c.of_transfer = ? OR ? OR ({_BOTH_COUNT} "
        f"AND c.similarity_score >= ? AND ({_TOLERANCES}) = (?, ?, ?)))",
        (
            _BILL, options is None, every.min_similarity_score, every.date_tolerance_days,
            str(every.amount_tolerance_abs), str(every.amount_tolerance_pct),
        ),
    ).fetchall()  # fmt: skip
    dropped = [(check,) for check, first, other in undecided if (first, other) not in found_ids]
    ledger.connection.executemany("DELETE FROM duplicate_checks WHERE id = ?", dropped)
    return len(dropped)


def add_pair(ledger: Ledger, like: StoredPair, ids: tuple[int, int]) -> StoredPair:
    """The pair of two rows of one group; if new, it is stored with the tolerances of ``like``."""
    ledger.connection.execute(
        "INSERT INTO duplicate_checks (tool_id, transaction_id_1, transaction_id_2, reasons, "
        f"similarity_score, {_TOLERANCES}) SELECT tool_id, ?, ?, 'same_group', similarity_score, "
        f"{_TOLERANCES} FROM duplicate_checks WHERE id = ? ON CONFLICT DO NOTHING",
        (*sorted(ids), like.id),
    )
    of_rows = "(c.transaction_id_1, c.transaction_id_2) = (?, ?)"
    return _pairs(ledger, of_rows, *sorted(ids))[0]


def decisions(ledger: Ledger) -> dict[tuple[int, int], str | None]:
    """The decision about every stored pair, by the ids of its rows."""
    rows = ledger.execute(
        "SELECT transaction_id_1, transaction_id_2, user_decision FROM duplicate_checks "
        "WHERE tool_id = ?"
    )
    return {(first, second): decision for first, second, decision in rows}


def get_check(ledger: Ledger, check_id: int) -> StoredPair | None:
    """The tool's pair with this id, or None."""
    if not _is_storable(check_id):
        return None
    return next(iter(_pairs(ledger, "c.id = ?", check_id)), None)


def open_pairs(ledger: Ledger, least: float = 0, *, unannounced: bool = False) -> list[StoredPair]:
    """The undecided pairs with at least this score whose rows both count (see ``_BOTH_COUNT``).

    ``unannounced``: only those that the user has not been told of.
    """
    new = " AND NOT c.is_announced" * unannounced
    return _pairs(ledger, f"{_OPEN}{new} AND c.similarity_score >= ?", least)


def decided_with(ledger: Ledger, pair: StoredPair) -> list[StoredPair]:
    """The other pairs of the pair's request, as stored now, without those decided by themselves."""
    return _pairs(ledger, "c.batch = ? AND c.id <> ?", abs(pair.batch or 0), pair.id)


def _pairs(ledger: Ledger, where: str, *values: float | None) -> list[StoredPair]:
    """The pairs that meet an SQL condition; ``values`` are bound after the tool's id."""
    rows = ledger.execute(
        "SELECT c.id, c.transaction_id_1, c.transaction_id_2, c.similarity_score, "
        "c.user_decision, coalesce(c.kept_id, c.transaction_id_1), c.batch, "
        f"{_TOLERANCES}, c.reasons, c.of_transfer, "
        "a.account, a.description, b.account, b.description, max(abs(a.amount), abs(b.amount)) "
        f"{PAIRS_WITH_ROWS} AND {where}",
        values,
    )
    return [
        StoredPair._make((
            *stored, tuple(reasons.split()), PairKind(kind), (account, shop), (payee, name), yen,
        ))
        for *stored, reasons, kind, account, shop, payee, name, yen in rows
    ]  # fmt: skip


def closed_checks(ledger: Ledger) -> list[int]:
    """The ids of all pairs that are not open, best score first; one id for each card's bill."""
    return ledger.column(
        f"SELECT min(c.id) {PAIRS_WITH_ROWS} AND NOT ({_OPEN}) "
        f"GROUP BY CASE c.of_transfer WHEN {_BILL} THEN c.kept_id - a.id - b.id ELSE c.id END "
        "ORDER BY max(c.similarity_score) DESC, min(c.id)"
    )


def join_batch(ledger: Ledger, pairs: Iterable[StoredPair], batch: int) -> None:
    """Move pairs, and what was decided with them, to a ``batch``, to be withdrawn together."""
    ledger.connection.executemany(
        "UPDATE duplicate_checks SET batch = ? WHERE tool_id = ? AND (id = ? OR batch = ?)",
        [(batch, ledger.tool_id, pair.id, abs(pair.batch or 0)) for pair in pairs],
    )


def pairs_of_bill(ledger: Ledger, bill_id: int) -> list[StoredPair]:
    """The pairs of a card's bill with the rows that it pays."""
    of_bill = (
        f"c.of_transfer = {_BILL} AND ? IN (c.transaction_id_1, c.transaction_id_2) "
        "AND c.kept_id <> ? ORDER BY c.id"
    )
    return _pairs(ledger, of_bill, bill_id, bill_id)


def cards_of_bills(ledger: Ledger) -> dict[int, str]:
    """The account of the card that each decided bill pays, by the bill's row."""
    rows = ledger.execute(
        "SELECT c.transaction_id_1 + c.transaction_id_2 - c.kept_id, paid.account "
        "FROM duplicate_checks AS c JOIN transactions AS paid ON paid.id = c.kept_id "
        f"WHERE c.tool_id = ? AND c.of_transfer = {_BILL} AND c.user_decision = 'duplicate'"
    )
    return dict(rows)


def keep_always(
    connection: apsw.Connection, pairs: Iterable[StoredPair], *, is_always: bool
) -> None:
    """Record whether the decision about these bills holds for the card's later bills, too."""
    connection.executemany(
        "UPDATE duplicate_checks SET reasons = trim(replace(reasons, 'always', '') || ?) "
        "WHERE id = ?",
        [(" always" if is_always else "", pair.id) for pair in pairs],
    )


def always_decided(ledger: Ledger) -> dict[frozenset[str], int]:
    """The bill's and the card's account for decisions on later bills, with the request's batch."""
    rows = ledger.execute(
        f"SELECT DISTINCT a.account, b.account, abs(c.batch) {PAIRS_WITH_ROWS} "
        f"AND c.of_transfer = {_BILL} AND c.user_decision = 'duplicate' "
        "AND c.reasons LIKE '%always%' ORDER BY abs(c.batch)"
    )
    return {frozenset((account, other)): batch for account, other, batch in rows}


def mark_announced(ledger: Ledger) -> None:
    """Record that all pairs have been reported to the user."""
    ledger.execute(
        "UPDATE duplicate_checks SET is_announced = 1 WHERE tool_id = ? AND NOT is_announced"
    )


def review_counts(ledger: Ledger) -> tuple[int, int, int]:
    """How many rows, marked duplicates and rejected pairs a tool has; a card's bill is one pair."""
    numbers: tuple[int, int, int] = ledger.execute(
        "SELECT count(*), coalesce(sum(is_duplicate), 0), "
        f"(SELECT count(DISTINCT CASE of_transfer WHEN {_BILL} "
        "THEN kept_id - transaction_id_1 - transaction_id_2 ELSE id END) "
        "FROM duplicate_checks WHERE tool_id = ?1 AND user_decision = 'not_duplicate') "
        "FROM transactions WHERE tool_id = ?1"
    ).get
    return numbers


def left_out_of_all_with(ledger: Ledger, row_id: int) -> int | None:
    """The other row of the decision that leaves a row out of the sums over all households."""
    row = ledger.connection.execute(
        "SELECT CASE a.id WHEN ?1 THEN b.id ELSE a.id END FROM shared_pairs AS s "
        "JOIN transactions AS a ON a.tool_id = s.kept_tool AND a.identity = s.kept_identity "
        "JOIN transactions AS b ON b.tool_id = s.other_tool AND b.identity = s.other_identity "
        "WHERE s.decision = 'duplicate' AND (b.id = ?1 OR s.is_transfer AND a.id = ?1)",
        (row_id,),
    ).fetchone()
    return None if row is None else int(row[0])


def pairs_that_mark(ledger: Ledger, transaction_id: int) -> list[StoredPair]:
    """The pairs whose decision takes a row out of the sums."""
    marking = (
        "?2 IN (c.transaction_id_1, c.transaction_id_2) AND c.kept_id IS NOT ?2 "
        "AND (c.kept_id NOT NULL OR c.of_transfer OR c.transaction_id_2 = ?2) "
        "AND c.user_decision = 'duplicate' ORDER BY c.id"
    )
    return _pairs(ledger, marking, transaction_id)


def _is_storable(number: int) -> bool:
    """Whether an id from a client fits into SQLite's 64 bits."""
    return abs(number) < 2**63
