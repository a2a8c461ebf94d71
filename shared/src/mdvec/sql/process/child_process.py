"""Runs one child process: starts it, sends requests under time and memory limits, ends it."""

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

from mdvec.cancelling import is_cancelled
from mdvec.sizes import MEGABYTE
from mdvec.sql.process.messages import Message, receive, send

GRACE_SECONDS = 0.5
"""How long a query has to stop by itself before its process is killed."""
CANCELLED_GRACE_SECONDS = 0.2
"""The same for a cancelled query, whose place the next query waits for."""
START_SECONDS = 120.0
_POLL_SECONDS = 0.05
_MODULE = "mdvec.sql.child.child"
_INHERITED = (
    "LANG", "LC_ALL", "LC_CTYPE", "LD_LIBRARY_PATH", "PYTHONNOUSERSITE", "PYTHONPATH", "TZ",
)  # fmt: skip
_ALLOCATORS = {
    # Freed memory goes back to the system with its addresses, which are limited as well.
    "DUCKDB_JE_MALLOC_CONF": "retain:false,dirty_decay_ms:500,muzzy_decay_ms:0,narenas:2",
    "MALLOC_ARENA_MAX": "2",
}


class ChildTimeout(Exception):
    """The child did not answer in time."""


class MemoryExceeded(Exception):
    """The child uses more memory than its limit."""


class ChildProcess:
    """A child that answers one request after another.

    Args:
        config: the first message; the child's answer to it is ``ready``.
        folder: its working directory.
        memory_mb: the limit of its resident memory.
        start_seconds: the time limit until it is ready.

    Raises:
        WireClosed: it did not start.
        ChildTimeout: it did not start in time.
    """

    def __init__(
        self,
        config: Message,
        folder: Path,
        memory_mb: int,
        start_seconds: float = START_SECONDS,
    ) -> None:
        self._memory = memory_mb * MEGABYTE
        self._request_id = 0
        child_stdin, self._writing = os.pipe()
        self._reading, child_stdout = os.pipe()
        try:
            self._process = subprocess.Popen(  # noqa: S603 - our own module, no shell
                [sys.executable, "-P", "-X", "utf8", "-m", _MODULE],
                stdin=child_stdin,
                stdout=child_stdout,
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
            os.close(child_stdin)
            os.close(child_stdout)
        try:
            send(self._writing, config)
            self.ready = self._response(time.monotonic() + start_seconds, 0)
        except BaseException:
            self.kill()
            raise

    @property
    def pid(self) -> int:
        """Its process id."""
        return self._process.pid

    def alive(self) -> bool:
        """Whether it is still running."""
        return self._process.poll() is None

    def request(self, message: Message, seconds: float) -> Message:
        """Send a request, wait, and return the response.

        After ``seconds``, or when this thread's work is cancelled, the child is told to stop the
        query, and answers that it did. When this raises, the caller must kill the child.

        Raises:
            ChildTimeout: it did not respond in time.
            MemoryExceeded: it uses more memory than its limit.
            WireClosed: it has ended.
        """
        self._request_id += 1
        send(self._writing, message | {"id": self._request_id})
        return self._response(time.monotonic() + seconds, GRACE_SECONDS)

    def stop(self) -> None:
        """Kill it from another thread; a request under way then raises WireClosed."""
        self._process.kill()

    def kill(self) -> None:
        """Kill it and close the pipes."""
        self._process.kill()
        self._process.wait()
        os.close(self._writing)
        os.close(self._reading)

    def end(self) -> None:
        """Close its input, at which it exits; kill it where it does not."""
        os.close(self._writing)
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(GRACE_SECONDS)
        self._process.kill()
        self._process.wait()
        os.close(self._reading)

    def _response(self, deadline: float, grace: float) -> Message:
        poll = select.poll()
        poll.register(self._reading, select.POLLIN)

        def read(count: int) -> bytes:
            nonlocal deadline, grace
            while True:
                if grace and is_cancelled():
                    deadline, grace = time.monotonic(), min(grace, CANCELLED_GRACE_SECONDS)
                left = deadline - time.monotonic()
                if left <= 0 and not grace:
                    raise ChildTimeout
                if left <= 0:
                    send(self._writing, {"do": "stop", "id": self._request_id})
                    deadline, grace = deadline + grace, 0
                elif poll.poll(1000 * min(left, _POLL_SECONDS)):
                    return os.read(self._reading, count)
                else:
                    self._check_memory()

        return receive(read)

    def _check_memory(self) -> None:
        with suppress(psutil.Error):
            if psutil.Process(self.pid).memory_info().rss > self._memory:
                raise MemoryExceeded


def _environment(here: Mapping[str, str]) -> dict[str, str]:
    """A child's environment: what it needs to start, without the user's secrets."""
    return {name: here[name] for name in _INHERITED if name in here} | _ALLOCATORS
