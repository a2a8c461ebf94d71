"""What chunking asks of a model: where its tokens lie in a text."""

import unicodedata
from typing import Protocol

TokenSpan = tuple[int, int]
"""A token's first character and the one behind its last, in the text it was read from."""


class Ruler(Protocol):
    """Measures text in a model's own tokens."""

    def token_spans(self, text: str) -> list[TokenSpan]:
        """The tokens of ``text`` in order; starts never decrease."""

    def oversized(self, text: str) -> bool:
        """Whether ``text`` has more tokens than the model takes at once."""


def is_blank(text: str) -> bool:
    """Whether a reader would see nothing: white space, controls and zero-width characters."""
    return all(unicodedata.category(char) in ("Zs", "Zl", "Zp", "Cc", "Cf") for char in text)
