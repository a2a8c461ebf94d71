"""An import of any kind of source: its request, the importer's interface, and its report."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import ClassVar, Literal, Protocol

import apsw

from mdvec.converters import NO_COMMANDS, OwnCommands
from mdvec.embedding import Embedder, Sending
from mdvec.errors import MdvecError
from mdvec.files import FileState, PassingProblem, Problem, Scan, ScanRules
from mdvec.importing.options import ChunkingSettings, ImportRefused
from mdvec.index import ChromaServer
from mdvec.platform import shell_line
from mdvec.text import shown_name
from mdvec.timing import Stopwatch
from mdvec.tools import KINDS, Tool, registry

Mode = Literal["new", "replace", "update"]
EmbedderFor = Callable[[str | None], Embedder]
"""Loads a model by name; None lets it choose one."""
MAX_LISTED = 20
"""How many problems of one kind the printed report lists; JSON lists all."""


class ToolChanged(ImportRefused):
    """Another process deleted or rebuilt the tool during this import."""

    def __init__(self, name: str) -> None:
        super().__init__(
            f"the tool {name!r} was deleted or rebuilt while this import ran; nothing more was "
            "written. List the tools with: mdvec tool ls --all"
        )


class ImportInterrupted(MdvecError):
    """The user stopped an import; finished documents are kept."""


class NoFiles(ImportRefused):
    """The source of a tool with content has no file."""

    def __init__(self, scan: Scan, message: str) -> None:
        left_out = scan.about_left_out
        super().__init__(f"{message}; {left_out}" if left_out else message)


class KindOptions(Protocol):
    """The part of a request that applies to one kind of source only."""

    kind: ClassVar[str]

    def refusal(self, tool_name: str) -> str | None:
        """Why a tool of another kind cannot be imported with these options; None to ignore them."""
        ...


@dataclass(frozen=True, slots=True)
class ImportRequest:
    """What to import and how; None means the tool's value, or the model's default.

    ``rules`` are the current scan settings; ``scan_explicit`` names those that are not defaults.
    A tool's first import takes ``rules``. Later imports do so only with ``take_scan``, and keep the
    rules that were stated for the tool. ``model`` was asked for with this import, ``usual_model``
    is that of the settings, for a tool without one and for a rebuild. With ``checksum``, files are
    compared by content, regardless of size and time. An ``is_automatic`` import, which no user
    requested, keeps the content of folders that are now empty: a disk may not be mounted. With
    ``is_background`` documents are stored without vectors, which the next import adds. The error of
    an ``is_unattended`` import is stored, since nobody reads its messages. ``engine`` is the server
    that indexes the vectors; None indexes them in the database file. ``converting`` are the user's
    commands that convert files. ``max_memory_mb`` limits the reading of a data file; None means a
    quarter of the machine's memory.
    """

    database: Path
    tool: str
    mode: Mode
    rules: ScanRules
    chunking: ChunkingSettings
    model: str | None = None
    usual_model: str | None = None
    options: KindOptions | None = None
    scan_explicit: frozenset[str] = frozenset({"extensions", "exclude", "max_bytes"})
    take_scan: bool = False
    checksum: bool = False
    is_automatic: bool = False
    is_background: bool = False
    is_unattended: bool = False
    engine: ChromaServer | None = None
    converting: OwnCommands = NO_COMMANDS
    max_memory_mb: int | None = None

    def options_for_texts(self, *, is_split: bool = True) -> list[str]:
        """The options of `mdvec import` that give another import of texts the same result.

        Texts that are not split take none of chunking.
        """
        values: dict[str, object] = {"--model": self.model}
        if is_split:
            values |= {
                "--chunk-strategy": self.chunking.strategy,
                "--chunk-size": self.chunking.size,
                "--chunk-overlap": self.chunking.overlap,
            }
        given = [part for name, value in values.items() if value is not None
                 for part in (name, str(value))]  # fmt: skip
        flags = {"--take-scan": self.take_scan, "--checksum": self.checksum}
        return [*given, *(name for name, is_set in flags.items() if is_set)]


@dataclass(frozen=True, slots=True)
class Progress:
    """The progress of an import; ``unit`` names what ``units_done`` counts: chunks or rows.

    ``page`` of ``pages`` is how far a file with pages has been read; 0 of 0 between such files.
    """

    files_done: int
    files: int
    units_done: int
    unit: str = "chunks"
    page: int = 0
    pages: int = 0


@dataclass(frozen=True, slots=True)
class ReportLine:
    """A line of a printed report: a result or a note."""

    text: str
    is_note: bool = False


class KindReport(Protocol):
    """The part of an import report that one kind of source adds."""

    def json_fields(self) -> dict[str, object]:
        """Its JSON fields: the ``report_fields`` of its kind."""
        ...

    def lines(self, report: ImportReport) -> Sequence[ReportLine]:
        """The printed summary of the import."""
        ...


@dataclass(frozen=True, slots=True)
class ImportReport:
    """The result of an import.

    ``added`` to ``unchanged`` count documents, a household's transactions, or a dataset's tables.
    ``failed`` lists what could not be imported, and why. ``chunks`` is how many chunks the tool has
    now; ``chunks_embedded`` of them were embedded in this import, and ``chunks_pending`` have no
    vector yet. ``model`` is "" without a model. ``hints`` are sentences about files that were
    skipped, are in no chunk, or have invalid front matter. ``undecided`` lists files that wait for
    a user's decision; they are stored like failures.
    """

    tool: str
    mode: Mode
    model: str
    added: int
    updated: int
    deleted: int
    unchanged: int
    failed: tuple[Problem, ...]
    chunks: int = 0
    chunks_embedded: int = 0
    seconds: float = 0.0
    chunks_pending: int = 0
    details: KindReport | None = None
    hints: tuple[str, ...] = ()
    undecided: tuple[Problem, ...] = ()

    @property
    def counts(self) -> dict[str, int]:
        """How many were added, updated, deleted and so on."""
        return {
            "added": self.added, "updated": self.updated, "deleted": self.deleted,
            "unchanged": self.unchanged, "failed": len(self.failed),
        }  # fmt: skip

    @property
    def changes(self) -> str:
        """What was added, updated, deleted and so on, in words."""
        return ", ".join(f"{number} {name}" for name, number in self.counts.items())

    @property
    def embedded(self) -> str:
        """What was embedded, in words."""
        pending = f", {self.chunks_pending} without a vector yet" if self.chunks_pending else ""
        return f"{self.chunks_embedded} embedded with {self.model} in {self.seconds:.1f} s{pending}"

    def json_fields(self) -> dict[str, object]:
        """The fields of `mdvec import --format json`; the fields of other kinds are null."""
        shared = asdict(replace(self, details=None))
        del shared["details"]
        hints = shared.pop("hints")
        others = {name: None for kind in KINDS.values() for name in kind.report_fields}
        own = {} if self.details is None else self.details.json_fields()
        return {**shared, **others, **own, "hints": hints}

    def lines(self) -> list[ReportLine]:
        """The lines of `mdvec import`."""
        if self.details is None:
            chunks = f"{self.chunks} chunks, {self.embedded}"
            summary: Sequence[ReportLine] = [ReportLine(f"{self.tool}: {self.changes}; {chunks}")]
        else:
            summary = self.details.lines(self)
        failed = [f"{shown_name(problem.file_path)}: {problem.reason}" for problem in self.failed]
        return [
            *summary,
            *notes("failed", failed),
            *(ReportLine(hint, is_note=True) for hint in self.hints),
        ]


def notes(word: str, items: Sequence[str]) -> list[ReportLine]:
    """One note per item, beginning with ``word``; items over ``MAX_LISTED`` are only counted."""
    lines = [ReportLine(f"{word}: {item}", is_note=True) for item in items[:MAX_LISTED]]
    if len(items) > MAX_LISTED:
        more = len(items) - MAX_LISTED
        lines.append(ReportLine(f"… and {more} more; --format json lists them all", is_note=True))
    return lines


@dataclass(frozen=True, slots=True)
class Failure:
    """A file that could not be imported.

    ``state`` is the file's state when it failed; None if unknown, or if a retry may succeed.
    """

    file_path: str
    reason: str
    state: FileState | None = None


def record_failures(
    connection: apsw.Connection,
    tool_id: int,
    problems: Iterable[Problem],
    states: Mapping[str, FileState],
) -> None:
    """Replace a tool's recorded failures with those of its last import.

    The path of a table of a file is ``file#table``; ``states`` are those of the files found.
    """
    rows: dict[str, tuple[str, FileState | None]] = {}
    for problem in problems:
        path = problem.file_path
        state = states.get(path) or states.get(path.rpartition("#")[0])
        rows[path] = (problem.reason, None if isinstance(problem, PassingProblem) else state)
    with connection:
        connection.execute("DELETE FROM import_failures WHERE tool_id = ?", (tool_id,))
        connection.executemany(
            "INSERT INTO import_failures (tool_id, path, reason, size, mtime_ns) "
            "SELECT id, ?2, ?3, ?4, ?5 FROM tools WHERE id = ?1",
            (
                (tool_id, path, reason, *(state or (None, None)))
                for path, (reason, state) in rows.items()
            ),
        )


def failures(connection: apsw.Connection, tool_id: int) -> list[Failure]:
    """A tool's failed files, by path; the failure of a whole import is not among them."""
    rows = connection.execute(
        "SELECT path, reason, size, mtime_ns FROM import_failures "
        "WHERE tool_id = ? AND path <> '' ORDER BY path",
        (tool_id,),
    )
    return [
        Failure(path, reason, None if size is None else (size, mtime_ns))
        for path, reason, size, mtime_ns in rows
    ]


@dataclass(frozen=True, slots=True)
class ImportJob:
    """The input of an importer.

    ``tool`` is the tool's row when the import began, ``scan`` lists the files of its source, and
    ``rules`` are the scan rules to store. ``on_notice`` shows a sentence to the user;
    ``may_send`` asks whether texts may leave this machine. ``hints`` go into the report.
    """

    connection: apsw.Connection
    tool: Tool
    request: ImportRequest
    scan: Scan
    rules: ScanRules
    embedder_for: EmbedderFor
    stopwatch: Stopwatch
    on_progress: Callable[[Progress], None]
    on_notice: Callable[[str], None]
    may_send: Callable[[Sending], bool] = lambda _: False
    hints: list[str] = field(default_factory=list)

    @property
    def again(self) -> str:
        """The command that continues this import, or begins a rebuild again."""
        rebuilds = self.request.mode == "replace"
        is_split = rebuilds and KINDS[self.tool.kind].has_passages  # else the tool has its chunking
        mode = "replace" if rebuilds else "update"
        options = self.request.options_for_texts(is_split=is_split)
        return shell_line("mdvec", "import", "-n", self.tool.name, "--mode", mode, *options)

    @property
    def rebuilt_by(self) -> str:
        """The command that builds the tool again with this import's options, else as it is."""
        model = self.request.model or self.tool.model
        return replace(self, request=replace(self.request, mode="replace", model=model)).again

    def report(
        self,
        *,
        failed: Iterable[Problem],
        model: str = "",
        details: KindReport | None = None,
        hints: tuple[str, ...] = (),
        undecided: tuple[Problem, ...] = (),
        **counts: int,
    ) -> ImportReport:
        """The report of this job with these counts; call it after the import."""
        return ImportReport(
            tool=self.tool.name,
            mode=self.request.mode,
            model=model,
            failed=tuple(sorted(failed, key=lambda problem: problem.file_path)),
            seconds=round(self.stopwatch.total, 3),
            details=details,
            hints=(*hints, *self.hints),
            undecided=undecided,
            **counts,
        )


@dataclass(frozen=True, slots=True)
class Importer:
    """The importer of one kind of source.

    ``stored_states`` returns the stored files with their states when imported; ``found_states``
    returns the files of a scan to import, under the same paths. ``content`` says how much is
    stored, as "3 documents"; "" for nothing. ``left_out`` returns the files of which nothing is
    stored, and lines of others; None means the failed files that are not stored. ``tables_with``
    returns the tables that each of some files is, or would be, a part of; without it, every file
    concerns every table.
    """

    import_source: Callable[[ImportJob], ImportReport]
    stored_states: Callable[[apsw.Connection, Tool], Mapping[str, FileState]]
    found_states: Callable[[apsw.Connection, Tool, Scan], Mapping[str, FileState]]
    content: Callable[[apsw.Connection, Tool], str]
    left_out: Callable[[apsw.Connection, Tool], Sequence[str]] | None = None
    tables_with: (
        Callable[[apsw.Connection, Tool, Collection[str]], Mapping[str, frozenset[str]]] | None
    ) = None


def states_as_found(_: apsw.Connection, __: Tool, scan: Scan) -> Mapping[str, FileState]:
    """``found_states`` for kinds that import each file under its own path."""
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
        self.report()

    def add_units(self, number: int) -> None:
        """Count more chunks or rows."""
        self.units_done += number
        self.report()

    def report(self, page: int = 0, pages: int = 0) -> None:
        """Report the counts, and how many pages of the present file have been read."""
        self._on_progress(
            Progress(self.files_done, self.files, self.units_done, self._unit, page, pages)
        )


def check_unchanged(connection: apsw.Connection, tool: Tool) -> None:
    """Check, within a transaction, that the tool is still the tool that this import began with.

    Raises:
        ToolChanged: it was deleted or rebuilt.
    """
    now = registry.tool_with_id(connection, tool.id)
    if now is None or now.generation != tool.generation:
        raise ToolChanged(tool.name)
