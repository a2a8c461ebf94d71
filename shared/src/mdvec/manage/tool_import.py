"""Imports a tool's source with the importer of its kind; one import of a tool at a time."""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

import apsw

from mdvec import household, importing
from mdvec.converters import FORMATS, format_of
from mdvec.database import DatabaseFull, open_database
from mdvec.datasets import DatasetReport
from mdvec.embedding import BackendOptions, Embedder, Sending, canonical, catalog
from mdvec.errors import MdvecError
from mdvec.files import DATA_ENDINGS, FileState, Scan, ScanRules, SourceMissing, data_ending, scan
from mdvec.household import HouseholdOptions, RemovalOptions
from mdvec.log import milliseconds, record
from mdvec.manage.kind_code import KIND_CODE, scan_source
from mdvec.manage.registering import InvalidTool
from mdvec.platform import shell_line
from mdvec.settings import Settings
from mdvec.text import counted, on_one_line, quoted, some_of
from mdvec.timing import Stopwatch
from mdvec.tools import KINDS, Tool, is_first_unfinished, only_import_of, registry

if TYPE_CHECKING:
    from mdvec.datasets import DatasetOptions

logger = logging.getLogger("mdvec")

_MAX_FILES_READ = 20
_MAX_BYTES_READ = 4096
_MAX_ENDINGS_NAMED = 8
_HOUSEHOLD_ENDINGS = KINDS["household"].endings or ()
_DATA = tuple(ending for ending in DATA_ENDINGS if not ending.startswith((".json", ".ndjson")))
"""Endings of files that are certainly tables."""


def endings_of(names: str) -> tuple[str, ...]:
    """The endings of formats, named as in "pdf,word".

    Raises:
        InvalidTool: there is no such format.
    """
    known = {each.name: each.endings for each in FORMATS}
    chosen = [name.strip().lower() for name in names.split(",") if name.strip()]
    for name in chosen:
        if name not in known:
            raise InvalidTool(f"there is no format {name!r}; formats are {', '.join(known)}")
    return tuple(ending for name in chosen for ending in known[name])


def unread_files(tool: Tool, scanned: Scan) -> tuple[str, ...]:
    """Sentences on files skipped because of their endings, with how to read them, if possible."""
    if KINDS[tool.kind].endings is not None:
        return ()
    formats, tables, others = Counter[str](), Counter[str](), Counter[str]()
    for path in scanned.others:
        if known := format_of(path):
            formats[known.name] += 1
        else:
            rest = tables if data_ending(path).endswith(_DATA) else others
            rest[PurePosixPath(path).suffix.lower() or "no ending"] += 1
    sentences = []
    if formats:
        names = ",".join(formats)
        sentences.append(
            f"not read: {_counts(formats)}; to read them too: "
            f"mdvec tool update -n {tool.name} --formats {names}"
        )
    if tables:
        sentences.append(
            f"not read: {_counts(tables)}; data files belong into a dataset, which SQL can query: "
            "mdvec tool add --kind dataset -n NAME -d DESCRIPTION "
            f"-s {shell_line(str(tool.source))}"
        )
    if others:
        sentences.append(f"not read, as mdvec cannot: {_counts(others)}")
    return tuple(sentences)


def _counts(counts: Counter[str]) -> str:
    named = [f"{name} ({counted(number, 'file')})" for name, number in counts.most_common()]
    return some_of(named, _MAX_ENDINGS_NAMED)


def source_notes(settings: Settings, name: str) -> tuple[str, ...]:
    """Notes on the files of a tool's folder that are not read, and on settings it does not follow.

    Raises:
        ToolNotFound, DatabaseError: the tool cannot be read.
    """
    with open_database(settings.database_path, "read") as connection:
        tool = registry.get_tool(connection, name)
    notices = (*model_notices(settings, tool), *scan_notices(settings, tool))
    if KINDS[tool.kind].endings is not None:
        return notices
    try:
        rules = importing.rules_in_force(tool, settings.scan_rules())
        return (*notices, *unread_files(tool, scan(tool.source, rules, tool.name)))
    except SourceMissing:
        return notices


def model_notices(settings: Settings, tool: Tool) -> tuple[str, ...]:
    """The sentence on a model of the settings that an update of the tool does not use, if so."""
    usual = settings.model.name
    if tool.model is None or usual in {catalog.AUTO, tool.model}:
        return ()
    how = shell_line("mdvec", "import", "-n", tool.name, "--mode", "replace", "--model", usual)
    return (f"{tool.name} keeps its model {tool.model}; to take that of [model] name: {how}",)


def scan_notices(settings: Settings, tool: Tool) -> tuple[str, ...]:
    """Sentences on scan rules of the settings that an update of the tool does not follow.

    There are none on an ``exclude`` that was stated for the tool itself, or on a single file.
    """
    if tool.scan is None or tool.source.is_file():
        return ()
    request = import_request(settings, tool.name, "update")
    if tool.scan.has_own_exclude:
        request = replace(request, rules=replace(request.rules, exclude=tool.scan.exclude))
    return importing.choose_rules(tool, request, {}).notices


def hints_of(
    tool: Tool, scanned: Scan, rules: ScanRules, report: importing.ImportReport
) -> tuple[str, ...]:
    """Sentences on why no file was imported, and on a file that belongs in a household."""
    hints = []
    if not scanned.files and (scanned.others or not scanned.unseen):
        hints.append(_why_nothing(tool, scanned, rules))
    statement = _statement(tool, scanned, report)
    if statement is not None:
        path, kind = statement
        hints.append(
            f"{path} contains {kind} transactions; for sums, trends and charts add a "
            f"household: mdvec tool add --kind household -n NAME -d DESCRIPTION -s {tool.source}"
        )
    elif scanned.files and report.mode != "update":
        hints += unread_files(tool, scanned)
    return tuple(hints)


def _why_nothing(tool: Tool, scanned: Scan, rules: ScanRules) -> str:
    kind = KINDS[tool.kind]
    taken = (
        f"this tool reads {', '.join(rules.extensions)} ([scan] extensions)"
        if kind.endings is None
        else f"a {kind.name} reads {', '.join(kind.endings)}"
    )
    seen = Counter(PurePosixPath(path).suffix.lower() or "no ending" for path in scanned.others)
    if not seen:
        reason = scanned.about_left_out or taken
        return f"{tool.source} contains no files to import; {reason}"
    named = some_of([f"{ending} ({n})" for ending, n in seen.most_common()], _MAX_ENDINGS_NAMED)
    return f"no file in {tool.source} was imported: their names end in {named}, and {taken}"


def _statement(tool: Tool, scanned: Scan, report: importing.ImportReport) -> tuple[str, str] | None:
    """The first file with transactions, and its kind; None if there is none.

    Checks the files of a dataset, or those that were skipped because of their ending.
    """
    is_dataset = isinstance(report.details, DatasetReport) and report.details.tables
    paths = [file.path for file in scanned.files] if is_dataset else scanned.others
    likely = [path for path in paths if path.lower().endswith(_HOUSEHOLD_ENDINGS)]
    for path in likely[:_MAX_FILES_READ]:
        if kind := household.statement_kind(_head(tool.source / path), path):
            return path, kind
    return None


def _head(file: Path) -> bytes:
    if file.is_symlink() or not file.is_file():
        return b""
    try:
        with file.open("rb") as stream:
            head = stream.read(_MAX_BYTES_READ)
    except OSError:
        return b""
    # The last line may end within a multi-byte character.
    return head if len(head) < _MAX_BYTES_READ else head[: head.rfind(b"\n") + 1]


def import_tool(
    request: importing.ImportRequest,
    embedder_for: importing.EmbedderFor,
    *,
    on_progress: Callable[[importing.Progress], None] = lambda _: None,
    on_notice: Callable[[str], None] = lambda _: None,
    may_send: Callable[[Sending], bool] = lambda _: False,
) -> importing.ImportReport:
    """Bring a tool's tables in line with its source.

    A document is stored completely or not at all. The mode ``new`` fills an empty tool, ``update``
    imports changes, ``replace`` rebuilds everything while searches still read the old contents.
    ``on_notice`` gets a sentence if the import waits for another import of the tool, if it has to
    build indexes, and if the tool's scan rules differ from the settings. ``may_send``
    is asked before texts are sent to an endpoint on another machine.

    Raises:
        ToolNotFound, SourceMissing, ModelError: nothing was changed.
        ImportRefused: the mode, the model or the chunking does not fit the stored data.
        ImportInterrupted: the user stopped the import.
        ToolChanged: another process deleted or rebuilt the tool meanwhile.
        EndpointStopped: a model's endpoint failed; finished vectors are kept.
        DatabaseError: the file cannot be written; finished documents are kept.
    """
    with _naming_what_continues(request), open_database(request.database, "write") as connection:
        locked = registry.get_tool(connection, request.tool)
        _check_request(connection, locked, request)  # refuse before waiting
        with only_import_of(request.database, locked, on_notice):
            stopwatch = Stopwatch()
            tool = registry.get_tool(connection, request.tool)
            if tool.id != locked.id:
                raise importing.ToolChanged(tool.name)
            _check_request(connection, tool, request)
            if request.is_background and tool.kind != "markdown":
                on_notice(f"{tool.name} is imported at once: only notes can get vectors later")
                request = replace(request, is_background=False)
            importer = KIND_CODE[tool.kind].importer()
            stored = importer.stored_states(connection, tool)
            choice = importing.choose_rules(tool, request, stored)
            logger.debug("[reindex] scanning %s", quoted(str(tool.source)))
            with stopwatch.stage("file_scan"):
                scanned = scan_source(tool, choice.rules)
            if request.is_automatic:
                scanned = scanned.keeping_emptied(stored)
            if logger.isEnabledFor(logging.DEBUG):
                _log_scan(stored, importer.found_states(connection, tool, scanned))
            for notice in choice.notices:
                on_notice(notice)
            report = _run_import(
                importer,
                importing.ImportJob(
                    connection=connection,
                    tool=tool,
                    request=request,
                    scan=scanned,
                    rules=choice.own,
                    embedder_for=embedder_for,
                    stopwatch=stopwatch,
                    on_progress=on_progress,
                    on_notice=on_notice,
                    may_send=may_send,
                ),
            )
            states = importer.found_states(connection, tool, scanned)
            problems = (*report.failed, *report.undecided)
            importing.record_failures(connection, tool.id, problems, states)
            hints = hints_of(tool, scanned, choice.rules, report)
            report = replace(report, hints=(*report.hints, *hints))
    stopwatch.log("import")
    _record(report)
    return report


@contextmanager
def _naming_what_continues(request: importing.ImportRequest) -> Iterator[None]:
    """If a full disk ends a first import, name the command that continues it.

    Repeating the first import itself is refused.
    """
    try:
        yield
    except DatabaseFull as error:
        if request.mode != "new":
            raise
        how = f"make room, then continue with: mdvec import -n {request.tool} --mode update"
        raise DatabaseFull(error.what, how) from error


def _log_scan(stored: Mapping[str, FileState], states: Mapping[str, FileState]) -> None:
    both = stored.keys() & states.keys()
    changed = sum(stored[path] != states[path] for path in both)
    logger.debug(
        "[reindex] scan result: %d files (new=%d, updated=%d, deleted=%d, unchanged=%d)",
        len(states), len(states.keys() - both), changed, len(stored.keys() - both),
        len(both) - changed,
    )  # fmt: skip


def _run_import(importer: importing.Importer, job: importing.ImportJob) -> importing.ImportReport:
    try:
        return importer.import_source(job)
    except importing.ImportInterrupted:
        record("import_stopped", tool=job.tool.name, mode=job.request.mode)
        raise
    except Exception as error:  # any error: the status of the tool must show it
        if job.request.is_unattended:
            known = isinstance(error, MdvecError)
            reason = str(error) if known else f"unexpected {type(error).__name__}: {error}"
            registry.record_failed_import(job.connection, job.tool, on_one_line(reason))
        raise


def _record(report: importing.ImportReport) -> None:
    record(
        "import",
        tool=report.tool,
        mode=report.mode,
        added=report.added,
        updated=report.updated,
        deleted=report.deleted,
        unchanged=report.unchanged,
        failed=len(report.failed),
        chunks=report.chunks,
        embedded=report.chunks_embedded,
        ms=milliseconds(report.seconds),
    )


def _check_request(
    connection: apsw.Connection, tool: Tool, request: importing.ImportRequest
) -> None:
    check_options(tool, request)
    if request.mode == "new" and (
        content := KIND_CODE[tool.kind].importer().content(connection, tool)
    ):
        if is_first_unfinished(tool):
            raise importing.ImportRefused(
                f"the tool {tool.name!r} has {content} so far, and its first import has not "
                f"finished; continue with: mdvec import -n {tool.name} --mode update"
            )
        raise importing.ImportRefused(
            f"the tool {tool.name!r} has {content} already; "
            "use --mode update to follow changes, or --mode replace to build it again"
        )


def check_options(tool: Tool, request: importing.ImportRequest) -> None:
    """Refuse options for another kind of source, unless they can be ignored.

    Raises:
        ImportRefused: the tool does not take the options of the request.
    """
    options = request.options
    if options is None or options.kind == tool.kind:
        return
    if refusal := options.refusal(tool.name):
        raise importing.ImportRefused(refusal)


def import_request(
    settings: Settings,
    tool: str,
    mode: importing.Mode,
    *,
    model: str | None = None,
    removals: RemovalOptions | None = None,
    tables: DatasetOptions | None = None,
    **flags: bool,
) -> importing.ImportRequest:
    """The request of an import: the settings, with the options and ``flags`` of this import.

    ``model`` is a requested model; that of the settings is for new tools and rebuilds.
    ``tables`` are options for a dataset, which other tools refuse.
    """
    named, duplicates = settings.model.name, settings.duplicates
    detection = duplicates.options() if duplicates.auto_detect_on_import else None
    return importing.ImportRequest(
        database=settings.database_path,
        tool=tool,
        mode=mode,
        rules=settings.scan_rules(),
        chunking=settings.chunking,
        model=canonical(model) if model else None,
        usual_model=None if named == catalog.AUTO else named,
        options=tables or HouseholdOptions(detection, removals or RemovalOptions()),
        scan_explicit=frozenset(settings.scan.model_fields_set),
        engine=settings.vector_engine,
        converting=settings.convert.commands(),
        max_memory_mb=settings.analytics.max_import_mb,
        **flags,
    )


def loading_and_telling(
    tell: Callable[[str], None], options: BackendOptions
) -> importing.EmbedderFor:
    """A function that loads the model of an import, and tells the user why it was chosen."""

    def load(name: str | None) -> Embedder:
        card, reason = catalog.choose(name or catalog.AUTO, options)
        tell(f"model: {reason}")
        return catalog.load(card.name, options)

    return load
