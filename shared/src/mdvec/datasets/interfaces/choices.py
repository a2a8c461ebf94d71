"""The database's records of how a user wants a tool's files read."""

from __future__ import annotations

from collections.abc import Iterable

import apsw

from mdvec.datasets.core.choices import ReadingChoice

_TABLE = "dataset_choices"


def stored_choices(connection: apsw.Connection, tool_id: int) -> tuple[ReadingChoice, ...]:
    """A tool's choices; those for every file come first."""
    rows: list[tuple[str, str, str, str]] = connection.execute(  # type: ignore[assignment]
        f"SELECT pattern, setting, column_name, value FROM {_TABLE} WHERE tool_id = ? "
        "ORDER BY pattern <> '*', pattern, setting, column_name",
        (tool_id,),
    ).fetchall()
    return tuple(ReadingChoice(*row) for row in rows)


def record_choices(
    connection: apsw.Connection, tool_id: int, choices: Iterable[ReadingChoice]
) -> None:
    """Replace a tool's choices; call within a transaction."""
    connection.execute(f"DELETE FROM {_TABLE} WHERE tool_id = ?", (tool_id,))
    connection.executemany(
        f"INSERT INTO {_TABLE} (tool_id, pattern, setting, column_name, value) "
        "VALUES (?, ?, ?, ?, ?)",
        [(tool_id, one.pattern, one.setting, one.column, one.value) for one in choices],
    )
