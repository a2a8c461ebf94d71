"""The marks of duplicates and transfers in the ledger, which are derived from decisions.

Decisions about rows that a rebuild deleted are stored separately until the rows return.

Of a pair with the decision ``duplicate``, the row that the user did not keep is marked, by default
that with the larger id. It is marked as a duplicate of the unmarked row at the end of the chain of
such pairs. Decisions that together would leave no row are followed only as far as one row stays.
Both rows of a transfer are marked, as long as the ledger has both; of a card's bill and the rows
that it pays, only the bill is.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence

import apsw

from mdvec.household.core.pair import PairKind
from mdvec.household.interfaces.ledger import Ledger
from mdvec.household.interfaces.ledger_sums import counts_unless_decided, in_ledger

_BILL = PairKind.CARD_BILL.value
PAIRS_WITH_ROWS = (
    "FROM duplicate_checks AS c JOIN transactions AS a ON a.id = c.transaction_id_1 "
    "JOIN transactions AS b ON b.id = c.transaction_id_2 WHERE c.tool_id = ?"
)


def new_batch(connection: apsw.Connection) -> int:
    """A new batch number for a request that decides pairs; call within its transaction."""
    last: int = connection.execute(
        "SELECT max(coalesce((SELECT max(abs(batch)) FROM duplicate_checks), 0), "
        "coalesce((SELECT max(abs(batch)) FROM departed_pairs), 0))"
    ).get
    return last + 1


def record_decision(
    ledger: Ledger, check_id: int, decision: str, batch: int, kept_id: int | None = None,
    *, is_alone: bool = False,
) -> None:  # fmt: skip
    """Store the decision about a pair, which a request (``batch``) made.

    A pair that is decided again by itself (``is_alone``) keeps its first batch, as a negative
    number: it leads to the others of that batch, and they leave it alone. Call within a
    transaction, and update_marks after it.
    """
    ledger.connection.execute(
        "UPDATE duplicate_checks SET user_decision = ?, "
        f"kept_id = CASE of_transfer WHEN {_BILL} THEN kept_id ELSE ? END, "
        "batch = CASE WHEN ? THEN coalesce(-abs(batch), ?4) ELSE ?4 END, "
        "decided_at = CURRENT_TIMESTAMP, is_announced = 1 WHERE tool_id = ? AND id = ?",
        (decision, kept_id, is_alone, batch, ledger.tool_id, check_id),
    )
    ledger.connection.execute(
        "UPDATE transactions SET duplicate_checked = EXISTS (SELECT 1 FROM duplicate_checks AS c "
        "WHERE c.user_decision IN ('duplicate', 'not_duplicate') "
        "AND transactions.id IN (c.transaction_id_1, c.transaction_id_2)) "
        "WHERE id IN (SELECT transaction_id_1 FROM duplicate_checks WHERE id = ?1 "
        "UNION SELECT transaction_id_2 FROM duplicate_checks WHERE id = ?1)",
        (check_id,),
    )


def update_marks(ledger: Ledger) -> None:
    """Update the marks to match the decisions.

    Call within every transaction that removes rows or decisions: a row whose original, or the
    other end of whose transfer, is gone counts again.
    """
    _update_transfers(ledger)
    wanted = _originals(ledger)
    # The plus keeps SQLite from using the index: looking up each row would take many times as long.
    marked: dict[int, int | None] = dict(
        ledger.execute(
            "SELECT id, duplicate_of FROM transactions WHERE +tool_id = ? AND is_duplicate"
        )
    )
    changed = {row for row, _ in wanted.items() ^ marked.items()}
    ledger.connection.executemany(
        "UPDATE transactions SET is_duplicate = ?, duplicate_of = ?, "
        "updated_at = CURRENT_TIMESTAMP WHERE id = ?",
        [(row in wanted, wanted.get(row), row) for row in changed],
    )


def _update_transfers(ledger: Ledger) -> None:
    ends = ledger.execute(
        f"SELECT a.id, b.id, CASE c.of_transfer WHEN {_BILL} THEN c.kept_id END "
        f"{PAIRS_WITH_ROWS} AND c.user_decision = 'duplicate' AND c.of_transfer "
        f"AND {in_ledger('a')} AND {in_ledger('b')}"
    )
    wanted = {row for *pair, paid_row in ends for row in pair if row != paid_row}
    marked = ledger.column("SELECT id FROM transactions WHERE +tool_id = ? AND is_moved")
    ledger.connection.executemany(
        "UPDATE transactions SET is_moved = NOT is_moved, updated_at = CURRENT_TIMESTAMP "
        "WHERE id = ?",
        [(row,) for row in wanted.symmetric_difference(marked)],
    )


def _originals(ledger: Ledger) -> dict[int, int]:
    """For each row to be marked, the row that it duplicates.

    A row that no longer counts for another reason cannot be the one that stays: marking its
    duplicate would remove the purchase from the sums altogether.
    """
    pairs = ledger.execute(
        "WITH decided AS (SELECT coalesce(kept_id, transaction_id_1) AS kept, "
        "transaction_id_1 + transaction_id_2 - coalesce(kept_id, transaction_id_1) AS dropped "
        "FROM duplicate_checks WHERE tool_id = ? AND user_decision = 'duplicate' "
        "AND NOT of_transfer) "
        "SELECT kept, dropped FROM decided JOIN transactions AS t ON t.id = kept "
        f"WHERE {counts_unless_decided('t')} ORDER BY dropped, kept"
    )
    return kept_rows(pairs)


def kept_rows(pairs: Iterable[tuple[int, int]]) -> dict[int, int]:
    """For each dropped row, the row that stays, from (kept, dropped) pairs; one always stays."""
    originals: dict[int, int] = {}
    for original, dropped in pairs:
        if dropped not in originals and _end(originals, original) != dropped:
            originals[dropped] = original
    return {dropped: _end(originals, dropped) for dropped in originals}


def _end(originals: dict[int, int], row: int) -> int:
    """The row at the end of the chain of originals."""
    while row in originals:
        row = originals[row]
    return row


_PAIR = (
    "transaction_id_1, transaction_id_2, detection_date_tolerance, "
    "detection_amount_tolerance_abs, detection_amount_tolerance_pct, similarity_score, "
    "detected_at, user_decision, decided_at, kept_id, reasons, of_transfer, batch"
)


def keep_decisions(ledger: Ledger, leaving: Sequence[int]) -> None:
    """Save the decisions about rows, by id, that are about to be deleted."""
    ledger.execute(
        f"INSERT OR REPLACE INTO departed_pairs (tool_id, check_id, identity_1, identity_2, "
        f"{_PAIR}) SELECT c.tool_id, c.id, a.identity, b.identity, {_PAIR} "
        f"{PAIRS_WITH_ROWS} AND c.user_decision NOT NULL AND ("
        "c.transaction_id_1 IN (SELECT value FROM json_each(?2)) "
        "OR c.transaction_id_2 IN (SELECT value FROM json_each(?2)))",
        (json.dumps(leaving),),
    )


def former_ids(ledger: Ledger) -> dict[str, int]:
    """The former ids of deleted rows, by identity; ids decide which row of a pair is marked."""
    return dict(
        ledger.execute(
            "SELECT identity_1, transaction_id_1 FROM departed_pairs WHERE tool_id = ?1 UNION "
            "SELECT identity_2, transaction_id_2 FROM departed_pairs WHERE tool_id = ?1"
        )
    )


def bring_back_decisions(ledger: Ledger) -> None:
    """Restore the decisions whose two rows are in the ledger again; call update_marks after it."""
    back = (
        "FROM departed_pairs AS d WHERE d.tool_id = ?1 "
        "AND EXISTS (SELECT 1 FROM transactions AS t WHERE t.id = d.transaction_id_1 "
        "AND t.tool_id = ?1 AND t.identity = d.identity_1) "
        "AND EXISTS (SELECT 1 FROM transactions AS t WHERE t.id = d.transaction_id_2 "
        "AND t.tool_id = ?1 AND t.identity = d.identity_2)"
    )
    ledger.execute(
        f"INSERT OR REPLACE INTO duplicate_checks (id, tool_id, {_PAIR}) "
        f"SELECT check_id, tool_id, {_PAIR} {back}"
    )
    ids = ledger.execute(f"DELETE {back} RETURNING check_id").fetchall()
    ledger.connection.executemany(
        "UPDATE transactions SET duplicate_checked = 1 WHERE id IN ("
        "SELECT transaction_id_1 FROM duplicate_checks WHERE id = ?1 AND user_decision <> 'skip' "
        "UNION SELECT transaction_id_2 FROM duplicate_checks "
        "WHERE id = ?1 AND user_decision <> 'skip')",
        ids,
    )
