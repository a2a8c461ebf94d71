"""The backends of ``[search] reranker``: cross-encoders of both libraries."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from mdvec.embedding.backends.hub import first_line, loading, quiet_transformers
from mdvec.embedding.backends.model_files import max_tokens_of
from mdvec.embedding.backends.onnx import OnnxModel
from mdvec.embedding.backends.sentence_transformers import device_here
from mdvec.embedding.embedder import ModelError, ModelUnavailable
from mdvec.embedding.onnx_models import OnnxFiles
from mdvec.embedding.options import StOptions

_MAX_TOKENS = 512
"""The limit for a question and a passage together; longer input is cut, to bound the time."""


class CrossEncoderBackend:
    """A model for sentence-transformers, loaded from a local folder; nothing is downloaded."""

    at_once = 5

    def __init__(self, name: str, folder: Path, options: StOptions) -> None:
        self._name = name
        with loading(f"the reranker {name!r}", folder):
            self._model = _load(folder, options)
        if self._model.num_labels != 1:
            raise _not_one_number(name, self._model.num_labels)

    def scores(self, question: str, passages: Sequence[str]) -> list[float]:
        """How well each passage answers the question."""
        pairs = [(question, passage) for passage in passages]
        try:
            predictions = self._model.predict(
                pairs, batch_size=len(pairs), show_progress_bar=False, convert_to_numpy=True
            )
        except (RuntimeError, MemoryError, IndexError) as error:
            raise ModelError(f"the reranker {self._name!r} failed: {first_line(error)}") from error
        return _check_scores(
            self._name, np.asarray(predictions).reshape(-1).tolist(), len(passages)
        )


class OnnxCrossEncoder:
    """A model for onnxruntime, loaded from a local folder; nothing is downloaded."""

    at_once = 1

    def __init__(self, name: str, files: OnnxFiles) -> None:
        self._name = name
        limit = min(max_tokens_of(files.folder) or _MAX_TOKENS, _MAX_TOKENS)
        self._model = OnnxModel(name, files, limit)
        self._output = next(iter(self._model.output_ranks))
        count = self._model.run("東京", "東京")[self._output].size
        if count != 1:
            raise _not_one_number(name, count)

    def scores(self, question: str, passages: Sequence[str]) -> list[float]:
        """How well each passage answers the question."""
        scores = [self._model.run(question, passage)[self._output].item() for passage in passages]
        return _check_scores(self._name, scores, len(passages))


def _not_one_number(name: str, count: int) -> ModelUnavailable:
    return ModelUnavailable(
        f"{name!r} is not a reranker: it gives {count} numbers for a passage, not one; choose "
        "another in [search] reranker"
    )


def _check_scores(name: str, scores: list[float], count: int) -> list[float]:
    if len(scores) != count or not all(map(math.isfinite, scores)):
        raise ModelError(f"the reranker {name!r} gave scores that cannot be used")
    return scores


def _load(folder: Path, options: StOptions) -> Any:  # noqa: ANN401
    device = device_here(options.device)
    with quiet_transformers():
        from sentence_transformers import CrossEncoder

        return CrossEncoder(
            str(folder),
            device=device,
            trust_remote_code=False,
            local_files_only=True,
            model_kwargs={"use_safetensors": True},
            max_length=min(max_tokens_of(folder) or _MAX_TOKENS, _MAX_TOKENS),
        )
