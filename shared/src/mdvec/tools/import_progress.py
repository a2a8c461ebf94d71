"""Whether a tool is being imported, how far that is, and what its index lacks meanwhile."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

import apsw

from mdvec import index
from mdvec.database import column
from mdvec.files import SourceMissing, scan
from mdvec.platform import is_held, shell_line
from mdvec.text import composed, counted, identifier, quoted, shown_name, some_of
from mdvec.tools.kinds import KINDS
from mdvec.tools.names import offered_name
from mdvec.tools.registry import Tool, lock_file

_IS_RUNNING = "an import is running"
_MAX_NAMED = 3


def is_being_imported(database: Path, tool: Tool) -> bool:
    """Whether an import of the tool, or mdvec compact, is running in another process."""
    return is_held(lock_file(database, tool))


def unfinished(connection: apsw.Connection, tool: Tool) -> str | None:
    """The progress of the tool's unfinished import; None if its last import finished."""
    if not _is_unfinished(tool):
        return None
    is_running = is_being_imported(Path(connection.filename), tool)
    return _so_far(connection, tool, is_running=is_running)


def _so_far(connection: apsw.Connection, tool: Tool, *, is_running: bool) -> str:
    how = _IS_RUNNING if is_running else _how(connection, tool)
    total, done = tool.import_files, tool.import_done or 0
    files = f" ({done:,} of {counted(total, 'file')})" if total else ""
    if tool.last_import_at is not None:
        return (
            f"{tool.name} may be older than its files: its last import has not finished{files}; "
            f"{how}"
        )
    there = index.documents.document_counts(tool.tables_in(connection)).documents
    number = counted(there, "document")
    return f"{tool.name} has {number} so far: its first import has not finished{files}; {how}"


def still_to_come(
    connection: apsw.Connection, tool: Tool, *, has_begun: bool = False
) -> str | None:
    """What an index still lacks, or why its import failed; None if it is complete.

    ``has_begun``: an import has just begun, and may not hold its lock yet.
    """
    is_running = has_begun or is_being_imported(Path(connection.filename), tool)
    missing = _missing(connection, tool, is_running=is_running)
    reason = connection.execute(
        "SELECT reason FROM import_failures WHERE tool_id = ? AND path = ''", (tool.id,)
    ).get
    if reason is None or is_running:
        return missing
    failed = f"an import of {tool.name} in the background failed: {reason}"
    return (
        f"{failed}; {missing or f'searches read what was there before; {_how(connection, tool)}'}"
    )


def command_to_finish(connection: apsw.Connection, tool: Tool) -> str:
    """The command that finishes what the tool's last import began."""
    options = index.kept_options(tool.tables_in(connection))
    mode = "update" if options is None else "replace"
    return shell_line("mdvec", "import", "-n", tool.name, "--mode", mode, *(options or ()))


def never_read(connection: apsw.Connection, tool: Tool) -> str | None:
    """Which files no import could read, so that a search finds nothing of them; None if none."""
    if not tool.generation:
        return None
    paths = column(
        connection,
        "SELECT path FROM import_failures AS f WHERE tool_id = ? AND path <> '' AND NOT EXISTS "
        f"(SELECT 1 FROM {identifier(tool.tables_in(connection).documents)} "
        "WHERE substr(file_path, 1, length(f.path)) = f.path) ORDER BY path",
        (tool.id,),
    )
    names = some_of([shown_name(str(path)) for path in paths], _MAX_NAMED)
    lacking = f"answers from {tool.name} lack what could not be imported"
    return f"{lacking}: {names} ({offered_name('list_sources')} says why)" if paths else None


def not_imported(connection: apsw.Connection, tools: Iterable[Tool], path: str) -> str | None:
    """Why the index lacks a file that is in a tool's folder; None if it is in none."""
    return next(filter(None, (_not_imported(connection, tool, path) for tool in tools)), None)


def _not_imported(connection: apsw.Connection, tool: Tool, path: str) -> str | None:
    asked = path.removeprefix(f"{tool.source}/")
    if tool.scan is None or not KINDS[tool.kind].has_passages:
        return _as_statement(connection, tool, asked)
    try:
        reason = connection.execute(
            "SELECT reason FROM import_failures WHERE tool_id = ? AND path = ?", (tool.id, asked)
        ).get
        if asked and reason is not None and os.path.lexists(tool.source / asked):
            return f"{quoted(asked)} of {tool.name} could not be imported: {reason}"
        is_there = (tool.source / asked).is_file()
        files = scan(tool.source, tool.scan, tool.name).files if is_there else ()
    except (OSError, ValueError, SourceMissing):  # no system takes such a path
        return None
    if composed(asked) not in (composed(file.path) for file in files):
        return None
    if index.documents.stored_text(tool.tables_in(connection), asked) is not None:
        return None
    is_running = is_being_imported(Path(connection.filename), tool)
    how = _IS_RUNNING if is_running else f"{offered_name('reindex')} imports it"
    return f"{quoted(asked)} of {tool.name} is not imported yet; {how}"


def _as_statement(connection: apsw.Connection, tool: Tool, path: str) -> str | None:
    """Why an imported statement file is no document: the ledger has its rows from other files."""
    try:
        is_without_rows = connection.execute(
            "SELECT rows > json_array_length(bad_rows) AND NOT EXISTS "
            "(SELECT 1 FROM transactions AS t WHERE t.tool_id = ?1 "
            "AND t.source_file = ?2 AND t.removal IS NOT 'removed') "
            "FROM ledger_files WHERE tool_id = ?1 AND path = ?2",
            (tool.id, path),
        ).get
    except UnicodeEncodeError:  # a lone surrogate
        return None
    if not is_without_rows:
        return None
    return (
        f"{quoted(path)} of {tool.name} is a statement file, but no row counts from it: other "
        "files have its rows, or show that they are gone; in SQL, the column file of transactions "
        "names each row's file"
    )


def _missing(connection: apsw.Connection, tool: Tool, *, is_running: bool) -> str | None:
    has_texts = KINDS[tool.kind].has_texts
    rebuilt = index.documents.staged_documents(tool.tables_in(connection)) if has_texts else None
    is_building_again = rebuilt is not None and is_running  # after an import that did not finish
    if _is_unfinished(tool) and not is_building_again:
        return _so_far(connection, tool, is_running=is_running)
    if not has_texts:
        return None
    if not tool.generation:
        return _before_first(connection, tool, rebuilt, is_running=is_running)
    if rebuilt is not None:
        how = command_to_finish(connection, tool)
        so_far = f"{counted(rebuilt, 'document')} so far"
        return (
            f"{tool.name} is being built again, {so_far}; until that is complete, searches read "
            "what was there before"
            if is_running
            else f"{tool.name} was being built again, {so_far}, and that has ended before it was "
            f"complete; searches read what was there before; begin again with: {how}"
        )
    count = index.pending_count(tool.tables_in(connection))
    if not count:
        return None
    total = index.chunk_count(tool.tables_in(connection))
    return (
        f"{tool.name}: {total - count:,} of {total:,} passages have vectors so far, words find the "
        f"others; {_IS_RUNNING if is_running else _how(connection, tool)}"
    )


def _before_first(
    connection: apsw.Connection, tool: Tool, staged: int | None, *, is_running: bool
) -> str | None:
    """What a tool without an index lacks; ``staged`` documents are searched only at the end."""
    if staged is None:
        return _so_far(connection, tool, is_running=True) if is_running else None
    so_far = f"{counted(staged, 'document')} so far"
    if is_running:
        nothing = f"{tool.name} has nothing to search before its first import ends, {so_far}"
        return f"{nothing}; {_IS_RUNNING}"
    nothing = f"{tool.name} has nothing to search: its first import, {so_far}, did not finish"
    return f"{nothing}; begin again with: {command_to_finish(connection, tool)}"


def described_tool(tool: Tool) -> str:
    """The tool's description, with a note while its first import is unfinished.

    Later imports leave descriptions unchanged, so that clients need not list the tools again.
    """
    if not is_first_unfinished(tool):
        return tool.description
    return (
        f"{tool.description}\n\nIt is incomplete: its first import has not finished; each answer "
        "says how far it is."
    )


def is_first_unfinished(tool: Tool) -> bool:
    """Whether a tool's first import has begun, and none has finished."""
    return _is_unfinished(tool) and tool.last_import_at is None


def _how(connection: apsw.Connection, tool: Tool) -> str:
    return f"continue with: {command_to_finish(connection, tool)}"


def _is_unfinished(tool: Tool) -> bool:
    return tool.import_files is not None
