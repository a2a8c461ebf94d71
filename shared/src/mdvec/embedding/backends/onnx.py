"""The backend of onnxruntime, without torch: catalogue models and ``onnx:<model or folder>``."""

from __future__ import annotations

import json
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from mdvec.embedding.backends.hub import first_line, loading
from mdvec.embedding.backends.model_files import (
    BLOCK_CHARS,
    STATIC,
    Pooling,
    max_tokens_of,
    modules_of,
    revision_of,
)
from mdvec.embedding.cards import ModelCard
from mdvec.embedding.embedder import ModelError, ModelUnavailable
from mdvec.embedding.onnx_models import OnnxFiles
from mdvec.text import TokenSpan, blocks

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from mdvec.embedding.embedder import Vectors

    Array = NDArray[np.float32]

_WHOLE = ("sentence_embedding", "sentence_embeddings", "embeddings", "embedding")
"""Names of an output that is one vector for a text."""
_ONLY_ERRORS = 3


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
        """Vectors of texts, with the document prefix."""
        return np.stack([self._vector(self._document_prefix + text) for text in texts])

    def encode_query(self, text: str) -> Vectors:
        """The vector of a question, with the query prefix."""
        return self._vector(self._query_prefix + text)

    def _vector(self, text: str) -> NDArray[np.float32]:
        row = self._model.run(text)[self._output][0]
        vector = row if self._pooling is None else _pool(row, self._pooling)
        return np.asarray(vector[: self._truncate_dim], dtype=np.float32)

    def _mark(self) -> str:
        settings = [self._query_prefix, self._document_prefix, self._pooling, self._limit]
        return f"{zlib.crc32(json.dumps(settings, ensure_ascii=False).encode()):08x}"


def _output(name: str, model: OnnxModel, pooling: Pooling) -> tuple[str, str | None]:
    """The name of the output to read, and how to pool it into one vector; None if it is one."""
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


def _pool(tokens: NDArray[np.float32], mode: str) -> NDArray[np.float32]:
    """Pool the vectors of a text's tokens (one per row) into one vector."""
    if mode in ("cls", "lasttoken"):
        return np.asarray(tokens[0 if mode == "cls" else -1])
    if mode == "max":
        return np.asarray(tokens.max(axis=0))
    weights = np.arange(1, len(tokens) + 1) if mode == "weightedmean" else None
    return np.asarray(np.average(tokens, axis=0, weights=weights))


class OnnxModel:
    """A session of onnxruntime, and the tokenizer of ``tokenizer.json``."""

    def __init__(self, name: str, files: OnnxFiles, limit: int) -> None:
        """Load session and tokenizer; ``limit`` is the number of tokens to which texts are cut."""
        self._name = name
        try:
            import onnxruntime
            from tokenizers import Tokenizer
        except (ImportError, OSError) as error:
            raise ModelUnavailable(f"onnxruntime cannot be loaded ({first_line(error)})") from error
        onnxruntime.disable_telemetry_events()
        options = onnxruntime.SessionOptions()
        options.log_severity_level = _ONLY_ERRORS
        # Otherwise threads spin while idle, which takes a third more CPU time for no gain.
        options.add_session_config_entry("session.intra_op.allow_spinning", "0")
        with loading(f"the model {name!r}", files.tokenizer):
            self._tokenizer = Tokenizer.from_file(str(files.tokenizer))
        with loading(f"the model {name!r}", files.model):
            self._session = onnxruntime.InferenceSession(
                str(files.model), options, providers=["CPUExecutionProvider"]
            )
        self._tokenizer.no_padding()
        self._tokenizer.enable_truncation(limit)
        self._inputs = {entry.name: entry for entry in self._session.get_inputs()}
        self.output_ranks = {entry.name: len(entry.shape) for entry in self._session.get_outputs()}
        self.is_static = "offsets" in self._inputs or STATIC in modules_of(files.folder)
        """Whether it averages word vectors; such models take no special tokens."""

    def token_count(self, text: str) -> int:
        """The number of tokens of the uncut text, including special ones."""
        encoding = self._tokenizer.encode(text, add_special_tokens=not self.is_static)
        return len(encoding.ids) + sum(len(rest.ids) for rest in encoding.overflowing)

    def spans(self, text: str) -> list[TokenSpan]:
        """The tokens of a text as character ranges."""
        spans = []
        for start, end in blocks(text, BLOCK_CHARS):
            encoding = self._tokenizer.encode(text[start:end], add_special_tokens=False)
            for part in (encoding, *encoding.overflowing):
                spans += [(start + a, start + b) for a, b in part.offsets if b > a]
        return spans

    def run(self, text: str, second: str | None = None) -> Mapping[str, Array]:
        """The outputs for a text or a pair of texts, by name."""
        encoding = self._tokenizer.encode(text, second, add_special_tokens=not self.is_static)
        try:
            outputs = self._session.run(None, self._fed(encoding))
        # onnxruntime raises errors of many kinds without a common base class.
        except Exception as error:
            raise ModelError(f"the model {self._name!r} failed: {first_line(error)}") from error
        return dict(zip(self.output_ranks, outputs, strict=True))

    def _fed(self, encoding: Any) -> dict[str, NDArray[Any]]:  # noqa: ANN401
        known = {
            "input_ids": encoding.ids,
            "attention_mask": encoding.attention_mask,
            "token_type_ids": encoding.type_ids,
            "position_ids": list(range(len(encoding.ids))),
        }
        if self.is_static:
            known["offsets"] = [0]
        fed = {}
        for name, entry in self._inputs.items():
            if name not in known:
                raise ModelUnavailable(
                    f"the model {self._name!r} wants an input {name!r}, which is not known here"
                )
            kind = np.int32 if entry.type == "tensor(int32)" else np.int64
            row = np.array(known[name], dtype=kind)
            fed[name] = row if len(entry.shape) == 1 else row.reshape(1, -1)
        return fed
