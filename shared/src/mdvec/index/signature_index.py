"""The vector index inside the SQLite file: signatures preselect, the embeddings decide."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import apsw

from mdvec.index.exact import nearest_among
from mdvec.index.nearest import Near
from mdvec.index.ranges import ChunkRanges, expanded
from mdvec.index.signature_build import entry_type, read_build
from mdvec.index.signature_cache import delete_signatures, insert_signatures, likely_nearest
from mdvec.index.tables import Tables, create_signatures, drop_signatures, has_signatures
from mdvec.text.quoting import identifier

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from mdvec.embedding.embedder import Vectors

_LONGLIST, _SHORTLIST = 1_024, 1_024
"""The first comparison of signatures keeps at least ``_LONGLIST`` chunks; the second, finer one at
most ``_SHORTLIST``, or four times the limit if that is more. Those are then compared exactly."""


class SignatureIndex:
    """A ``NearestIndex`` over the signatures of one generation.

    Changes belong to the transaction that stores or deletes the chunks themselves.
    """

    def __init__(self, connection: apsw.Connection, tables: Tables) -> None:
        self._connection = connection
        self._tables = tables

    def prepare(self) -> None:
        """Create its table, empty, unless it is there."""
        if not has_signatures(self._connection, self._tables):
            create_signatures(self._connection, self._tables)

    def put(self, ids: Sequence[int], vectors: Vectors) -> None:
        """Add the chunks of a stored document."""
        if not ids:
            return
        self.drop(ids)
        (document_id,) = self._connection.execute(
            f"SELECT document_id FROM {identifier(self._tables.vectors)} WHERE id = ?", (ids[0],)
        ).fetchone() or (0,)
        insert_signatures(self._connection, self._tables, int(document_id), ids[0], vectors)

    def drop(self, ids: Sequence[int]) -> None:
        """Remove the chunks of whole documents."""
        delete_signatures(self._connection, self._tables, ids)

    def nearest(self, vector: Vectors, limit: int, within: ChunkRanges | None = None) -> list[Near]:
        """The likely nearest chunks, compared exactly."""
        narrow = max(_SHORTLIST, 4 * limit)
        likely = likely_nearest(
            self._connection, self._tables, vector, _LONGLIST, narrow, within=within
        )
        return nearest_among(self._connection, self._tables, vector, limit, likely)

    def count(self) -> int:
        """The number of signatures."""
        return int(self._runs()[1].sum())

    def ids(self) -> NDArray[np.int64]:
        """The ids of the chunks that have a signature."""
        return expanded(*self._runs())

    def retire(self) -> None:
        """Drop its table."""
        drop_signatures(self._connection, self._tables)

    def _runs(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """The first chunk of each document, and how many signatures it has."""
        import numpy as np

        rows = self._connection.execute(
            "SELECT first_chunk, length(signatures) "
            f"FROM {identifier(self._tables.signatures)} WHERE first_chunk > 0 ORDER BY first_chunk"
        ).fetchall()
        found = np.array(rows, dtype=np.int64).reshape(-1, 2)
        return found[:, 0], found[:, 1] // self._entry_bytes()

    def _entry_bytes(self) -> int:
        (size,) = self._connection.execute(
            f"SELECT length(embedding) FROM {identifier(self._tables.vectors)} LIMIT 1"
        ).fetchone() or (4,)
        centred = read_build(self._connection, self._tables).centre is not None
        return entry_type(int(size) // 4, centred=centred).itemsize
