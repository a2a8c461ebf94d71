"""The table of files that may be of two accounts; it is made when there is a first question."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields

import apsw

from mdvec.dates import Days
from mdvec.household.core.accounts import AccountQuestion

_COLUMNS = ", ".join(field.name for field in fields(AccountQuestion))


def keep_questions(
    connection: apsw.Connection, tool_id: int, questions: Sequence[AccountQuestion]
) -> None:
    """Replace a household's open questions; call within a transaction."""
    if not questions and not _exists(connection):
        return
    connection.execute(
        "CREATE TABLE IF NOT EXISTS account_questions (tool_id INTEGER NOT NULL "
        "REFERENCES tools(id) ON DELETE CASCADE, account TEXT NOT NULL, path TEXT NOT NULL, "
        "other TEXT NOT NULL, first TEXT NOT NULL, last TEXT NOT NULL, shared INTEGER NOT NULL, "
        "spent INTEGER NOT NULL, earned INTEGER NOT NULL, PRIMARY KEY (tool_id, path)) "
        "WITHOUT ROWID"
    )
    connection.execute("DELETE FROM account_questions WHERE tool_id = ?", (tool_id,))
    connection.executemany(
        f"INSERT INTO account_questions (tool_id, {_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
        [
            (
                tool_id, each.account, each.path, each.other, each.first, each.last, each.shared,
                each.spent, each.earned,
            )
            for each in questions
        ],
    )  # fmt: skip


def open_questions(
    connection: apsw.Connection, tool_id: int, days: Days | None = None
) -> list[AccountQuestion]:
    """The questions of a household, or those about some days, in the order of their files."""
    if not _exists(connection):
        return []
    first, last = ("", "~") if days is None else (days.first.isoformat(), days.last.isoformat())
    rows = connection.execute(
        f"SELECT {_COLUMNS} FROM account_questions "
        "WHERE tool_id = ? AND first <= ? AND last >= ? ORDER BY path",
        (tool_id, last, first),
    )
    return [AccountQuestion(*row) for row in rows]


def _exists(connection: apsw.Connection) -> bool:
    found = connection.execute(
        "SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = 'account_questions'"
    )
    return found.fetchone() is not None
