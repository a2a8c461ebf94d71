"""A tool of any kind, registered and imported through the library."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from mdvec.embedding.embedder import Embedder
from mdvec.files.scanning import ScanRules
from mdvec.importing.job import ImportReport, ImportRequest, Mode
from mdvec.importing.options import ChunkingSettings
from mdvec.manage import registering
from mdvec.manage.tool_import import import_tool
from tiny_embedder import tiny_embedder

RULES = ScanRules(extensions=(".md", ".markdown", ".txt"), exclude=(), max_bytes=10 * 2**20)


def tiny(_name: str) -> Embedder:
    return tiny_embedder()


def import_(
    database: Path,
    name: str,
    mode: Mode = "update",
    load: Callable[[str], Embedder] = tiny,
    rules: ScanRules = RULES,
    **more: Any,
) -> ImportReport:
    """Import a tool with the tiny model, or with another."""
    return import_tool(ImportRequest(database, name, mode, rules, ChunkingSettings(), **more), load)


def imported(
    database: Path, name: str, source: Path, kind: str, description: str = "words", **how: Any
) -> ImportReport:
    """Register a tool and import it the first time."""
    registering.add_tool(database, name, description, source, kind)
    return import_(database, name, "new", **how)
