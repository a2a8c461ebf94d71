"""The table of files that a tool's last import could not import, and why."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import apsw

from mdvec.files import FileState, PassingProblem, Problem


@dataclass(frozen=True, slots=True)
class Failure:
    """A file that could not be imported.

    ``state`` is what failed; None if that is not known, or if the same state may be imported later.
    """

    file_path: str
    reason: str
    state: FileState | None = None


def record_failures(
    connection: apsw.Connection,
    tool_id: int,
    problems: Iterable[Problem],
    found: Mapping[str, FileState],
) -> None:
    """Replace a tool's failures.

    Args:
        connection: the database.
        tool_id: the tool.
        problems: what its last import could not import; ``file#table`` for a table of a file.
        found: the files that the import found, with their states.
    """
    rows: dict[str, tuple[str, FileState | None]] = {}
    for problem in problems:
        path = problem.file_path
        state = found.get(path) or found.get(path.rpartition("#")[0])
        rows[path] = (problem.reason, None if isinstance(problem, PassingProblem) else state)
    if not rows and not failures(connection, tool_id):
        return
    with connection:
        connection.execute("DELETE FROM import_failures WHERE tool_id = ?", (tool_id,))
        connection.executemany(
            "INSERT INTO import_failures (tool_id, path, reason, size, mtime_ns) "
            "SELECT id, ?2, ?3, ?4, ?5 FROM tools WHERE id = ?1",
            (
                (tool_id, path, reason, *(state or (None, None)))
                for path, (reason, state) in rows.items()
            ),
        )


def failures(connection: apsw.Connection, tool_id: int) -> list[Failure]:
    """A tool's failures, by path."""
    rows = connection.execute(
        "SELECT path, reason, size, mtime_ns FROM import_failures WHERE tool_id = ? ORDER BY path",
        (tool_id,),
    )
    return [
        Failure(path, reason, None if size is None else (size, mtime_ns))
        for path, reason, size, mtime_ns in rows
    ]
