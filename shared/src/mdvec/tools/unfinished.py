"""What is said of a tool whose import has not come to its end."""

from __future__ import annotations

import apsw

from mdvec.index import documents
from mdvec.index.tables import Tables
from mdvec.tools.rows import Tool


def unfinished(connection: apsw.Connection, tool: Tool) -> str | None:
    """How far the import of a tool came that runs still or was stopped; None where none did."""
    if not _is_unfinished(tool):
        return None
    how = f"go on with: mdvec import -n {tool.name} --mode update"
    files = _files(tool)
    if tool.last_import_at is not None:
        return (
            f"{tool.name} may be older than its files: its last import has not finished{files}; "
            f"{how}"
        )
    names = Tables(tool.id, tool.name, tool.generation)
    there = documents.count(connection, names).documents
    number = f"{there} document" if there == 1 else f"{there} documents"
    return f"{tool.name} has {number} so far: its first import has not finished{files}; {how}"


def described(tool: Tool) -> str:
    """The tool's description, and whether its import had not finished when it was read."""
    if not _is_unfinished(tool):
        return tool.description
    which = "first" if tool.last_import_at is None else "last"
    return (
        f"{tool.description}\n\nNot all of it is here: when this server started, its {which} "
        f"import had not finished{_files(tool)}."
    )


def _files(tool: Tool) -> str:
    return f" ({tool.import_done} of {tool.import_files} files)" if tool.import_files else ""


def _is_unfinished(tool: Tool) -> bool:
    """Also by what an older format has: a generation that is filled, and no end of an import."""
    return tool.import_files is not None or (tool.last_import_at is None and tool.generation > 0)
