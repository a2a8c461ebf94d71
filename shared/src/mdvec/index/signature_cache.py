"""The chunks' signatures: a row a document, read whole, and kept while they stay as they are."""

from __future__ import annotations

from dataclasses import dataclass
from threading import Lock
from typing import TYPE_CHECKING

import apsw

from mdvec.index.tables import Tables

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from mdvec.embedding.embedder import Vectors


def insert_signatures(
    connection: apsw.Connection,
    tables: Tables,
    document_id: int,
    first_chunk: int,
    vectors: Vectors,
) -> None:
    """Sign a document's vectors; its chunks are numbered from ``first_chunk`` without a gap."""
    from mdvec.index.signatures import signatures

    if len(vectors):
        connection.execute(
            f"INSERT INTO {tables.signatures} (first_chunk, document_id, signatures) "
            "VALUES (?, ?, ?)",
            (first_chunk, document_id, signatures(vectors).tobytes()),
        )


def delete_signatures(connection: apsw.Connection, tables: Tables, document_id: int) -> None:
    """Take a document's chunks out."""
    connection.execute(f"DELETE FROM {tables.signatures} WHERE document_id = ?", (document_id,))


def likely_nearest(
    connection: apsw.Connection, tables: Tables, query: Vectors, wide: int, narrow: int
) -> list[int]:
    """At most ``narrow`` chunks that are likely nearest to a query vector, in no order."""
    import numpy as np

    from mdvec.index.signatures import nearest_signatures, signature_bytes

    signed = _signed(connection, tables, signature_bytes(len(query)))
    places = nearest_signatures(query, signed.words, wide, narrow)
    owners = np.searchsorted(signed.ends, places, side="right")
    chunk_ids = signed.first_chunks[owners] + places
    chunk_ids[owners > 0] -= signed.ends[owners[owners > 0] - 1]
    return [int(chunk_id) for chunk_id in chunk_ids]


_State = tuple[int, int, bytes | None]


@dataclass(frozen=True, slots=True)
class _Signed:
    """All signatures of a tool: per document its first chunk and where its signatures end."""

    state: _State
    first_chunks: NDArray[np.int64]
    ends: NDArray[np.int64]
    words: NDArray[np.uint64]


_MOST_BYTES = 64 * 2**20
_read: dict[tuple[str, str], _Signed] = {}
_reading = Lock()


def _signed(connection: apsw.Connection, tables: Tables, width: int) -> _Signed:
    """The signatures as the database has them now, from memory where that is the same.

    Rows are never changed and their numbers never given twice, so their count and the highest
    number tell one state of a table from any other, and row 0 tells the table from another of
    its name.
    """
    key = (connection.filename, tables.signatures)
    count, highest, made = connection.execute(
        "SELECT count(*), max(first_chunk), "
        f"(SELECT signatures FROM {tables.signatures} WHERE first_chunk = 0) "
        f"FROM {tables.signatures}"
    ).fetchall()[0]
    state = (int(count or 0), int(highest or 0), made if isinstance(made, bytes) else None)
    with _reading:
        known = _read.pop(key, None)
        if known is None or known.state != state:
            known = _read_all(connection, tables, state, width)
        _read[key] = known  # the last of the dictionary: the one used last
        while sum(signed.words.nbytes for signed in _read.values()) > _MOST_BYTES:
            del _read[next(iter(_read))]
    return known


def _read_all(connection: apsw.Connection, tables: Tables, state: _State, width: int) -> _Signed:
    import numpy as np

    rows = connection.execute(
        f"SELECT first_chunk, signatures FROM {tables.signatures} WHERE first_chunk > 0 "
        "ORDER BY first_chunk"
    ).fetchall()
    return _Signed(
        state,
        np.array([row[0] for row in rows], dtype=np.int64),
        np.cumsum([len(row[1]) // width for row in rows], dtype=np.int64),  # type: ignore[arg-type]
        np.frombuffer(b"".join(row[1] for row in rows), dtype=np.uint64).reshape(-1, width // 8),  # type: ignore[misc]
    )
