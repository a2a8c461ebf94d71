"""The tables of imported files, their statements and the rows of each; the index's state."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from datetime import date
from operator import attrgetter
from typing import Self

import apsw

from mdvec.files import Problem
from mdvec.household.core.cells import BadRow, TransactionRow
from mdvec.household.core.identity import RowWithId, RowWithoutId, key_of, rows_by_identity, scoped
from mdvec.household.core.moneyforward import ParsedFile
from mdvec.household.core.passed_over import PassedOver
from mdvec.household.core.statements import Statement, statement_name
from mdvec.household.interfaces.ledger import Ledger


@dataclass(frozen=True, slots=True)
class KnownFile:
    """A file's state at the last import.

    ``is_present`` is false for a deleted file whose rows are still in the ledger. ``passed_over``
    says what a file without transactions is. ``app_version`` is the version of mdvec that read the
    file.
    """

    path: str
    size: int
    mtime_ns: int
    content_hash: str = ""
    is_present: bool = True
    rows: int = 0
    bad_rows: tuple[BadRow, ...] = ()
    passed_over: PassedOver | None = None
    app_version: str = ""


def known_files(ledger: Ledger) -> dict[str, KnownFile]:
    """The stored states of a tool's files, by path."""
    rows = ledger.execute(
        "SELECT path, size, mtime_ns, content_hash, is_present, rows, bad_rows, passed_over, "
        "app_version FROM ledger_files WHERE tool_id = ?"
    )
    return {
        path: KnownFile(
            path, size, mtime_ns, digest, bool(is_present), count,
            tuple(BadRow(*row) for row in json.loads(bad_rows)),
            PassedOver.stored(passed_over) if passed_over else None, version,
        )
        for path, size, mtime_ns, digest, is_present, count, bad_rows, passed_over, version in rows
    }  # fmt: skip


def remember_files(ledger: Ledger, files: Iterable[KnownFile]) -> None:
    """Replace the stored states of a tool's files; call within a transaction."""
    ledger.execute("DELETE FROM ledger_files WHERE tool_id = ?")
    ledger.connection.executemany(
        "INSERT OR REPLACE INTO ledger_files VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        (
            (
                ledger.tool_id, file.path, file.size, file.mtime_ns, file.content_hash,
                file.is_present, file.rows, json.dumps(file.bad_rows, ensure_ascii=False),
                file.passed_over.text if file.passed_over else "", file.app_version,
            )
            for file in files
        ),
    )  # fmt: skip


def unread_rows(ledger: Ledger, days: tuple[str, str]) -> list[tuple[str, int]]:
    """The files with rows that could not be read, and how many rows each.

    Only files are listed whose other rows are around these days (YYYY-MM-DD, both included), or
    that have no other rows.
    """
    rows = ledger.execute(
        "SELECT f.path, json_array_length(f.bad_rows) FROM ledger_files AS f "
        "LEFT JOIN ledger_statements AS s USING (tool_id, path, content_hash) "
        "WHERE f.tool_id = ? AND f.is_present AND f.bad_rows <> '[]' AND coalesce("
        "(SELECT min(value) <= ? AND max(value) >= ? FROM json_each(s.days)), TRUE) ORDER BY 1",
        (days[1], days[0]),
    )
    return list(rows)


def first_unread_lines(ledger: Ledger) -> list[tuple[str, int]]:
    """The files with rows that could not be read, and the line of the first one in each."""
    rows = ledger.execute(
        "SELECT path, bad_rows ->> '$[0][0]' FROM ledger_files "
        "WHERE tool_id = ? AND is_present AND bad_rows <> '[]' ORDER BY path"
    )
    return list(rows)


_AGAIN = "; if those rows were deleted since, download its days again, too"


class DaysInDoubt(Problem):
    """A file that looks newer than a file with later rows, which may have been deleted since."""

    @classmethod
    def of(cls, path: str, why: str) -> Self:
        """The problem with advice at its end, by which ``overruled_files`` recognises it."""
        return cls(path, f"{why}{_AGAIN}")


def overruled_files(ledger: Ledger, days: tuple[str, str]) -> list[str]:
    """The files with rows of these days for which the last import reported ``DaysInDoubt``."""
    return ledger.column(
        "SELECT DISTINCT f.path FROM import_failures AS f "
        "JOIN ledger_statements AS s USING (tool_id, path) "
        "WHERE f.tool_id = ? AND f.reason LIKE '%' || ? AND (SELECT min(value) <= ? "
        "AND max(value) >= ? FROM json_each(s.days)) ORDER BY 1",
        (_AGAIN, days[1], days[0]),
    )


def files_left_out(ledger: Ledger) -> list[str]:
    """The present files of which no row was ever imported: unreadable or undecided files."""
    return ledger.column(
        "SELECT path FROM import_failures AS f WHERE f.tool_id = ? AND f.path <> '' "
        "AND f.path NOT LIKE '%.mapping.toml' AND NOT EXISTS (SELECT 1 FROM ledger_files AS l "
        "WHERE l.tool_id = f.tool_id AND l.path = f.path "
        "AND l.rows > json_array_length(l.bad_rows)) ORDER BY path"
    )


def without_file(ledger: Ledger) -> int:
    """The number of rows that were in none of the files at the last import."""
    stored = "SELECT coalesce(max(without_file), 0) FROM ledger_versions WHERE tool_id = ?"
    return ledger.number(stored)


def set_without_file(ledger: Ledger, rows: int) -> None:
    """Store the number of rows that are in none of the files."""
    ledger.execute(
        "INSERT INTO ledger_versions (tool_id, without_file) VALUES (?, ?) "
        "ON CONFLICT (tool_id) DO UPDATE SET without_file = excluded.without_file",
        (rows,),
    )


@dataclass(frozen=True, slots=True)
class GoneRow:
    """A row that a newer file, ``missing_from``, no longer has; ``path`` is its own file.

    ``date`` is YYYY-MM-DD, ``amount`` in yen. ``has_words``: the user has noted or decided
    something about it.
    """

    id: int
    date: str
    amount: int | None
    description: str
    account: str
    path: str
    missing_from: str
    has_words: bool = False


def stated_begin(ledger: Ledger, day: date) -> date | None:
    """The day from which files with rows of ``day`` are complete, by the periods in their names.

    Files of one account continue one another, so the earliest first day counts for an account, and
    the latest of these for several accounts. None if no name has a period.
    """
    statements = ledger.execute(
        "SELECT s.path, coalesce(s.scope, ''), a.value FROM ledger_statements AS s "
        "LEFT JOIN json_each(s.accounts) AS a "
        "WHERE s.tool_id = ? AND EXISTS (SELECT 1 FROM json_each(s.days) WHERE value = ?)",
        (str(day),),
    )
    begins: dict[tuple[str, str | None], str] = {}
    for path, *account in statements:
        name, key = statement_name(path), tuple(account)
        if name.first <= str(day) <= name.last:
            begins[key] = min(begins.get(key, name.first), name.first)
    return date.fromisoformat(max(begins.values())) if begins else None


def known_statements(ledger: Ledger) -> list[Statement]:
    """All stored statements of a tool."""
    rows = ledger.execute(
        "SELECT path, content_hash, mtime_ns, days, accounts, is_whole, seen, account_number, "
        "coalesce(scope, ''), id, kin, kind FROM ledger_statements WHERE tool_id = ?"
    )
    return [
        Statement(
            path, content_hash, mtime_ns, tuple(json.loads(days)),
            frozenset(json.loads(accounts)), bool(is_whole), *others,
        )
        for path, content_hash, mtime_ns, days, accounts, is_whole, *others in rows
    ]  # fmt: skip


def remember_statement(ledger: Ledger, statement: Statement) -> int:
    """Store a statement and return its id; call within a transaction."""
    return ledger.number(
        "INSERT INTO ledger_statements (tool_id, path, content_hash, mtime_ns, days, accounts, "
        "is_whole, seen, account_number, kind, kin) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 0) "
        "ON CONFLICT (tool_id, path, content_hash) DO UPDATE SET "
        "mtime_ns = excluded.mtime_ns, days = excluded.days, kind = excluded.kind, "
        "accounts = excluded.accounts, is_whole = excluded.is_whole, "
        "scope = iif(accounts = excluded.accounts AND excluded.account_number IN "
        "('', account_number), scope, NULL), "  # NULL: its account is to be determined again
        "seen = excluded.seen, account_number = "
        "iif(excluded.account_number = '', account_number, excluded.account_number) RETURNING id",
        (
            statement.path, statement.content_hash, statement.mtime_ns,
            json.dumps(statement.days), json.dumps(sorted(statement.accounts)),
            statement.can_show_removals, statement.first_seen, statement.account_number,
            statement.kind,
        ),
    )  # fmt: skip


def set_families(connection: apsw.Connection, families: Iterable[tuple[int, int]]) -> None:
    """Store the families of statements, given as pairs of ids; call within a transaction."""
    connection.executemany(
        "UPDATE ledger_statements SET kin = ?2 WHERE id = ?1 AND kin <> ?2", families
    )


def lower_times(ledger: Ledger, files: Iterable[KnownFile]) -> None:
    """Give statements the modification times of their files where those are earlier."""
    ledger.connection.executemany(
        "UPDATE ledger_statements SET mtime_ns = ?4 "
        "WHERE tool_id = ?1 AND path = ?2 AND content_hash = ?3 AND mtime_ns > ?4",
        ((ledger.tool_id, file.path, file.content_hash, file.mtime_ns) for file in files),
    )


def see_last(ledger: Ledger, present: Iterable[tuple[str, str]]) -> None:
    """Let each present statement be the last one seen at its path, also if it was seen before."""
    now = ledger.number("SELECT 1 + max(seen) FROM ledger_statements WHERE tool_id = ?")
    ledger.connection.executemany(
        "UPDATE ledger_statements AS s SET seen = ?4 "
        "WHERE tool_id = ?1 AND path = ?2 AND content_hash = ?3 AND EXISTS (SELECT 1 FROM "
        "ledger_statements AS o WHERE o.tool_id = ?1 AND o.path = ?2 AND o.content_hash <> ?3 "
        "AND o.seen >= s.seen)",
        ((ledger.tool_id, *key, now) for key in present),
    )


def distrust(connection: apsw.Connection, statement_ids: Sequence[int]) -> None:
    """From now on, do not conclude from these statements that a row they lack is gone.

    Call within a transaction.
    """
    connection.execute(
        "UPDATE ledger_statements SET is_whole = 0 WHERE id IN (SELECT value FROM json_each(?))",
        (json.dumps(statement_ids),),
    )


def delete_copies(connection: apsw.Connection, statement_ids: Sequence[int]) -> None:
    """Delete statements that are copies of others, which get the earliest of the times."""
    copies = [(statement_id,) for statement_id in statement_ids]
    connection.executemany(
        "UPDATE ledger_statements SET mtime_ns = min(ledger_statements.mtime_ns, c.mtime_ns) "
        "FROM ledger_statements AS c WHERE c.id = ? AND c.tool_id = ledger_statements.tool_id "
        "AND c.content_hash = ledger_statements.content_hash",
        copies,
    )
    connection.executemany("DELETE FROM ledger_statements WHERE id = ?", copies)


def forget_statements(ledger: Ledger, remaining: Collection[int]) -> None:
    """Delete the statements that have no rows, prove no row gone, and are not ``remaining``."""
    ledger.execute(
        "DELETE FROM ledger_statements WHERE tool_id = ?1 AND NOT is_whole "
        "AND id NOT IN (SELECT value FROM json_each(?2)) "
        "AND NOT EXISTS (SELECT 1 FROM statement_rows AS r "
        "WHERE r.statement_id = ledger_statements.id) AND id NOT IN ("
        "SELECT removed_by FROM transactions WHERE +tool_id = ?1 AND removed_by NOT NULL)",
        (json.dumps(sorted(remaining)),),
    )


def rename_statements(ledger: Ledger, renames: Mapping[str, str]) -> None:
    """Change the paths of statements from old to new; call within a transaction."""
    statements = ledger.execute("SELECT id, path FROM ledger_statements WHERE tool_id = ?")
    moved = [(number, renames[path]) for number, path in statements if path in renames]
    # Paths may be swapped, so each is first replaced by a unique one.
    ledger.connection.executemany(
        "UPDATE ledger_statements SET path = char(0) || id WHERE id = ?",
        ((number,) for number, _ in moved),
    )
    ledger.connection.executemany(
        "UPDATE OR REPLACE ledger_statements SET path = ?2 WHERE id = ?1", moved
    )


def ids_of_gone_rows(ledger: Ledger, removal: str | None = None) -> list[int]:
    """The ids of the rows that newer statements lack, in one state of removal; None for any state.

    The states: not in the sums any more (``removed``), counted until the user agrees to remove
    them (``asked``), or counted by the user's decision (``kept``).
    """
    return ledger.column(
        "SELECT id FROM transactions INDEXED BY idx_transactions_removal "
        "WHERE tool_id = ? AND removal NOT NULL AND removal = coalesce(?, removal)",
        (removal,),
    )


def gone_rows(ledger: Ledger, ids: Iterable[int]) -> list[GoneRow]:
    """The rows with these ids; ``missing_from`` is "" for a row that is not gone any more."""
    rows = ledger.connection.execute(
        "SELECT t.id, t.date, t.amount, t.description, t.account, t.source_file, "
        "coalesce(s.path, ''), t.duplicate_checked OR EXISTS (SELECT 1 "
        "FROM row_notes AS n WHERE (n.tool_id, n.identity) = (t.tool_id, t.identity)) "
        "FROM transactions AS t LEFT JOIN ledger_statements AS s ON s.id = t.removed_by "
        "WHERE t.id IN (SELECT value FROM json_each(?)) ORDER BY t.date, t.id",
        (json.dumps(list(ids)),),
    )
    return [GoneRow(*(*values, bool(has_words))) for *values, has_words in rows]


def keep_rows(ledger: Ledger, row_ids: Iterable[int]) -> None:
    """Record that vanished rows stay in the sums for good; call within a transaction."""
    ledger.connection.executemany(
        "UPDATE transactions SET removal = 'kept' WHERE tool_id = ? AND id = ? "
        "AND removal IS NOT NULL",
        ((ledger.tool_id, row_id) for row_id in row_ids),
    )


def is_indexed(ledger: Ledger) -> bool:
    """Whether the search index is up to date with the ledger."""
    return bool(ledger.execute("SELECT is_indexed FROM ledger_versions WHERE tool_id = ?").get)


def mark_index(ledger: Ledger, *, current: bool) -> None:
    """Record whether the search index is up to date with the ledger; call within a transaction."""
    ledger.connection.execute(
        "UPDATE ledger_versions SET is_indexed = ? WHERE tool_id = ?", (current, ledger.tool_id)
    )


COLUMNS = tuple(
    each.name for each in fields(TransactionRow) if each.name not in ("line", "balance", "unsaid")
)
"""The columns that a statement's row and a transaction share, the date first."""
VALUES = ", ".join(COLUMNS)
_after_the_date = attrgetter(*COLUMNS[1:])


def put_rows(ledger: Ledger, statement_id: int, parsed: ParsedFile, scope: str) -> None:
    """Store a statement's rows in place of those it had; call within a transaction.

    ``scope`` is that of its account so far. If the mapping now reads a line differently, the line's
    transaction gets the new identity, and keeps what the user decided about it.
    """
    stored = ledger.connection.execute(
        "SELECT row_number, identity FROM statement_rows WHERE statement_id = ?", (statement_id,)
    )
    before = list(stored)
    ledger.connection.execute("DELETE FROM statement_rows WHERE statement_id = ?", (statement_id,))
    rows = rows_by_identity(parsed.blocks, is_mapped=bool(parsed.kind))
    ledger.connection.executemany(
        "INSERT INTO statement_rows (statement_id, identity, block, row_number, balance, unsaid, "
        f"{VALUES}) VALUES (?, ?, ?, ?, ?, ?, {', '.join('?' for _ in COLUMNS)})",
        (
            (
                statement_id, identity, block, row.line, row.balance, row.unsaid,
                row.date.isoformat(), *_after_the_date(row),
            )
            for identity, (block, row) in rows.items()
        ),
    )  # fmt: skip
    now = {row.line: name for name, (_, row) in rows.items()}
    ledger.connection.executemany(
        "UPDATE OR IGNORE transactions SET identity = ? "
        "WHERE tool_id = ? AND identity = ? AND statement_id = ?",
        [
            (now[line], ledger.tool_id, scoped(old, scope), statement_id)
            for line, old in before
            if now.get(line, old) != old
        ],
    )


_HERE = "FROM temp.ranked_statements AS q JOIN statement_rows AS r USING (statement_id)"
_ALIKE = (
    f"{_HERE} WHERE r.mf_id {{0}} '' AND (r.date, ifnull(r.amount, '')) IN "
    f"(SELECT r.date, ifnull(r.amount, '') {_HERE} WHERE r.mf_id {{1}} '')"
)
"""The rows with an ID of whose day and amount there is also a row without, or the reverse."""


def rows_without_id(connection: apsw.Connection) -> list[RowWithoutId]:
    """The ranked statements' rows without an ID that share day and amount with a row with an ID."""
    rows = connection.execute(
        "SELECT r.id, r.identity, r.statement_id, r.block, q.stays, q.scope "
        f"{_ALIKE.format('=', '<>')} AND r.identity >= 'row:' AND r.identity < 'row;' ORDER BY r.id"
    )
    return [RowWithoutId(*row) for row in rows]


def rows_with_id(connection: apsw.Connection) -> list[RowWithId]:
    """The ranked statements' rows with an ID that share day and amount with a row without an ID."""
    rows = connection.execute(
        "SELECT r.identity, r.statement_id, r.block, q.stays, q.position, r.date, r.amount, "
        f"r.description, r.account {_ALIKE.format('<>', '=')}"
    )
    return [
        RowWithId(identity, statement, block, stays, position, key_of(*values))
        for identity, statement, block, stays, position, *values in rows
    ]


def blocks_with(
    connection: apsw.Connection, identities: Collection[str]
) -> dict[tuple[int, int], set[str]]:
    """Which of the identities each block of the ranked statements has, by statement and number."""
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
    ledger: Ledger, remaining: Collection[int], *, all_of_them: bool
) -> None:
    """Delete the rows that a newer statement repeats, except those of the ``remaining`` statements.

    If a row with an ID and a row without look alike, both stay unless ``all_of_them``, as do all
    rows of that ID, since they show which rows are the same, and which are two in one file; so do
    rows under former IDs. Call after the ledger was derived, in the same transaction.
    """
    both_ways = () if all_of_them else (("id", "=", "<>"), ("identity", "<>", "="))
    alike = "".join(
        f" AND {name} NOT IN (SELECT r.{name} {_ALIKE.format(*marks)})"
        for name, *marks in both_ways
    )
    ledger.execute(
        "DELETE FROM statement_rows WHERE statement_id IN (SELECT id FROM ledger_statements "
        "WHERE tool_id = ? AND id NOT IN (SELECT value FROM json_each(?))) "
        "AND id NOT IN (SELECT row_id FROM derived) AND id NOT IN (SELECT row_id FROM sources) "
        "AND identity NOT IN "
        f"(SELECT n.before FROM new_ids AS n JOIN derived USING (identity)){alike}",
        (json.dumps(sorted(remaining)),),
    )
