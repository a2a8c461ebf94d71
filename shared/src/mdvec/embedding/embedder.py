"""The embedder: one embedding model behind a lock, with its input and output checked."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Protocol

from mdvec.embedding.cards import ModelCard
from mdvec.errors import MdvecError
from mdvec.text import TokenSpan, is_blank

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Vectors = NDArray[np.float32]


class ModelError(MdvecError):
    """An embedding model is unavailable, or cannot embed a text."""


class ModelUnavailable(ModelError):
    """The model cannot be loaded on this machine; the message says how to get it."""


class UnembeddableText(ModelError):
    """A text for which the model would return a meaningless vector."""

    def __init__(self, reason: str) -> None:
        super().__init__(f"the text cannot be embedded: {reason}")


class BadEmbedding(ModelError):
    """The model returned an unusable vector."""

    def __init__(self, model: str, reason: str) -> None:
        super().__init__(
            f"the model {model!r} returned a vector that cannot be used ({reason}); "
            "nothing was stored"
        )


class Backend(Protocol):
    """One loaded model; it gets texts that were checked, one call at a time.

    Loading raises ModelUnavailable if a package, a file, a device or a key is missing, or the files
    do not fit this backend. A call raises ModelError if the model fails.
    """

    card: ModelCard
    batch: int
    """The maximum number of documents per call."""

    @property
    def revision(self) -> str:
        """Identifies the weights and prefixes of the model."""

    @property
    def dimension(self) -> int:
        """The length of its vectors."""

    def token_spans(self, text: str) -> list[TokenSpan]:
        """The tokens of ``text`` as character ranges, in order."""

    def oversized(self, text: str) -> bool:
        """Whether ``text`` has more tokens than the model takes at once."""

    def refusal(self, text: str) -> str | None:
        """Why this model cannot embed ``text``, or None if it can."""

    def encode_documents(self, texts: Sequence[str]) -> Vectors:
        """One vector per text, for at most ``batch`` texts; they need not be normalised."""

    def encode_query(self, text: str) -> Vectors:
        """The vector to search with, as one row."""


class Embedder:
    """Embeds documents and queries with one model.

    Every vector returned is L2-normalised float32 of ``dimension`` numbers. Threads may share an
    embedder; the model runs one call at a time.
    """

    def __init__(self, backend: Backend) -> None:
        self.card, self.batch = backend.card, backend.batch
        self.name = backend.card.name
        self._backend = backend
        self._lock: AbstractContextManager[object] = threading.Lock()

    @property
    def dimension(self) -> int:
        """The length of every vector."""
        return self._backend.dimension

    @property
    def fingerprint(self) -> str:
        """Model, revision, dimension and normalisation; equal for vectors that can be compared."""
        return f"{self.name}@{self._backend.revision}:{self.dimension}:l2"

    def token_spans(self, text: str) -> list[TokenSpan]:
        """The model's tokens of ``text`` as character ranges, in order."""
        with self._lock:
            return self._backend.token_spans(text)

    def oversized(self, text: str) -> bool:
        """Whether ``text`` has more tokens than the model takes at once."""
        with self._lock:
            return self._backend.oversized(text)

    def embed_documents(self, texts: Sequence[str]) -> Vectors:
        """The vectors of documents, shape ``(len(texts), dimension)``.

        Raises:
            UnembeddableText: a text is blank or contains what the model cannot read.
            BadEmbedding: the model returned NaN, a zero vector or a wrong shape.
        """
        import numpy as np

        for text in texts:
            self._refuse(text)
        rows = np.empty((len(texts), self.dimension), dtype=np.float32)
        for first in range(0, len(texts), self.batch):
            part = texts[first : first + self.batch]
            with self._lock:
                encoded = self._backend.encode_documents(part)
            rows[first : first + len(part)] = self._check_vectors(encoded, len(part))
        return rows

    def embed_query(self, text: str) -> Vectors:
        """The vector of a question, shape ``(dimension,)``.

        Raises:
            UnembeddableText: the question is blank or contains what the model cannot read.
            BadEmbedding: the model returned NaN, a zero vector or a wrong shape.
        """
        self._refuse(text)
        with self._lock:
            encoded = self._backend.encode_query(text)
        vector: Vectors = self._check_vectors(encoded.reshape(1, -1), 1)[0]
        return vector

    def _refuse(self, text: str) -> None:
        if is_blank(text):
            raise UnembeddableText("it is blank")
        try:
            text.encode("utf-8")
        except UnicodeEncodeError as error:
            raise UnembeddableText("it is not UTF-8") from error
        with self._lock:
            reason = self._backend.refusal(text)
        if reason:
            raise UnembeddableText(reason)

    def _check_vectors(self, encoded: Vectors, count: int) -> Vectors:
        import numpy as np

        if encoded.shape != (count, self.dimension):
            raise BadEmbedding(self.name, f"shape {encoded.shape}, not {(count, self.dimension)}")
        vectors = np.asarray(encoded, dtype=np.float64)  # squares of large float32 overflow
        if not np.isfinite(vectors).all():
            raise BadEmbedding(self.name, "NaN or infinite")
        norms = np.linalg.norm(vectors, axis=1, keepdims=True)
        if (norms < 1e-12).any():
            raise BadEmbedding(self.name, "all zero")
        return np.asarray(vectors / norms, dtype=np.float32)
