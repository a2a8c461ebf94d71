"""The table of imported files and their state, to detect changes at the next import."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import apsw


@dataclass(frozen=True, slots=True)
class KnownFile:
    """A file's state at the last import.

    ``is_present`` is false for a deleted file whose rows are still in the ledger. ``bad_rows``
    are line numbers with reasons. ``passed_over`` says what a file without transactions is.
    ``app_version`` is the version of mdvec that read the file.
    """

    path: str
    size: int
    mtime_ns: int
    content_hash: str
    is_present: bool
    rows: int
    bad_rows: tuple[tuple[int, str], ...]
    passed_over: str
    app_version: str


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
    found = connection.execute(
        "SELECT without_file FROM ledger_versions WHERE tool_id = ?", (tool_id,)
    ).fetchone()
    return 0 if found is None else int(found[0])


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
        bad_rows=tuple((line, reason) for line, reason in json.loads(bad_rows)),
        passed_over=passed_over,
        app_version=version,
    )
