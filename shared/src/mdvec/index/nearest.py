"""The interface of a vector index: chunk ids and vectors in, the nearest ids and scores out.

SQLite is the source of truth: documents, chunks, words and the exact embeddings. A vector index
only answers which chunks are near a vector. It may lag behind, and it may still know chunks that
are gone, so whoever reads it scores its ids again by the stored embeddings.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from mdvec.errors import MdvecError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from mdvec.embedding import Vectors
    from mdvec.index.narrowing import ChunkRanges


class EngineUnavailable(MdvecError):
    """The vector index cannot answer now; words still can, and nothing is lost."""


@dataclass(frozen=True, slots=True)
class Near:
    """A chunk near a vector, and their cosine similarity as the index knows it."""

    id: int
    score: float


class NearestIndex(Protocol):
    """The vector index of one generation of a tool."""

    def prepare(self) -> None:
        """Create it, empty, unless it is there."""
        ...

    def put(self, ids: Sequence[int], vectors: Vectors) -> None:
        """Add the chunks of a document, ids ascending by one; what is there already stays once."""
        ...

    def drop(self, ids: Sequence[int]) -> None:
        """Remove the chunks of whole documents; unknown ids are ignored."""
        ...

    def nearest(self, vector: Vectors, limit: int, within: ChunkRanges | None = None) -> list[Near]:
        """At most ``limit`` chunks near a vector, nearest first, among those ``within``."""
        ...

    def count(self) -> int:
        """The number of chunks in it."""
        ...

    def ids(self) -> NDArray[np.int64]:
        """The ids of all chunks in it, ascending."""
        ...

    def retire(self) -> None:
        """Delete it with everything in it."""
        ...
