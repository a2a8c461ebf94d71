"""Removing what has had its time, also when nobody asks anything any more."""

from __future__ import annotations

import logging
import threading
import time

from mdvec.errors import MdvecError

from mdvec_mcp.analytics.service import Analytics

_LONGEST = 5.0
logger = logging.getLogger("mdvec")


class Reaper:
    """A thread that sweeps when the next export or table expires."""

    def __init__(self, analytics: Analytics) -> None:
        self._analytics = analytics
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._run, name="mdvec-reaper", daemon=True)

    def start(self) -> None:
        """Begin; what expired while no server ran goes now."""
        self._thread.start()

    def close(self) -> None:
        """End it."""
        self._ended.set()

    def _run(self) -> None:
        wait = 0.0
        while not self._ended.wait(wait):
            try:
                self._analytics.sweep()
                expiry = self._analytics.next_expiry()
            except (MdvecError, OSError) as error:
                logger.warning("exports: %s", error)
                expiry = None
            # Exports and tables come meanwhile, of this server and of others.
            until = _LONGEST if expiry is None else expiry - time.time()
            wait = min(max(until, 0.05), _LONGEST)
