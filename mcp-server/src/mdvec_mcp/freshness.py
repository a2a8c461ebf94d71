"""Checks the sources behind an answer, imports changes if configured, and waits for imports."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import anyio
from mcp.server.mcpserver import Context
from mdvec import sync
from mdvec.database import FileStamp, KeptReader, open_database, stamp_of
from mdvec.errors import MdvecError
from mdvec.japanese import in_japanese
from mdvec.sync import Attempts
from mdvec.tools import KINDS, Tool, ToolNotFound, registry

if TYPE_CHECKING:
    from mdvec.files import ScanRules
    from mdvec.sync import Freshness, ImportRun, Imports

    Concerns = Callable[[Freshness], bool]
    Part = Callable[[Freshness], Freshness | None]
    Notes = Callable[[Part | None], list[str]]

logger = logging.getLogger("mdvec")

_WRITTEN_SECONDS = 2
"""The seconds between checks during an import, which writes to the database all the time."""
_WAIT_SECONDS = 0.25
"""How long an answer waits for the check it started, which takes 10 ms for 1,000 files."""
_TABLE_SECONDS = 2
"""How long a check of tables is valid; this is short, as figures from a changed file are wrong."""
_MAX_KEPT = 100
"""How many checks are remembered: clients may ask for any names, even of unknown tools."""
_FIRST_SECONDS = 2.0
_IMPORT_SECONDS = 5.0
"""How long a query waits for an automatic import of its source, from the import's start."""
_LATER_SECONDS = 0.5
"""The pause before the next check, if the last took longer than an answer waits."""

AnyContext = Context[Any, Any]
"""The SDK's context of a call; it is not a parameter of the tool."""
_STEP_SECONDS = 0.1
_MAX_SECONDS_WITH_SOME = 3.0
_MAX_SECONDS = 10.0
"""The seconds that a search waits for a first import: if it has some documents, and if none."""

Wording = Callable[["Freshness", bool], str]
"""Returns a note on a source, given whether an import of it has begun; "" for no note."""


@dataclass(frozen=True, slots=True)
class _LastCheck:
    """The result of the last check, its time, and the state of the database."""

    at: float
    stamp: FileStamp | None
    states: tuple[Freshness, ...] = ()
    took: float = 0.0

    def holds(self, seconds: int, stamp: FileStamp | None) -> bool:
        """Whether the result is still valid; differences are valid for less time after a write.

        A source without files is checked each time, because its first files are expected.
        """
        if any(state.is_empty for state in self.states):
            return False
        age = time.monotonic() - self.at
        is_as_seen = stamp == self.stamp or not any(state.sentence() for state in self.states)
        return age < (seconds if is_as_seen else min(seconds, _WRITTEN_SECONDS))


@dataclass(slots=True)
class SourceCheck:
    """A check of sources, which may still run."""

    _latest_states: Callable[[], tuple[Freshness, ...]]
    _is_importing: Callable[[str], bool]
    _running: threading.Thread | None = None

    def states(self) -> tuple[Freshness, ...]:
        """The result; waits a moment for a check that still runs."""
        if self._running is not None:
            self._running.join(_WAIT_SECONDS)
        return self._latest_states()

    def notes(self, wording: Wording) -> list[str]:
        """The notes for the answer."""
        sentences = (wording(state, self._is_importing(state.tool)) for state in self.states())
        return [sentence for sentence in sentences if sentence]


@dataclass(slots=True)
class FreshnessWatch:
    """Checks sources, at most every ``seconds`` for the same scope. Thread-safe.

    A check runs in its own thread, so that a hanging disk delays no answer. With ``is_auto``,
    changes are imported in the background; changes of the tool with the id ``always_auto`` are
    imported in any case. ``only`` is the id of the tool if this server serves a single tool. Both
    are ids, since names may change.
    """

    database: Path
    rules: ScanRules
    seconds: int
    is_auto: bool
    imports: Imports
    always_auto: int | None = None
    only: int | None = None
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _last_checks: dict[str, _LastCheck] = field(default_factory=dict)
    _running: dict[str, threading.Thread] = field(default_factory=dict)
    _attempts: Attempts = field(default_factory=Attempts)
    _first: dict[str, ImportRun] = field(default_factory=dict)
    _first_check_until: dict[str, float] = field(default_factory=dict)
    _slow_look: threading.Thread | None = None

    def serves(self, tool: Tool) -> bool:
        """Whether this server offers the tool."""
        return self.only in (None, tool.id)

    def served(self) -> list[Tool]:
        """The active tools that this server offers, by name."""
        with open_database(self.database, "read") as connection:
            active = registry.list_tools(connection, active_only=True)
        return [tool for tool in active if self.serves(tool)]

    def served_names(self, names: tuple[str, ...] | None) -> tuple[str, ...] | None:
        """The names of the tools to search or read; None for all.

        A server of one tool returns the name of that tool for None.

        Raises:
            ToolNotFound: this server serves one tool, and ``names`` has another.
        """
        if self.only is None:
            return names
        served = tuple(tool.name for tool in self.served())
        for name in names or ():
            if name not in served:
                raise ToolNotFound(name, served)
        return names or served

    def check(
        self, scope: str, concerns: Callable[[Tool], bool], seconds: int | None = None
    ) -> SourceCheck:
        """Start a check of the active tools that ``concerns`` selects if the last check is too old.

        ``scope`` identifies the selection: the same scope means the same tools. A quick check is
        valid for at most ``seconds``, if these are fewer than in the settings.
        """
        stamp = stamp_of(self.database)
        with self._lock:
            last = self._last_checks.get(scope)
            is_slow = last is not None and last.took > _WAIT_SECONDS
            within = self.seconds if seconds is None or is_slow else min(seconds, self.seconds)
            holds = last is not None and last.holds(within, stamp)
            if not holds and scope not in self._running:
                started = threading.Timer(
                    _LATER_SECONDS if is_slow else 0, self._run_check, (scope, concerns, stamp)
                )
                started.daemon = True
                self._running[scope] = started
                started.start()
            # Wait also for a check that another call started.
            running = None if is_slow else self._running.get(scope)
        return SourceCheck(
            lambda: self._known_differences(scope, stamp), self._is_importing, running
        )

    def check_tool(self, name: str) -> SourceCheck:
        """Start a check of one tool."""
        return self.check(f"tool {name}", lambda tool: tool.name == name)

    def about_shown(
        self, shown: Mapping[str, Iterable[str]], kept: KeptReader | None = None
    ) -> list[str]:
        """Notes on shown documents, by tool, whose files are no longer as they were imported.

        If that takes longer than an answer waits, there are none; ``kept`` lends a connection.
        """
        notes: list[str] = []

        def look() -> None:
            try:
                opened = open_database(self.database, "read") if kept is None else kept.connection()
                with opened as connection:
                    notes.extend(sync.about_shown(connection, shown))
            except MdvecError as error:
                logger.info("no look at what is shown: %s", error)

        if self._slow_look is None or not self._slow_look.is_alive():
            thread = threading.Thread(target=look, daemon=True)
            thread.start()
            thread.join(_WAIT_SECONDS)
            self._slow_look = thread if thread.is_alive() else None
        return [*notes]

    def check_tables(self, concerns: Concerns, *, runs_sql: bool) -> Notes:
        """Check the sources of all tables; if SQL will run, wait a moment for imports it concerns.

        The returned function makes the notes for an answer: given a function that returns what of
        a source concerns the answer, it returns the notes on that; given None, on all sources.
        """

        def started() -> SourceCheck:
            return self.check("tables", lambda tool: KINDS[tool.kind].has_tables, _TABLE_SECONDS)

        check = started()
        if runs_sql and self._wait_for_imports(check, concerns):
            check = started()

        def notes(part: Part | None) -> list[str]:
            def wording(state: Freshness, is_importing: bool) -> str:  # noqa: FBT001 - a Wording
                concerned = state if part is None else part(state)
                return freshness_in_english(concerned, is_importing) if concerned else ""

            return check.notes(wording)

        return notes

    def _wait_for_imports(self, check: SourceCheck, concerns: Concerns) -> bool:
        """Wait a moment for automatic imports of sources concerned; returns whether one ended."""
        if not self.is_auto and self.always_auto is None:
            return False
        changed = (state.tool for state in check.states() if state.is_stale and concerns(state))
        runs = [run for run in map(self.imports.running, changed) if run is not None]
        ended = [run.wait(max(_IMPORT_SECONDS - run.seconds, 0)) for run in runs]
        return any(ended)

    @property
    def waits_for_first_checks(self) -> bool:
        """Whether a first check that may start an import still runs."""
        imports = self.is_auto or self.always_auto is not None
        with self._lock:
            return imports and not self._running.keys() <= self._last_checks.keys()

    def wait_for_first_checks(self) -> None:
        """Wait a moment for first checks that still run, since each may start an import.

        A check of a hanging disk delays only the first search.
        """
        now = time.monotonic()
        with self._lock:
            for scope in self._running.keys() - self._last_checks.keys():
                self._first_check_until.setdefault(scope, now + _FIRST_SECONDS)
            first = [
                (thread, self._first_check_until[scope])
                for scope, thread in self._running.items()
                if scope not in self._last_checks
            ]
        for thread, until in first:
            thread.join(max(until - time.monotonic(), 0))

    def first_import(self, names: Sequence[str] | None) -> ImportRun | None:
        """The running first import of one of these tools, or of any."""
        with self._lock:
            self._first = {name: run for name, run in self._first.items() if not run.is_done}
            runs = [run for name, run in self._first.items() if names is None or name in names]
        return runs[0] if runs else None

    def start_import(self, tool: Tool, *, is_automatic: bool = False) -> ImportRun:
        """Import a tool; the run counts this caller until the caller calls its ``give_up``."""
        run = self.imports.start(tool.name, is_automatic=is_automatic)
        if tool.last_import_at is None:
            with self._lock:
                self._first[tool.name] = run
        return run

    def _known_differences(self, scope: str, stamp: FileStamp | None) -> tuple[Freshness, ...]:
        with self._lock:
            last = self._last_checks.get(scope)
        # A write since the check may have imported the differences.
        return () if last is None or last.stamp != stamp else last.states

    def _is_importing(self, name: str) -> bool:
        return self.imports.running(name) is not None

    def _run_check(
        self, scope: str, concerns: Callable[[Tool], bool], stamp: FileStamp | None
    ) -> None:
        try:
            began = time.monotonic()
            seen = map(self._checked_source, filter(concerns, self.served()))
            states = tuple(filter(None, seen))
            now = time.monotonic()
            with self._lock:
                # The first check also imports modules, so its time says nothing about the next.
                took = now - began if scope in self._last_checks else 0.0
                while len(self._last_checks) >= _MAX_KEPT and scope not in self._last_checks:
                    del self._last_checks[next(iter(self._last_checks))]
                self._last_checks[scope] = _LastCheck(now, stamp, states, took)
        except MdvecError as error:
            logger.info("no look at the sources: %s", error)
        finally:
            with self._lock:
                self._running.pop(scope, None)
                self._first_check_until.pop(scope, None)

    def _checked_source(self, tool: Tool) -> Freshness | None:
        """The check of one tool; None if its source cannot be checked now."""
        try:
            seen = sync.check_source(self.database, tool.name, self.rules)
            is_auto = self.is_auto or tool.id == self.always_auto
            is_running = seen.is_being_imported or self._is_importing(tool.name)
            if seen.is_stale and is_auto and not is_running:
                with self._lock:  # the same differences are not retried all the time
                    is_due = self._attempts.begin(tool.name, seen.mark)
                if is_due:
                    self.start_import(tool, is_automatic=True)
        except MdvecError as error:  # perhaps it was just deleted; other tools are still checked
            logger.info("no look at the source of %s: %s", tool.name, error)
            return None
        return seen


def freshness_in_english(state: Freshness, is_importing: bool) -> str:  # noqa: FBT001 - a Wording
    """A note on a source that differs from its index."""
    return "; ".join(_sentences(state, is_importing))


def freshness_in_japanese(state: Freshness, is_importing: bool) -> str:  # noqa: FBT001 - a Wording
    """The note in Japanese, for the household's answers."""
    sentences = map(in_japanese, _sentences(state, is_importing))
    return "".join(f"{each.removesuffix('。')}。" for each in sentences)


def _sentences(state: Freshness, is_importing: bool) -> list[str]:  # noqa: FBT001 - a Wording
    is_running = is_importing or state.is_being_imported
    return replace(state, is_being_imported=is_running).sentences()


async def follow(
    runs: Sequence[ImportRun], ctx: AnyContext, is_enough: Callable[[ImportRun, float], bool]
) -> None:
    """Report the progress of imports until each has ended or ``is_enough`` says so."""
    began, reported = anyio.current_time(), -1
    while True:
        waited = anyio.current_time() - began
        left = [run for run in runs if not run.is_done and not is_enough(run, waited)]
        if not left:
            return
        reports = [run.progress for run in runs if run.progress is not None]
        done = sum(progress.files_done for progress in reports)
        if done > reported:
            reported = done
            files = sum(progress.files for progress in reports)
            await ctx.report_progress(done, files, left[0].how_far())
        await anyio.sleep(_STEP_SECONDS)


def has_enough(run: ImportRun, waited: float) -> bool:
    """Whether a search need not wait longer for a first import."""
    has_some = run.progress is not None and run.progress.files_done > 0
    return waited >= (_MAX_SECONDS_WITH_SOME if has_some else _MAX_SECONDS)
