"""Records an import's state in its tool's row."""

from __future__ import annotations

import json
from dataclasses import asdict

import apsw

from mdvec import __version__
from mdvec.files.scan import ScanRules
from mdvec.text.options import ChunkingOptions
from mdvec.tools.rows import Tool, list_tools


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
