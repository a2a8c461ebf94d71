"""The rows of each statement, as its file has them: what the ledger is derived from."""

from __future__ import annotations

import json
from collections.abc import Collection, Sequence
from typing import Any

import apsw

from mdvec.household.core.cells import TransactionRow
from mdvec.household.core.identity import RowWithId, RowWithoutId, key_of, rows_by_identity, scoped
from mdvec.household.core.source_row import Values, values_of

VALUES = ", ".join(Values._fields)
"""The columns that a statement's row and a transaction share."""


def put_rows(
    connection: apsw.Connection,
    tool_id: int,
    statement_id: int,
    blocks: Sequence[Sequence[TransactionRow]],
) -> None:
    """Store a statement's rows in place of those it had; call within a transaction.

    If a mapping gives the same rows another account or description now, their transactions follow,
    with what the user decided about them.
    """
    before: list[tuple[Any, ...]] = connection.execute(
        "SELECT r.row_number, r.date, r.amount, r.identity, s.scope FROM statement_rows AS r "
        "JOIN ledger_statements AS s ON s.id = r.statement_id WHERE r.statement_id = ? "
        "AND r.identity >= 'row:' AND r.identity < 'row;'",
        (statement_id,),
    ).fetchall()
    connection.execute("DELETE FROM statement_rows WHERE statement_id = ?", (statement_id,))
    rows = rows_by_identity(blocks)
    connection.executemany(
        f"INSERT INTO statement_rows (statement_id, identity, block, row_number, balance, {VALUES})"
        f" VALUES (?, ?, ?, ?, ?, {', '.join('?' for _ in Values._fields)})",
        (
            (statement_id, identity, block, row.line, row.balance, *values_of(row))
            for identity, (block, row) in rows.items()
        ),
    )
    now = {(row.line, row.date.isoformat(), row.amount): name for name, (_, row) in rows.items()}
    connection.executemany(
        "UPDATE OR IGNORE transactions SET identity = ? "
        "WHERE tool_id = ? AND identity = ? AND statement_id = ?",
        [
            (now[line, day, amount], tool_id, scoped(old, scope), statement_id)
            for line, day, amount, old, scope in before
            if now.get((line, day, amount), old) != old
        ],
    )


_HERE = "FROM temp.ranked_statements AS q JOIN statement_rows AS r USING (statement_id)"
_ALIKE = (
    f"{_HERE} WHERE r.mf_id {{0}} '' AND (r.date, ifnull(r.amount, '')) IN "
    f"(SELECT r.date, ifnull(r.amount, '') {_HERE} WHERE r.mf_id {{1}} '')"
)
"""Rows with or without ID of whose day and amount there is one of the other sort."""


def rows_without_id(connection: apsw.Connection) -> list[RowWithoutId]:
    """The ranked statements' rows without an ID of whose day and amount there is one with an ID.

    Without those of second accounts: Money Forward does not tell accounts of one name apart.
    """
    rows: list[tuple[Any, ...]] = connection.execute(
        "SELECT r.id, r.identity, r.statement_id, r.block, q.is_present "
        f"{_ALIKE.format('=', '<>')} AND q.scope = '' AND r.identity >= 'row:' "
        "AND r.identity < 'row;' ORDER BY r.id"
    ).fetchall()
    return [
        RowWithoutId(row_id, identity, statement, block, bool(is_present))
        for row_id, identity, statement, block, is_present in rows
    ]


def rows_with_id(connection: apsw.Connection) -> list[RowWithId]:
    """The ranked statements' rows with an ID of whose day and amount there is one without."""
    rows: list[tuple[Any, ...]] = connection.execute(
        "SELECT r.identity, r.statement_id, r.block, q.is_present, r.date, r.amount, "
        f"r.description, r.account {_ALIKE.format('<>', '=')}"
    ).fetchall()
    return [
        RowWithId(identity, statement, block, bool(is_present), key_of(*values))
        for identity, statement, block, is_present, *values in rows
    ]


def forget_superseded_rows(
    connection: apsw.Connection, tool_id: int, remaining: Collection[int]
) -> None:
    """Delete the rows that a newer statement states again, but not those of ``remaining`` ones.

    Rows with and without ID that look alike stay: they tell which of them are the same. Call
    within the transaction that derived the ledger, after it.
    """
    connection.execute(
        "DELETE FROM statement_rows WHERE statement_id IN (SELECT id FROM ledger_statements "
        "WHERE tool_id = ? AND id NOT IN (SELECT value FROM json_each(?))) "
        "AND id NOT IN (SELECT row_id FROM derived) "
        f"AND id NOT IN (SELECT r.id {_ALIKE.format('=', '<>')}) "
        f"AND id NOT IN (SELECT r.id {_ALIKE.format('<>', '=')})",
        (tool_id, json.dumps(sorted(remaining))),
    )
