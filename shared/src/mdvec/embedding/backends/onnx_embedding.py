"""The backend of models for onnxruntime: those of the catalogue and ``onnx:<model or folder>``."""

from __future__ import annotations

import json
import zlib
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from mdvec.embedding.backends.model_files import Pooling, max_tokens_of, revision_of
from mdvec.embedding.backends.onnx_files import OnnxFiles
from mdvec.embedding.backends.onnx_model import OnnxModel
from mdvec.embedding.cards import ModelCard
from mdvec.embedding.embedder import ModelUnavailable
from mdvec.text import TokenSpan

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from mdvec.embedding.embedder import Vectors

_WHOLE = ("sentence_embedding", "sentence_embeddings", "embeddings", "embedding")
"""What an output is called that is one vector for a text."""


class OnnxBackend:
    """The model, loaded from a local folder; nothing is downloaded."""

    batch = 16

    def __init__(
        self,
        card: ModelCard,
        files: OnnxFiles,
        prefixes: tuple[str, str],
        pooling: Pooling,
        truncate_dim: int | None,
    ) -> None:
        """Load the model.

        Raises:
            ModelUnavailable: a package is missing, or its files do not make a model that gives one
                vector for a text.
        """
        self._query_prefix, self._document_prefix = prefixes
        self._truncate_dim = truncate_dim
        self._limit = max_tokens_of(files.folder) or card.max_tokens
        self._model = OnnxModel(card.name, files, self._limit)
        self._output, self._pooling = _output(card.name, self._model, pooling)
        self.dimension = len(self.encode_query("東京"))
        self.card = replace(card, dimension=self.dimension)
        self.revision = f"{revision_of(files.folder, files.used)}-{self._mark()}"

    def token_spans(self, text: str) -> list[TokenSpan]:
        """The tokens of ``text`` as character ranges."""
        return self._model.spans(text)

    def oversized(self, text: str) -> bool:
        """Whether ``text``, with prefix and special tokens, exceeds the model's limit."""
        prefixed = self._document_prefix + text
        # A character has at most a few tokens.
        return len(prefixed) > self._limit // 8 and (
            self._model.token_count(prefixed) > self._limit
        )

    def refusal(self, text: str) -> str | None:
        """Refuses text in which the model sees no token."""
        return None if self.token_spans(text[:200]) or self.token_spans(text) else "it is blank"

    def encode_documents(self, texts: Sequence[str]) -> Vectors:
        """Vectors of texts, with the prefix of documents."""
        return np.stack([self._vector(self._document_prefix + text) for text in texts])

    def encode_query(self, text: str) -> Vectors:
        """The vector of a question, with the prefix of questions."""
        return self._vector(self._query_prefix + text)

    def _vector(self, text: str) -> NDArray[np.float32]:
        row = self._model.run(text)[self._output][0]
        vector = row if self._pooling is None else _pooled(row, self._pooling)
        return np.asarray(vector[: self._truncate_dim], dtype=np.float32)

    def _mark(self) -> str:
        settings = [self._query_prefix, self._document_prefix, self._pooling, self._limit]
        return f"{zlib.crc32(json.dumps(settings, ensure_ascii=False).encode()):08x}"


def _output(name: str, model: OnnxModel, pooling: Pooling) -> tuple[str, str | None]:
    """The output to read, and how to make one vector of it; None if it is one already.

    Raises:
        ModelUnavailable: no output gives one vector for a text.
    """
    ranks = model.output_ranks
    for output in _WHOLE:
        if ranks.get(output) == 2:
            return output, None
    tokens = next((output for output, rank in ranks.items() if rank == 3), None)
    if tokens is None and len(ranks) == 1 and 2 in ranks.values():
        return next(iter(ranks)), None
    if tokens is None:
        raise ModelUnavailable(
            f"the model {name!r} gives no vectors of texts (its outputs: {', '.join(ranks)})"
        )
    if pooling.problem:
        raise ModelUnavailable(f"the model {name!r} cannot be used: {pooling.problem}")
    if pooling.mode is None:
        raise ModelUnavailable(
            f"the files of the model {name!r} do not say how its tokens become one vector; set "
            "[model.onnx] pooling to 'mean' or 'cls', as its makers say"
        )
    return tokens, pooling.mode


def _pooled(tokens: NDArray[np.float32], mode: str) -> NDArray[np.float32]:
    """One vector of the vectors of a text's tokens, one row each."""
    if mode in ("cls", "lasttoken"):
        return np.asarray(tokens[0 if mode == "cls" else -1])
    if mode == "max":
        return np.asarray(tokens.max(axis=0))
    weights = np.arange(1, len(tokens) + 1) if mode == "weightedmean" else None
    return np.asarray(np.average(tokens, axis=0, weights=weights))
