"""The chart cache, bounded by count, bytes and age."""

from __future__ import annotations

import secrets
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass

from cachetools import TTLCache
from mdvec.charts import Picture
from mdvec.sizes import MEGABYTE

MAX_CACHE_BYTES = 64 * MEGABYTE
_ID_BYTES = 24  # random, so that an id cannot be guessed


@dataclass(frozen=True, slots=True)
class StoredChart:
    """A chart, and the seconds until it expires."""

    picture: Picture
    seconds: float


class ChartStore:
    """Charts by random ids; when it is full, the least recently used chart is dropped.

    Thread-safe.

    Args:
        entries: the number of charts.
        ttl_seconds: how long each is stored.
        max_bytes: the size of all charts together; a larger chart is not stored.
        clock: the time in seconds.
    """

    def __init__(
        self,
        *,
        entries: int,
        ttl_seconds: float,
        max_bytes: int = MAX_CACHE_BYTES,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._entries = entries
        self._clock = clock
        self._charts: TTLCache[str, tuple[Picture, float]] = TTLCache(
            max_bytes, ttl_seconds, timer=clock, getsizeof=lambda stored: len(stored[0].data)
        )
        self._lock = threading.Lock()

    def put(self, picture: Picture) -> str:
        """Store a chart; return its id."""
        chart_id = secrets.token_urlsafe(_ID_BYTES)
        with self._lock:
            self._charts.expire()
            while len(self._charts) >= self._entries:
                self._charts.popitem()
            if len(picture.data) <= self._charts.maxsize:
                self._charts[chart_id] = picture, self._clock() + self._charts.ttl
        return chart_id

    def get(self, chart_id: str) -> Picture | None:
        """The chart of an id; None if it is unknown or has expired."""
        stored = self.find(chart_id)
        return None if stored is None else stored.picture

    def find(self, chart_id: str) -> StoredChart | None:
        """The chart of an id with its remaining time; None if it is unknown or has expired."""
        with self._lock:
            found = self._charts.get(chart_id)
            now = self._clock()
        return None if found is None else StoredChart(found[0], max(found[1] - now, 0.0))

    def clear(self) -> None:
        """Drop all charts."""
        with self._lock:
            self._charts.clear()

    def __len__(self) -> int:
        with self._lock:
            self._charts.expire()
            return len(self._charts)
