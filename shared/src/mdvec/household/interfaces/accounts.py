"""Which statements are of which account, and what their files say of its balance."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

import apsw

from mdvec.household.core.accounts import AccountStatement, KeyedRow, tell_apart
from mdvec.household.core.balances import BalancedDay


def follow_accounts(
    connection: apsw.Connection, tool_id: int, present: Collection[tuple[str, str]]
) -> None:
    """Tell the accounts apart if there are new statements; call within a transaction.

    Only those that are ``present``, by path and hash, have all of their rows to be compared.
    """
    new = "SELECT accounts FROM ledger_statements WHERE tool_id = ? AND scope IS NULL"
    if not connection.execute(f"{new} LIMIT 1", (tool_id,)).fetchall():
        return
    accounts = tell_apart(_statements(connection, tool_id, present))
    connection.execute(
        "DELETE FROM account_doubts WHERE first IN "
        "(SELECT id FROM ledger_statements WHERE tool_id = ?)",
        (tool_id,),
    )
    connection.executemany("INSERT INTO account_doubts VALUES (?, ?, ?)", accounts.doubts)
    connection.executemany(
        "UPDATE ledger_statements SET scope = ?2 WHERE id = ?1", accounts.scopes.items()
    )
    connection.execute(
        "UPDATE ledger_statements SET scope = '' WHERE tool_id = ? AND scope IS NULL", (tool_id,)
    )


@dataclass(frozen=True, slots=True)
class AccountDoubt:
    """Two files of which nothing tells whether they are of one account.

    Their ``rows`` equal rows count twice.
    """

    account: str
    first: str
    second: str
    rows: int


def doubts_of(
    connection: apsw.Connection,
    tool_id: int,
    first_day: str = "0001-01-01",
    last_day: str = "9999-12-31",
) -> list[AccountDoubt]:
    """The doubts about files that have rows in these days (YYYY-MM-DD, both included)."""
    rows: list[tuple[Any, ...]] = connection.execute(
        "SELECT b.accounts ->> 0, a.path, b.path, d.rows FROM account_doubts AS d "
        "JOIN ledger_statements AS a ON a.id = d.first "
        "JOIN ledger_statements AS b ON b.id = d.second WHERE a.tool_id = ? "
        "AND EXISTS (SELECT 1 FROM statement_rows AS r "
        "WHERE r.statement_id = b.id AND r.date BETWEEN ? AND ?) ORDER BY 1, 2, 3",
        (tool_id, first_day, last_day),
    ).fetchall()
    return [AccountDoubt(*row) for row in rows]


def balances_of(connection: apsw.Connection, tool_id: int) -> dict[str, list[list[BalancedDay]]]:
    """The rows with a balance of each account, one list a statement, in the order of its file."""
    rows: list[tuple[Any, ...]] = connection.execute(
        "SELECT iif(s.scope = '', r.account, r.account || ' ' || s.scope), s.id, "
        "r.date, r.amount, r.balance FROM ledger_statements AS s "
        "JOIN statement_rows AS r ON r.statement_id = s.id WHERE s.tool_id = ? "
        "AND r.balance NOT NULL AND r.amount NOT NULL ORDER BY s.id, r.id",
        (tool_id,),
    ).fetchall()
    by_statement: dict[tuple[str, int], list[BalancedDay]] = {}
    for account, statement, *values in rows:
        by_statement.setdefault((account, statement), []).append(BalancedDay(*values))
    accounts: dict[str, list[list[BalancedDay]]] = {}
    for (account, _), of_statement in by_statement.items():
        accounts.setdefault(account, []).append(of_statement)
    return accounts


def spans_of(connection: apsw.Connection, tool_id: int) -> list[tuple[str, int, str, str]]:
    """Each account with its number of rows, and its first and last day."""
    rows: list[tuple[Any, ...]] = connection.execute(
        "SELECT account, count(*), min(date), max(date) FROM transactions WHERE tool_id = ? "
        "AND removal IS NOT 'removed' GROUP BY account ORDER BY account",
        (tool_id,),
    ).fetchall()
    return [(account, count, first, last) for account, count, first, last in rows]


def _statements(
    connection: apsw.Connection, tool_id: int, present: Collection[tuple[str, str]]
) -> list[AccountStatement]:
    """The statements whose rows have no ID and one account, of which there are several."""
    known = connection.execute(
        "SELECT s.id, s.accounts ->> 0, s.account_number, s.path, s.scope, s.content_hash "
        "FROM ledger_statements AS s WHERE s.tool_id = ? AND json_array_length(s.accounts) = 1 "
        "AND EXISTS (SELECT 1 FROM statement_rows AS r WHERE r.statement_id = s.id) "
        "AND NOT EXISTS (SELECT 1 FROM statement_rows AS r "
        "WHERE r.statement_id = s.id AND r.mf_id <> '')",
        (tool_id,),
    ).fetchall()
    names = Counter(account for _, account, *_ in known)
    several = [statement for statement in known if names[statement[1]] > 1]
    rows: list[tuple[Any, ...]] = connection.execute(
        "SELECT statement_id, substr(identity, 5, 64), date, amount, balance FROM statement_rows "
        "WHERE statement_id IN (SELECT value FROM json_each(?)) ORDER BY id",
        (
            json.dumps(
                [number for number, *_, path, _, digest in several if (path, digest) in present]
            ),
        ),
    ).fetchall()
    by_statement: dict[int, list[KeyedRow]] = {}
    for statement_id, *values in rows:
        by_statement.setdefault(statement_id, []).append(KeyedRow(*values))
    return [
        AccountStatement(
            id=int(str(number)),
            account=str(account),
            number=str(digits),
            path=str(path),
            scope=None if scope is None else str(scope),
            rows=by_statement.get(int(str(number)), ()),
        )
        for number, account, digits, path, scope, _ in several
    ]
