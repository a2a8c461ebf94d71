"""A reranker: a cross-encoder, which reads a question and a passage together. Optional.

Nothing heavy is imported before its first use.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Protocol

from mdvec.embedding import backends, catalog, onnx_models
from mdvec.embedding.cards import family_of, model_of
from mdvec.embedding.embedder import ModelError, ModelUnavailable
from mdvec.embedding.options import BackendOptions


class CrossEncoder(Protocol):
    """A loaded model that reads a question and passages together; its errors are ``Backend``'s."""

    at_once: int
    """The number of passages that are scored between two checks of the time."""

    def scores(self, question: str, passages: Sequence[str]) -> list[float]:
        """The score of each passage; higher is better."""


class RerankerTooSlow(ModelError):
    """Scoring took longer than a search may wait."""


class Reranker:
    """Loads a cross-encoder when it is first used; threads take turns."""

    def __init__(self, name: str, options: BackendOptions) -> None:
        """``name`` is ``st:`` or ``onnx:``, with a model or a folder."""
        self.name = name
        self._options = options
        self._lock = threading.Lock()
        self._model: CrossEncoder | None = None
        self._last_used = 0.0

    @property
    def unused_seconds(self) -> float | None:
        """The seconds since its last use; None if it is not loaded, or in use."""
        if self._model is None or self._lock.locked():
            return None
        return time.monotonic() - self._last_used

    def unload(self) -> None:
        """Free its memory; the next use loads it again."""
        with self._lock:
            self._model = None

    def missing(self) -> str | None:
        """Why it cannot be loaded, in a few words, or None if its files look right."""
        try:
            return None if backends.is_classifier(self._folder()) else "it is not a cross-encoder"
        except ModelUnavailable as error:
            return str(error)

    def scores(self, question: str, passages: Sequence[str], seconds: float) -> list[float]:
        """The model's score for each passage; higher is better.

        Scoring may take ``seconds``, not counting the loading of the model.

        Raises:
            ModelUnavailable: it is not installed, or is no cross-encoder.
            ModelError: it fails, or takes too long.
        """
        scores: list[float] = []
        with self._lock:
            model = self._model = self._model or self._load()
            self._last_used = time.monotonic()
            end = time.monotonic() + seconds
            for first in range(0, len(passages), model.at_once):
                if time.monotonic() > end:
                    raise RerankerTooSlow(
                        f"{self.name} scored {first} of {len(passages)} passages in "
                        f"{seconds:g} seconds; choose a smaller one in [search] reranker"
                    )
                scores += model.scores(question, passages[first : first + model.at_once])
                self._last_used = time.monotonic()
        return scores

    def _load(self) -> CrossEncoder:
        try:
            folder = self._folder()
        except ModelUnavailable as error:
            is_folder = catalog.is_folder(self.name)
            leave = "take it out of [search] reranker"
            pull = f"get it with: mdvec model pull {self.name}, or take it out of [search] reranker"
            raise ModelUnavailable(
                f"the reranker {self.name!r} is not here ({error}); {leave if is_folder else pull}"
            ) from error
        if not backends.is_classifier(folder):
            raise ModelUnavailable(
                f"{self.name!r} is not a cross-encoder (its config.json names no model for "
                "sequence classification); choose another in [search] reranker"
            )
        if family_of(self.name) == "onnx":
            files = onnx_models.place_of(self.name, self._options).located()
            return backends.OnnxCrossEncoder(self.name, files)
        return backends.CrossEncoderBackend(self.name, folder, self._options.st)

    def _folder(self) -> Path:
        """The folder with its files."""
        model = model_of(self.name)
        if family_of(self.name) == "onnx":
            return onnx_models.place_of(self.name, self._options).located().folder
        lack = backends.sentence_transformers.missing(model)
        folder = backends.sentence_transformers.located(model)
        if lack or folder is None:
            raise ModelUnavailable(str(lack))
        return folder
