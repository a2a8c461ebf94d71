"""The state of imports: their lock, their progress in the tool's row, and what is unfinished."""

from __future__ import annotations

import fcntl
import json
import os
from dataclasses import asdict
from pathlib import Path

import apsw

from mdvec import __version__, index
from mdvec.files import ScanRules
from mdvec.text import ChunkingOptions, counted
from mdvec.tools.registry import Tool, list_tools


def record_model(
    connection: apsw.Connection,
    tool: Tool,
    generation: int,
    model: tuple[str, str, int],
    chunking: ChunkingOptions,
) -> None:
    """Record a generation with its model (name, fingerprint, dimension) and its chunking."""
    connection.execute(
        "UPDATE tools SET model = ?, embedding_fingerprint = ?, embedding_dimension = ?, "
        "chunking = ?, generation = ? WHERE id = ?",
        (*model, json.dumps(asdict(chunking)), generation, tool.id),
    )


def begin_import(
    connection: apsw.Connection, tool: Tool, rules: ScanRules, files: int, done: int
) -> None:
    """Record an import's scan rules, how many files it found, and how many of them are stored."""
    connection.execute(
        "UPDATE tools SET scan = ?, import_files = ?, import_done = ? WHERE id = ?",
        (_rules_for_later(connection, tool, rules), files, done, tool.id),
    )


def count_done(connection: apsw.Connection, tool: Tool, done: int) -> None:
    """Record how many of the files are stored so far."""
    connection.execute("UPDATE tools SET import_done = ? WHERE id = ?", (done, tool.id))


def record_import(connection: apsw.Connection, tool: Tool, rules: ScanRules) -> None:
    """Record that an import has finished, and the scan rules it used."""
    connection.execute(
        "UPDATE tools SET last_import_at = CURRENT_TIMESTAMP, app_version = ?, scan = ?, "
        "import_files = NULL, import_done = NULL WHERE id = ?",
        (__version__, _rules_for_later(connection, tool, rules), tool.id),
    )


def _rules_for_later(connection: apsw.Connection, tool: Tool, rules: ScanRules) -> str:
    """The rules to store: those of the import, unless the user set others while it ran."""
    now = next((one.scan for one in list_tools(connection) if one.id == tool.id), None)
    kept = rules if now is None or now == tool.scan else now
    return json.dumps(kept.json_fields(), ensure_ascii=False)


def lock_file(database: Path, tool: Tool) -> Path:
    """The lock file of a tool's imports; an import removes it when it ends."""
    return Path(f"{database}.import-{tool.id}.lock")


def is_being_imported(database: Path, tool: Tool) -> bool:
    """Whether an import of the tool, or mdvec compact, is running in another process."""
    try:
        # Opened here, as filelock would create the file if the import has just removed it.
        descriptor = os.open(lock_file(database, tool), os.O_RDWR | os.O_CLOEXEC)
    except OSError:
        return False
    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    finally:
        os.close(descriptor)
    return False


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

    there = index.documents.document_counts(connection, tool.tables).documents
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
