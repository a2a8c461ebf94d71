"""Processes that answer messages; a message is a JSON object on a line."""

from __future__ import annotations

import json
import os
import subprocess
import time
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from mdvec.cancelling import raise_if_cancelled
from mdvec.platform.processes import can_read, can_write, never_wait

_MAX_BYTES = 400_000_000
_BLOCK = 2**18
_POLL_SECONDS = 0.05
_MAX_QUOTED = 80


class Worker:
    """Starts a process, to which messages are sent, and from which they are received.

    Deadlines are times of ``time.monotonic``. ``send`` and ``receive`` may raise:
        EOFError: the process has ended, or wrote something else, which the error quotes.
        TimeoutError: the deadline has passed.
        Cancelled: this thread's work was cancelled.

    Args:
        max_bytes: a longer message of the process is refused like something else.
        arguments: of ``subprocess.Popen``, like those of ``python_child``.
    """

    def __init__(self, *, max_bytes: int = _MAX_BYTES, **arguments: Any) -> None:  # noqa: ANN401
        self._max_bytes = max_bytes
        self._received = bytearray()
        pipes = dict.fromkeys(("stdin", "stdout"), subprocess.PIPE)
        self.process = subprocess.Popen[bytes](
            **{"stderr": subprocess.DEVNULL} | arguments | pipes, bufsize=0
        )
        self._to, self._from = (
            pipe.fileno() for pipe in (self.process.stdin, self.process.stdout) if pipe
        )
        never_wait(self._to)
        never_wait(self._from)

    def send(self, message: dict[str, Any], deadline: float, data: bytes = b"") -> None:
        """Send a message, and ``data`` after it."""
        for part in (_line(message, "surrogatepass"), data):
            rest = memoryview(part)
            while rest:
                if can_write(self._to, _next_wait(deadline)):
                    try:
                        rest = rest[os.write(self._to, rest[:_BLOCK]) :]
                    except OSError as error:
                        raise EOFError from error

    def receive(self, deadline: float, watch: Callable[[], None] = lambda: None) -> dict[str, Any]:
        """Receive a message; ``watch`` is called at intervals while nothing arrives.

        After TimeoutError, Cancelled, or an error of ``watch``, the same message can be awaited.
        """
        seen = 0
        while (wait := _next_wait(deadline)) and (end := self._received.find(b"\n", seen)) < 0:
            seen = len(self._received)
            if not can_read(self._from, wait):
                watch()
            elif (part := os.read(self._from, _BLOCK)) and seen <= self._max_bytes:
                self._received += part
            else:
                raise EOFError
        line = self._received[:end]
        del self._received[: end + 1]
        try:
            return {**json.loads(line)}
        except (ValueError, TypeError, RecursionError) as error:
            raise EOFError(repr(bytes(line[:_MAX_QUOTED]))) from error

    def close(self, grace: float = 0.0) -> None:
        """Close the input of the process, so that it exits; after ``grace`` seconds, kill it."""
        with self.process as process:  # its end closes the pipes, and waits
            if process.stdin is not None:
                process.stdin.close()
            with suppress(subprocess.TimeoutExpired):
                process.wait(grace)
            process.kill()


class Parent:
    """The process that started this one as its ``Worker``.

    It takes over STDIN and STDOUT, so that code that prints cannot break the messages.
    """

    def __init__(self) -> None:
        self._requests, self._answers = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
        nothing = os.open(os.devnull, os.O_RDWR)
        for descriptor in (0, 1, 2):
            os.dup2(nothing, descriptor)
        os.close(nothing)

    def receive(self) -> dict[str, Any]:
        """The next message.

        Raises:
            EOFError: the parent has ended, or closed this worker.
        """
        line = self._requests.readline()
        if not line.endswith(b"\n"):
            raise EOFError
        return {**json.loads(line)}

    def read(self, count: int) -> bytes:
        """The data after a message, unless the parent ends."""
        return self._requests.read(count)

    def send(self, message: dict[str, Any]) -> None:
        """Send a message; half a surrogate pair, as files may contain, becomes a question mark.

        Raises:
            OSError: the parent has ended.
        """
        self._answers.write(_line(message, "replace"))
        self._answers.flush()


def _next_wait(deadline: float) -> float:
    """The seconds until the next look at the deadline, and at whether the work is cancelled."""
    raise_if_cancelled()
    left = deadline - time.monotonic()
    if left <= 0:
        raise TimeoutError
    return min(left, _POLL_SECONDS)


def _line(message: dict[str, Any], errors: str) -> bytes:
    body = json.dumps(message, ensure_ascii=False, separators=(",", ":"))
    return f"{body}\n".encode("utf-8", errors)
