"""Checks that the tools' sources exist and were imported."""

from __future__ import annotations

from collections.abc import Iterator

from mdvec.database.connection import open_database
from mdvec.manage.doctor.findings import Finding, Installation
from mdvec.tools import rows as tools
from mdvec.tools.import_lock import is_being_imported
from mdvec.tools.kinds import KINDS
from mdvec.tools.names import reserved_names_taken
from mdvec.tools.rows import Tool
from mdvec.tools.unfinished import unfinished


def check_sources(installation: Installation) -> Iterator[Finding]:
    """Check that each tool's source exists and its last import finished."""
    with open_database(installation.database, "read") as connection:
        rows = tools.list_tools(connection)
        stopped = {tool.id: unfinished(connection, tool) for tool in rows}
    if not rows:
        yield Finding(
            "warning", "sources", "there are no tools yet",
            'mdvec tool add -n NAME -d "what it contains" -s FOLDER',
        )  # fmt: skip
    for taken in reserved_names_taken([tool.name for tool in rows]):
        yield Finding("warning", "sources", taken)
    for tool in rows:
        yield _source(tool)
        how = f"mdvec import -n {tool.name}"
        if is_being_imported(installation.database, tool):
            yield Finding("ok", "sources", stopped[tool.id] or f"{tool.name} is being imported")
        elif (sentence := stopped[tool.id]) is not None:
            yield Finding("warning", "sources", sentence, f"{how} --mode update")
        elif tool.last_import_at is None:
            yield Finding("warning", "sources", f"{tool.name} was never imported", how)


def _source(tool: Tool) -> Finding:
    if tool.source.exists():
        return Finding("ok", "sources", f"{tool.name}: {tool.source} is there")
    has_texts = KINDS[tool.kind].has_texts
    effect = "searches find what was imported" if has_texts else "queries cannot read it"
    return Finding(
        "warning" if has_texts else "trouble", "sources",
        f"{tool.name}: {tool.source} does not exist; {effect}, imports fail",
        f"mdvec tool update -n {tool.name} -s FOLDER",
    )  # fmt: skip
