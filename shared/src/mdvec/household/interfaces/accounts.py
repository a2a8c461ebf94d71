"""Assigns statements to accounts, and reads the balances of their rows."""

from __future__ import annotations

import json
from collections.abc import Collection
from dataclasses import dataclass, replace
from datetime import date
from itertools import combinations

from mdvec.household.core.accounts import AccountStatement, KeyedRow, set_apart, tell_apart
from mdvec.household.core.balances import BalancedDay, are_in_order
from mdvec.household.core.sums import totals_of_rows
from mdvec.household.interfaces.ledger import Ledger
from mdvec.household.interfaces.ledger_sums import counts
from mdvec.household.interfaces.linked_again import TwiceCounted, counted_twice

_EVER = ("0001-01-01", "9999-12-31")


@dataclass(frozen=True, slots=True)
class AccountSetApart:
    """A new account of the files at ``paths``, as the first one's balances contradict ``other``.

    Rows that are equal in both accounts count twice.
    """

    account: str
    paths: tuple[str, ...]
    other: str


def follow_accounts(
    ledger: Ledger, present: Collection[tuple[str, str]]
) -> tuple[AccountSetApart, ...]:
    """Tell accounts of one name apart if there are new statements; call within a transaction.

    Returns the new accounts that nothing but balances distinguishes.

    Only statements that are ``present`` (by path and hash) have all rows, so only they are
    compared.
    """
    new = "SELECT EXISTS (SELECT 1 FROM ledger_statements WHERE tool_id = ? AND scope IS NULL)"
    if not ledger.execute(new).get:
        return ()
    statements = _statements(ledger, present)
    scopes, doubts = tell_apart(statements)
    ledger.execute(
        "DELETE FROM account_doubts WHERE first IN "
        "(SELECT id FROM ledger_statements WHERE tool_id = ?)"
    )
    ledger.connection.executemany("INSERT INTO account_doubts VALUES (?, ?, ?)", doubts)
    ledger.connection.executemany(
        "UPDATE ledger_statements SET scope = ?2 WHERE id = ?1", scopes.items()
    )
    ledger.execute("UPDATE ledger_statements SET scope = '' WHERE tool_id = ? AND scope IS NULL")
    apart = set_apart(statements, scopes)
    return tuple(AccountSetApart(name, tuple(own), other) for name, (own, other) in apart.items())


@dataclass(frozen=True, slots=True)
class AccountDoubt:
    """Two files that may be of one account or of two; nothing in them decides it.

    Until the user does, the ``rows`` that are equal in both count twice. ``is_listed``: the first
    file lists rows of several accounts without IDs, as Money Forward can, so that only pairs of
    rows can be decided. ``has_new_ids``: the rows have different IDs, as after an account was
    linked again; ``spending`` and ``income``, in yen, may be counted twice.
    """

    account: str
    first: str
    second: str
    rows: int
    is_listed: bool = False
    has_new_ids: bool = False
    spending: int = 0
    income: int = 0


def doubts_of(ledger: Ledger, days: tuple[str, str] = _EVER) -> list[AccountDoubt]:
    """The doubts about files that have rows in these days (YYYY-MM-DD, both included)."""
    pairs = ledger.execute(
        "SELECT b.accounts ->> 0, a.path, b.path, d.rows FROM account_doubts AS d "
        "JOIN ledger_statements AS a ON a.id = d.first "
        "JOIN ledger_statements AS b ON b.id = d.second WHERE a.tool_id = ? AND a.scope <> b.scope "
        "AND EXISTS (SELECT 1 FROM statement_rows AS r "
        "WHERE r.statement_id = b.id AND r.date BETWEEN ? AND ?) ORDER BY 1, 2, 3",
        days,
    )
    doubts = [AccountDoubt(*pair) for pair in pairs]
    by_files: dict[tuple[str, str, str], list[TwiceCounted]] = {}
    for row in counted_twice(ledger):
        if days[0] <= row.date <= days[1]:
            by_files.setdefault((row.account, row.first, row.second), []).append(row)
    for files, rows in by_files.items():
        totals = totals_of_rows((row.category_major, row.amount) for row in rows)
        doubts.append(
            AccountDoubt(
                *files, totals.rows, has_new_ids=True,
                spending=totals.spending, income=totals.income,
            )
        )  # fmt: skip
    if ledger.execute(_HAS_LISTS).get:
        listed = ledger.execute(_LISTED, days)
        doubts += [replace(AccountDoubt(*pair), is_listed=True) for pair in listed]
    return doubts


def distinct_accounts(ledger: Ledger) -> set[frozenset[str]]:
    """The pairs of accounts of one name that rows, numbers or the user have told apart."""
    in_doubt = {doubt.account for doubt in doubts_of(ledger)}
    names: dict[str, list[str]] = {}
    for account, scope in ledger.execute(
        "SELECT DISTINCT accounts ->> 0, scope FROM ledger_statements "
        "WHERE tool_id = ? AND json_array_length(accounts) = 1"
    ):
        if account not in in_doubt:
            names.setdefault(account, []).append(f"{account} {scope}" if scope else account)
    return {frozenset(pair) for alike in names.values() for pair in combinations(alike, 2)}


@dataclass(frozen=True, slots=True)
class RepeatedRows:
    """Rows of an account that two or more of its files have, which otherwise share no rows.

    They count once (``yen`` in all), as instalments do, although a row may be another purchase that
    was booked late. ``first`` and ``last`` are two of the files that have the largest of them.
    """

    account: str
    rows: int
    yen: int
    first: str
    last: str


def repeated_rows(ledger: Ledger, days: tuple[str, str] = _EVER) -> list[RepeatedRows]:
    """The repeated rows of these days by account (YYYY-MM-DD, both included)."""
    rows = ledger.connection.execute(
        "SELECT account, rows, yen, a, b FROM ("
        # SQLite takes a and b from the row with the maximum.
        "SELECT account, count(*) AS rows, -coalesce(sum(amount), 0) AS yen, a, b, "
        "max(abs(coalesce(amount, 0))) FROM (SELECT "
        "iif(a.scope = '', r.account, r.account || ' ' || a.scope) AS account, r.amount, "
        "min(min(a.path, b.path)) AS a, max(max(a.path, b.path)) AS b FROM account_doubts AS d "
        "JOIN ledger_statements AS a ON a.id = d.first JOIN ledger_statements AS b "
        "ON b.id = d.second AND b.scope = a.scope JOIN statement_rows AS r "
        "ON r.statement_id = a.id AND r.date BETWEEN ? AND ? "
        "WHERE a.tool_id = ? AND d.rows > 0 AND r.identity IN (SELECT identity "
        "FROM statement_rows AS s WHERE s.statement_id = b.id) GROUP BY 1, r.identity) "
        "GROUP BY account)",
        (*days, ledger.tool_id),
    )
    return [RepeatedRows(*row) for row in rows]


@dataclass(frozen=True, slots=True)
class ListedAgain:
    """A file that lists ``rows`` equal rows, worth ``yen``, below more than one header."""

    path: str
    rows: int
    yen: int


def listed_again(ledger: Ledger, days: tuple[str, str] = _EVER) -> list[ListedAgain]:
    """The present files that list equal rows of these days in several sections; all rows count.

    Rows with different balances are not equal.
    """
    rows = ledger.execute(
        "SELECT path, sum(rows), sum(rows * abs(ifnull(amount, 0))) FROM (SELECT path, amount, "
        "sum(rows) - max(rows) AS rows FROM (SELECT s.path, r.date, r.amount, r.description, "
        "r.account, r.balance, count(*) AS rows FROM ledger_files AS f "
        "JOIN ledger_statements AS s USING (tool_id, path, content_hash) "
        "JOIN statement_rows AS r ON r.statement_id = s.id "
        "WHERE f.tool_id = ? AND f.is_present AND r.mf_id = '' AND r.date BETWEEN ? AND ? "
        "AND (SELECT block FROM statement_rows WHERE statement_id = s.id "
        "ORDER BY id DESC LIMIT 1) > 0 GROUP BY 1, 2, 3, 4, 5, 6, r.block) "
        "GROUP BY path, date, amount, description, account, balance HAVING count(*) > 1) "
        "GROUP BY path ORDER BY path",
        days,
    )
    return [ListedAgain(*row) for row in rows]


@dataclass(frozen=True, slots=True)
class RowsBeside:
    """Rows that only ``older`` has, of two files of the same days that share other rows.

    Nothing says whether a row of ``newer`` replaces one of them, so all count (``yen`` is what was
    spent, less what came in): a preliminary list has other amounts than the final one.
    """

    older: str
    newer: str
    rows: int
    yen: int


def rows_beside(ledger: Ledger, days: tuple[str, str] = _EVER) -> list[RowsBeside]:
    """The rows of these days (YYYY-MM-DD, both included) that count beside those of a newer file.

    Rows that a newer file can show to be gone are not among them: those left, or wait for the user.
    """
    rows = ledger.execute(_BESIDE, days)
    return [RowsBeside(*row) for row in rows]


# o, n: present files of one account with the same first and last day and at least one row of both.
# SQLite takes n's columns from the row with the maximum: of several newer files, the newest.
_BESIDE = f"""
WITH lists AS (
    SELECT s.*, days ->> '$[0]' AS first, days ->> '$[#-1]' AS last FROM ledger_files AS f
    JOIN ledger_statements AS s USING (tool_id, path, content_hash)
    WHERE f.tool_id = ?1 AND f.is_present),
pairs AS MATERIALIZED (
    SELECT o.id, o.path, o.first, o.last, o.scope, n.id AS newer, n.path AS by, n.accounts,
        max(printf('%020d', n.mtime_ns) || n.path)
    FROM lists AS o JOIN lists AS n ON n.kin = o.kin AND n.scope = o.scope AND n.first = o.first
        AND n.last = o.last AND n.content_hash <> o.content_hash
        AND (n.mtime_ns, n.path) > (o.mtime_ns, o.path)
    WHERE o.first <= ?3 AND o.last >= ?2 AND EXISTS (SELECT 1 FROM statement_rows AS r
        JOIN statement_rows AS s USING (identity) WHERE r.statement_id = o.id
        AND s.statement_id = n.id)
    GROUP BY o.id)
SELECT p.path, p.by, count(*), -coalesce(sum(t.amount), 0) FROM pairs AS p
CROSS JOIN transactions AS t ON t.tool_id = ?1
    AND t.date BETWEEN max(p.first, ?2) AND min(p.last, ?3) AND t.statement_id = p.id
WHERE t.removal IS NULL AND {counts("t")}
    AND t.account IN (SELECT value || iif(p.scope = '', '', ' ' || p.scope)
        FROM json_each(p.accounts))
    AND t.identity NOT IN (SELECT iif(p.scope = '' OR r.mf_id <> '', r.identity,
        substr(r.identity, 1, 68) || '@' || p.scope || substr(r.identity, 69))
        FROM statement_rows AS r WHERE r.statement_id = p.newer)
GROUP BY p.id ORDER BY 1
"""

# a: statements that may list rows of several accounts, because they name several, or because they
# lack the balances that statements of other accounts (b) have; o: how often statements of a's own
# account have a row.
_LISTED = """
WITH files AS (
    SELECT s.id, s.path, s.scope, json_array_length(s.accounts) > 1 AS is_mixed,
        EXISTS (SELECT 1 FROM statement_rows AS r
            WHERE r.statement_id = s.id AND r.balance NOT NULL) AS has_end
    FROM ledger_statements AS s WHERE s.tool_id = ?1),
counted AS MATERIALIZED (
    SELECT f.id, r.account, substr(r.identity, 5, 64) AS key, count(*) AS rows,
        sum(NOT t.is_duplicate) AS open
    FROM files AS f JOIN statement_rows AS r ON r.statement_id = f.id
    JOIN transactions AS t ON t.tool_id = ?1 AND t.removal IS NOT 'removed' AND t.identity =
        iif(f.scope = '', r.identity,
            substr(r.identity, 1, 68) || '@' || f.scope || substr(r.identity, 69))
    WHERE r.mf_id = '' AND r.date BETWEEN ?2 AND ?3 GROUP BY f.id, key)
SELECT c.account, a.path, b.path,
    sum(min(m.rows - ifnull(o.rows, 0), m.open, c.open)) AS doubled
FROM files AS a JOIN files AS b ON b.scope <> a.scope AND NOT b.is_mixed
    AND (a.is_mixed OR (b.has_end AND NOT a.has_end))
JOIN counted AS m ON m.id = a.id JOIN counted AS c ON c.id = b.id AND c.key = m.key
LEFT JOIN (SELECT f.scope, key, max(rows) AS rows FROM counted JOIN files AS f USING (id)
    WHERE NOT f.is_mixed AND f.has_end GROUP BY 1, 2) AS o ON o.key = m.key AND o.scope = a.scope
WHERE m.rows > ifnull(o.rows, 0) GROUP BY a.id, b.id HAVING doubled > 0 ORDER BY 1, 2, 3
"""


_HAS_LISTS = (
    "SELECT EXISTS (SELECT 1 FROM ledger_statements AS s WHERE tool_id = ?1 AND scope <> '' "
    "AND EXISTS (SELECT 1 FROM ledger_statements AS m WHERE m.tool_id = ?1 AND m.scope <> s.scope "
    "AND (json_array_length(m.accounts) > 1 OR NOT EXISTS (SELECT 1 FROM statement_rows AS r "
    "WHERE r.statement_id = m.id AND r.balance NOT NULL))))"
)
"""Whether there are statements for which it is worth running ``_LISTED``, which is slower."""


def balances_of(ledger: Ledger) -> dict[str, list[list[BalancedDay]]]:
    """The rows with a balance of each account: a list for each statement, in the file's order."""
    accounts: dict[str, list[list[BalancedDay]]] = {}
    for (_, account), lines in _balanced_rows(ledger).items():
        accounts.setdefault(account, []).append(list(lines.values()))
    return accounts


def _balanced_rows(ledger: Ledger) -> dict[tuple[int, str], dict[int, BalancedDay]]:
    """The rows with a balance of each statement and account, by line, in the order of its file."""
    rows = ledger.execute(
        "SELECT s.id, iif(s.scope = '', r.account, r.account || ' ' || s.scope), r.row_number, "
        "r.date, r.amount, r.balance FROM ledger_statements AS s "
        "JOIN statement_rows AS r ON r.statement_id = s.id WHERE s.tool_id = ? "
        "AND r.balance NOT NULL AND r.amount NOT NULL ORDER BY s.id, r.id"
    )
    files: dict[tuple[int, str], dict[int, BalancedDay]] = {}
    for statement, account, line, *values in rows:
        files.setdefault((statement, account), {})[line] = BalancedDay(*values)
    return files


def booked_rows(ledger: Ledger) -> dict[int, tuple[int, int]]:
    """By row id, the rows that balances show to be booked: the statement's id, and the balance."""
    booked = {
        (statement, line): row.balance
        for (statement, _), lines in _balanced_rows(ledger).items()
        for (line, row), fits in zip(lines.items(), are_in_order([*lines.values()]), strict=True)
        if fits
    }
    stored = ledger.execute(
        "SELECT id, statement_id, row_number FROM transactions WHERE tool_id = ?"
    )
    return {
        number: (statement, booked[statement, line])
        for number, statement, line in (stored if booked else ())
        if (statement, line) in booked
    }


def plain_lists(ledger: Ledger) -> set[int]:
    """The ids of statements without balances and with one header.

    Below several headers a file may have been joined from downloads that overlap.
    """
    found: list[int] = ledger.column(
        "SELECT id FROM ledger_statements AS s WHERE tool_id = ? AND NOT EXISTS "
        "(SELECT 1 FROM statement_rows WHERE statement_id = s.id "
        "AND (balance NOT NULL OR block > 0))"
    )
    return set(found)


def spans_of(ledger: Ledger) -> list[tuple[str, int, str, str]]:
    """Each account with its number of rows, and its first and last day."""
    spans = (
        "SELECT account, count(*), min(date), max(date) FROM transactions WHERE tool_id = ? "
        "AND removal IS NOT 'removed' GROUP BY account ORDER BY account"
    )
    return list(ledger.execute(spans))


def ends_of_own_files(ledger: Ledger) -> dict[str, date]:
    """The last day in the files of each account whose files have no other account's rows.

    After it, nothing is known of the account; a file of several accounts shows more of each.
    """
    ends = ledger.execute(
        "SELECT a.value || iif(coalesce(s.scope, '') = '', '', ' ' || s.scope), "
        "max(s.days ->> '$[#-1]') FROM ledger_statements AS s JOIN json_each(s.accounts) AS a "
        "WHERE s.tool_id = ? GROUP BY 1 HAVING max(json_array_length(s.accounts)) = 1"
    )
    return {account: date.fromisoformat(last) for account, last in ends}


def _statements(ledger: Ledger, present: Collection[tuple[str, str]]) -> list[AccountStatement]:
    """The statements of a single account without IDs, if there are several of its name."""
    rows = ledger.execute(
        "SELECT id, account, account_number, path, scope, content_hash FROM ("
        "SELECT *, accounts ->> 0 AS account, count(*) OVER (PARTITION BY accounts ->> 0) AS alike "
        "FROM ledger_statements AS s WHERE tool_id = ? AND json_array_length(accounts) = 1 "
        "AND EXISTS (SELECT 1 FROM statement_rows AS r WHERE r.statement_id = s.id) "
        "AND NOT EXISTS (SELECT 1 FROM statement_rows AS r "
        "WHERE r.statement_id = s.id AND r.mf_id <> '')) WHERE alike > 1"
    )
    several = list(rows)
    ids = [number for number, *_, path, _, digest in several if (path, digest) in present]
    rows = ledger.connection.execute(
        "SELECT statement_id, substr(identity, 5, 64), date, amount, balance FROM statement_rows "
        "WHERE statement_id IN (SELECT value FROM json_each(?)) ORDER BY id",
        (json.dumps(ids),),
    )
    by_statement: dict[int, list[KeyedRow]] = {}
    for statement_id, *values in rows:
        by_statement.setdefault(statement_id, []).append(KeyedRow(*values))
    return [
        AccountStatement(number, account, digits, path, scope, by_statement.get(number, ()))
        for number, account, digits, path, scope, _ in several
    ]
