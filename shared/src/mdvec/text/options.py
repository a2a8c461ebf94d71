"""Options for cutting a tool's documents into chunks."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from mdvec.errors import MdvecError

Strategy = Literal["heading", "token"]
MIN_SIZE, MAX_SIZE = 64, 4096
CUT = 2
"""The version of the rules by which documents are cut and their passages embedded."""


class InvalidChunking(MdvecError):
    """Chunking options that cannot work."""

    is_wrong_usage = True


@dataclass(frozen=True, slots=True)
class ChunkingOptions:
    """Chunking options; sizes are in the model's tokens, ``min_chars`` in characters.

    A section shorter than ``min_chars`` is joined to the next one. ``cut`` is the version of the
    rules that a tool's documents were cut by; a rebuild takes those of this version (``CUT``).
    """

    strategy: Strategy
    size: int
    overlap: int
    heading_levels: tuple[int, ...]
    min_chars: int
    cut: int = CUT

    def __post_init__(self) -> None:
        if not MIN_SIZE <= self.size <= MAX_SIZE:
            raise InvalidChunking(
                f"a chunk size of {self.size} is not possible: "
                f"choose {MIN_SIZE} to {MAX_SIZE} tokens"
            )
        if not 0 <= self.overlap < self.size:
            raise InvalidChunking(
                f"an overlap of {self.overlap} is not possible with chunks of {self.size} tokens: "
                f"choose 0 to {self.size - 1}"
            )
