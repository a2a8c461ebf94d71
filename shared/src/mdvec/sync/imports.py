"""The imports that run in the background, at most one per tool, each in its own process."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, TypeAlias

# What an import needs is loaded by the first one: a server that starts needs none of it.
if TYPE_CHECKING:
    from mdvec.importing.report import Progress
    from mdvec.settings.sections import Settings
    from mdvec.sync.import_process import ImportProcess
    from mdvec.sync.messages import Failed, Message, Result, Stopped

_MAX_PROCESSES = 2
"""Each may hold a model; more would only take turns on the processor."""

End: TypeAlias = "Result | Failed | Stopped"


class ImportRun:
    """One import, from the moment that it was asked for; its attributes change while it runs.

    Attributes:
        tool: the tool's name.
        is_automatic: whether nobody asked for it, so that it keeps what emptied folders had.
        progress: how far it is; None before the first file.
        notice: what it last told its user.
        end: how it ended; None until then.
    """

    def __init__(self, tool: str, *, is_automatic: bool = False) -> None:
        self.tool = tool
        self.is_automatic = is_automatic
        self.progress: Progress | None = None
        self.notice = ""
        self.end: End | None = None
        self.began = time.monotonic()
        self._lock = threading.Lock()
        self._done = threading.Event()
        self._wishes = 0
        self._process: ImportProcess | None = None
        self._is_stopped = False

    @property
    def is_done(self) -> bool:
        """Whether it has ended."""
        return self._done.is_set()

    @property
    def seconds(self) -> float:
        """The seconds since it was asked for."""
        return time.monotonic() - self.began

    def wait(self, seconds: float | None = None) -> bool:
        """Wait until it has ended; whether it has."""
        return self._done.wait(seconds)

    def how_far(self) -> str:
        """How far it is, in words."""
        if self.progress is None:
            return f"{self.tool} is being imported; no file is in yet"
        done = f"{self.progress.files_done:,} of {self.progress.files:,} files"
        return f"{self.tool} is being imported: {done} are in"

    def want(self) -> None:
        """Count one more who wants it."""
        with self._lock:
            self._wishes += 1

    def give_up(self) -> None:
        """Count one less who wants it; it ends at its next step when nobody does."""
        with self._lock:
            self._wishes -= 1
            if self._wishes > 0:
                return
        self.stop()

    def stop(self) -> None:
        """End it at its next step; documents that are in stay."""
        with self._lock:
            self._is_stopped = True
            process = self._process
        if process is not None:
            process.stop()

    def follow(self, start: Callable[[], ImportProcess]) -> None:
        """Run it to its end, in this thread."""
        from mdvec.sync.messages import Failed, Stopped

        try:
            with self._lock:
                if not self._is_stopped:
                    self._process = start()
            if self._process is None:
                self.end = Stopped("stopped before the import began; nothing was changed")
                return
            for message in self._process.messages():
                self._take(message)
        except OSError as error:
            self.end = Failed(f"no process could be started ({error.strerror}); try again")
        finally:
            self._done.set()

    def _take(self, message: Message) -> None:
        from mdvec.importing.report import Progress
        from mdvec.sync.messages import Notice

        if isinstance(message, Progress):
            self.progress = message
        elif isinstance(message, Notice):
            self.notice = message.text
        else:
            self.end = message


class Imports:
    """Starts imports; thread-safe.

    A tool has at most one import that runs and one that waits for it to end: what is asked for
    meanwhile is the one that waits. Those of other processes are waited for by the tool's lock.

    Args:
        settings: what the imports follow.
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
        """Import a tool: the run that will see its source as it is now, or later.

        The caller wants the run until it calls ``give_up``.
        """
        with self._lock:
            run = self._waiting.get(tool)
            if run is None:
                run = ImportRun(tool, is_automatic=is_automatic)
                if self._is_closed:
                    run.stop()
                self._put(tool, run)
            elif not is_automatic:
                run.is_automatic = False
            run.want()
            return run

    def running(self, tool: str) -> ImportRun | None:
        """The import of a tool that runs or waits, if any."""
        with self._lock:
            return self._running.get(tool) or self._waiting.get(tool)

    def running_tools(self) -> list[str]:
        """The tools whose imports run."""
        with self._lock:
            return list(self._running)

    def last(self, tool: str) -> ImportRun | None:
        """The import of a tool that ended last, if any."""
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
        """Within the lock: run it now, or after the one that runs."""
        if tool in self._running:
            self._waiting[tool] = run
            return
        self._running[tool] = run
        threading.Thread(target=self._follow, args=(tool, run), daemon=True).start()

    def _follow(self, tool: str, run: ImportRun) -> None:
        from mdvec.sync.import_process import ImportProcess

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
