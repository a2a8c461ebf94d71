"""How a user wants a tool's files read, as stored and as types, and the states of data files."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import apsw

from mdvec.datasets.core.choices import ReadingChoice
from mdvec.files import SQLITE_ENDINGS, UnreadableFile, data_ending

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
        [
            (tool_id, choice.pattern, choice.setting, choice.column, choice.value)
            for choice in choices
        ],
    )


_LOGS = {".duckdb": (".wal",), **dict.fromkeys(SQLITE_ENDINGS, ("-wal", "-journal"))}
"""By ending: what a database's name is followed by in those of its logs."""


def has_logs(path: str) -> bool:
    """Whether a file of this name may have logs beside it."""
    return data_ending(path) in _LOGS


def file_state(source: Path) -> tuple[int, int]:
    """A data file's size and time of change; a database's logs are included.

    Raises:
        UnreadableFile: it is gone.
    """
    try:
        states = [source.stat()]
        for log in _LOGS.get(data_ending(source.name), ()):
            beside = source.with_name(f"{source.name}{log}")
            if beside.exists():
                states.append(beside.stat())
    except OSError as error:
        raise UnreadableFile.of_error(error) from error
    return sum(state.st_size for state in states), max(state.st_mtime_ns for state in states)
