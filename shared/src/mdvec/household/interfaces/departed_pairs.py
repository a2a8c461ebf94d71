"""Decisions about rows that a rebuild deleted, kept in case the rows return."""

from __future__ import annotations

import json
from collections.abc import Collection, Sequence

import apsw

_PAIR = (
    "transaction_id_1, transaction_id_2, detection_date_tolerance, "
    "detection_amount_tolerance_abs, detection_amount_tolerance_pct, similarity_score, "
    "detected_at, user_decision, decided_at, kept_id, reasons, of_transfer, batch"
)


def keep_decisions(connection: apsw.Connection, tool_id: int, leaving: Sequence[int]) -> None:
    """Save the decisions about rows, by id, that are about to be deleted."""
    connection.execute(
        f"INSERT OR REPLACE INTO departed_pairs (tool_id, check_id, identity_1, identity_2, "
        f"{_PAIR}) SELECT c.tool_id, c.id, a.identity, b.identity, {_PAIR} "
        "FROM duplicate_checks AS c JOIN transactions AS a ON a.id = c.transaction_id_1 "
        "JOIN transactions AS b ON b.id = c.transaction_id_2 "
        "WHERE c.tool_id = ?1 AND c.user_decision NOT NULL AND ("
        "c.transaction_id_1 IN (SELECT value FROM json_each(?2)) "
        "OR c.transaction_id_2 IN (SELECT value FROM json_each(?2)))",
        (tool_id, json.dumps(leaving)),
    )


def former_ids(
    connection: apsw.Connection, tool_id: int, identities: Collection[str]
) -> dict[str, int]:
    """The former ids of returning rows, by identity; they decide which row of a pair is marked."""
    rows = connection.execute(
        "SELECT identity_1, transaction_id_1 FROM departed_pairs WHERE tool_id = ?1 UNION "
        "SELECT identity_2, transaction_id_2 FROM departed_pairs WHERE tool_id = ?1",
        (tool_id,),
    ).fetchall()
    return {str(identity): int(str(number)) for identity, number in rows if identity in identities}


def bring_back_decisions(connection: apsw.Connection, tool_id: int) -> None:
    """Restore the decisions whose two rows are in the ledger again; call update_marks after it."""
    back = (
        "FROM departed_pairs AS d WHERE d.tool_id = ?1 "
        "AND EXISTS (SELECT 1 FROM transactions AS t WHERE t.id = d.transaction_id_1 "
        "AND t.tool_id = ?1 AND t.identity = d.identity_1) "
        "AND EXISTS (SELECT 1 FROM transactions AS t WHERE t.id = d.transaction_id_2 "
        "AND t.tool_id = ?1 AND t.identity = d.identity_2)"
    )
    connection.execute(
        f"INSERT OR REPLACE INTO duplicate_checks (id, tool_id, {_PAIR}) "
        f"SELECT check_id, tool_id, {_PAIR} {back}",
        (tool_id,),
    )
    ids = connection.execute(f"SELECT check_id {back}", (tool_id,)).fetchall()
    connection.executemany(
        "DELETE FROM departed_pairs WHERE tool_id = ? AND check_id = ?",
        ((tool_id, check_id) for (check_id,) in ids),
    )
    connection.executemany(
        "UPDATE transactions SET (duplicate_checked, duplicate_checked_at) = (1, "
        "(SELECT decided_at FROM duplicate_checks WHERE id = ?1)) WHERE id IN ("
        "SELECT transaction_id_1 FROM duplicate_checks WHERE id = ?1 AND user_decision <> 'skip' "
        "UNION SELECT transaction_id_2 FROM duplicate_checks "
        "WHERE id = ?1 AND user_decision <> 'skip')",
        ids,
    )
