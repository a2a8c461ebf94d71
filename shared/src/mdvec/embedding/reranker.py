"""A reranker: a cross-encoder, which reads a question and a passage together. Optional.

Nothing heavy is imported before its first use.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Sequence
from typing import TYPE_CHECKING

from mdvec.embedding import backends
from mdvec.embedding.cards import model_of
from mdvec.embedding.embedder import ModelError, ModelUnavailable
from mdvec.embedding.options import StOptions

if TYPE_CHECKING:
    from mdvec.embedding.backends.cross_encoder import CrossEncoderBackend

_AT_ONCE = 5
"""So many passages are scored between two looks at the clock."""


class RerankerTooSlow(ModelError):
    """Scoring took longer than a search may wait."""


class Reranker:
    """Loads a cross-encoder when it is first used; threads take turns."""

    def __init__(self, name: str, options: StOptions) -> None:
        """``name`` is ``st:<model or folder>``; of the options the device counts."""
        self.name = name
        self._options = options
        self._lock = threading.Lock()
        self._model: CrossEncoderBackend | None = None
        self._last_used = 0.0

    @property
    def unused_seconds(self) -> float | None:
        """The seconds since its last use; None if it is not loaded, or in use."""
        if self._model is None or self._lock.locked():
            return None
        return time.monotonic() - self._last_used

    def unload(self) -> None:
        """Give its memory back; the next use loads it again."""
        with self._lock:
            self._model = None

    def missing(self) -> str | None:
        """Why it cannot be loaded, in a few words, or None if its files look right."""
        model = model_of(self.name)
        folder = backends.sentence_transformers.located(model)
        lack = backends.sentence_transformers.missing(model)
        if lack is None and folder is not None and not backends.is_classifier(folder):
            return "it is not a cross-encoder"
        return lack

    def scores(self, question: str, passages: Sequence[str], seconds: float) -> list[float]:
        """How well each passage answers, in the model's own numbers: more is better.

        Args:
            question: as asked.
            passages: the texts to compare with it.
            seconds: how long scoring may take, after the model was loaded.

        Raises:
            ModelUnavailable: it is not here, or is no cross-encoder.
            ModelError: it fails, or takes longer.
        """
        scores: list[float] = []
        with self._lock:
            model = self._model = self._model or self._load()
            self._last_used = time.monotonic()
            end = time.monotonic() + seconds
            for first in range(0, len(passages), _AT_ONCE):
                if time.monotonic() > end:
                    raise RerankerTooSlow(
                        f"{self.name} scored {first} of {len(passages)} passages in "
                        f"{seconds:g} seconds; choose a smaller one in [search] reranker"
                    )
                scores += model.scores(question, passages[first : first + _AT_ONCE])
                self._last_used = time.monotonic()
        return scores

    def _load(self) -> CrossEncoderBackend:
        model = model_of(self.name)
        folder = backends.sentence_transformers.located(model)
        lack = backends.sentence_transformers.missing(model)
        if folder is None or lack:
            raise ModelUnavailable(
                f"the reranker {self.name!r} is not here ({lack}); get it with: "
                f"mdvec model pull {self.name}, or take it out of [search] reranker"
            )
        return backends.CrossEncoderBackend(self.name, folder, self._options)
