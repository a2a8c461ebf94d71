"""The interface between an import and the importer of a kind of source."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field

import apsw

from mdvec.embedding import Sending
from mdvec.files import FileState, Problem, Scan, ScanRules
from mdvec.importing.report import (
    EmbedderFor,
    ImportReport,
    ImportRequest,
    KindReport,
    Progress,
    ToolChanged,
)
from mdvec.timing import Stopwatch
from mdvec.tools import Tool, registry


@dataclass(frozen=True, slots=True)
class ImportJob:
    """The input of an importer.

    ``tool`` is the tool's row when the import began, ``found`` are the files of its source,
    ``rules`` the scan rules to store for it. ``on_notice`` shows a sentence to the user;
    ``may_send`` asks whether texts may leave this machine. ``hints`` go into the report.
    """

    connection: apsw.Connection
    tool: Tool
    request: ImportRequest
    found: Scan
    rules: ScanRules
    embedder_for: EmbedderFor
    stopwatch: Stopwatch
    on_progress: Callable[[Progress], None]
    on_notice: Callable[[str], None]
    may_send: Callable[[Sending], bool] = lambda _: False
    hints: list[str] = field(default_factory=list)

    def report(
        self,
        *,
        failed: Iterable[Problem],
        model: str = "",
        details: KindReport | None = None,
        hints: tuple[str, ...] = (),
        **counts: int,
    ) -> ImportReport:
        """The report of this job with these counts; call it when the import has ended."""
        return ImportReport(
            tool=self.tool.name,
            mode=self.request.mode,
            model=model,
            failed=tuple(sorted(failed, key=lambda problem: problem.file_path)),
            seconds=round(self.stopwatch.total, 3),
            details=details,
            hints=(*hints, *self.hints),
            **counts,
        )


@dataclass(frozen=True, slots=True)
class Importer:
    """The importer of one kind of source.

    Attributes:
        import_source: updates the tool's tables from the files of its source.
        stored_states: the files whose contents are stored, with their states when imported.
        found_states: the files of a scan that it would import, under the same paths.
    """

    import_source: Callable[[ImportJob], ImportReport]
    stored_states: Callable[[apsw.Connection, Tool], Mapping[str, FileState]]
    found_states: Callable[[apsw.Connection, Tool, Scan], Mapping[str, FileState]]


def states_as_found(_: apsw.Connection, __: Tool, scan: Scan) -> Mapping[str, FileState]:
    """The ``found_states`` of a kind that imports each file under its own path."""
    return {file.path: file.state for file in scan.files}


class ProgressCount:
    """Counts the files of an import, and the chunks or rows in them, and reports each step."""

    def __init__(self, on_progress: Callable[[Progress], None], unit: str = "chunks") -> None:
        self.files = 0
        self.files_done = 0
        self.units_done = 0
        self._unit = unit
        self._on_progress = on_progress

    def file_done(self) -> None:
        """Count one more file."""
        self.files_done += 1
        self._report()

    def add_units(self, number: int) -> None:
        """Count more chunks or rows."""
        self.units_done += number
        self._report()

    def page_read(self, page: int, pages: int) -> None:
        """Tell how many pages of the file in hand have been read."""
        self._report(page, pages)

    def _report(self, page: int = 0, pages: int = 0) -> None:
        self._on_progress(
            Progress(self.files_done, self.files, self.units_done, self._unit, page, pages)
        )


def check_unchanged(connection: apsw.Connection, tool: Tool) -> None:
    """Check, within a transaction, that the tool is still the one this import began with.

    Raises:
        ToolChanged: it was deleted or rebuilt.
    """
    now = next((known for known in registry.list_tools(connection) if known.id == tool.id), None)
    if now is None or now.generation != tool.generation:
        raise ToolChanged(tool.name)
