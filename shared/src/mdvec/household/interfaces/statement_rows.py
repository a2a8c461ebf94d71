"""The rows of each statement, as its file has them: what the ledger is derived from."""

from __future__ import annotations

import json
from collections.abc import Collection, Sequence
from dataclasses import fields
from operator import attrgetter

import apsw

from mdvec.household.core.cells import TransactionRow
from mdvec.household.core.identity import RowWithId, RowWithoutId, key_of, rows_by_identity, scoped

COLUMNS = tuple(
    each.name for each in fields(TransactionRow) if each.name not in ("line", "balance")
)
"""The columns that a statement's row and a transaction share, the date first."""
VALUES = ", ".join(COLUMNS)
_after_the_date = attrgetter(*COLUMNS[1:])


def put_rows(
    connection: apsw.Connection,
    tool_id: int,
    statement_id: int,
    blocks: Sequence[Sequence[TransactionRow]],
    scope: str,
) -> None:
    """Store a statement's rows in place of those it had; call within a transaction.

    ``scope`` is what told its account so far. If a mapping gives the same rows another account or
    description now, their transactions follow, with what the user decided about them.
    """
    stored = connection.execute(
        "SELECT row_number, date, amount, identity FROM statement_rows "
        "WHERE statement_id = ? AND mf_id = ''",
        (statement_id,),
    )
    before = list(stored)
    connection.execute("DELETE FROM statement_rows WHERE statement_id = ?", (statement_id,))
    rows = rows_by_identity(blocks)
    connection.executemany(
        f"INSERT INTO statement_rows (statement_id, identity, block, row_number, balance, {VALUES})"
        f" VALUES (?, ?, ?, ?, ?, {', '.join('?' for _ in COLUMNS)})",
        (
            (
                statement_id, identity, block, row.line, row.balance,
                row.date.isoformat(), *_after_the_date(row),
            )
            for identity, (block, row) in rows.items()
        ),
    )  # fmt: skip
    now = {(row.line, row.date.isoformat(), row.amount): name for name, (_, row) in rows.items()}
    connection.executemany(
        "UPDATE OR IGNORE transactions SET identity = ? "
        "WHERE tool_id = ? AND identity = ? AND statement_id = ?",
        [
            (now[line, day, amount], tool_id, scoped(old, scope), statement_id)
            for line, day, amount, old in before
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
    """The ranked statements' rows without an ID of whose day and amount there is one with an ID."""
    rows = connection.execute(
        "SELECT r.id, r.identity, r.statement_id, r.block, q.is_present, q.scope "
        f"{_ALIKE.format('=', '<>')} AND r.identity >= 'row:' AND r.identity < 'row;' ORDER BY r.id"
    )
    return [RowWithoutId(*row) for row in rows]


def rows_with_id(connection: apsw.Connection) -> list[RowWithId]:
    """The ranked statements' rows with an ID of whose day and amount there is one without."""
    rows = connection.execute(
        "SELECT r.identity, r.statement_id, r.block, q.is_present, r.date, r.amount, "
        f"r.description, r.account {_ALIKE.format('<>', '=')}"
    )
    return [
        RowWithId(identity, statement, block, is_present, key_of(*values))
        for identity, statement, block, is_present, *values in rows
    ]


def blocks_with(
    connection: apsw.Connection, identities: Collection[str]
) -> dict[tuple[int, int], set[str]]:
    """Which of the identities each block (statement and number) of the ranked statements has."""
    rows = connection.execute(
        f"SELECT r.statement_id, r.block, r.identity {_HERE} "
        "WHERE r.identity IN (SELECT value FROM json_each(?))",
        (json.dumps(sorted(identities)),),
    )
    blocks: dict[tuple[int, int], set[str]] = {}
    for statement, block, identity in rows:
        blocks.setdefault((statement, block), set()).add(identity)
    return blocks


def forget_superseded_rows(
    connection: apsw.Connection, tool_id: int, remaining: Collection[int], *, all_of_them: bool
) -> None:
    """Delete the rows that a newer statement repeats, except those of the ``remaining`` statements.

    Where a row with an ID and one without look alike, both stay unless ``all_of_them``: they show
    which rows are the same. Call within the transaction that derived the ledger, after it.
    """
    alike = (
        ""
        if all_of_them
        else (
            f"AND id NOT IN (SELECT r.id {_ALIKE.format('=', '<>')}) "
            f"AND id NOT IN (SELECT r.id {_ALIKE.format('<>', '=')})"
        )
    )
    connection.execute(
        "DELETE FROM statement_rows WHERE statement_id IN (SELECT id FROM ledger_statements "
        "WHERE tool_id = ? AND id NOT IN (SELECT value FROM json_each(?))) "
        f"AND id NOT IN (SELECT row_id FROM derived) {alike}",
        (tool_id, json.dumps(sorted(remaining))),
    )
