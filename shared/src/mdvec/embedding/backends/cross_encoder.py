"""The backend of ``[search] reranker``: cross-encoders for sentence-transformers (an extra)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from mdvec.embedding.backends.hub_cache import first_line, is_classifier, quiet_transformers
from mdvec.embedding.backends.sentence_transformers import device_for, max_tokens_of
from mdvec.embedding.embedder import ModelError, ModelUnavailable
from mdvec.embedding.options import StOptions

_MAX_TOKENS = 512
"""A question and a passage together; what is longer is cut, so that the time is bounded."""


class CrossEncoderBackend:
    """The model and its tokenizer, loaded from a local folder; nothing is downloaded."""

    def __init__(self, name: str, folder: Path, options: StOptions) -> None:
        """Load the model.

        Raises:
            ModelUnavailable: the library or a device is missing, or the folder has no cross-encoder
                that gives one number.
        """
        self._name = name
        if not is_classifier(folder):
            raise ModelUnavailable(
                f"{name!r} is not a cross-encoder (its config.json names no model for sequence "
                "classification); choose another in [search] reranker"
            )
        try:
            self._model = _load(folder, options)
        except ModelUnavailable:
            raise
        # transformers raises errors of many kinds for files that it does not understand.
        except Exception as error:
            raise ModelUnavailable(
                f"the reranker {name!r} cannot be loaded from {folder} ({first_line(error)})"
            ) from error
        if self._model.num_labels != 1:
            raise ModelUnavailable(
                f"{name!r} is not a reranker: it gives {self._model.num_labels} numbers for a "
                "passage, not one; choose another in [search] reranker"
            )

    def scores(self, question: str, passages: Sequence[str]) -> list[float]:
        """How well each passage answers the question.

        Raises:
            ModelError: the model fails.
        """
        pairs = [(question, passage) for passage in passages]
        try:
            predictions = self._model.predict(
                pairs, batch_size=len(pairs), show_progress_bar=False, convert_to_numpy=True
            )
        except (RuntimeError, MemoryError, IndexError) as error:
            raise ModelError(f"the reranker {self._name!r} failed: {first_line(error)}") from error
        scores = [float(number) for number in np.asarray(predictions).reshape(-1)]
        if len(scores) != len(passages) or not all(map(math.isfinite, scores)):
            raise ModelError(f"the reranker {self._name!r} gave scores that cannot be used")
        return scores


def _load(folder: Path, options: StOptions) -> Any:  # noqa: ANN401
    try:
        import torch
        from sentence_transformers import CrossEncoder
    except (ImportError, OSError) as error:
        raise ModelUnavailable(
            f"sentence-transformers cannot be loaded ({first_line(error)})"
        ) from error
    cuda, mps = torch.cuda.is_available(), torch.backends.mps.is_available()
    with quiet_transformers():
        return CrossEncoder(
            str(folder),
            device=device_for(options.device, cuda=cuda, mps=mps),
            trust_remote_code=False,
            local_files_only=True,
            model_kwargs={"use_safetensors": True},
            max_length=min(max_tokens_of(folder) or _MAX_TOKENS, _MAX_TOKENS),
        )
