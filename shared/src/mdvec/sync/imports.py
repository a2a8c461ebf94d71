"""Runs background imports, at most one per tool, each in its own process.

The process gets its order on STDIN, and answers with messages in lines of JSON.
"""

from __future__ import annotations

import json
import logging
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import asdict, dataclass

from mdvec.importing import ImportReport, Progress
from mdvec.platform import in_own_group
from mdvec.settings import Settings
from mdvec.text import counted

_MAX_PROCESSES = 2
"""The most processes at once: each may hold a model in memory, and more would share the CPU."""

COUNTS = ("added", "updated", "deleted", "unchanged", "failed", "total_chunks", "seconds")


@dataclass(frozen=True, slots=True)
class Result:
    """The result of a finished import.

    ``counts`` are its numbers by the names in ``COUNTS``, as the server's tools return them.
    ``summary`` is what `mdvec import` prints, without the ``notes``.
    """

    tool: str
    counts: dict[str, float]
    summary: tuple[str, ...]
    notes: tuple[str, ...]

    @classmethod
    def of(cls, report: ImportReport) -> Result:
        """The result of an import, from its report."""
        lines = report.lines()
        counts = {**report.counts, "total_chunks": report.chunks, "seconds": report.seconds}
        summary = tuple(line.text for line in lines if not line.is_note)
        return cls(report.tool, counts, summary, tuple(line.text for line in lines if line.is_note))


@dataclass(frozen=True, slots=True)
class Notice:
    """A sentence for the user while the import runs."""

    text: str


@dataclass(frozen=True, slots=True)
class Failed:
    """The import ended with an error."""

    text: str


@dataclass(frozen=True, slots=True)
class Stopped:
    """The import was stopped; finished documents are kept."""

    text: str


End = Result | Failed | Stopped
NOT_BEGUN = Stopped("stopped before the import began; nothing was changed")
Message = Progress | Notice | End
_KINDS: dict[str, Callable[..., Message]] = {
    kind.__name__.lower(): kind for kind in (Progress, Notice, Result, Failed, Stopped)
}


def as_line(message: Message) -> str:
    """The message as a line, with its line break."""
    fields = {"message": type(message).__name__.lower(), **asdict(message)}
    return json.dumps(fields, ensure_ascii=True) + "\n"


def from_line(line: str) -> Message | None:
    """The message in a line; None if it is incomplete, like the last line of a killed process."""
    try:
        fields = json.loads(line)
        kind = _KINDS[fields.pop("message")]
        return kind(**{name: _hashable(value) for name, value in fields.items()})
    except (ValueError, KeyError, TypeError, AttributeError):
        return None


def _hashable(value: object) -> object:
    return tuple(_hashable(element) for element in value) if isinstance(value, list) else value


_STOP_SECONDS = 5.0
"""How long a process may take to end when asked to; loading a model is one step."""


def _stderr_level() -> int:
    """The lowest level that this process logs to STDERR, which its child shares."""
    levels = [
        handler.level
        for handler in logging.getLogger().handlers
        if isinstance(handler, logging.StreamHandler) and handler.stream is sys.stderr
    ]
    return min(levels, default=logging.WARNING)


class ImportProcess:
    """An import of one tool in a process of its own, with lower priority.

    ``is_automatic`` is whether no user requested it.
    """

    def __init__(self, settings: Settings, tool: str, *, is_automatic: bool) -> None:
        self._tool = tool
        self._is_stopped = False
        # It has its own session: Ctrl-C in the terminal reaches only this process, which then
        # closes its STDIN. Isolated mode (-I) is not used, because PYTHONPATH may locate the
        # packages.
        self._process = subprocess.Popen(
            [sys.executable, "-P", "-X", "utf8", "-m", "mdvec.sync.import_child"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            encoding="utf-8",
            **in_own_group(),
        )
        values = settings.model_dump(mode="json", exclude_unset=True, exclude={"server"})
        self._order = json.dumps(
            {
                "tool": tool,
                "settings": values,
                "is_automatic": is_automatic,
                "log_level": _stderr_level(),
            }
        )

    def messages(self) -> Iterator[Message]:
        """The messages of the process until it ends; the last is its result."""
        if self._process.stdin is None or self._process.stdout is None:
            return
        with suppress(OSError, ValueError):  # closed after a stop
            self._process.stdin.write(f"{self._order}\n")
            self._process.stdin.flush()
        end: Message | None = None
        for line in self._process.stdout:
            message = from_line(line)
            if isinstance(message, End):
                end = message
            elif message is not None:
                yield message
        self._close()
        yield end or self._unexpected_end()

    def stop(self) -> None:
        """Let the import end at its next step; kill the process if it does not."""
        self._is_stopped = True
        if self._process.stdin is not None:
            with suppress(OSError):
                self._process.stdin.close()
        timer = threading.Timer(_STOP_SECONDS, self._process.kill)
        timer.daemon = True
        timer.start()

    def _close(self) -> None:
        self._process.wait()
        for stream in (self._process.stdin, self._process.stdout):
            if stream is not None:
                with suppress(OSError):
                    stream.close()

    def _unexpected_end(self) -> Message:
        reassurance = "what it had finished is kept"
        if self._is_stopped:
            return Stopped(f"stopped; {reassurance}")
        code = self._process.returncode
        how = f"was killed by signal {-code}" if code < 0 else f"ended with code {code}"
        return Failed(
            f"the import of {self._tool} {how}; {reassurance}, the next import goes on from there"
        )


class ImportRun:
    """One import, from its request on; its attributes change while it runs.

    ``progress`` is None before the first file, and ``end`` is None until the import has ended;
    ``notice`` is its last sentence for the user.
    """

    def __init__(self, tool: str) -> None:
        self.tool = tool
        self.progress: Progress | None = None
        self.notice = ""
        self.end: End | None = None
        self.began = time.monotonic()
        self._lock = threading.Lock()
        self._done = threading.Event()
        self._is_due = False
        self._wishes = 0
        self._process: ImportProcess | None = None
        self._is_stopped = False

    @property
    def is_done(self) -> bool:
        """Whether the import has ended."""
        return self._done.is_set()

    @property
    def has_failed(self) -> bool:
        """Whether the import has ended without a result."""
        return self.end is not None and not isinstance(self.end, Result)

    @property
    def is_automatic(self) -> bool:
        """Whether no caller waits for the import; it then keeps the content of emptied folders."""
        return not self._wishes

    @property
    def seconds(self) -> float:
        """The seconds since it was requested."""
        return time.monotonic() - self.began

    def wait(self, seconds: float | None = None) -> bool:
        """Wait until the import has ended, up to ``seconds``; returns whether it has."""
        return self._done.wait(seconds)

    def how_far(self) -> str:
        """Its progress in words."""
        if self.progress is None:
            return f"{self.tool} is being imported; it has not come to a file yet"
        done = f"{self.progress.files_done:,} of {counted(self.progress.files, 'file')}"
        return f"{self.tool} is being imported: {done} are in"

    def want(self, *, is_automatic: bool = False) -> bool:
        """Count one more caller, or mark the run as due without any; False if it was stopped."""
        with self._lock:
            if self._is_stopped:
                return False
            self._is_due |= is_automatic
            self._wishes += not is_automatic
            return True

    def give_up(self) -> None:
        """Count one caller less; without any callers, the import ends at its next step."""
        with self._lock:
            self._wishes -= 1
            if self._wishes > 0 or self._is_due:
                return
            self._is_stopped = True  # under the same lock, so that no caller can join in between
        self.stop()

    def stop(self) -> None:
        """End the import at its next step, or now if it has not begun; stored documents stay."""
        with self._lock:
            self._is_stopped = True
            process = self._process
        if process is None:
            self._end_before_it_began()
        else:
            process.stop()

    def follow(self, start: Callable[[], ImportProcess]) -> None:
        """Run the import to its end in this thread."""
        try:
            with self._lock:
                if not self._is_stopped:
                    self._process = start()
            if self._process is None:
                self._end_before_it_began()
                return
            for message in self._process.messages():
                self._take(message)
        except OSError as error:
            self.end = Failed(f"no process could be started ({error.strerror}); try again")
        finally:
            self._done.set()

    def _end_before_it_began(self) -> None:
        if not self._done.is_set():
            self.end = NOT_BEGUN
            self._done.set()

    def _take(self, message: Message) -> None:
        if isinstance(message, Progress):
            self.progress = message
        elif isinstance(message, Notice):
            self.notice = message.text
        else:
            self.end = message


class Imports:
    """Starts imports; thread-safe.

    A tool has at most one running and one waiting import; further requests join the waiting one.
    Imports of other processes are waited for through the tool's lock.
    """

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._lock = threading.Lock()
        self._running: dict[str, ImportRun] = {}
        self._waiting: dict[str, ImportRun] = {}
        self._last: dict[str, ImportRun] = {}
        self._room = threading.BoundedSemaphore(_MAX_PROCESSES)
        self._is_closed = False

    def start(self, tool: str, *, is_automatic: bool = False) -> ImportRun:
        """Import a tool; the returned run begins to read the source now or later, not earlier.

        A caller counts until it calls ``give_up``; an automatic run is due until it ends.
        """
        with self._lock:
            run = self._waiting.get(tool)
            if run is None or not run.want(is_automatic=is_automatic):
                run = ImportRun(tool)
                run.want(is_automatic=is_automatic)
                if self._is_closed:
                    run.stop()
                self._put(tool, run)
            return run

    def running(self, tool: str) -> ImportRun | None:
        """The running or waiting import of a tool, if any."""
        with self._lock:
            return self._running.get(tool) or self._waiting.get(tool)

    def has_begun(self, tool: str) -> bool:
        """Whether an import of a tool runs."""
        with self._lock:
            return tool in self._running

    def last(self, tool: str) -> ImportRun | None:
        """The last finished import of a tool, if any."""
        with self._lock:
            return self._last.get(tool)

    def close(self) -> None:
        """End all imports at their next steps, and start no more."""
        with self._lock:
            self._is_closed = True
            runs = [*self._waiting.values(), *self._running.values()]
        for run in runs:
            run.stop()

    def _put(self, tool: str, run: ImportRun) -> None:
        """Start the run now, or after the tool's running import; the caller holds the lock."""
        if tool in self._running:
            self._waiting[tool] = run
            return
        self._running[tool] = run
        threading.Thread(target=self._follow, args=(tool, run), daemon=True).start()

    def _follow(self, tool: str, run: ImportRun) -> None:
        try:
            with self._room:
                run.follow(
                    lambda: ImportProcess(self._settings, tool, is_automatic=run.is_automatic)
                )
        finally:  # whatever happened, the next import must not wait for this one
            with self._lock:
                self._last[tool] = run
                del self._running[tool]
                following = self._waiting.pop(tool, None)
                if following is not None:
                    self._put(tool, following)


_FIRST_PAUSE = 30.0
_MAX_PAUSE = 600.0


@dataclass(frozen=True, slots=True)
class _Attempt:
    mark: int
    pause: float
    at: float


class Attempts:
    """The last attempts of each tool's imports.

    If differences remain because an import failed or was killed, it is retried after 30 s, then
    after twice as long each time, up to 10 minutes. Other differences are tried at once.
    """

    def __init__(self) -> None:
        self._last: dict[str, _Attempt] = {}

    def begin(self, tool: str, mark: int, now: float | None = None) -> bool:
        """Whether differences with this mark are due for import; if so, counts an attempt.

        ``now`` is in seconds of a monotonic clock; None reads it.
        """
        now = time.monotonic() if now is None else now
        last = self._last.get(tool)
        if last is None or last.mark != mark:
            self._last[tool] = _Attempt(mark, _FIRST_PAUSE, now)
        elif now - last.at < last.pause:
            return False
        else:
            self._last[tool] = _Attempt(mark, min(2 * last.pause, _MAX_PAUSE), now)
        return True
