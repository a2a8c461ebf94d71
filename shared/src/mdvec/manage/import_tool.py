"""A tool's folder into the database: what changed, its chunks, their vectors, a report."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import apsw
from filelock import FileLock, Timeout

from mdvec.database.connection import DatabaseError, open_database
from mdvec.datasets.importer import DatasetRun
from mdvec.datasets.interfaces import tables as datasets
from mdvec.documents.importer import ImportRun
from mdvec.files.scan import Scan, ScanRules, scan, scan_file
from mdvec.household.importer import HouseholdRun
from mdvec.household.interfaces import files as ledger_files
from mdvec.importing.options import ImportRefused
from mdvec.importing.report import (
    EmbedderFor,
    ImportInterrupted,
    ImportReport,
    ImportRequest,
    Progress,
    ToolChanged,
)
from mdvec.importing.scan_rules import choose_rules
from mdvec.index import documents
from mdvec.index.tables import Tables
from mdvec.manage.import_hints import hints_of
from mdvec.timing import Stopwatch
from mdvec.tools import rows as tools
from mdvec.tools.rows import Tool

_RUNS: dict[str, type[ImportRun | HouseholdRun | DatasetRun]] = {
    "household": HouseholdRun,
    "dataset": DatasetRun,
}


def import_tool(
    request: ImportRequest,
    embedder_for: EmbedderFor,
    *,
    on_progress: Callable[[Progress], None] = lambda _: None,
    on_notice: Callable[[str], None] = lambda _: None,
) -> ImportReport:
    """Bring a tool's tables in line with its folder.

    Each document goes in whole or not at all. ``new`` fills an empty tool, ``update`` follows
    changes, ``replace`` builds everything again while searches still see the old.
    ``on_notice`` gets a sentence when another import of the same tool has to end first, when the
    tool's indexes have to be built, and when its own rules of scanning differ from those in force.

    Raises:
        ToolNotFound, SourceMissing, ModelError: nothing was changed.
        ImportRefused: the mode, the model or the chunking does not fit what is there.
        ImportInterrupted: the user stopped it.
        DatabaseError: the file cannot be written; finished documents are kept.
    """
    with open_database(request.database, "write") as connection:
        locked = tools.get_tool(connection, request.tool)
        with only_import_of(request.database, locked, on_notice):
            stopwatch = Stopwatch()
            tool = tools.get_tool(connection, request.tool)
            if tool.id != locked.id:
                raise ToolChanged(tool.name)
            if request.removals and tool.kind != "household":
                raise ImportRefused(
                    f"the tool {tool.name!r} is no household: rows that are gone from their "
                    "statements are a household's; leave the option out"
                )
            choice = choose_rules(tool, request, _held(connection, tool))
            with stopwatch.stage("file_scan"):
                found = _scan(tool, choice.rules)
            if choice.notice:
                on_notice(choice.notice)
            run = _RUNS.get(tool.kind, ImportRun)(
                connection, tool, request, embedder_for, stopwatch, on_progress, on_notice, found,
                choice.own,
            )  # fmt: skip
            try:
                report = run.run()
                report = replace(report, hints=hints_of(tool, found, choice.rules, report))
            except KeyboardInterrupt:
                raise ImportInterrupted(run.interrupted()) from None
    stopwatch.log("import")
    return report


def _scan(tool: Tool, rules: ScanRules) -> Scan:
    if tool.kind == "dataset" and tool.source.is_file():
        return scan_file(tool.source)
    return scan(tool.source, rules)


def _held(connection: apsw.Connection, tool: Tool) -> Mapping[str, int]:
    """The files whose contents the tool holds, with their sizes."""
    if tool.kind == "household":
        files = ledger_files.known_files(connection, tool.id).values()
        return {file.path: file.size for file in files if file.is_present}
    if tool.kind == "dataset":
        return {
            path: file.size for path, file in datasets.imported_files(connection, tool.id).items()
        }
    stored = documents.stored_files(connection, Tables(tool.id, tool.name, tool.generation))
    return {path: file.size for path, file in stored.items()}


@contextmanager
def only_import_of(database: Path, tool: Tool, on_notice: Callable[[str], None]) -> Iterator[None]:
    """Hold the lock that keeps two imports of one tool apart; a dead process holds none.

    Compacting the file takes those of all tools.
    """
    path = Path(f"{database}.import-{tool.id}.lock")
    lock = FileLock(path, mode=0o600)
    try:
        try:
            lock.acquire(timeout=0)
        except Timeout:
            on_notice(
                f"an import of {tool.name!r} (or mdvec compact) is running; waiting for its end …"
            )
            lock.acquire()
    except OSError as error:
        raise DatabaseError(
            f"the lock file {path} cannot be made ({error.strerror}); "
            "remove what stands in its place, or give the database a shorter name"
        ) from error
    try:
        yield
    finally:
        path.unlink(missing_ok=True)
        lock.release()
