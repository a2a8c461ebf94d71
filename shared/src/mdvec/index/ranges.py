"""A selection of a tool's chunks, as ranges of their ids."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


@dataclass(frozen=True, slots=True)
class ChunkRanges:
    """The chunks of some documents: each document's first chunk id, ascending, and chunk count."""

    first_chunks: NDArray[np.int64]
    counts: NDArray[np.int64]

    @property
    def size(self) -> int:
        """The number of chunks."""
        return int(self.counts.sum())

    def ids(self) -> NDArray[np.int64]:
        """The ids of all chunks, in order."""
        return expanded(self.first_chunks, self.counts)


def no_chunks() -> ChunkRanges:
    """The empty selection."""
    import numpy as np

    none = np.array([], dtype=np.int64)
    return ChunkRanges(none, none)


def expanded(firsts: NDArray[np.int64], counts: NDArray[np.int64]) -> NDArray[np.int64]:
    """All numbers of the ranges that begin at ``firsts`` and have ``counts`` numbers each."""
    import numpy as np

    before = np.cumsum(counts) - counts
    return np.repeat(firsts - before, counts) + np.arange(int(counts.sum()))
