"""The one fake of the tests: a deterministic model without weights.

A token is a run of letters, a single CJK character or a single other sign; a text's vector
counts its tokens, hashed into a few buckets, so texts that share words lie near each other.
"""

from __future__ import annotations

import re
import zlib
from collections.abc import Sequence

import numpy as np
from mdvec.embedding.cards import ModelCard, ModelConstants
from mdvec.embedding.embedder import Embedder
from mdvec.text.tokens import TokenSpan

_TOKEN = re.compile(r"[A-Za-z0-9_]+|\S")


class TinyBackend:
    """Sixteen numbers a text, in microseconds; ``embedded`` lists every text it was given."""

    batch = 8
    revision = "1"

    def __init__(self, name: str = "tiny", dimension: int = 16, max_tokens: int = 4096) -> None:
        self.card = ModelCard(
            name=name,
            summary="a test's model",
            dimension=dimension,
            default_size=256,
            default_overlap=32,
            max_tokens=max_tokens,
            constants=ModelConstants(1.0, None),
            licence="MIT",
            how_to_get="it is here",
        )
        self.dimension = dimension
        self.embedded: list[str] = []

    def token_spans(self, text: str) -> list[TokenSpan]:
        return [found.span() for found in _TOKEN.finditer(text)]

    def oversized(self, text: str) -> bool:
        return len(self.token_spans(text)) > self.card.max_tokens

    def refusal(self, text: str) -> str | None:
        return None

    def encode_documents(self, texts: Sequence[str]) -> np.ndarray:
        self.embedded.extend(texts)
        return np.stack([self._vector(text) for text in texts])

    def encode_query(self, text: str) -> np.ndarray:
        return self._vector(text)

    def _vector(self, text: str) -> np.ndarray:
        vector = np.full(self.dimension, 1e-3, dtype=np.float32)
        for token in _TOKEN.findall(text.lower()):
            vector[zlib.crc32(token.encode("utf-8", "replace")) % self.dimension] += 1.0
        return vector


def tiny_embedder(**options: object) -> Embedder:
    """An embedder over a new tiny model."""
    return Embedder(TinyBackend(**options))
