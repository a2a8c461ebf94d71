"""Keeps embedding models in memory: loads them on demand or early, unloads them when idle."""

from __future__ import annotations

import gc
import logging
import sys
import threading
import time
from collections.abc import AsyncIterator, Callable, Iterable, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

import anyio
import anyio.to_thread
from mdvec.embedding import CARDS, Embedder, Reranker, is_endpoint_model
from mdvec.errors import MdvecError
from mdvec.platform import return_memory
from mdvec.tools import Tool

if TYPE_CHECKING:
    from mdvec.embedding import Vectors

logger = logging.getLogger("mdvec")

_MIN_CHECK_SECONDS, _MAX_CHECK_SECONDS = 0.1, 15.0


@dataclass
class _Loaded:
    embedder: Embedder
    searches: int = 0
    last_used: float = 0.0


class ModelPool:
    """Holds one embedder per model, shared by all searches, until it has been idle for a while.

    It also holds the reranker, which is loaded when a search first uses it.

    Args:
        load: loads a model by name; never called concurrently for the same name.
        idle_seconds: a model is unloaded after this long without a search.
        memory_threshold: if ``memory_use()`` is above this share (0 to 1), models are unloaded as
            soon as their grace period is over.
        grace_seconds: a model stays this long after a search even if memory is short, so that a
            follow-up question need not load it again; at most a quarter of ``idle_seconds``.
    """

    def __init__(
        self,
        load: Callable[[str], Embedder],
        *,
        idle_seconds: float,
        memory_threshold: float,
        memory_use: Callable[[], float],
        grace_seconds: float = 30.0,
        reranker: Reranker | None = None,
    ) -> None:
        self.reranker = reranker
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
        """Borrow a model for one search, loading it first if needed."""
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

    def embed_at_once(self, tool: Tool, words: str) -> Vectors | None:
        """The embedding of words, or None if the tool's model is not loaded or is remote.

        A light model is loaded if needed.
        """
        name = str(tool.model)
        is_light = name in CARDS and CARDS[name].is_light
        if is_endpoint_model(name) or not (is_light or name in self.loaded()):
            return None
        try:
            with self.embedder(name) as embedder:
                same = embedder.fingerprint == tool.fingerprint
                return embedder.embed_query(words) if same else None
        except MdvecError as error:
            logger.info("could not embed with the model %s: %s", name, error)
            return None

    def load_early(self, names: Iterable[str]) -> None:
        """Load the models for the first search, and warm each up with one embedding.

        If a model cannot be loaded, this only logs it; the search will report it.
        """
        for name in names:
            try:
                with self.embedder(name) as embedder:
                    embedder.embed_query(name)
            except MdvecError as error:
                logger.info("could not load the model %s early: %s", name, error)

    def loaded(self) -> list[str]:
        """The names of the models in memory."""
        with self._lock:
            return sorted(self._loaded)

    def release_idle(self) -> list[str]:
        """Unload the models that are idle; return their names."""
        now = time.monotonic()
        with self._lock:
            idle = {
                name: reason
                for name, entry in self._loaded.items()
                if not entry.searches and (reason := self._reason_to_unload(now - entry.last_used))
            }
            for name in idle:
                del self._loaded[name]
        unused = None if self.reranker is None else self.reranker.unused_seconds
        why = None if unused is None else self._reason_to_unload(unused)
        if self.reranker is not None and why is not None:
            self.reranker.unload()
            idle[self.reranker.name] = why
        if idle:
            _return_memory()
        for name, reason in idle.items():
            logger.info("released the model %s: %s", name, reason)
        return list(idle)

    @asynccontextmanager
    async def unloading_idle(self) -> AsyncIterator[None]:
        """Unload idle models while the block runs."""

        async def unload() -> None:
            while True:
                await anyio.sleep(self.check_seconds)
                await anyio.to_thread.run_sync(self.release_idle)

        async with anyio.create_task_group() as background:
            background.start_soon(unload)
            yield
            background.cancel_scope.cancel()

    @property
    def check_seconds(self) -> float:
        """How often to call ``release_idle``."""
        return min(max(self._idle_seconds / 4, _MIN_CHECK_SECONDS), _MAX_CHECK_SECONDS)

    def _reason_to_unload(self, unused: float) -> str | None:
        """Why a model unused for this many seconds can be unloaded; None if it must stay."""
        if unused >= self._idle_seconds:
            return "it was idle"
        if unused >= self._grace_seconds and self._memory_use() > self._memory_threshold:
            return "memory is short"
        return None


def _return_memory() -> None:
    """Collect the unloaded models, and let the C library return their memory to the system."""
    gc.collect()
    torch = sys.modules.get("torch")
    if torch is not None and torch.backends.mps.is_available():
        torch.mps.empty_cache()
    return_memory()
