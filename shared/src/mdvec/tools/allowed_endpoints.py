"""The endpoints on other machines that a tool's texts and questions may go to: the user's answers.

The table is made by the first answer and belongs to no numbered format: a file without it allows
nothing.
"""

from __future__ import annotations

import apsw


def allow_endpoint(connection: apsw.Connection, tool_id: int, origin: str) -> None:
    """Record that a tool's texts and questions may go to the endpoints at ``origin``."""
    with connection:
        connection.execute(
            "CREATE TABLE IF NOT EXISTS allowed_endpoints (tool_id INTEGER NOT NULL "
            "REFERENCES tools(id) ON DELETE CASCADE, origin TEXT NOT NULL, "
            "PRIMARY KEY (tool_id, origin)) WITHOUT ROWID"
        )
        connection.execute(
            "INSERT OR IGNORE INTO allowed_endpoints VALUES (?, ?)", (tool_id, origin)
        )


def is_endpoint_allowed(connection: apsw.Connection, tool_id: int, origin: str) -> bool:
    """Whether the user has allowed it."""
    there = connection.execute(
        "SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = 'allowed_endpoints'"
    )
    if there.fetchone() is None:
        return False
    allowed = connection.execute(
        "SELECT 1 FROM allowed_endpoints WHERE tool_id = ? AND origin = ?", (tool_id, origin)
    )
    return allowed.fetchone() is not None
