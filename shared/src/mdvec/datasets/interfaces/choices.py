"""How a user wants a tool's files read, as stored and as types, and the states of data files."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import apsw

from mdvec.datasets.core.choices import ReadingChoice
from mdvec.datasets.core.value_types import ValueKind, kinds_of
from mdvec.files import SQLITE_ENDINGS, UnreadableFile, data_ending, why

if TYPE_CHECKING:
    import duckdb


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


_MAX_SHOWN = 40


def kind_as_chosen(
    connection: duckdb.DuckDBPyConnection,
    name: str,
    choice: str,
    fitting_kind: ValueKind | None,
    cells: str,
) -> ValueKind | None:
    """The kind of a column that the user chose; None for text.

    Args:
        connection: where the column can be read.
        name: the column's name.
        choice: a key of ``CHOICES``.
        fitting_kind: the kind that all values fit, if there is one.
        cells: SQL of the column's cells, called ``cell``.

    Raises:
        UnreadableFile: a value does not fit the choice.
    """
    kinds: Sequence[ValueKind] = kinds_of(choice)
    if fitting_kind is not None or not kinds:
        return fitting_kind
    fits = " OR ".join(f"coalesce({kind.holds('cell')}, false)" for kind in kinds)
    values = f"FROM ({cells}) WHERE {ValueKind.is_value('cell')}"
    odd = connection.execute(f"SELECT cell {values} AND NOT ({fits}) LIMIT 1").fetchone()
    if odd is None and connection.execute(f"SELECT 1 {values} LIMIT 1").fetchone() is None:
        return kinds[0]
    what = "its values are of several kinds" if odd is None else f"it holds {_shown(odd[0])}"
    raise UnreadableFile(
        f"its column {name!r} cannot be read as {choice}: {what}; "
        "choose another type with --read, or auto"
    )


def _shown(value: str) -> str:
    return repr(value if len(value) <= _MAX_SHOWN else f"{value[:_MAX_SHOWN]}…")


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
        raise UnreadableFile(f"it cannot be read ({why(error)})", may_pass=True) from error
    return sum(state.st_size for state in states), max(state.st_mtime_ns for state in states)
