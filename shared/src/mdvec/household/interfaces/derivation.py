"""Derives a household's ledger from the rows of its statements, in SQL.

Temporary tables hold what the statements say now: ``ranked_statements`` (oldest first),
``same_rows`` (rows without an ID that another file has with an ID), and ``derived``: for each
identity, the row of the newest statement that has it, and whether a still newer statement that
covers its day lacks it. What that row does not say is in ``sources``: the newest row that says it.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

import apsw

from mdvec.household.core.cells import Unsaid
from mdvec.household.core.identity import identities_with_id, renamed_rows, same_rows_by_key, scoped
from mdvec.household.core.statements import RankedStatement, Remover, are_many, decide_removals
from mdvec.household.core.two_lists import TwoLists
from mdvec.household.interfaces import ledger_statements
from mdvec.household.interfaces.ledger import Ledger
from mdvec.household.interfaces.ledger_statements import COLUMNS, VALUES, KnownFile
from mdvec.household.interfaces.linked_again import NewIds, find_new_ids, follow_new_ids
from mdvec.household.interfaces.marks import former_ids, keep_decisions
from mdvec.household.interfaces.sources import AND_ROW, MARKS, SHIFT
from mdvec.household.interfaces.two_lists import find_two_lists

_TABLES = (
    "ranked_statements (statement_id INTEGER PRIMARY KEY, position INTEGER, is_present INTEGER, "
    "stays INTEGER, is_unread INTEGER, path TEXT, has_lines INTEGER, scope TEXT, kind TEXT)",
    # is_sum: the row is the sum of rows, which count in its place.
    "same_rows (row_id INTEGER PRIMARY KEY, identity TEXT, is_sum INTEGER)",
    "new_ids (before TEXT PRIMARY KEY, identity TEXT) WITHOUT ROWID",
    "removers (older INTEGER, newer INTEGER, first TEXT, last TEXT, is_again INTEGER, "
    "account TEXT)",
    "replacers (newer INTEGER, older INTEGER, PRIMARY KEY (newer, older))",
    # place: where the transaction appears first; the rows of an import are stored in that order.
    "derived (identity TEXT PRIMARY KEY, row_id INTEGER, place INTEGER, statements INTEGER, "
    "is_mentioned INTEGER, missing_from INTEGER, removal TEXT) WITHOUT ROWID",
    "sources (identity TEXT, row_id INTEGER, flags INTEGER, PRIMARY KEY (identity, row_id)) "
    "WITHOUT ROWID",
    "changed (id INTEGER PRIMARY KEY, identity TEXT, has_other_values INTEGER, returns INTEGER)",
)
# Identities in further accounts of one name are made as ``core.identity.scoped`` does.
_MENTIONS = """
mentions AS SELECT r.id, r.statement_id, coalesce(s.identity, n.identity,
    iif(q.scope = '' OR r.mf_id <> '', r.identity,
        substr(r.identity, 1, 68) || '@' || q.scope || substr(r.identity, 69))) AS identity,
iif(s.is_sum, 0, q.position) AS position, q.is_present, q.stays, q.path, r.unsaid, q.kind,
r.is_transfer, r.is_target FROM temp.ranked_statements AS q
JOIN main.statement_rows AS r ON r.statement_id = q.statement_id
LEFT JOIN temp.same_rows AS s ON s.row_id = r.id
LEFT JOIN temp.new_ids AS n ON n.before = r.identity
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
    # After an error, the transaction's rollback drops the tables.
    connection.execute("DROP VIEW mentions")
    for table in _TABLES:
        connection.execute(f"DROP TABLE {table.split()[0]}")


def find_newest_rows(
    ledger: Ledger,
    statements: Sequence[RankedStatement],
    present: Mapping[str, KnownFile],
    unread: Collection[str],
    staying: Collection[int],
    *,
    is_rebuild: bool,
    may_delete: bool,
) -> tuple[list[tuple[int, int]], NewIds, list[TwoLists]]:
    """Find each transaction's newest row; returns pairs of statements that share one, and new IDs.

    Also returns the lists that are of one account. Rows that are only the same under new IDs, or by
    such lists, make no pair: if two people have both linked an account, their other accounts stay
    separate. Statements are the oldest first; ``present`` are
    the files that are there now, ``unread`` the paths of those that could not be read. In a
    rebuild, rows of deleted files count only if no present file has the transaction. If it
    ``may_delete``, only rows of the statements (ids) ``staying`` stay that no present file has.
    """
    ranked = []
    order = {}
    for position, statement in enumerate(each.statement for each in statements):
        file = present.get(statement.path)
        is_present = file is not None and file.content_hash == statement.content_hash
        order[statement.id] = 1 + position + (len(statements) if is_present and is_rebuild else 0)
        ranked.append(
            (
                statement.id, order[statement.id], is_present, statement.id in staying,
                statement.path in unread, statement.path, is_present or file is None,
                statement.scope, statement.kind,
            )
        )  # fmt: skip
    ledger.connection.executemany(
        "INSERT INTO ranked_statements VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)", ranked
    )
    new_ids = find_new_ids(ledger, statements, order)
    follow_new_ids(ledger, new_ids.names)
    same_rows = _find_same_rows(ledger, new_ids.names, may_delete=may_delete)
    _find_newest(ledger.connection)
    shared = ledger.connection.execute(
        "SELECT DISTINCT n.statement_id, m.statement_id FROM mentions AS m "
        "CROSS JOIN derived AS d ON d.identity = m.identity "
        "CROSS JOIN statement_rows AS n ON n.id = d.row_id WHERE m.identity IN "
        "(SELECT identity FROM derived WHERE statements > 1) AND n.statement_id <> m.statement_id"
    )
    pairs: list[tuple[int, int]] = list(shared)
    if new_ids.names:
        ledger.connection.executemany("INSERT INTO new_ids VALUES (?, ?)", new_ids.names.items())
    two_lists = find_two_lists(ledger)
    if new_ids.names or any(each.same for each in two_lists):
        ledger.connection.execute("DELETE FROM derived")
        _find_newest(ledger.connection)
    _follow_renames(ledger, same_rows)
    return pairs, new_ids, two_lists


def _find_newest(connection: apsw.Connection) -> None:
    connection.execute(
        "INSERT INTO derived (identity, row_id, place, statements, is_mentioned) "
        f"SELECT identity, max(position * {SHIFT} + id) % {SHIFT}, "
        f"min(position * {SHIFT} + id), count(*), max(is_present) FROM mentions GROUP BY identity"
    )


def _find_same_rows(
    ledger: Ledger, new_ids: Mapping[str, str], *, may_delete: bool
) -> dict[str, list[str]]:
    """Match rows without ID to rows with an ID; returns the latter's identities by key.

    Rows that stay are only matched with rows that stay. If the others are deleted, what the ledger
    has so far is not considered: it becomes what a first import would make.
    """
    without_id = ledger_statements.rows_without_id(ledger.connection)
    if not without_id:
        return {}
    listed = ledger_statements.rows_with_id(ledger.connection)
    taken_in_block = {
        block: {new_ids.get(name, name) for name in names}
        for block, names in ledger_statements.blocks_with(
            ledger.connection, {row.identity for row in listed}
        ).items()
    }
    with_id = [row._replace(identity=new_ids.get(row.identity, row.identity)) for row in listed]
    own_rows, known = set[str](), set[str]()
    if not may_delete:
        own_names = {scoped(row.identity, row.scope) for row in without_id}
        own_rows = _stored_identities(ledger, own_names, "'removed'")
        known = _stored_identities(ledger, {row.identity for row in with_id}, "''")
    staying = [row for row in without_id if row.stays]
    others = [row for row in without_id if not row.stays]
    of_staying = [row for row in with_id if row.stays]
    matched = identities_with_id(staying, of_staying, taken_in_block, own_rows, known)
    matched |= identities_with_id(others, with_id, taken_in_block, own_rows, known)
    ledger.connection.executemany("INSERT INTO same_rows VALUES (?, ?, 0)", matched.items())
    return same_rows_by_key(with_id)


def _stored_identities(ledger: Ledger, identities: Iterable[str], without: str) -> set[str]:
    """Those of the identities that the ledger has with a ``removal`` other than ``without``."""
    return set(
        ledger.column(
            f"SELECT identity FROM transactions WHERE tool_id = ? AND removal IS NOT {without} "
            "AND identity IN (SELECT value FROM json_each(?))",
            (json.dumps(sorted(identities)),),
        )
    )


def _follow_renames(ledger: Ledger, same_rows: dict[str, list[str]]) -> None:
    """Let rows keep their ids and decisions if only their identity changed."""
    lost = ledger.column(
        "SELECT identity FROM transactions WHERE tool_id = ? AND identity >= 'row:' "
        "AND identity < 'row;' AND identity NOT IN (SELECT identity FROM derived)"
    )
    if not lost:
        return
    new = ledger.column(
        "SELECT identity FROM derived WHERE identity NOT IN "
        "(SELECT identity FROM transactions WHERE tool_id = ?)"
    )
    renamed = renamed_rows(lost, set(new), same_rows)
    ledger.connection.executemany(
        "UPDATE transactions SET identity = ? WHERE tool_id = ? AND identity = ?",
        ((name, ledger.tool_id, old) for old, name in renamed.items()),
    )


_OF_ACCOUNT = "(r.account IN (SELECT value FROM json_each(s.accounts)))"
_REMOVER = (
    "(SELECT m.newer FROM removers AS m JOIN ledger_statements AS s ON s.id = m.newer "
    "WHERE m.older = r.statement_id AND r.date BETWEEN m.first AND m.last "
    f"AND m.account IN ('', r.account) AND (m.is_again OR {_OF_ACCOUNT}) "
    f"ORDER BY {_OF_ACCOUNT} DESC, m.rowid LIMIT 1)"
)
"""The statement that shows a row (r) to be gone."""


def mark_gone_rows(connection: apsw.Connection, removers: Iterable[Remover]) -> None:
    """Set ``missing_from`` in ``derived`` for the rows that newer statements lack.

    A row that was deleted in Money Forward is gone, also if the bank's own file lists it. A part of
    a split purchase is also gone if a newer file has the purchase as a whole.
    """
    connection.executemany("INSERT INTO removers VALUES (?, ?, ?, ?, ?, ?)", removers)
    connection.execute(
        f"UPDATE derived SET missing_from = {_REMOVER} FROM statement_rows AS r "
        "WHERE r.id = derived.row_id AND r.statement_id IN (SELECT older FROM removers)"
    )
    connection.execute(
        "UPDATE derived SET row_id = g.id, missing_from = g.newer FROM ("
        f"SELECT l.identity, r.id, {_REMOVER} AS newer FROM ("
        f"SELECT m.identity, max(m.position * {SHIFT} + m.id) % {SHIFT} AS id "
        "FROM mentions AS m CROSS JOIN derived AS d ON d.identity = m.identity "
        "AND d.statements > 1 AND d.missing_from IS NULL WHERE m.kind IN (SELECT kind "
        "FROM ranked_statements WHERE statement_id IN (SELECT older FROM removers)) "
        "AND m.stays GROUP BY m.identity, m.kind) AS l "
        "JOIN statement_rows AS r ON r.id = l.id "
        "WHERE r.statement_id IN (SELECT older FROM removers)) AS g "
        "WHERE derived.identity = g.identity AND g.newer NOT NULL"
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


def mark_removals(ledger: Ledger, *, accepted: bool) -> None:
    """Give each gone row its state; a row that the user kept stays kept until a new file has it."""
    gone = {
        identity: (day, before, bool(is_proved))
        for identity, day, before, is_proved in ledger.execute(
            f"SELECT d.identity, r.date, t.removal, {_OF_ACCOUNT} {_BESIDE} "
            "JOIN ledger_statements AS s ON s.id = d.missing_from"
        )
    }
    if gone:
        by_month = ledger.execute(
            f"SELECT substr(r.date, 1, 7), count(*) {_BESIDE} "
            "WHERE t.removal IS NOT 'removed' GROUP BY 1"
        )
        decided = decide_removals(gone, dict(by_month), accepted=accepted)
        ledger.connection.executemany(
            "UPDATE derived SET removal = ?2 WHERE identity = ?1", decided.items()
        )
    ledger.execute(
        "UPDATE derived SET removal = 'kept' FROM transactions AS t, statement_rows AS r "
        "WHERE derived.missing_from IS NULL AND t.removal = 'kept' AND t.tool_id = ? "
        "AND t.identity = derived.identity AND r.id = derived.row_id "
        "AND r.statement_id = t.statement_id"
    )


def forget_rows_without_file(connection: apsw.Connection) -> None:
    """Drop from ``derived`` the rows that no present file has, except those that stay.

    Rows that a newer statement shows to be gone stay in the ledger.
    """
    connection.execute(
        "DELETE FROM derived WHERE removal IS NULL AND NOT is_mentioned AND row_id IN ("
        "SELECT r.id FROM ranked_statements AS q JOIN statement_rows AS r USING (statement_id) "
        "WHERE NOT q.stays)"
    )


_ROWS = f"derived AS d {AND_ROW}"
_BESIDE = (
    "FROM derived AS d JOIN statement_rows AS r ON r.id = d.row_id "
    "LEFT JOIN transactions AS t ON t.tool_id = ? AND t.identity = d.identity"
)
_FILED = {"category_major": "filed_major", "category_minor": "filed_minor"}
"""The columns that hold the file's value of a transaction while a rule gives it another."""
_MAY_LACK = {"category_major": Unsaid.CATEGORY, "category_minor": Unsaid.CATEGORY} | {
    name: Unsaid[name.upper()] for name in ("account", "memo", "is_target", "is_transfer")
}


def _value_of_row(name: str) -> str:
    """A column's value: that of the newest row, or of the source that says it in its place."""
    value = f"iif(q.scope = '', r.{name}, r.{name} || ' ' || q.scope)"
    value = value if name == "account" else f"r.{name}"
    if name not in _MAY_LACK:
        return value
    flag = _MAY_LACK[name]
    or_mark = " OR d.statements > 1" if flag & MARKS else ""
    return (
        f"iif(r.unsaid & {flag:d}{or_mark}, coalesce((SELECT {value} FROM sources AS n "
        "JOIN statement_rows AS r ON r.id = n.row_id JOIN ranked_statements AS q USING "
        f"(statement_id) WHERE n.identity = d.identity AND n.flags & {flag:d}), "
        f"{value}), {value})"
    )


_VALUES_OF_ROW = ", ".join(map(_value_of_row, COLUMNS))
_VALUES_OF_FILE = ", ".join(
    f"coalesce(t.{_FILED[name]}, t.{name})" if name in _FILED else f"t.{name}" for name in COLUMNS
)
_HAS_OTHER_VALUES = f"(({_VALUES_OF_FILE}) IS NOT ({_VALUES_OF_ROW}))"
_LINE = "iif(q.has_lines, r.row_number, 0)"
_PLACE = f"r.statement_id, q.path, {_LINE}"
_REMOVAL = "d.removal, iif(d.removal IS NULL, NULL, d.missing_from)"


def hold_back(ledger: Ledger, replacers: Iterable[tuple[int, int]]) -> list[tuple[int, int, int]]:
    """Let rows keep their values if a file that may be an old copy would change many in a month.

    ``replacers`` are pairs of statement ids, the possible copy first. Returns such pairs with the
    number of rows held back. Changes that the user accepted are in the ledger, so they do not come
    up again.
    """
    ledger.connection.executemany("INSERT INTO replacers VALUES (?, ?)", replacers)
    if not ledger.connection.changes():
        return []
    changing = ledger.execute(
        "SELECT x.newer, x.older, substr(t.date, 1, 7), r.identity, d.identity "
        f"FROM transactions AS t CROSS JOIN derived AS d ON d.identity = t.identity {AND_ROW} "
        "JOIN replacers AS x ON x.newer = r.statement_id AND x.older = t.statement_id "
        f"WHERE +t.tool_id = ? AND {_HAS_OTHER_VALUES}"
    )
    by_pair: dict[tuple[int, int], list[tuple[str, str, str]]] = {}
    for newer, older, month, own, identity in changing:
        by_pair.setdefault((newer, older), []).append((month, own, identity))
    if not by_pair:
        return []
    of_month = dict[str, int](
        ledger.execute(
            "SELECT substr(date, 1, 7), count(*) FROM transactions WHERE tool_id = ? "
            "AND removal IS NOT 'removed' GROUP BY 1"
        )
    )
    held = []
    for (newer, older), rows in by_pair.items():
        months = Counter(month for month, *_ in rows)
        many = {month for month, n in months.items() if are_many(n, of_month.get(month, 0))}
        ledger.connection.execute(
            "UPDATE derived SET row_id = b.id FROM json_each(?) AS h JOIN statement_rows AS b "
            "ON b.statement_id = ? AND b.identity = h.value ->> 0 "
            "WHERE derived.identity = h.value ->> 1",
            (json.dumps([names for month, *names in rows if month in many]), older),
        )
        held += [(newer, older, count)] if (count := ledger.connection.changes()) else []
    return held


def follow_statements(ledger: Ledger) -> LedgerChanges:
    """Update the transactions to what the statements say; call ``update_marks`` after it."""
    imported = ledger.number(f"SELECT count(*) {_BESIDE} WHERE t.id IS NULL AND d.is_mentioned")
    deleted = _delete_lost(ledger)
    leaving = ledger.column(
        f"SELECT d.identity {_BESIDE} WHERE d.removal = 'removed' AND t.removal IS NOT 'removed'"
    )
    updated, returned = _update(ledger)
    _insert_new(ledger)
    removed = ledger.column(
        "SELECT id FROM transactions WHERE tool_id = ? "
        "AND identity IN (SELECT value FROM json_each(?))",
        (json.dumps(leaving),),
    )
    without_file: int = ledger.connection.execute(
        f"SELECT count(*) FROM {_ROWS} "
        "WHERE d.removal IS NULL AND NOT d.is_mentioned AND NOT q.is_unread"
    ).get
    return LedgerChanges(imported, updated, deleted, without_file, frozenset(removed), returned)


def _delete_lost(ledger: Ledger) -> int:
    """Delete the transactions that are not in ``derived``; returns how many there were."""
    lost = ledger.column(
        "SELECT id FROM transactions WHERE +tool_id = ? "
        "AND identity NOT IN (SELECT identity FROM derived)"
    )
    if lost:
        rows = [(row_id,) for row_id in lost]
        keep_decisions(ledger, lost)
        # A row that was marked as a duplicate of a deleted one counts again.
        ledger.connection.executemany(
            "UPDATE transactions SET is_duplicate = 0, duplicate_of = NULL, duplicate_checked = 0 "
            "WHERE duplicate_of = ?",
            rows,
        )
        ledger.connection.executemany("DELETE FROM transactions WHERE id = ?", rows)
    return len(lost)


def _update(ledger: Ledger) -> tuple[int, frozenset[int]]:
    """Update stored rows; returns how many changed, and the ids of rows that count again."""
    ledger.execute(
        f"INSERT INTO changed SELECT t.id, t.identity, {_HAS_OTHER_VALUES}, "
        "t.removal IN ('asked', 'removed') AND d.removal IS NULL "
        "FROM transactions AS t CROSS JOIN derived AS d ON d.identity = t.identity "
        f"{AND_ROW} WHERE +t.tool_id = ? AND ({_HAS_OTHER_VALUES} "
        "OR (t.statement_id, t.source_file, t.row_number, t.removal) "
        f"IS NOT (r.statement_id, q.path, {_LINE}, d.removal))"
    )
    if not ledger.connection.changes():
        return 0, frozenset()
    rows = (
        "FROM changed AS c CROSS JOIN derived AS d ON d.identity = c.identity "
        f"{AND_ROW} WHERE t.id = c.id"
    )
    ledger.connection.execute(
        f"UPDATE transactions AS t SET ({VALUES}, updated_at, filed_major, filed_minor) = "
        f"({_VALUES_OF_ROW}, CURRENT_TIMESTAMP, NULL, NULL) {rows} AND c.has_other_values"
    )
    ledger.connection.execute(
        f"UPDATE transactions AS t SET (statement_id, source_file, row_number) = ({_PLACE}) {rows}"
    )
    # Not in the statement above: indexes for sums contain ``removal``, so only rows with another
    # value are updated.
    ledger.connection.execute(
        f"UPDATE transactions AS t SET (removal, removed_by, removed_at) = ({_REMOVAL}, "
        "CASE WHEN d.removal IS NULL THEN NULL WHEN t.removal IS d.removal THEN t.removed_at "
        f"ELSE CURRENT_TIMESTAMP END) {rows} AND (t.removal, t.removed_by) IS NOT ({_REMOVAL})"
    )
    _count_change(ledger)
    updated: int = ledger.connection.execute(
        "SELECT count(*) FROM changed AS c JOIN derived AS d ON d.identity = c.identity "
        "WHERE (c.has_other_values OR c.returns) AND d.is_mentioned"
    ).get
    returned = ledger.connection.execute("SELECT id FROM changed WHERE returns")
    return updated, frozenset(row_id for (row_id,) in returned)


def _count_change(ledger: Ledger) -> None:
    """Raise the data version for changes of files, lines and ids, which no trigger sees."""
    ledger.execute("UPDATE ledger_versions SET version = version + 1 WHERE tool_id = ?")


def _insert_new(ledger: Ledger) -> None:
    """Store new transactions; deleted ones that return get their former ids again."""
    former = former_ids(ledger)
    ledger.execute(
        "INSERT INTO transactions (id, tool_id, identity, statement_id, source_file, row_number, "
        f"removal, removed_by, removed_at, {VALUES}) SELECT f.value, ?1, d.identity, {_PLACE}, "
        f"{_REMOVAL}, iif(d.removal IS NULL, NULL, CURRENT_TIMESTAMP), "
        f"{_VALUES_OF_ROW} FROM {_ROWS} "
        "LEFT JOIN json_each(?2) AS f ON f.key = d.identity "
        "WHERE d.identity NOT IN (SELECT identity FROM transactions WHERE tool_id = ?1) "
        "ORDER BY d.place",
        (json.dumps(former),),
    )
    if former and ledger.connection.changes():
        _count_change(ledger)
