"""One child as the server sees it: started, asked under a limit of time and memory, ended."""

from __future__ import annotations

import os
import select
import subprocess
import sys
import time
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

import psutil

from mdvec_mcp.analytics.process.wire import Message, receive, send

GRACE_SECONDS = 0.5
"""How long a query may take to stop by itself before its process is killed."""
START_SECONDS = 120.0
_LOOK_SECONDS = 0.05
_MODULE = "mdvec_mcp.analytics.child.child"
_KEPT = (
    "LANG", "LC_ALL", "LC_CTYPE", "LD_LIBRARY_PATH", "PYTHONNOUSERSITE", "PYTHONPATH", "TZ",
)  # fmt: skip
_ALLOCATORS = {
    # What a query has left goes back to the system, addresses too: there is a limit on them.
    "DUCKDB_JE_MALLOC_CONF": "retain:false,dirty_decay_ms:500,muzzy_decay_ms:0,narenas:2",
    "MALLOC_ARENA_MAX": "2",
}


class TookTooLong(Exception):
    """The child did not answer in time."""


class TookTooMuch(Exception):
    """The child grew over its memory."""


class ChildProcess:
    """A child that answers one message after another.

    Args:
        config: the first message; the child's answer to it is ``ready``.
        memory_mb: what the child may have in memory.
        start_seconds: how long it may take until it is ready.

    Raises:
        WireClosed: it did not start.
        TookTooLong: it did not start in time.
    """

    def __init__(
        self,
        config: Message,
        folder: Path,
        memory_mb: int,
        start_seconds: float = START_SECONDS,
    ) -> None:
        self._memory = memory_mb * 2**20
        self._number = 0
        asked, self._writing = os.pipe()
        self._reading, answered = os.pipe()
        try:
            self._process = subprocess.Popen(  # noqa: S603 - our own module, no shell
                [sys.executable, "-P", "-X", "utf8", "-m", _MODULE],
                stdin=asked,
                stdout=answered,
                stderr=subprocess.DEVNULL,
                cwd=folder,
                env=_environment(os.environ),
                start_new_session=True,  # a Ctrl-C in the terminal is for the server
            )
        except OSError:
            os.close(self._writing)
            os.close(self._reading)
            raise
        finally:
            os.close(asked)
            os.close(answered)
        try:
            send(self._writing, config)
            self.ready = self._answer(time.monotonic() + start_seconds, 0)
        except BaseException:
            self.kill()
            raise

    @property
    def pid(self) -> int:
        """The child's number in the system."""
        return self._process.pid

    def alive(self) -> bool:
        """Whether it has not ended."""
        return self._process.poll() is None

    def ask(self, question: Message, seconds: float) -> Message:
        """Ask, wait, and return the answer.

        After ``seconds`` the child is told to stop, which it answers, too; where it does not, or
        grows too large, it must be killed by the caller.

        Raises:
            TookTooLong: there is no answer.
            TookTooMuch: it takes more memory than it may.
            WireClosed: it has ended.
        """
        self._number += 1
        send(self._writing, question | {"id": self._number})
        return self._answer(time.monotonic() + seconds, GRACE_SECONDS)

    def stop(self) -> None:
        """End it from another thread: whoever waits for its answer finds it gone."""
        self._process.kill()

    def kill(self) -> None:
        """End it, whatever it does; nothing can be asked afterwards."""
        self._process.kill()
        self._process.wait()
        os.close(self._writing)
        os.close(self._reading)

    def end(self) -> None:
        """Have it end by itself, which it does when there is nobody to ask it."""
        os.close(self._writing)
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(GRACE_SECONDS)
        self._process.kill()
        self._process.wait()
        os.close(self._reading)

    def _answer(self, deadline: float, grace: float) -> Message:
        waiting = select.poll()
        waiting.register(self._reading, select.POLLIN)

        def read(count: int) -> bytes:
            nonlocal deadline, grace
            while True:
                left = deadline - time.monotonic()
                if left <= 0 and not grace:
                    raise TookTooLong
                if left <= 0:
                    send(self._writing, {"do": "stop", "id": self._number})
                    deadline, grace = deadline + grace, 0
                elif waiting.poll(1000 * min(left, _LOOK_SECONDS)):
                    return os.read(self._reading, count)
                else:
                    self._look_at_memory()

        return receive(read)

    def _look_at_memory(self) -> None:
        with suppress(psutil.Error):
            if psutil.Process(self.pid).memory_info().rss > self._memory:
                raise TookTooMuch


def _environment(here: Mapping[str, str]) -> dict[str, str]:
    """What a child needs to start; none of the user's secrets."""
    return {name: here[name] for name in _KEPT if name in here} | _ALLOCATORS
