"""Times the stages of an operation, for ``--verbose`` and the log."""

from __future__ import annotations

import logging
import time
from collections.abc import Iterator
from contextlib import contextmanager

from mdvec.cancelling import raise_if_cancelled

logger = logging.getLogger("mdvec")


class Stopwatch:
    """Adds up the seconds spent in named stages."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}
        self._began = time.perf_counter()

    @contextmanager
    def stage(self, name: str) -> Iterator[None]:
        """Add the time spent within this context to the stage ``name``.

        Raises:
            Cancelled: the operation was cancelled; the stage did not begin.
        """
        raise_if_cancelled()
        began = time.perf_counter()
        try:
            yield
        finally:
            self.seconds[name] = self.seconds.get(name, 0.0) + time.perf_counter() - began

    @contextmanager
    def of_file(self, path: str) -> Iterator[None]:
        """Log at debug level the time that each stage takes within this context, for one file."""
        if not logger.isEnabledFor(logging.DEBUG):
            yield
            return
        before = dict(self.seconds)
        try:
            yield
        finally:
            spent = ", ".join(
                f"{name} {(seconds - before.get(name, 0.0)) * 1000:.1f}ms"
                for name, seconds in self.seconds.items()
                if seconds != before.get(name)
            )
            logger.debug("[TIMER] %s: %s", path, spent)

    @property
    def total(self) -> float:
        """Seconds since this stopwatch was created."""
        return time.perf_counter() - self._began

    def log(self, work: str) -> None:
        """Log the time of each stage, and the total of ``work``, at debug level."""
        for name, seconds in self.seconds.items():
            logger.debug("[TIMER] %s: %.1fms", name, seconds * 1000)
        logger.debug("[TIMER] %s_total: %.1fms", work, self.total * 1000)
