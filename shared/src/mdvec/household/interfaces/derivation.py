"""Derives a household's ledger from the rows of its statements, in SQL.

Temporary tables hold what the statements say now: ``ranked_statements`` (oldest first),
``same_rows`` (rows without an ID that another file has with one), and ``derived``: for each
identity the row of the newest statement that has it, and whether a still newer one lacks it.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

import apsw

from mdvec.household.core.identity import (
    identities_with_id,
    renamed_rows,
    same_rows_by_key,
    scoped,
)
from mdvec.household.core.statements import Remover, Statement, are_many, decide_removals
from mdvec.household.interfaces import ledger_statements
from mdvec.household.interfaces.ledger_statements import COLUMNS, VALUES, KnownFile
from mdvec.household.interfaces.marks import former_ids, keep_decisions

_SHIFT = 1 << 40
"""The position of a statement stands before the id of its row: one number orders both."""
_MIN_REPEATED = 5
_TABLES = (
    "ranked_statements (statement_id INTEGER PRIMARY KEY, position INTEGER, is_present INTEGER, "
    "is_unread INTEGER, path TEXT, has_lines INTEGER, scope TEXT)",
    "same_rows (row_id INTEGER PRIMARY KEY, identity TEXT)",
    "removers (older INTEGER, newer INTEGER, first TEXT, last TEXT, is_again INTEGER)",
    "replacers (newer INTEGER, older INTEGER, PRIMARY KEY (newer, older))",
    # place: where the transaction appears first; the rows of an import are stored in that order.
    "derived (identity TEXT PRIMARY KEY, row_id INTEGER, place INTEGER, statements INTEGER, "
    "is_mentioned INTEGER, missing_from INTEGER, removal TEXT) WITHOUT ROWID",
    "changed (id INTEGER PRIMARY KEY, identity TEXT, has_other_values INTEGER, returns INTEGER)",
)
# The identities of second accounts are those of core.identity.scoped.
_MENTIONS = """
mentions AS SELECT r.id, r.statement_id, coalesce(s.identity,
    iif(q.scope = '' OR r.mf_id <> '', r.identity,
        substr(r.identity, 1, 68) || '@' || q.scope || substr(r.identity, 69))) AS identity,
q.position, q.is_present FROM temp.ranked_statements AS q
JOIN main.statement_rows AS r ON r.statement_id = q.statement_id
LEFT JOIN temp.same_rows AS s ON s.row_id = r.id
"""


@dataclass(frozen=True, slots=True)
class LedgerChanges:
    """How many rows an import changed, and the ids of those that left the sums or returned."""

    imported: int
    updated: int
    deleted: int
    without_file: int
    removed: frozenset[int]
    returned: frozenset[int]


@contextmanager
def temporary_tables(connection: apsw.Connection) -> Iterator[None]:
    """The tables of a derivation, empty at first; call within a transaction."""
    for table in _TABLES:
        connection.execute(f"CREATE TEMP TABLE {table}")
    connection.execute(f"CREATE TEMP VIEW {_MENTIONS}")
    yield
    # After an error the transaction's end takes them away.
    connection.execute("DROP VIEW mentions")
    for table in _TABLES:
        connection.execute(f"DROP TABLE {table.split()[0]}")


def find_newest_rows(
    connection: apsw.Connection,
    tool_id: int,
    statements: Sequence[Statement],
    present: Mapping[str, KnownFile],
    unread: Collection[str],
    *,
    is_rebuild: bool,
) -> list[tuple[int, int]]:
    """Find the newest row of each transaction; returns pairs of statements that share one.

    Statements are the oldest first; ``present`` are the files that are there now, ``unread`` the
    paths of those that could not be read. In a rebuild, rows of files that are gone count only if
    no file has the transaction.
    """
    ranked = []
    for position, statement in enumerate(statements):
        file = present.get(statement.path)
        is_present = file is not None and file.content_hash == statement.content_hash
        place = position + (len(statements) if is_present and is_rebuild else 0)
        ranked.append(
            (
                statement.id, place, is_present, statement.path in unread, statement.path,
                is_present or file is None, statement.scope,
            )
        )  # fmt: skip
    connection.executemany("INSERT INTO ranked_statements VALUES (?, ?, ?, ?, ?, ?, ?)", ranked)
    same_rows = _find_same_rows(connection, tool_id, is_rebuild=is_rebuild)
    connection.execute(
        "INSERT INTO derived (identity, row_id, place, statements, is_mentioned) "
        f"SELECT identity, max(position * {_SHIFT} + id) % {_SHIFT}, "
        f"min(position * {_SHIFT} + id), count(*), max(is_present) FROM mentions GROUP BY identity"
    )
    _follow_renames(connection, tool_id, same_rows)
    shared = connection.execute(
        "SELECT DISTINCT n.statement_id, m.statement_id FROM mentions AS m "
        "CROSS JOIN derived AS d ON d.identity = m.identity "
        "CROSS JOIN statement_rows AS n ON n.id = d.row_id WHERE m.identity IN "
        "(SELECT identity FROM derived WHERE statements > 1) AND n.statement_id <> m.statement_id"
    )
    return list(shared)


def repeated_statements(
    connection: apsw.Connection, pairs: Iterable[tuple[int, int]]
) -> list[tuple[int, int]]:
    """Those pairs of statements of which the later one repeats rows of the other with new IDs.

    At least five rows are equal but for their IDs, and half of the later file's rows.
    """
    rows = "SELECT date, amount, description, account FROM statement_rows WHERE statement_id = "
    repeated = []
    for pair in pairs:
        equal: int = connection.execute(
            f"SELECT count(*) FROM ({rows} ?1 INTERSECT {rows} ?2)", pair
        ).get
        of_later: int = connection.execute(f"SELECT count(*) FROM ({rows} ?)", pair[1:]).get
        if equal >= _MIN_REPEATED and 2 * equal >= of_later:
            repeated.append(pair)
    return repeated


def _find_same_rows(
    connection: apsw.Connection, tool_id: int, *, is_rebuild: bool
) -> dict[str, list[str]]:
    """Match rows without ID to those with one; returns the latter's identities by key.

    In a rebuild, rows of files that are there are matched with such rows alone.
    """
    without_id = ledger_statements.rows_without_id(connection)
    if not without_id:
        return {}
    with_id = ledger_statements.rows_with_id(connection)
    beside = ledger_statements.blocks_with(connection, {row.identity for row in with_id})
    own_rows, known = set[str](), set[str]()
    if not is_rebuild:
        own_names = {scoped(row.identity, row.scope) for row in without_id}
        own_rows = _known(connection, tool_id, own_names, "'removed'")
        known = _known(connection, tool_id, {row.identity for row in with_id}, "''")
    present = [row for row in without_id if row.is_present or not is_rebuild]
    of_present = [row for row in with_id if row.is_present or not is_rebuild]
    absent = [row for row in without_id if is_rebuild and not row.is_present]
    matched = identities_with_id(present, of_present, beside, own_rows, known)
    matched |= identities_with_id(absent, with_id, beside, own_rows, known)
    connection.executemany("INSERT INTO same_rows VALUES (?, ?)", matched.items())
    return same_rows_by_key(with_id)


def _known(
    connection: apsw.Connection, tool_id: int, identities: Iterable[str], without: str
) -> set[str]:
    """Which of the identities the ledger has, in another state of removal than ``without``."""
    rows = connection.execute(
        f"SELECT identity FROM transactions WHERE tool_id = ? AND removal IS NOT {without} "
        "AND identity IN (SELECT value FROM json_each(?))",
        (tool_id, json.dumps(sorted(identities))),
    )
    return {identity for (identity,) in rows}


def _follow_renames(
    connection: apsw.Connection, tool_id: int, same_rows: dict[str, list[str]]
) -> None:
    """Let rows keep their numbers and decisions if only their identity changed."""
    lost = connection.execute(
        "SELECT identity FROM transactions WHERE tool_id = ? AND identity >= 'row:' "
        "AND identity < 'row;' AND identity NOT IN (SELECT identity FROM derived)",
        (tool_id,),
    )
    old_names = [name for (name,) in lost]
    if not old_names:
        return
    new = connection.execute(
        "SELECT identity FROM derived WHERE identity NOT IN "
        "(SELECT identity FROM transactions WHERE tool_id = ?)",
        (tool_id,),
    )
    renamed = renamed_rows(old_names, {name for (name,) in new}, same_rows)
    connection.executemany(
        "UPDATE transactions SET identity = ? WHERE tool_id = ? AND identity = ?",
        ((name, tool_id, old) for old, name in renamed.items()),
    )


def mark_gone_rows(connection: apsw.Connection, removers: Iterable[Remover]) -> None:
    """Find the rows that newer statements lack; ``removers`` have the ids of statements.

    A part of a split purchase is gone, too, if a newer file has the purchase without it.
    """
    connection.executemany("INSERT INTO removers VALUES (?, ?, ?, ?, ?)", removers)
    connection.execute(
        "UPDATE derived SET missing_from = (SELECT m.newer FROM removers AS m "
        "JOIN ledger_statements AS s ON s.id = m.newer WHERE m.older = r.statement_id "
        "AND r.date BETWEEN m.first AND m.last "
        f"AND (m.is_again OR {_OF_ACCOUNT}) ORDER BY {_OF_ACCOUNT} DESC, m.rowid LIMIT 1) "
        "FROM statement_rows AS r WHERE r.id = derived.row_id "
        "AND r.statement_id IN (SELECT older FROM removers)"
    )
    connection.execute(
        "UPDATE derived SET missing_from = w.statement_id FROM statement_rows AS r "
        "JOIN ranked_statements AS q ON q.statement_id = r.statement_id, derived AS m "
        "JOIN statement_rows AS w ON w.id = m.row_id "
        "JOIN ranked_statements AS v ON v.statement_id = w.statement_id "
        "WHERE derived.identity >= 'part:' AND derived.identity < 'part;' "
        "AND derived.missing_from IS NULL AND r.id = derived.row_id AND m.identity = 'id:' "
        "|| substr(derived.identity, 6 + instr(substr(derived.identity, 6), ':')) "
        "AND w.mf_id <> '' AND v.position > q.position"
    )


def follow_new_ids(connection: apsw.Connection, tool_id: int) -> None:
    """Let a row that is gone, but has an equal one with a new ID in its place, be that one.

    As after an account was linked again: so the number, notes and decisions stay with the row that
    counts. Rows are equal by day, amount, text and account, one to one; the old ID becomes a row
    of its own, which is gone.
    """
    pairs = connection.execute(
        f"WITH gone AS (SELECT d.identity, s.kin, {_ALIKE}, {_NUMBERED} FROM {_ROWS} "
        "JOIN transactions AS t ON t.tool_id = ?1 AND t.identity = d.identity "
        "JOIN ledger_statements AS s ON s.id = d.missing_from "
        "WHERE d.identity LIKE 'id:%' AND t.removal IS NULL), "
        f"new AS (SELECT d.identity, s.kin, {_ALIKE}, {_NUMBERED} FROM {_ROWS} "
        "JOIN ledger_statements AS s ON s.id = r.statement_id "
        "WHERE d.identity LIKE 'id:%' AND d.missing_from IS NULL AND d.identity NOT IN "
        "(SELECT identity FROM transactions WHERE tool_id = ?1)) "
        "SELECT new.identity, gone.identity FROM gone JOIN new USING "
        "(kin, date, amount, description, account, number, alike)",
        (tool_id,),
    ).fetchall()
    connection.executemany(
        "UPDATE transactions SET identity = ?2 WHERE tool_id = ?1 AND identity = ?3",
        [(tool_id, *pair) for pair in pairs],
    )


_ALIKE = "r.date, r.amount, r.description, r.account"
_EQUAL = f"PARTITION BY s.kin, {_ALIKE}"
_NUMBERED = (
    f"row_number() OVER ({_EQUAL} ORDER BY r.statement_id, r.row_number) AS number, "
    f"count(*) OVER ({_EQUAL}) AS alike"
)


def mark_removals(connection: apsw.Connection, tool_id: int, *, accepted: bool) -> None:
    """Give each gone row its state; a row that the user kept stays so until a file has it anew."""
    gone = {
        identity: (day, before, bool(is_proved))
        for identity, day, before, is_proved in connection.execute(
            f"SELECT d.identity, r.date, t.removal, {_OF_ACCOUNT} {_BESIDE} "
            "JOIN ledger_statements AS s ON s.id = d.missing_from",
            (tool_id,),
        )
    }
    if gone:
        by_month = connection.execute(
            f"SELECT substr(r.date, 1, 7), count(*) {_BESIDE} "
            "WHERE t.removal IS NOT 'removed' GROUP BY 1",
            (tool_id,),
        )
        decided = decide_removals(gone, dict(by_month), accepted=accepted)
        connection.executemany(
            "UPDATE derived SET removal = ?2 WHERE identity = ?1", decided.items()
        )
    connection.execute(
        "UPDATE derived SET removal = 'kept' FROM transactions AS t, statement_rows AS r "
        "WHERE derived.missing_from IS NULL AND t.removal = 'kept' AND t.tool_id = ? "
        "AND t.identity = derived.identity AND r.id = derived.row_id "
        "AND r.statement_id = t.statement_id",
        (tool_id,),
    )


def forget_rows_without_file(connection: apsw.Connection, paths: Iterable[str]) -> None:
    """Leave out the rows that are in no file any more, but not those of files at ``paths``.

    Rows that a newer statement shows to be gone stay in the ledger.
    """
    connection.execute(
        "DELETE FROM derived WHERE removal IS NULL AND NOT is_mentioned AND row_id IN ("
        "SELECT r.id FROM ranked_statements AS q JOIN statement_rows AS r USING (statement_id) "
        "WHERE q.path NOT IN (SELECT value FROM json_each(?)))",
        (json.dumps(sorted(paths)),),
    )


_OF_ACCOUNT = "(r.account IN (SELECT value FROM json_each(s.accounts)))"
_AND_ROW = (
    "JOIN statement_rows AS r ON r.id = d.row_id "
    "JOIN ranked_statements AS q ON q.statement_id = r.statement_id"
)
_ROWS = f"derived AS d {_AND_ROW}"
_BESIDE = (
    "FROM derived AS d JOIN statement_rows AS r ON r.id = d.row_id "
    "LEFT JOIN transactions AS t ON t.tool_id = ? AND t.identity = d.identity"
)
_FILED = {"category_major": "filed_major", "category_minor": "filed_minor"}
"""Where a transaction has its file's value while a rule gives it another."""
_VALUES_OF_ROW = ", ".join(
    "iif(q.scope = '', r.account, r.account || ' ' || q.scope)"
    if name == "account"
    else f"r.{name}"
    for name in COLUMNS
)
_VALUES_OF_FILE = ", ".join(
    f"coalesce(t.{_FILED[name]}, t.{name})" if name in _FILED else f"t.{name}" for name in COLUMNS
)
_HAS_OTHER_VALUES = f"(({_VALUES_OF_FILE}) IS NOT ({_VALUES_OF_ROW}))"
_LINE = "iif(q.has_lines, r.row_number, 0)"
_PLACE = f"r.statement_id, q.path, {_LINE}"
_REMOVAL = "d.removal, iif(d.removal IS NULL, NULL, d.missing_from)"


def hold_back(
    connection: apsw.Connection, tool_id: int, replacers: Iterable[tuple[int, int]]
) -> list[tuple[int, int, int]]:
    """Let rows keep their values where files that may be old copies would change many of a month.

    ``replacers`` are pairs of statements, the copy first, as is what is returned, with the number
    of rows. A change that was accepted is in the ledger, and asked about no more.
    """
    connection.executemany("INSERT INTO replacers VALUES (?, ?)", replacers)
    if not connection.changes():
        return []
    changing = connection.execute(
        "SELECT x.newer, x.older, substr(t.date, 1, 7), r.identity, d.identity "
        f"FROM transactions AS t CROSS JOIN derived AS d ON d.identity = t.identity {_AND_ROW} "
        "JOIN replacers AS x ON x.newer = r.statement_id AND x.older = t.statement_id "
        f"WHERE +t.tool_id = ? AND {_HAS_OTHER_VALUES}",
        (tool_id,),
    )
    by_pair: dict[tuple[int, int], list[tuple[str, str, str]]] = {}
    for newer, older, month, own, identity in changing:
        by_pair.setdefault((newer, older), []).append((month, own, identity))
    if not by_pair:
        return []
    of_month = dict[str, int](
        connection.execute(
            "SELECT substr(date, 1, 7), count(*) FROM transactions WHERE tool_id = ? "
            "AND removal IS NOT 'removed' GROUP BY 1",
            (tool_id,),
        )
    )
    held = []
    for (newer, older), rows in by_pair.items():
        months = Counter(month for month, *_ in rows)
        many = {month for month, n in months.items() if are_many(n, of_month.get(month, 0))}
        connection.execute(
            "UPDATE derived SET row_id = b.id FROM json_each(?) AS h JOIN statement_rows AS b "
            "ON b.statement_id = ? AND b.identity = h.value ->> 0 "
            "WHERE derived.identity = h.value ->> 1",
            (json.dumps([names for month, *names in rows if month in many]), older),
        )
        held += [(newer, older, count)] if (count := connection.changes()) else []
    return held


def follow_statements(connection: apsw.Connection, tool_id: int) -> LedgerChanges:
    """Bring the transactions to what the statements say; marks are to be updated after it."""
    imported: int = connection.execute(
        f"SELECT count(*) {_BESIDE} WHERE t.id IS NULL AND d.is_mentioned", (tool_id,)
    ).get
    deleted = _delete_lost(connection, tool_id)
    leaving = connection.execute(
        f"SELECT d.identity {_BESIDE} WHERE d.removal = 'removed' AND t.removal IS NOT 'removed'",
        (tool_id,),
    ).fetchall()
    updated, returned = _update(connection, tool_id)
    _insert_new(connection, tool_id)
    removed = connection.execute(
        "SELECT id FROM transactions WHERE tool_id = ? "
        "AND identity IN (SELECT value FROM json_each(?))",
        (tool_id, json.dumps([name for (name,) in leaving])),
    )
    without_file: int = connection.execute(
        f"SELECT count(*) FROM {_ROWS} "
        "WHERE d.removal IS NULL AND NOT d.is_mentioned AND NOT q.is_unread"
    ).get
    gone = frozenset(row_id for (row_id,) in removed)
    return LedgerChanges(imported, updated, deleted, without_file, gone, returned)


def _delete_lost(connection: apsw.Connection, tool_id: int) -> int:
    """Delete the transactions that no statement has; returns how many that were."""
    lost_rows = connection.execute(
        "SELECT id FROM transactions WHERE +tool_id = ? "
        "AND identity NOT IN (SELECT identity FROM derived)",
        (tool_id,),
    )
    lost = list(lost_rows)
    if lost:
        keep_decisions(connection, tool_id, [row_id for (row_id,) in lost])
        # A row that was marked as a duplicate of a deleted one counts again.
        connection.executemany(
            "UPDATE transactions SET is_duplicate = 0, duplicate_of = NULL, "
            "duplicate_checked = 0, duplicate_checked_at = NULL WHERE duplicate_of = ?",
            lost,
        )
        connection.executemany("DELETE FROM transactions WHERE id = ?", lost)
    return len(lost)


def _update(connection: apsw.Connection, tool_id: int) -> tuple[int, frozenset[int]]:
    """Bring stored rows up to date; returns how many a file states anew, and which return."""
    connection.execute(
        f"INSERT INTO changed SELECT t.id, t.identity, {_HAS_OTHER_VALUES}, "
        "t.removal IN ('asked', 'removed') AND d.removal IS NULL "
        "FROM transactions AS t CROSS JOIN derived AS d ON d.identity = t.identity "
        f"{_AND_ROW} WHERE +t.tool_id = ? AND ({_HAS_OTHER_VALUES} "
        "OR (t.statement_id, t.source_file, t.row_number, t.removal) "
        f"IS NOT (r.statement_id, q.path, {_LINE}, d.removal))",
        (tool_id,),
    )
    if not connection.changes():
        return 0, frozenset()
    rows = (
        "FROM changed AS c CROSS JOIN derived AS d ON d.identity = c.identity "
        f"{_AND_ROW} WHERE t.id = c.id"
    )
    connection.execute(
        f"UPDATE transactions AS t SET ({VALUES}, updated_at, filed_major, filed_minor) = "
        f"({_VALUES_OF_ROW}, CURRENT_TIMESTAMP, NULL, NULL) {rows} AND c.has_other_values"
    )
    connection.execute(
        f"UPDATE transactions AS t SET (statement_id, source_file, row_number) = ({_PLACE}) {rows}"
    )
    # Apart from the places: indexes of sums have the removal.
    connection.execute(
        f"UPDATE transactions AS t SET (removal, removed_by, removed_at) = ({_REMOVAL}, "
        "CASE WHEN d.removal IS NULL THEN NULL WHEN t.removal IS d.removal THEN t.removed_at "
        f"ELSE CURRENT_TIMESTAMP END) {rows} AND (t.removal, t.removed_by) IS NOT ({_REMOVAL})"
    )
    _count_change(connection, tool_id)
    updated: int = connection.execute(
        "SELECT count(*) FROM changed AS c JOIN derived AS d ON d.identity = c.identity "
        "WHERE (c.has_other_values OR c.returns) AND d.is_mentioned"
    ).get
    returned = connection.execute("SELECT id FROM changed WHERE returns")
    return updated, frozenset(row_id for (row_id,) in returned)


def _count_change(connection: apsw.Connection, tool_id: int) -> None:
    """Raise the data version: the triggers do not see changes of files, lines and old ids."""
    connection.execute(
        "UPDATE ledger_versions SET version = version + 1 WHERE tool_id = ?", (tool_id,)
    )


def _insert_new(connection: apsw.Connection, tool_id: int) -> None:
    """Store new transactions; those that return get their former ids again."""
    former = former_ids(connection, tool_id)
    connection.execute(
        "INSERT INTO transactions (id, tool_id, identity, statement_id, source_file, row_number, "
        f"removal, removed_by, removed_at, {VALUES}) SELECT f.value, ?1, d.identity, {_PLACE}, "
        f"{_REMOVAL}, iif(d.removal IS NULL, NULL, CURRENT_TIMESTAMP), "
        f"{_VALUES_OF_ROW} FROM {_ROWS} "
        "LEFT JOIN json_each(?2) AS f ON f.key = d.identity "
        "WHERE d.identity NOT IN (SELECT identity FROM transactions WHERE tool_id = ?1) "
        "ORDER BY d.place",
        (tool_id, json.dumps(former)),
    )
    if former and connection.changes():
        _count_change(connection, tool_id)
