"""Deletes expired exports and drops expired tables, even if there are no requests."""

from __future__ import annotations

import logging
import threading
import time

from mdvec.analysis.exports import ExportFolder
from mdvec.errors import MdvecError

from mdvec_mcp.analytics.process.query_process import QueryProcess

_MIN_WAIT_SECONDS = 0.05
_MAX_WAIT_SECONDS = 5.0
logger = logging.getLogger("mdvec")


class Reaper:
    """A thread that wakes up when the next export or table expires."""

    def __init__(self, exports: ExportFolder, queries: QueryProcess) -> None:
        self._exports = exports
        self._queries = queries
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._run, name="mdvec-reaper", daemon=True)

    def start(self) -> None:
        """Start the thread; it first deletes what expired while no server ran."""
        self._thread.start()

    def close(self) -> None:
        """Tell the thread to end."""
        self._ended.set()

    def _run(self) -> None:
        wait = 0.0
        while not self._ended.wait(wait):
            try:
                self._exports.sweep()
                self._queries.drop_expired()
                expiry = self._next_expiry()
            except (MdvecError, OSError) as error:
                logger.warning("exports: %s", error)
                expiry = None
            # This server and others may add exports and tables meanwhile.
            until = _MAX_WAIT_SECONDS if expiry is None else expiry - time.time()
            wait = min(max(until, _MIN_WAIT_SECONDS), _MAX_WAIT_SECONDS)

    def _next_expiry(self) -> float | None:
        """When the next export or table expires, in seconds since 1970."""
        moments = [*self._queries.expiries().values()]
        if (next_export := self._exports.next_expiry()) is not None:
            moments.append(next_export)
        return min(moments, default=None)
