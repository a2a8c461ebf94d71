"""The states of data files: what imports compare to notice a change."""

from __future__ import annotations

from pathlib import Path

from mdvec.files.endings import SQLITE_ENDINGS, data_ending
from mdvec.files.scan import UnreadableFile, why

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
