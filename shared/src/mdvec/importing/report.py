"""What goes into an import and what comes out: the request, its progress, its report."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from mdvec.datasets.report import DatasetReport
from mdvec.embedding.embedder import Embedder
from mdvec.errors import MdvecError
from mdvec.files.scan import Problem, ScanRules
from mdvec.household.core.pairs import DetectionOptions
from mdvec.household.report import NO_WISH, LedgerReport, RemovalWish
from mdvec.importing.options import ChunkingWish, ImportRefused

Mode = Literal["new", "replace", "update"]
EmbedderFor = Callable[[str | None], Embedder]
"""Loads a model by name; None means: choose one."""


class ToolChanged(ImportRefused):
    """Somebody deleted or rebuilt the tool while this import ran."""

    def __init__(self, name: str) -> None:
        super().__init__(
            f"the tool {name!r} was deleted or rebuilt while this import ran; nothing more was "
            "written. See what there is with: mdvec tool ls --all"
        )


class ImportInterrupted(MdvecError):
    """The user stopped an import; what was finished is kept."""


@dataclass(frozen=True, slots=True)
class ImportReport:
    """What an import did.

    ``chunks`` is what the tool holds afterwards, ``chunks_embedded`` what the model had to embed
    for it. ``failed`` names what could not be imported and why; the rest went in. Of a household
    the counts are transactions, and ``ledger`` says more about them;
    ``duplicate_candidates`` is how many pairs wait for a decision, where they were looked for.
    Of a dataset the counts are tables, ``dataset`` says more about them, and ``model`` is "".
    ``hints`` are sentences on files that the tool's kind does not take.
    """

    tool: str
    mode: Mode
    model: str
    added: int
    updated: int
    deleted: int
    unchanged: int
    failed: tuple[Problem, ...]
    chunks: int
    chunks_embedded: int
    seconds: float
    ledger: LedgerReport | None = None
    duplicate_candidates: int | None = None
    dataset: DatasetReport | None = None
    hints: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Progress:
    """How far an import is; what is counted as chunks may be something else, as ``unit`` says."""

    files_done: int
    files: int
    chunks_done: int
    unit: str = "chunks"


@dataclass(frozen=True, slots=True)
class ImportRequest:
    """What to import and how; what is None follows the tool, or the model's defaults.

    ``rules`` are those in force, ``scan_asked`` the names of those that were asked for rather
    than are defaults; they hold for a tool that has none of its own, ``scan_asked`` also for a
    rebuild, and with ``take_scan`` all of them become the tool's own.
    ``detection`` has a household's duplicates looked for after its import; ``removals`` is what
    its user says of rows that are gone from their statements.
    """

    database: Path
    tool: str
    mode: Mode
    rules: ScanRules
    chunking: ChunkingWish
    model: str | None = None
    detection: DetectionOptions | None = None
    removals: RemovalWish = NO_WISH
    scan_asked: frozenset[str] = frozenset({"extensions", "exclude", "max_bytes"})
    take_scan: bool = False
