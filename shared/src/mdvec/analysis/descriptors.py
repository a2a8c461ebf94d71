"""Counts what programs, loggers and libraries write to descriptors 1 and 2, past Python's streams.

Each descriptor becomes a pipe; a thread passes on what its guard allows. A terminal is left as it
is: programs that talk to a person need it.
"""

from __future__ import annotations

import os
import select
import threading
from collections.abc import Callable
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field

_CHUNK = 65_536


@dataclass
class CountedDescriptors:
    """Descriptors 1 and 2, where they are not a terminal.

    Args:
        take: the part of some bytes that may pass.
    """

    take: Callable[[bytes], bytes]
    _targets: dict[int, int] = field(default_factory=dict)
    _pipes: dict[int, int] = field(default_factory=dict)
    _lock: threading.RLock = field(default_factory=threading.RLock)
    _process: int = field(default_factory=os.getpid)

    def start(self, undo: ExitStack) -> None:
        """Begin to count, until ``undo``."""
        for descriptor in (1, 2):
            with suppress(OSError):  # closed, as in a program without output
                if not os.isatty(descriptor):
                    self._redirect(descriptor, undo)
        if self._pipes:
            threading.Thread(target=self._run, name="mdvec-output-guard", daemon=True).start()

    def target_of(self, descriptor: int) -> int | None:
        """Where what is written to a counted descriptor goes."""
        return self._targets.get(descriptor)

    def drain(self) -> None:
        """Pass on what was written until now."""
        if os.getpid() != self._process:  # a fork, whose parent passes it on
            return
        with self._lock:
            for descriptor in list(self._pipes):
                self._drain(descriptor)

    def _redirect(self, descriptor: int, undo: ExitStack) -> None:
        target = os.dup(descriptor)
        reading, writing = os.pipe()
        os.set_blocking(reading, False)
        os.dup2(writing, descriptor)
        os.close(writing)
        self._targets[descriptor], self._pipes[descriptor] = target, reading

        def restore() -> None:
            with self._lock:
                kept = self._targets.get(descriptor)
                if kept is not None:
                    os.dup2(kept, descriptor)
            self.drain()

        undo.callback(restore)

    def _run(self) -> None:
        while pipes := list(self._pipes.values()):
            poll = select.poll()
            for pipe in pipes:
                poll.register(pipe, select.POLLIN)
            poll.poll()
            self.drain()

    def _drain(self, descriptor: int) -> None:
        while True:
            try:
                data = os.read(self._pipes[descriptor], _CHUNK)
            except BlockingIOError:
                return
            if not data:  # nobody can write any more
                os.close(self._pipes.pop(descriptor))
                os.close(self._targets.pop(descriptor))
                return
            write_all(self._targets[descriptor], self.take(data))


def write_all(descriptor: int, data: bytes) -> None:
    """Write every byte; what nobody reads any more is lost."""
    rest = memoryview(data)
    with suppress(BrokenPipeError):
        while rest:
            try:
                rest = rest[os.write(descriptor, rest) :]
            except BlockingIOError:
                select.select([], [descriptor], [])
