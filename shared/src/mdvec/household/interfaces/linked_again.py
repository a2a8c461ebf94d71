"""Finds rows that have new IDs because their account was linked again, surely or perhaps."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import apsw

from mdvec.household.core.linked_again import (
    LinkedAgain,
    Match,
    RowUnderId,
    linked_again,
    names_in_use,
    perhaps_linked_again,
    rows_of_changed_days,
)
from mdvec.household.core.statements import RankedStatement, Remover, are_of_one_user
from mdvec.household.interfaces.ledger import Ledger
from mdvec.household.interfaces.ledger_sums import counts
from mdvec.household.interfaces.marks import PAIRS_WITH_ROWS

_COLUMNS = "statement_id, account, identity, date, amount, description"
_HAS_ID = "identity >= 'id:' AND identity < 'id;'"

# In a mapped file, an identity has more parts than the ID.
_SHARING = (
    f"SELECT mf_id, {_COLUMNS} FROM (SELECT mf_id, {_COLUMNS}, min(identity) OVER alike "
    "<> max(identity) OVER alike AS has_several FROM temp.ranked_statements "
    f"JOIN statement_rows USING (statement_id) WHERE {_HAS_ID} AND identity <> 'id:' || mf_id "
    "WINDOW alike AS (PARTITION BY mf_id)) WHERE has_several"
)


class Joined(NamedTuple):
    """Rows of an account that two statements (ids) have under different IDs; they count once."""

    older: int
    newer: int
    account: str
    rows: int
    yen: int


@dataclass(frozen=True, slots=True)
class NewIds:
    """The identity in use for each former one, further removers of rows, and doubts.

    ``doubts`` are pairs of statement ids between which an account may have been linked again;
    ``joined`` are the rows for which that is certain.
    """

    names: Mapping[str, str]
    removers: Sequence[Remover]
    doubts: Sequence[tuple[int, int]]
    joined: Sequence[Joined] = ()


def find_new_ids(
    ledger: Ledger, ranked: Sequence[RankedStatement], order: Mapping[int, int]
) -> NewIds:
    """Find the rows with several IDs; the ID of the statement highest in ``order`` stays in use.

    The statements are in ``temp.ranked_statements``, too.
    """
    several = ledger.connection.execute(
        f"SELECT {_COLUMNS} FROM (SELECT {_COLUMNS}, min(identity) OVER alike "
        "<> max(identity) OVER alike AS has_several FROM temp.ranked_statements "
        f"JOIN statement_rows USING (statement_id) WHERE {_HAS_ID} "
        "WINDOW alike AS (PARTITION BY date, amount, account)) WHERE has_several"
    )
    by_id = {each.statement.id: each for each in ranked}
    places = {statement: position for position, statement in enumerate(by_id)}
    perhaps = perhaps_linked_again((RowUnderId(*row) for row in several), places)
    sharing = [(its_id, RowUnderId(*row)) for its_id, *row in ledger.connection.execute(_SHARING)]
    changed = list(rows_of_changed_days(sharing, (each.statement for each in ranked)))
    if not (perhaps or changed):
        return NewIds({}, (), ())
    listed = _listed_rows(
        ledger.connection,
        {statement for *pair, _ in perhaps for statement in pair}
        | {row.statement for _, row in sharing},
    )
    same = [match for match in changed if listed.are_downloads_of_one(match, by_id)]
    pairs: list[tuple[int, int, LinkedAgain]] = []
    removers: list[Remover] = []
    for older, newer, account in perhaps:
        seen = linked_again(listed.of(older, account), listed.of(newer, account))
        if seen is None:
            continue
        pairs.append((older, newer, seen))
        remover = seen.remover(by_id[older], by_id[newer])
        share_ids = listed.share_ids(older, newer)
        if seen.is_sure and (
            share_ids or are_of_one_user(by_id[older].statement, by_id[newer].statement)
        ):
            same += seen.equal
            if remover:
                removers.append(remover)
        elif remover and share_ids:
            same += [match for match in seen.equal if remover.first <= match[0].day <= remover.last]
    are_apart = rows_kept_apart(ledger)
    names = names_in_use(same, listed.statements, order, are_apart)
    return NewIds(names, removers, *_doubts_and_joined(pairs, names))


def _doubts_and_joined(
    pairs: Iterable[tuple[int, int, LinkedAgain]], names: Mapping[str, str]
) -> tuple[list[tuple[int, int]], list[Joined]]:
    """Which pairs of statements have rows that may count twice, and which rows count once."""

    def are_one(pair: Match) -> bool:
        first, second = (names.get(row.identity, row.identity) for row in pair)
        return first == second

    doubts, joined = set[tuple[int, int]](), list[Joined]()
    for older, newer, seen in pairs:
        if once := [pair[0] for pair in seen.equal if are_one(pair)]:
            yen = -sum(row.amount or 0 for row in once)
            joined.append(Joined(older, newer, seen.account, len(once), yen))
        if not all(map(are_one, (*seen.equal, *seen.alike))):
            doubts.add((older, newer))
    return sorted(doubts), joined


@dataclass(frozen=True, slots=True)
class _ListedRows:
    """The rows with an ID of some statements, by statement and account, as their files have them.

    ``statements`` are those of each identity, ``identities`` those of each statement.
    """

    rows: Mapping[tuple[int, str], Sequence[RowUnderId]]
    statements: Mapping[str, set[int]]
    identities: Mapping[int, set[str]]

    def of(self, statement: int, account: str) -> Sequence[RowUnderId]:
        return self.rows.get((statement, account), ())

    def accounts(self, statement: int) -> list[str]:
        return sorted(account for listing, account in self.rows if listing == statement)

    def share_ids(self, one: int, other: int) -> bool:
        """Whether any row has the same identity in both statements."""
        return not self.identities[one].isdisjoint(self.identities[other])

    def are_downloads_of_one(self, match: Match, ranked: Mapping[int, RankedStatement]) -> bool:
        """Whether the two rows' files are of one account, as two cards may number rows equally."""
        first, second = (ranked[row.statement].statement for row in match)
        is_one_name = first.name.stem == second.name.stem
        is_one_family = 0 != first.family == second.family
        return is_one_name or is_one_family or self.share_ids(first.id, second.id)


def _listed_rows(connection: apsw.Connection, statements: Iterable[int]) -> _ListedRows:
    rows: defaultdict[tuple[int, str], list[RowUnderId]] = defaultdict(list)
    statements_of: defaultdict[str, set[int]] = defaultdict(set)
    identities_of: defaultdict[int, set[str]] = defaultdict(set)
    for values in connection.execute(
        f"SELECT {_COLUMNS} FROM statement_rows WHERE {_HAS_ID} "
        "AND statement_id IN (SELECT value FROM json_each(?)) ORDER BY id",
        (json.dumps(sorted(statements)),),
    ):
        row = RowUnderId(*values)
        rows[row.statement, row.account].append(row)
        statements_of[row.identity].add(row.statement)
        identities_of[row.statement].add(row.identity)
    return _ListedRows(rows, statements_of, identities_of)


def _decided_pairs(ledger: Ledger) -> set[frozenset[str]]:
    """The identities of the pairs that the user has decided about."""
    pairs = ledger.execute(
        f"SELECT a.identity, b.identity {PAIRS_WITH_ROWS} "
        "AND c.user_decision IN ('duplicate', 'not_duplicate')"
    )
    return {frozenset(pair) for pair in pairs}


def rows_kept_apart(ledger: Ledger) -> Callable[[str, str], bool]:
    """A test of whether two identities stay two rows: the user has decided it, or noted both."""
    decided = _decided_pairs(ledger)
    noted = set(ledger.column("SELECT identity FROM row_notes WHERE tool_id = ?"))
    return lambda one, other: frozenset((one, other)) in decided or {one, other} <= noted


def follow_new_ids(ledger: Ledger, names: Mapping[str, str]) -> None:
    """Let transactions keep their ids, notes and decisions under the identities in use.

    If several transactions become one, the oldest takes over what the user decided about the
    others.
    """
    stored: defaultdict[str, list[int]] = defaultdict(list)
    for row_id, name in ledger.execute(
        "SELECT id, identity FROM transactions WHERE tool_id = ? "
        "AND identity IN (SELECT value FROM json_each(?)) ORDER BY id",
        (json.dumps([*names, *names.values()]),),
    ):
        stored[names.get(name, name)].append(row_id)
    for name, (staying, *others) in stored.items():
        for other in others:
            ledger.connection.execute(_TAKE_DECISIONS, (staying, other))
            ledger.execute(
                "UPDATE OR IGNORE row_notes SET identity = (SELECT identity FROM transactions "
                "WHERE id = ?2) WHERE tool_id = ?1 AND identity = "
                "(SELECT identity FROM transactions WHERE id = ?3)",
                (staying, other),
            )
            ledger.connection.execute(
                "UPDATE transactions SET duplicate_of = ?1 WHERE duplicate_of = ?2",
                (staying, other),
            )
            ledger.connection.execute("DELETE FROM transactions WHERE id = ?", (other,))
        ledger.connection.execute(
            "UPDATE transactions SET identity = ?2 WHERE id = ?1 AND identity <> ?2",
            (staying, name),
        )


_TAKE_DECISIONS = """
UPDATE OR IGNORE duplicate_checks SET
    transaction_id_1 = min(?1, transaction_id_1 + transaction_id_2 - ?2),
    transaction_id_2 = max(?1, transaction_id_1 + transaction_id_2 - ?2),
    kept_id = CASE WHEN kept_id = ?2 OR (kept_id IS NULL AND transaction_id_1 = ?2) THEN ?1
        ELSE coalesce(kept_id, transaction_id_1) END
WHERE ?2 IN (transaction_id_1, transaction_id_2) AND user_decision NOT NULL
    AND ?1 NOT IN (transaction_id_1, transaction_id_2)
"""


def store_doubts(ledger: Ledger, doubts: Iterable[tuple[int, int]]) -> None:
    """Replace the stored pairs of statements between which an account may have been linked again.

    Call within a transaction.
    """
    ledger.execute(
        "DELETE FROM account_doubts WHERE rows = 0 AND first IN "
        "(SELECT id FROM ledger_statements WHERE tool_id = ?)"
    )
    ledger.connection.executemany("INSERT OR IGNORE INTO account_doubts VALUES (?, ?, 0)", doubts)


class TwiceCounted(NamedTuple):
    """Two rows that count and may be one row with two IDs, with the values of the first.

    ``row`` and ``other`` are ids, ``first`` and ``second`` the paths of their files; the date is
    YYYY-MM-DD.
    """

    account: str
    first: str
    second: str
    row: int
    other: int
    date: str
    category_major: str
    amount: int


# CROSS JOIN starts from the doubts, which are few; otherwise SQLite would scan all rows.
_IN_DOUBT = """
SELECT d.first, d.second, a.path, b.path FROM account_doubts AS d
CROSS JOIN ledger_statements AS a ON a.id = d.first
CROSS JOIN ledger_statements AS b ON b.id = d.second
WHERE d.rows = 0 AND a.tool_id = ? ORDER BY a.path, b.path
"""
_COUNTING = (
    "SELECT identity, id, category_major, amount FROM transactions AS t WHERE tool_id = ? "
    f"AND identity IN (SELECT value FROM json_each(?)) AND {counts('t')}"
)


def counted_twice(ledger: Ledger) -> list[TwiceCounted]:
    """The pairs of rows that may count twice, each row once, without pairs the user has decided."""
    doubts: list[tuple[int, int, str, str]] = list(ledger.execute(_IN_DOUBT))
    if not doubts:
        return []
    listed = _listed_rows(
        ledger.connection, {statement for pair in doubts for statement in pair[:2]}
    )
    names = sorted(listed.statements)
    counting = {name: values for name, *values in ledger.execute(_COUNTING, (json.dumps(names),))}
    decided, reported = _decided_pairs(ledger), set[str]()
    twice = []
    for older, newer, first, second in doubts:
        for account in listed.accounts(older):
            seen = linked_again(listed.of(older, account), listed.of(newer, account))
            for one, other in (*seen.equal, *seen.alike) if seen else ():
                pair = {one.identity, other.identity}
                if pair <= counting.keys() and pair.isdisjoint(reported) and pair not in decided:
                    reported |= pair
                    row_id, major, amount = counting[one.identity]
                    other_id = counting[other.identity][0]
                    files = account, first, second
                    twice.append(TwiceCounted(*files, row_id, other_id, one.day, major, amount))
    return twice
