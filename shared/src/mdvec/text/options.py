"""Options for cutting a tool's documents into chunks."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from mdvec.errors import MdvecError

Strategy = Literal["heading", "token"]
MIN_SIZE, MAX_SIZE = 64, 4096


class InvalidChunking(MdvecError):
    """Chunking options that cannot work."""

    is_wrong_usage = True


@dataclass(frozen=True, slots=True)
class ChunkingOptions:
    """Chunking options; sizes are in the model's tokens, ``min_chars`` in characters.

    A section shorter than ``min_chars`` is joined to the next one. ``context`` says whether the
    title and headings are embedded with each chunk; it is false for tools imported before mdvec
    did so, until they are rebuilt. ``cut`` is the version of the cutting rules, which a tool keeps
    until it is rebuilt: version 1 ends windows at sentences, reads ``.mdx`` as plain text and
    embeds the source text; version 2 also begins windows at sentences, leaves out machine text and
    embeds the text as a reader sees it.
    """

    strategy: Strategy
    size: int
    overlap: int
    heading_levels: tuple[int, ...]
    min_chars: int
    context: bool = True
    cut: int = 2

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

    @property
    def cuts_passages(self) -> bool:
        """Whether chunks begin and end at natural breaks and leave out machine text."""
        return self.strategy == "heading" and self.cut >= 2

    @property
    def embeds_as_read(self) -> bool:
        """Whether Markdown (including ``.mdx``) is embedded as a reader sees it."""
        return self.cut >= 2
