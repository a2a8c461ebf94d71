"""The tables of imported files and of decisions about rows that a rebuild deleted."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import apsw

from mdvec.household.core.cells import BadRow


@dataclass(frozen=True, slots=True)
class KnownFile:
    """A file's state at the last import.

    ``is_present`` is false for a deleted file whose rows are still in the ledger. ``passed_over``
    says what a file without transactions is.
    ``app_version`` is the version of mdvec that read the file.
    """

    path: str
    size: int
    mtime_ns: int
    content_hash: str = ""
    is_present: bool = True
    rows: int = 0
    bad_rows: tuple[BadRow, ...] = ()
    passed_over: str = ""
    app_version: str = ""


def known_files(connection: apsw.Connection, tool_id: int) -> dict[str, KnownFile]:
    """The stored states of a tool's files, by path."""
    rows = connection.execute(
        "SELECT path, size, mtime_ns, content_hash, is_present, rows, bad_rows, passed_over, "
        "app_version FROM ledger_files WHERE tool_id = ?",
        (tool_id,),
    )
    return {str(row[0]): _known_file(row) for row in rows}


def remember_files(connection: apsw.Connection, tool_id: int, files: Iterable[KnownFile]) -> None:
    """Replace the stored states of a tool's files; call within a transaction."""
    connection.execute("DELETE FROM ledger_files WHERE tool_id = ?", (tool_id,))
    connection.executemany(
        "INSERT OR REPLACE INTO ledger_files VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        (
            (
                tool_id, file.path, file.size, file.mtime_ns, file.content_hash, file.is_present,
                file.rows, json.dumps(file.bad_rows, ensure_ascii=False), file.passed_over,
                file.app_version,
            )
            for file in files
        ),
    )  # fmt: skip


def without_file(connection: apsw.Connection, tool_id: int) -> int:
    """The number of rows that were in none of the files at the last import."""
    row = connection.execute(
        "SELECT without_file FROM ledger_versions WHERE tool_id = ?", (tool_id,)
    ).fetchone()
    return 0 if row is None else int(row[0])


def set_without_file(connection: apsw.Connection, tool_id: int, rows: int) -> None:
    """Store the number of rows that are in none of the files."""
    connection.execute(
        "INSERT INTO ledger_versions (tool_id, without_file) VALUES (?, ?) "
        "ON CONFLICT (tool_id) DO UPDATE SET without_file = excluded.without_file",
        (tool_id, rows),
    )


def _known_file(row: tuple[Any, ...]) -> KnownFile:
    path, size, mtime_ns, content_hash, is_present, rows, bad_rows, passed_over, version = row
    return KnownFile(
        path=path,
        size=size,
        mtime_ns=mtime_ns,
        content_hash=content_hash,
        is_present=bool(is_present),
        rows=rows,
        bad_rows=tuple(BadRow(*row) for row in json.loads(bad_rows)),
        passed_over=passed_over,
        app_version=version,
    )


_PAIR = (
    "transaction_id_1, transaction_id_2, detection_date_tolerance, "
    "detection_amount_tolerance_abs, detection_amount_tolerance_pct, similarity_score, "
    "detected_at, user_decision, decided_at, kept_id, reasons, of_transfer, batch"
)


def keep_decisions(connection: apsw.Connection, tool_id: int, leaving: Sequence[int]) -> None:
    """Save the decisions about rows, by id, that are about to be deleted."""
    connection.execute(
        f"INSERT OR REPLACE INTO departed_pairs (tool_id, check_id, identity_1, identity_2, "
        f"{_PAIR}) SELECT c.tool_id, c.id, a.identity, b.identity, {_PAIR} "
        "FROM duplicate_checks AS c JOIN transactions AS a ON a.id = c.transaction_id_1 "
        "JOIN transactions AS b ON b.id = c.transaction_id_2 "
        "WHERE c.tool_id = ?1 AND c.user_decision NOT NULL AND ("
        "c.transaction_id_1 IN (SELECT value FROM json_each(?2)) "
        "OR c.transaction_id_2 IN (SELECT value FROM json_each(?2)))",
        (tool_id, json.dumps(leaving)),
    )


def former_ids(connection: apsw.Connection, tool_id: int) -> dict[str, int]:
    """The former ids of deleted rows, by identity; they decide which row of a pair is marked."""
    rows = connection.execute(
        "SELECT identity_1, transaction_id_1 FROM departed_pairs WHERE tool_id = ?1 UNION "
        "SELECT identity_2, transaction_id_2 FROM departed_pairs WHERE tool_id = ?1",
        (tool_id,),
    ).fetchall()
    return {str(identity): int(str(number)) for identity, number in rows}


def bring_back_decisions(connection: apsw.Connection, tool_id: int) -> None:
    """Restore the decisions whose two rows are in the ledger again; call update_marks after it."""
    back = (
        "FROM departed_pairs AS d WHERE d.tool_id = ?1 "
        "AND EXISTS (SELECT 1 FROM transactions AS t WHERE t.id = d.transaction_id_1 "
        "AND t.tool_id = ?1 AND t.identity = d.identity_1) "
        "AND EXISTS (SELECT 1 FROM transactions AS t WHERE t.id = d.transaction_id_2 "
        "AND t.tool_id = ?1 AND t.identity = d.identity_2)"
    )
    connection.execute(
        f"INSERT OR REPLACE INTO duplicate_checks (id, tool_id, {_PAIR}) "
        f"SELECT check_id, tool_id, {_PAIR} {back}",
        (tool_id,),
    )
    ids = connection.execute(f"SELECT check_id {back}", (tool_id,)).fetchall()
    connection.executemany(
        "DELETE FROM departed_pairs WHERE tool_id = ? AND check_id = ?",
        ((tool_id, check_id) for (check_id,) in ids),
    )
    connection.executemany(
        "UPDATE transactions SET (duplicate_checked, duplicate_checked_at) = (1, "
        "(SELECT decided_at FROM duplicate_checks WHERE id = ?1)) WHERE id IN ("
        "SELECT transaction_id_1 FROM duplicate_checks WHERE id = ?1 AND user_decision <> 'skip' "
        "UNION SELECT transaction_id_2 FROM duplicate_checks "
        "WHERE id = ?1 AND user_decision <> 'skip')",
        ids,
    )
