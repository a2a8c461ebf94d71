"""The charts that can be fetched: for a while, so many of them, and only so many bytes."""

from __future__ import annotations

import secrets
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass

from cachetools import TTLCache

from mdvec_mcp.charts.chart import Drawn

MOST_BYTES = 64 * 2**20
_ID_BYTES = 24


@dataclass(frozen=True, slots=True)
class Kept:
    """A chart, and for how many more seconds it is kept."""

    drawn: Drawn
    seconds: float


class ChartStore:
    """Charts by ids that cannot be guessed; of too many, the one unused for longest goes.

    Safe for several threads.

    Args:
        entries: how many charts are kept.
        ttl_seconds: how long each is kept.
        most_bytes: how much they may take together; a larger one is not kept at all.
        clock: the seconds that count.
    """

    def __init__(
        self,
        *,
        entries: int,
        ttl_seconds: float,
        most_bytes: int = MOST_BYTES,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._entries = entries
        self._clock = clock
        self._charts: TTLCache[str, tuple[Drawn, float]] = TTLCache(
            most_bytes, ttl_seconds, timer=clock, getsizeof=lambda kept: len(kept[0].data)
        )
        self._lock = threading.Lock()

    def put(self, drawn: Drawn) -> str:
        """Keep a chart; return its id."""
        chart_id = secrets.token_urlsafe(_ID_BYTES)
        with self._lock:
            self._charts.expire()
            while len(self._charts) >= self._entries:
                self._charts.popitem()
            if len(drawn.data) <= self._charts.maxsize:
                self._charts[chart_id] = drawn, self._clock() + self._charts.ttl
        return chart_id

    def get(self, chart_id: str) -> Drawn | None:
        """The chart of an id, or None if there is none (any more)."""
        kept = self.kept(chart_id)
        return None if kept is None else kept.drawn

    def kept(self, chart_id: str) -> Kept | None:
        """The chart of an id with the time that it has left."""
        with self._lock:
            found = self._charts.get(chart_id)
            now = self._clock()
        return None if found is None else Kept(found[0], max(found[1] - now, 0.0))

    def clear(self) -> None:
        """Forget all of them."""
        with self._lock:
            self._charts.clear()

    def __len__(self) -> int:
        with self._lock:
            self._charts.expire()
            return len(self._charts)
