"""Notes on tools whose import is still running or was stopped."""

from __future__ import annotations

from pathlib import Path

import apsw

from mdvec.text.counting import counted
from mdvec.tools.import_lock import is_being_imported
from mdvec.tools.rows import Tool

_IS_RUNNING = "an import is running"


def unfinished(connection: apsw.Connection, tool: Tool) -> str | None:
    """How far the tool's unfinished import has come; None if its last import finished."""
    if not _is_unfinished(tool):
        return None
    is_running = is_being_imported(Path(connection.filename), tool)
    how = _IS_RUNNING if is_running else _how(tool.name)
    files = _files(tool)
    if tool.last_import_at is not None:
        return (
            f"{tool.name} may be older than its files: its last import has not finished{files}; "
            f"{how}"
        )
    from mdvec.index import documents

    there = documents.document_counts(connection, tool.tables).documents
    number = counted(there, "document")
    return f"{tool.name} has {number} so far: its first import has not finished{files}; {how}"


def while_it_runs(note: str, tool: str) -> str:
    """An answer's note, without the command that continues an unfinished import of the tool.

    For an import that has just begun, so that its lock does not tell yet.
    """
    return note.replace(_how(tool), _IS_RUNNING)


def described_tool(tool: Tool) -> str:
    """The tool's description, with a note while its import is unfinished."""
    if not _is_unfinished(tool):
        return tool.description
    which = "first" if tool.last_import_at is None else "last"
    return (
        f"{tool.description}\n\nIt is incomplete: its {which} import has not finished; each answer "
        "says how far it is."
    )


def _how(tool: str) -> str:
    return f"continue with: mdvec import -n {tool} --mode update"


def _files(tool: Tool) -> str:
    if not tool.import_files:
        return ""
    return f" ({tool.import_done or 0:,} of {counted(tool.import_files, 'file')})"


def _is_unfinished(tool: Tool) -> bool:
    return tool.import_files is not None
