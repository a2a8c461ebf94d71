"""Compares a tool's source with its index, without opening files.

A check takes about 0.02 ms per file: it only reads sizes and modification times.
"""

from __future__ import annotations

import logging
import os
import time
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from mdvec import tools
from mdvec.database import Connection, open_database, snapshot
from mdvec.files import FileState, Scan, ScanRules, SourceMissing, state_of
from mdvec.importing import Failure, failures, rules_in_force
from mdvec.manage import KIND_CODE, scan_source, unread_files
from mdvec.platform import open_to_read
from mdvec.text import bundle_of, counted, identifier, on_one_line, shown_name, some_of
from mdvec.tools import KINDS, registry

logger = logging.getLogger("mdvec")

_NANOSECONDS = 1_000_000_000
_MAX_NAMED = 3


@dataclass(frozen=True, slots=True)
class Freshness:
    """How a tool's source differs from its index.

    ``files`` counts the files that the tool would import; ``added``, ``changed`` (with another size
    or modification time) and ``deleted`` count those that differ from its last import. ``outdated``
    files could not be imported in their current state, so answers use an older state. ``missing``
    are files of a source with SQL tables, or tables or lines of a file, that were never imported
    successfully, so no answer includes them. ``emptied`` folders held imported files and are empty
    now, perhaps because a disk is not mounted; their content is kept until a user requests an
    import. ``trouble`` is why the source cannot be compared, "" if it can; the numbers are 0 then.
    ``newest_ns`` is the latest modification time of an added or changed file, in nanoseconds.
    Checks with the same ``mark`` found the same differences. ``tables`` are those that an outdated
    or missing file is, or would be, a part of, by path; without an entry it concerns every table.
    """

    tool: str
    source: Path
    files: int = 0
    added: int = 0
    changed: int = 0
    deleted: int = 0
    outdated: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()
    emptied: tuple[str, ...] = ()
    is_imported: bool = True
    trouble: str = ""
    newest_ns: int = 0
    mark: int = 0
    kind: str = "markdown"
    is_being_imported: bool = False
    tables: Mapping[str, frozenset[str]] = field(default_factory=dict)

    def for_tables(self, names: Collection[str]) -> Freshness:
        """The same for an answer from these tables: without failed files of other tables."""
        outdated, missing = (
            tuple(
                path
                for path in paths
                if path not in self.tables or not self.tables[path].isdisjoint(names)
            )
            for paths in (self.outdated, self.missing)
        )
        return replace(self, outdated=outdated, missing=missing)

    @property
    def is_stale(self) -> bool:
        """Whether an import would change the index."""
        return bool(self.added or self.changed or self.deleted)

    @property
    def is_empty(self) -> bool:
        """Whether neither the source nor the index has any file."""
        return not (self.files or self.trouble or self.is_stale)

    def seconds_since_change(self) -> float:
        """The seconds since the newest change; a time in the future counts as long ago."""
        since = (time.time_ns() - self.newest_ns) / _NANOSECONDS
        return since if since >= 0 else float("inf")

    def difference(self) -> str:
        """The differences in words; "" if there are none or they are unknown."""
        newer, deleted = self.added + self.changed, self.deleted
        are_newer = f"{_files(newer, 'is', 'are')} newer than the index of {self.tool}"
        if newer and deleted:
            return f"{are_newer}, and {deleted:,} {'was' if deleted == 1 else 'were'} deleted"
        if newer:
            return are_newer
        if deleted:
            were = _files(deleted, "was", "were")
            return f"{were} deleted since the import of {self.tool}"
        return ""

    def sentence(self, remedy: str = "") -> str:
        """The differences and what to do, or why they are unknown; "" if the index is fresh.

        ``remedy`` is what to do, unless an import is running; else it names the server's tool.
        """
        return "; ".join(self.sentences(remedy))

    def sentences(self, remedy: str = "") -> list[str]:
        """The parts of ``sentence``; names in them may contain any characters."""
        if self.trouble:
            return [self.trouble]
        if not self.is_stale:
            return [*self._warnings()]
        what_to_do = "an import is running" if self.is_being_imported else remedy or self._remedy()
        return [self.difference(), what_to_do, *self._warnings()]

    def _remedy(self) -> str:
        newer = self.added + self.changed
        does = f"imports {'it' if newer == 1 else 'them'}"
        return f"{tools.offered_name('reindex')} {'brings it up to date' if self.deleted else does}"

    def warning(self) -> str:
        """What the last import could not update; "" if it updated everything."""
        return "; ".join(self._warnings())

    def _warnings(self) -> Iterator[str]:
        if self.missing:
            yield (
                f"answers from {self.tool} lack what could not be imported: "
                f"{_names(self.missing)} ({tools.offered_name('list_sources')} says why)"
            )
        if self.outdated:
            which = f"of {self.tool}"
            now, its = ("it is", "its") if len(self.outdated) == 1 else ("they are", "their")
            yield (
                f"{_files(len(self.outdated), which, which)} could not be imported as {now} now: "
                f"{_names(self.outdated)}"
            )
            listing = tools.offered_name("list_sources")
            yield f"answers are from {its} older content ({listing} says why)"
        if self.emptied:
            yield (
                f"empty in the source of {self.tool} now: {_names(self.emptied)} (is a disk "
                "not mounted?)"
            )
            yield "answers are from the last import"
            yield (
                f"if that was emptied on purpose, {tools.offered_name('reindex')} drops what it had"
            )


def _names(paths: Iterable[str]) -> str:
    return some_of([*map(shown_name, paths)], _MAX_NAMED)


def _files(number: int, singular: str, many: str) -> str:
    return f"{counted(number, 'file')} {singular if number == 1 else many}"


def load_modules(kinds: Iterable[str]) -> None:
    """Preload the modules for checking tools of these kinds, so that no check waits for them."""
    import pathspec  # noqa: F401 - a scan loads it when it begins

    for kind in kinds:
        KIND_CODE[kind].importer()


def check_source(database: Path, name: str, rules: ScanRules) -> Freshness:
    """Compare a tool's source with its index.

    ``rules`` are those of the settings, for a tool that has none of its own yet.

    Raises:
        ToolNotFound: there is no such tool.
        DatabaseError: the file cannot be read.
    """
    with open_database(database, "read") as connection, snapshot(connection):
        return compare_source(connection, registry.get_tool(connection, name), rules)


def compare_source(connection: Connection, tool: tools.Tool, rules: ScanRules) -> Freshness:
    """Compare a tool's source with its index, on an open connection."""
    importer = KIND_CODE[tool.kind].importer()
    stored = importer.stored_states(connection, tool)
    try:
        scan = scan_source(tool, rules_in_force(tool, rules))
    except SourceMissing:
        return _unknown(tool, "is not there")
    if stored and not scan.files and not scan.unseen:
        return _unknown(tool, "has no files now")
    states = importer.found_states(connection, tool, scan)
    failed = {failure.file_path: failure.state for failure in failures(connection, tool.id)}
    seen = _compare(tool, scan, states, stored, failed)
    if importer.left_out is not None:
        seen = replace(seen, missing=tuple(importer.left_out(connection, tool)))
    if importer.tables_with is not None:
        paths = (*seen.outdated, *seen.missing)
        seen = replace(seen, tables=importer.tables_with(connection, tool, paths))
    is_running = seen.is_stale and tools.is_being_imported(Path(connection.filename), tool)
    return replace(seen, is_being_imported=is_running)


def _compare(
    tool: tools.Tool,
    scan: Scan,
    states: Mapping[str, FileState],
    stored: Mapping[str, FileState],
    failed: Mapping[str, FileState | None],
) -> Freshness:
    differing = {path: state for path, state in states.items() if stored.get(path) != state}
    tables = {path.rpartition("#")[0]: state for path, state in failed.items() if "#" in path}
    failing = {**failed, **tables}
    folder = tool.source.parent if tool.source.is_file() else tool.source
    stuck = {
        path
        for path, state in differing.items()
        if path in failing and _still_fails(failing[path], state, folder / path)
    }
    lacking = stuck - stored.keys()
    other = {path: state for path, state in differing.items() if path not in stuck}
    emptied = scan.emptied(stored)
    with_emptied = scan.keeping_emptied(stored)
    gone = [path for path in stored if path not in states and not with_emptied.may_still_have(path)]
    changed = sum(path in stored for path in other)
    return Freshness(
        tool.name,
        tool.source,
        files=len(states),
        added=len(other) - changed,
        changed=changed,
        deleted=len(gone),
        emptied=emptied,
        outdated=tuple(sorted(stuck & stored.keys())),
        missing=tuple(
            path
            for path in failed
            if KINDS[tool.kind].has_tables and ({path, path.rpartition("#")[0]} & lacking)
        ),
        is_imported=tool.last_import_at is not None,
        newest_ns=max((mtime_ns for _, mtime_ns in other.values()), default=0),
        # After an import that failed for some files, the differences get another mark.
        mark=hash((frozenset(other.items()), frozenset(gone), frozenset(other.keys() & failing))),
        kind=tool.kind,
    )


def _still_fails(failed: FileState | None, now: FileState, file: Path) -> bool:
    """Whether an import would fail again; if the reason may pass, tries to open the file."""
    if failed is not None:
        return failed == now
    try:
        os.close(open_to_read(file))
    except FileNotFoundError:  # the index may have its name in another form
        return False
    except OSError:
        return True
    return False


def _unknown(tool: tools.Tool, state: str) -> Freshness:
    """The freshness of a source that cannot be compared."""
    answers = (
        "answers are from its last import" if tool.last_import_at else "nothing was imported yet"
    )
    trouble = (
        f"the source of {tool.name}, {tool.source}, {state} (is its disk not mounted?); {answers}"
    )
    return Freshness(tool.name, tool.source, trouble=trouble, kind=tool.kind)


def about_shown(connection: Connection, shown: Mapping[str, Iterable[str]]) -> list[str]:
    """Notes on documents, by tool, whose files are not as they were when they were imported."""
    changed, gone = list[str](), list[str]()
    for name, paths in shown.items():
        tool = registry.get_tool(connection, name)
        if not KINDS[tool.kind].has_passages or not tool.source.is_dir():
            continue
        for path in dict.fromkeys(paths):
            bundle = bundle_of(path)
            documents = identifier(tool.tables_in(connection).documents)
            stored = connection.execute(
                f"SELECT file_path, size, mtime_ns FROM {documents} "
                "WHERE tool_id = ? AND file_path IN (?, ?) ORDER BY length(file_path)",
                (tool.id, bundle, path),
            ).fetchone()
            try:
                if stored and state_of((tool.source / stored[0]).stat()) != stored[1:]:
                    changed.append(path)
            except (FileNotFoundError, NotADirectoryError):
                gone.append(path)
            except OSError as error:
                logger.info("no look at %s: %s", on_one_line(path), error)
    notes = []
    if changed:
        notes.append(f"newer than its import, so what is shown may be older: {_names(changed)}")
    if gone:
        notes.append(f"no longer in the source, and shown as last imported: {_names(gone)}")
    return notes


@dataclass(frozen=True, slots=True)
class Source:
    """The source of one tool, as it is now.

    ``unfinished`` is the progress of an unfinished import, and how to continue it; ``unread`` are
    sentences on files that the tool does not read, by their endings.
    """

    tool: tools.Tool
    freshness: Freshness
    failed: tuple[Failure, ...]
    unfinished: str | None = None
    unread: tuple[str, ...] = ()


def list_sources(database: Path, rules: ScanRules) -> list[Source]:
    """The sources of all active tools, by the tools' names; ``rules`` as in ``check_source``.

    Raises:
        DatabaseError: the file is missing or cannot be read.
    """
    with open_database(database, "read") as connection, snapshot(connection):
        return [
            Source(
                tool,
                compare_source(connection, tool, rules),
                tuple(failures(connection, tool.id)),
                tools.still_to_come(connection, tool),
                _unread(tool, rules),
            )
            for tool in registry.list_tools(connection, active_only=True)
        ]


def _unread(tool: tools.Tool, rules: ScanRules) -> tuple[str, ...]:
    try:
        return unread_files(tool, scan_source(tool, rules_in_force(tool, rules)))
    except SourceMissing:
        return ()
