"""Cuts texts for models whose tokenizer is elsewhere, by the tokens of `use`."""

from __future__ import annotations

from functools import cached_property

from mdvec.embedding.backends.use import UseTokenizer
from mdvec.text import TokenSpan


class ApproximateTokens:
    """Counts in tokens of `use`, which are about as long as those of other vocabularies."""

    def __init__(self, limit: int) -> None:
        self._limit = limit

    @cached_property
    def _tokenizer(self) -> UseTokenizer:
        """Loaded when texts are cut; a question needs none."""
        return UseTokenizer()

    def spans(self, text: str) -> list[TokenSpan]:
        """The tokens of ``text`` as character ranges."""
        return self._tokenizer.spans(text)

    def oversized(self, text: str) -> bool:
        """Whether ``text`` has more tokens than the limit."""
        return len(text) > self._limit // 4 and len(self.spans(text)) > self._limit
