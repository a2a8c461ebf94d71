"""Notes on tools whose import is still running or was stopped."""

from __future__ import annotations

import apsw

from mdvec.tools.rows import Tool


def unfinished(connection: apsw.Connection, tool: Tool) -> str | None:
    """How far the tool's unfinished import has come; None if its last import finished."""
    if not _is_unfinished(tool):
        return None
    how = f"continue with: mdvec import -n {tool.name} --mode update"
    files = _files(tool)
    if tool.last_import_at is not None:
        return (
            f"{tool.name} may be older than its files: its last import has not finished{files}; "
            f"{how}"
        )
    from mdvec.index import documents

    there = documents.count(connection, tool.tables).documents
    number = f"{there} document" if there == 1 else f"{there} documents"
    return f"{tool.name} has {number} so far: its first import has not finished{files}; {how}"


def described(tool: Tool) -> str:
    """The tool's description, with a note while its import is unfinished."""
    if not _is_unfinished(tool):
        return tool.description
    which = "first" if tool.last_import_at is None else "last"
    return (
        f"{tool.description}\n\nIt is incomplete: its {which} import has not finished; each answer "
        "says how far it is."
    )


def _files(tool: Tool) -> str:
    return f" ({tool.import_done} of {tool.import_files} files)" if tool.import_files else ""


def _is_unfinished(tool: Tool) -> bool:
    """In an older format: a generation was begun, but no import has finished."""
    return tool.import_files is not None or (tool.last_import_at is None and tool.generation > 0)
