"""The models in memory: loaded at the first search, let go when nobody searches."""

from __future__ import annotations

import ctypes
import gc
import logging
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from mdvec.embedding.embedder import Embedder

logger = logging.getLogger("mdvec")


@dataclass
class _Loaded:
    embedder: Embedder
    searches: int = 0
    last_used: float = 0.0


class ModelPool:
    """Keeps each model once, whoever asks, until it has been idle for long enough.

    Args:
        load: makes an embedder of a model's name; called once per name at a time.
        idle_seconds: a model is let go after so long without a search.
        memory_threshold: it is let go earlier when this share of the machine's memory is used.
        memory_use: the share of the machine's memory in use, 0 to 1.
        grace_seconds: how long after a search memory does not count, so that a question and its
            follow-up do not each load the model.
    """

    def __init__(
        self,
        load: Callable[[str], Embedder],
        *,
        idle_seconds: float,
        memory_threshold: float,
        memory_use: Callable[[], float],
        grace_seconds: float = 30.0,
    ) -> None:
        self._load = load
        self._idle_seconds = idle_seconds
        self._memory_threshold = memory_threshold
        self._memory_use = memory_use
        self._grace_seconds = min(grace_seconds, idle_seconds / 4)
        self._loaded: dict[str, _Loaded] = {}
        self._loading: dict[str, threading.Lock] = {}
        self._lock = threading.Lock()

    @contextmanager
    def embedder(self, name: str) -> Iterator[Embedder]:
        """A model for one search; whoever comes while it loads waits for it."""
        with self._lock:
            loading = self._loading.setdefault(name, threading.Lock())
        with loading:
            with self._lock:
                entry = self._loaded.get(name)
            if entry is None:
                entry = _Loaded(self._load(name))
                logger.info("loaded the model %s", name)
            with self._lock:
                self._loaded[name] = entry
                entry.searches += 1
        try:
            yield entry.embedder
        finally:
            with self._lock:
                entry.searches -= 1
                entry.last_used = time.monotonic()

    def loaded(self) -> list[str]:
        """The names of the models in memory."""
        with self._lock:
            return sorted(self._loaded)

    def release_idle(self) -> list[str]:
        """Let go of every model that nobody needs now; return their names."""
        now = time.monotonic()
        with self._lock:
            idle = {
                name: reason
                for name, entry in self._loaded.items()
                if (reason := self._needless(entry, now))
            }
            for name in idle:
                del self._loaded[name]
        if idle:
            _give_back_memory()
        for name, reason in idle.items():
            logger.info("let go of the model %s: %s", name, reason)
        return list(idle)

    @property
    def check_seconds(self) -> float:
        """How often to call ``release_idle``."""
        return min(max(self._idle_seconds / 4, 0.1), 15.0)

    def _needless(self, entry: _Loaded, now: float) -> str | None:
        """Why a model can go now, or None."""
        if entry.searches:
            return None
        unused = now - entry.last_used
        if unused >= self._idle_seconds:
            return "nobody searched"
        if unused >= self._grace_seconds and self._memory_use() > self._memory_threshold:
            return "memory is short"
        return None


def _give_back_memory() -> None:
    """Collect what is left of a model, and have the C library return it to the system."""
    gc.collect()
    torch = sys.modules.get("torch")
    if torch is not None and torch.backends.mps.is_available():
        torch.mps.empty_cache()
    if sys.platform == "linux":
        trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
        if trim is not None:
            trim(0)
