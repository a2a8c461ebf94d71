"""The stored signatures of a tool's chunks, and their cache in memory."""

from __future__ import annotations

from dataclasses import dataclass
from threading import Lock
from typing import TYPE_CHECKING

import apsw
from cachetools import LRUCache

from mdvec.index.tables import Tables
from mdvec.text.quoting import identifier

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from mdvec.embedding.embedder import Vectors

_MAX_BYTES = 64 * 2**20
_State = tuple[int, int, bytes | None]


def insert_signatures(
    connection: apsw.Connection,
    tables: Tables,
    document_id: int,
    first_chunk: int,
    vectors: Vectors,
) -> None:
    """Store the signatures of a document's vectors; its chunk ids run on from ``first_chunk``."""
    from mdvec.index.signatures import signatures

    if len(vectors):
        connection.execute(
            f"INSERT INTO {identifier(tables.signatures)} (first_chunk, document_id, signatures) "
            "VALUES (?, ?, ?)",
            (first_chunk, document_id, signatures(vectors).tobytes()),
        )


def delete_signatures(connection: apsw.Connection, tables: Tables, document_id: int) -> None:
    """Delete the signatures of a document."""
    table = identifier(tables.signatures)
    connection.execute(f"DELETE FROM {table} WHERE document_id = ?", (document_id,))


@dataclass(frozen=True, slots=True)
class ToolSignatures:
    """All signatures of a tool, in the order of their chunks.

    ``first_chunks`` has the id of each document's first chunk, ``ends`` where the document's
    signatures end in ``words``.
    """

    state: _State
    first_chunks: NDArray[np.int64]
    ends: NDArray[np.int64]
    words: NDArray[np.uint64]

    def chunk_ids(self, places: NDArray[np.intp]) -> list[int]:
        """The ids of the chunks whose signatures are at these places in ``words``."""
        import numpy as np

        owners = np.searchsorted(self.ends, places, side="right")
        chunk_ids = self.first_chunks[owners] + places
        chunk_ids[owners > 0] -= self.ends[owners[owners > 0] - 1]
        return [int(chunk_id) for chunk_id in chunk_ids]


class SignatureCache:
    """Signatures read from databases, up to ``max_bytes``; the least recently used are dropped.

    All threads may share it: while one reads a tool's signatures, the others wait.
    """

    def __init__(self, max_bytes: int) -> None:
        self._lock = Lock()
        self._tools: LRUCache[tuple[str, str], ToolSignatures] = LRUCache(
            max_bytes, getsizeof=lambda signatures: signatures.words.nbytes
        )

    def get(self, connection: apsw.Connection, tables: Tables, width: int) -> ToolSignatures:
        """A tool's signatures as the database has them now, each of ``width`` bytes."""
        key = (connection.filename, tables.signatures)
        state = _state(connection, tables)
        with self._lock:
            known = self._tools.get(key)
            if known is None or known.state != state:
                self._tools.pop(key, None)
                known = _read(connection, tables, state, width)
                if known.words.nbytes <= self._tools.maxsize:
                    self._tools[key] = known
        return known


SIGNATURES = SignatureCache(_MAX_BYTES)
"""The cache of this process."""


def likely_nearest(
    connection: apsw.Connection,
    tables: Tables,
    query: Vectors,
    wide: int,
    narrow: int,
    cache: SignatureCache = SIGNATURES,
) -> list[int]:
    """The ids of at most ``narrow`` chunks that are likely nearest to a query vector, unordered."""
    from mdvec.index.signatures import nearest_signatures, signature_bytes

    stored = cache.get(connection, tables, signature_bytes(len(query)))
    return stored.chunk_ids(nearest_signatures(query, stored.words, wide, narrow))


def _state(connection: apsw.Connection, tables: Tables) -> _State:
    """What distinguishes one state of a table from every other.

    Rows never change and their ids are never reused, so the number of rows and the highest id do;
    the build id in row 0 distinguishes tables of the same name.
    """
    table = identifier(tables.signatures)
    (row,) = connection.execute(
        "SELECT count(*), max(first_chunk), "
        f"(SELECT signatures FROM {table} WHERE first_chunk = 0) FROM {table}"
    )
    count, highest, build = row
    return int(count), int(highest or 0), build if isinstance(build, bytes) else None


def _read(connection: apsw.Connection, tables: Tables, state: _State, width: int) -> ToolSignatures:
    import numpy as np

    first_chunks: list[int] = []
    blobs: list[bytes] = []
    for first_chunk, signatures in connection.execute(
        f"SELECT first_chunk, signatures FROM {identifier(tables.signatures)} "
        "WHERE first_chunk > 0 ORDER BY first_chunk"
    ):
        first_chunks.append(first_chunk)
        blobs.append(signatures)
    return ToolSignatures(
        state,
        first_chunks=np.array(first_chunks, dtype=np.int64),
        ends=np.cumsum([len(blob) // width for blob in blobs], dtype=np.int64),
        words=np.frombuffer(b"".join(blobs), dtype=np.uint64).reshape(-1, width // 8),
    )
