"""The table of pairs that may be duplicates, and the duplicate marks in the ledger.

Marks are derived from decisions: a row is marked if and only if it is the second row of a pair
with the decision ``duplicate``. It is marked as a duplicate of the unmarked row at the end of the
chain of such pairs. A pair's first row has the smaller id, so chains end, and two rows are never
duplicates of each other.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from typing import Any

import apsw

from mdvec.household.core.pairs import DetectionOptions, Pair
from mdvec.household.core.similarity import ComparedRow
from mdvec.household.core.transaction import Transaction
from mdvec.household.interfaces.counting import counts, counts_unless_duplicate
from mdvec.household.interfaces.rows import TRANSACTION_COLUMNS, read_transaction

_CHECK = (
    "c.id, c.transaction_id_1, c.transaction_id_2, c.detection_date_tolerance, "
    "c.detection_amount_tolerance_abs, c.detection_amount_tolerance_pct, c.similarity_score, "
    "c.user_decision"
)
_UNDECIDED = "(user_decision IS NULL OR user_decision = 'skip')"
_WITH_ROWS = (
    "FROM duplicate_checks AS c JOIN transactions AS a ON a.id = c.transaction_id_1 "
    "JOIN transactions AS b ON b.id = c.transaction_id_2 WHERE c.tool_id = ?"
)
_BOTH_COUNT = f"{counts('a')} AND {counts('b')}"


@dataclass(frozen=True, slots=True)
class Check:
    """A stored pair: the options that found it, its score, and the user's decision."""

    id: int
    first_id: int
    second_id: int
    date_tolerance_days: int
    amount_tolerance_abs: Decimal
    amount_tolerance_pct: Decimal
    score: float
    decision: str | None


@dataclass(frozen=True, slots=True)
class ReviewCounts:
    """Numbers of rows, marked rows, pairs, undecided pairs and rejected pairs."""

    transactions: int
    marked: int
    pairs: int
    open: int
    not_duplicate: int


def compared_rows(connection: apsw.Connection, tool_id: int) -> list[ComparedRow]:
    """The compared columns of all rows that count."""
    # Almost every row counts: an index would only add a lookup for each.
    rows = connection.execute(
        f"SELECT {', '.join(ComparedRow._fields)} "
        f"FROM transactions AS t NOT INDEXED WHERE tool_id = ? AND {counts('t')}",
        (tool_id,),
    )
    days = _Days()
    return [_compared_row(row, days) for row in rows]


def _compared_row(row: tuple[Any, ...], days: _Days) -> ComparedRow:
    row_id, day, amount, description, major, minor, account, mf_id = row
    return ComparedRow(
        id=row_id,
        date=days[day],
        amount=amount,
        description=description,
        category_major=major,
        category_minor=minor,
        account=account,
        mf_id=mf_id,
    )


class _Days(dict[object, date]):
    """A cache of parsed days; a ledger has far fewer days than rows."""

    def __missing__(self, text: object) -> date:
        self[text] = day = date.fromisoformat(str(text))
        return day


def find_transactions(
    connection: apsw.Connection, tool_id: int, ids: Iterable[int]
) -> dict[int, Transaction]:
    """The tool's rows with these ids, by id; unknown ids are skipped."""
    found = {}
    for transaction_id in filter(_is_storable, ids):
        row = connection.execute(
            f"SELECT {TRANSACTION_COLUMNS} FROM transactions WHERE tool_id = ? AND id = ?",
            (tool_id, transaction_id),
        ).fetchone()
        if row is not None:
            found[transaction_id] = read_transaction(row)
    return found


def store_pairs(
    connection: apsw.Connection, tool_id: int, pairs: Iterable[Pair], options: DetectionOptions
) -> None:
    """Add new pairs, and update undecided ones.

    Pairs whose rows were deleted during the search are skipped.
    """
    connection.executemany(
        "INSERT INTO duplicate_checks (tool_id, transaction_id_1, transaction_id_2, "
        "similarity_score, detection_date_tolerance, detection_amount_tolerance_abs, "
        "detection_amount_tolerance_pct) SELECT ?, a.id, b.id, ?, ?, ?, ? "
        "FROM transactions AS a, transactions AS b WHERE a.id = ? AND b.id = ? "
        "ON CONFLICT (transaction_id_1, transaction_id_2) DO UPDATE SET "
        "similarity_score = excluded.similarity_score, "
        "detection_date_tolerance = excluded.detection_date_tolerance, "
        "detection_amount_tolerance_abs = excluded.detection_amount_tolerance_abs, "
        "detection_amount_tolerance_pct = excluded.detection_amount_tolerance_pct, "
        f"detected_at = CURRENT_TIMESTAMP WHERE {_UNDECIDED}",
        (
            (
                tool_id,
                pair.score,
                options.date_tolerance_days,
                str(options.amount_tolerance_abs),
                str(options.amount_tolerance_pct),
                pair.first.id,
                pair.second.id,
            )
            for pair in pairs
        ),
    )


def known_pairs(connection: apsw.Connection, tool_id: int) -> dict[tuple[int, int], str | None]:
    """The decision of every stored pair, by the ids of its rows."""
    rows = connection.execute(
        "SELECT transaction_id_1, transaction_id_2, user_decision FROM duplicate_checks "
        "WHERE tool_id = ?",
        (tool_id,),
    )
    return {(first, second): decision for first, second, decision in rows}


def get_check(connection: apsw.Connection, tool_id: int, check_id: int) -> Check | None:
    """The tool's pair with this id, or None."""
    if not _is_storable(check_id):
        return None
    row = connection.execute(
        f"SELECT {_CHECK} FROM duplicate_checks AS c WHERE c.tool_id = ? AND c.id = ?",
        (tool_id, check_id),
    ).fetchone()
    return None if row is None else _check(row)


def list_checks(
    connection: apsw.Connection, tool_id: int, limit: int, *, open_only: bool
) -> list[Check]:
    """Pairs ordered by state (new, skipped, decided), then by score.

    A pair is open while it is undecided and both of its rows count.
    """
    where = f"AND {_UNDECIDED} AND {_BOTH_COUNT}" if open_only else ""
    rows = connection.execute(
        f"SELECT {_CHECK} {_WITH_ROWS} {where} "
        "ORDER BY CASE WHEN c.user_decision IS NULL THEN 0 WHEN c.user_decision = 'skip' THEN 1 "
        "ELSE 2 END, c.similarity_score DESC, c.id LIMIT ?",
        (tool_id, limit),
    )
    return [_check(row) for row in rows]


def count(connection: apsw.Connection, tool_id: int) -> ReviewCounts:
    """The numbers of a tool's rows and pairs."""
    (rows, marked) = _numbers(
        connection,
        "SELECT count(*), coalesce(sum(is_duplicate), 0) FROM transactions WHERE tool_id = ?",
        tool_id,
    )
    (pending,) = _numbers(
        connection, f"SELECT count(*) {_WITH_ROWS} AND {_UNDECIDED} AND {_BOTH_COUNT}", tool_id
    )
    (pairs, kept) = _numbers(
        connection,
        "SELECT count(*), count(*) FILTER (WHERE user_decision = 'not_duplicate') "
        "FROM duplicate_checks WHERE tool_id = ?",
        tool_id,
    )
    return ReviewCounts(rows, marked, pairs, pending, kept)


def record_decision(
    connection: apsw.Connection, tool_id: int, check_id: int, decision: str
) -> None:
    """Store the decision about a pair and update the marks; call within a transaction."""
    connection.execute(
        "UPDATE duplicate_checks SET user_decision = ?, decided_at = CURRENT_TIMESTAMP "
        "WHERE tool_id = ? AND id = ?",
        (decision, tool_id, check_id),
    )
    connection.execute(
        "UPDATE transactions SET (duplicate_checked, duplicate_checked_at) = "
        "(SELECT count(*) > 0, max(decided_at) FROM duplicate_checks AS c "
        "WHERE c.user_decision IN ('duplicate', 'not_duplicate') "
        "AND transactions.id IN (c.transaction_id_1, c.transaction_id_2)) "
        "WHERE id IN (SELECT transaction_id_1 FROM duplicate_checks WHERE id = ?1 "
        "UNION SELECT transaction_id_2 FROM duplicate_checks WHERE id = ?1)",
        (check_id,),
    )
    update_marks(connection, tool_id)


def checks_that_mark(connection: apsw.Connection, tool_id: int, transaction_id: int) -> list[Check]:
    """The pairs whose decision marks a row."""
    rows = connection.execute(
        f"SELECT {_CHECK} FROM duplicate_checks AS c WHERE c.tool_id = ? "
        "AND c.transaction_id_2 = ? AND c.user_decision = 'duplicate' ORDER BY c.id",
        (tool_id, transaction_id),
    )
    return [_check(row) for row in rows]


def update_marks(connection: apsw.Connection, tool_id: int) -> None:
    """Update the duplicate marks to match the decisions.

    Call within every transaction that removes rows or decisions: a row whose original is gone
    counts again.
    """
    wanted = _originals(connection, tool_id)
    # The plus keeps SQLite off the index: looking up each row would take many times as long.
    marked: dict[int, int | None] = dict(
        connection.execute(
            "SELECT id, duplicate_of FROM transactions WHERE +tool_id = ? AND is_duplicate",
            (tool_id,),
        )
    )
    changes = [
        (transaction_id in wanted, wanted.get(transaction_id), transaction_id)
        for transaction_id in wanted.keys() | marked.keys()
        if (transaction_id not in wanted or transaction_id not in marked)
        or wanted[transaction_id] != marked[transaction_id]
    ]
    connection.executemany(
        "UPDATE transactions SET is_duplicate = ?, duplicate_of = ?, "
        "updated_at = CURRENT_TIMESTAMP WHERE id = ?",
        changes,
    )


def _originals(connection: apsw.Connection, tool_id: int) -> dict[int, int]:
    """For each row to be marked, the row that it duplicates.

    A row that no longer counts for another reason cannot be the one that stays: marking its
    duplicate would remove the purchase from the sums altogether.
    """
    pairs = connection.execute(
        "SELECT c.transaction_id_1, c.transaction_id_2 FROM duplicate_checks AS c "
        "JOIN transactions AS t ON t.id = c.transaction_id_1 "
        f"WHERE c.tool_id = ? AND c.user_decision = 'duplicate' AND {counts_unless_duplicate('t')} "
        "ORDER BY c.transaction_id_2, c.transaction_id_1",
        (tool_id,),
    )
    originals: dict[int, int] = {}
    for first, second in pairs:
        # In the order of second rows, the original of first is known before any row refers to it.
        originals.setdefault(int(second), originals.get(int(first), int(first)))
    return originals


def _is_storable(number: int) -> bool:
    """Whether an id from a client fits into SQLite's 64 bits."""
    return abs(number) < 2**63


def _numbers(connection: apsw.Connection, sql: str, tool_id: int) -> tuple[int, ...]:
    return connection.execute(sql, (tool_id,)).fetchone() or ()


def _check(row: tuple[Any, ...]) -> Check:
    check_id, first_id, second_id, days, amount_abs, amount_pct, score, decision = row
    return Check(
        id=check_id,
        first_id=first_id,
        second_id=second_id,
        date_tolerance_days=days,
        amount_tolerance_abs=Decimal(amount_abs),
        amount_tolerance_pct=Decimal(amount_pct),
        score=score,
        decision=decision,
    )
