"""The table of decisions about rows of two households: one purchase, one transfer, or neither."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import apsw

from mdvec.household.interfaces.ledger_sums import counts
from mdvec.household.interfaces.marks import kept_rows


@dataclass(frozen=True, slots=True)
class SharedDecision:
    """A decision about two rows, by id; of a purchase ``kept`` stays in the sums."""

    kept: int
    other: int
    decision: str
    is_transfer: bool
    both_count: bool


def put_shared(
    connection: apsw.Connection,
    kept_id: int,
    other: int,
    decision: str,
    *,
    is_transfer: bool,
) -> None:
    """Store a decision in place of the one about the same rows; call within a transaction."""
    delete_shared(connection, kept_id, other)
    connection.execute(
        "INSERT INTO shared_pairs "
        "(kept_tool, kept_identity, other_tool, other_identity, decision, is_transfer) "
        "SELECT a.tool_id, a.identity, b.tool_id, b.identity, ?, ? "
        "FROM transactions AS a, transactions AS b WHERE a.id = ? AND b.id = ?",
        (decision, is_transfer, kept_id, other),
    )


def delete_shared(connection: apsw.Connection, first: int, second: int) -> bool:
    """Delete the decision about two rows; returns whether there was one."""
    connection.execute(
        "DELETE FROM shared_pairs WHERE id IN (SELECT s.id FROM shared_pairs AS s "
        f"{_ROWS} WHERE (a.id, b.id) IN (VALUES (?1, ?2), (?2, ?1)))",
        (first, second),
    )
    return connection.changes() > 0


def shared_decisions(connection: apsw.Connection, tools: Iterable[int]) -> list[SharedDecision]:
    """The decisions about rows of these households, the oldest first."""
    ids = ",".join(str(int(tool)) for tool in tools)
    rows = connection.execute(
        f"SELECT a.id, b.id, s.decision, s.is_transfer, {counts('a')} AND {counts('b')} "
        f"FROM shared_pairs AS s {_ROWS} "
        f"WHERE s.kept_tool IN ({ids}) AND s.other_tool IN ({ids}) ORDER BY s.id"
    )
    return [
        SharedDecision(int(str(kept_id)), int(str(other)), str(decision), bool(moves), bool(both))
        for kept_id, other, decision, moves, both in rows
    ]


def rows_told_twice(decisions: Iterable[SharedDecision]) -> set[int]:
    """The rows that a sum over all households leaves out; of each purchase one row stays.

    Only pairs whose rows both count matter: of others the sum has one row at most.
    """
    decided = [
        decision
        for decision in decisions
        if decision.decision == "duplicate" and decision.both_count
    ]
    purchases = [
        (decision.kept, decision.other) for decision in decided if not decision.is_transfer
    ]
    moved = {
        row
        for decision in decided
        if decision.is_transfer
        for row in (decision.kept, decision.other)
    }
    return kept_rows(purchases).keys() | moved


_ROWS = (
    "JOIN transactions AS a ON a.tool_id = s.kept_tool AND a.identity = s.kept_identity "
    "JOIN transactions AS b ON b.tool_id = s.other_tool AND b.identity = s.other_identity"
)
