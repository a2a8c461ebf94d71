"""Which statements are of which account, and what their files say of its balance."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import apsw

from mdvec.household.core.accounts import Accounts, AccountStatement, SharedRows, tell_apart
from mdvec.household.core.balances import BalancedDay

_KEY = "substr(r.identity, 5, 64)"
"""What makes rows without ID equal (``key_of``), in 'row:…:n'."""


def follow_accounts(connection: apsw.Connection, tool_id: int, forgotten: Collection[int]) -> None:
    """Tell the accounts of all statements apart anew, but for those that are to be forgotten.

    Call within a transaction.
    """
    statements = [each for each in _statements(connection, tool_id) if each.id not in forgotten]
    names = Counter(statement.account for statement in statements)
    several = [statement for statement in statements if names[statement.account] > 1]
    accounts = tell_apart(several, _shared_rows(connection, several)) if several else Accounts({})
    connection.execute(
        "UPDATE ledger_statements SET scope = '' WHERE tool_id = ? AND scope <> ''", (tool_id,)
    )
    connection.executemany(
        "UPDATE ledger_statements SET scope = ?2 WHERE id = ?1", accounts.scopes.items()
    )
    connection.execute(
        "DELETE FROM account_doubts WHERE first IN "
        "(SELECT id FROM ledger_statements WHERE tool_id = ?)",
        (tool_id,),
    )
    connection.executemany(
        "INSERT INTO account_doubts VALUES (?, ?, ?)",
        ((pair.first, pair.second, pair.without) for pair in accounts.doubts),
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


def _statements(connection: apsw.Connection, tool_id: int) -> list[AccountStatement]:
    """The statements of a single account whose rows have no ID."""
    rows = connection.execute(
        "SELECT s.id, s.accounts ->> 0, s.account_number, s.path, s.scope "
        "FROM ledger_statements AS s WHERE s.tool_id = ? AND json_array_length(s.accounts) = 1 "
        "AND NOT EXISTS (SELECT 1 FROM statement_rows AS r "
        "WHERE r.statement_id = s.id AND r.mf_id <> '')",
        (tool_id,),
    )
    return [
        AccountStatement(int(str(number)), str(account), str(digits), str(path), str(scope))
        for number, account, digits, path, scope in rows
    ]


def _shared_rows(
    connection: apsw.Connection, statements: Sequence[AccountStatement]
) -> list[SharedRows]:
    """The pairs of statements of one account's name that have equal rows."""
    account_of = {statement.id: statement.account for statement in statements}
    rows = connection.execute(
        f"SELECT {_KEY}, r.statement_id, r.balance FROM statement_rows AS r "
        "WHERE r.statement_id IN (SELECT value FROM json_each(?1)) AND r.identity >= 'row:' "
        f"AND r.identity < 'row;' AND {_KEY} IN (SELECT {_KEY} FROM statement_rows AS r "
        "WHERE r.statement_id IN (SELECT value FROM json_each(?1)) "
        "GROUP BY 1 HAVING min(r.statement_id) < max(r.statement_id))",
        (json.dumps(list(account_of)),),
    )
    balances: dict[str, dict[int, Counter[int | None]]] = defaultdict(dict)
    for key, statement, balance in rows:
        of_statement = balances[str(key)].setdefault(int(str(statement)), Counter())
        of_statement[None if balance is None else int(str(balance))] += 1
    counts: dict[tuple[int, int], list[int]] = {}
    for by_statement in balances.values():
        for first, second in combinations(sorted(by_statement), 2):
            if account_of[first] == account_of[second]:
                pair = counts.setdefault((first, second), [0, 0, 0])
                for place, rows_of_sort in enumerate(
                    _compared(by_statement[first], by_statement[second])
                ):
                    pair[place] += rows_of_sort
    pairs = []
    for (first, second), (agreeing, differing, without) in counts.items():
        of_both = _rows_on_common_days(connection, first, second) if without else (0, 0)
        pairs.append(SharedRows(first, second, agreeing, differing, without, *of_both))
    return pairs


def _compared(first: Counter[int | None], second: Counter[int | None]) -> tuple[int, int, int]:
    """Of equal rows, how many have the same balance, another one, and none on one side."""
    equal = min(first.total(), second.total())
    if None in first or None in second:
        return 0, 0, equal
    agreeing = (first & second).total()
    return agreeing, equal - agreeing, 0


def _rows_on_common_days(connection: apsw.Connection, first: int, second: int) -> tuple[int, int]:
    """How many rows each of two statements has between the first and last day of both.

    Those two days may be partly in a file.
    """
    counted = connection.execute(
        "WITH spans AS (SELECT statement_id, min(date) AS first, max(date) AS last "
        "FROM statement_rows WHERE statement_id IN (?1, ?2) GROUP BY 1) "
        "SELECT (SELECT count(*) FROM statement_rows WHERE statement_id = ?1 "
        "AND date > max(spans.first) AND date < min(spans.last)), "
        "(SELECT count(*) FROM statement_rows WHERE statement_id = ?2 "
        "AND date > max(spans.first) AND date < min(spans.last)) FROM spans",
        (first, second),
    )
    ((of_first, of_second),) = counted
    return int(str(of_first)), int(str(of_second))
