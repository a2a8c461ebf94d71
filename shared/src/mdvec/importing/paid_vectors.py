"""Vectors that an endpoint made for an import that is not finished, so none is paid for twice."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence

import apsw


class PaidVectors:
    """The vectors of one tool and one fingerprint, by embedded text, until the import finishes.

    Their table is made by the first import that needs it, and holds a digest of each text, not the
    text. It belongs to no numbered format: a file without it lacks nothing.
    """

    def __init__(self, connection: apsw.Connection, tool_id: int, fingerprint: str) -> None:
        self._connection = connection
        self._key = (tool_id, fingerprint)

    def create_table(self) -> None:
        """Create the table if it is not there."""
        self._connection.execute(
            "CREATE TABLE IF NOT EXISTS paid_vectors ("
            "tool_id INTEGER NOT NULL, fingerprint TEXT NOT NULL, digest BLOB NOT NULL, "
            "embedding BLOB NOT NULL, PRIMARY KEY (tool_id, fingerprint, digest), "
            "FOREIGN KEY (tool_id) REFERENCES tools(id) ON DELETE CASCADE) WITHOUT ROWID"
        )

    def found(self, texts: Sequence[str]) -> dict[str, bytes]:
        """The vectors that are there, by text."""
        found = {}
        for text in texts:
            row = self._connection.execute(
                "SELECT embedding FROM paid_vectors "
                "WHERE tool_id = ? AND fingerprint = ? AND digest = ?",
                (*self._key, _digest(text)),
            ).fetchone()
            if row is not None:
                found[text] = bytes(row[0])
        return found

    def keep(self, vectors: Mapping[str, bytes]) -> None:
        """Store vectors; call within a transaction."""
        self._connection.executemany(
            "INSERT OR IGNORE INTO paid_vectors VALUES (?, ?, ?, ?)",
            [(*self._key, _digest(text), vector) for text, vector in vectors.items()],
        )


def forget_paid(connection: apsw.Connection, tool_id: int) -> None:
    """Delete a tool's paid vectors, which its chunks now hold; call within a transaction."""
    there = connection.execute(
        "SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = 'paid_vectors'"
    )
    if there.fetchone() is not None:
        connection.execute("DELETE FROM paid_vectors WHERE tool_id = ?", (tool_id,))


def _digest(text: str) -> bytes:
    return hashlib.sha256(text.encode("utf-8")).digest()
