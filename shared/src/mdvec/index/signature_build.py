"""Builds and rebuilds the table of signatures; row 0 of the table describes the build.

Row 0 has a random id, by which caches notice that the table was rebuilt. A new table has no centre:
its signatures are the signs of the vectors themselves. At the end of an import, a table without a
centre is rebuilt around the mean of its vectors, and again whenever the highest chunk id has
doubled and the mean has moved.
"""

from __future__ import annotations

import os
import struct
from dataclasses import dataclass
from typing import TYPE_CHECKING

import apsw

from mdvec.index.tables import Tables
from mdvec.text import identifier

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from mdvec.embedding import Vectors

_HEAD = struct.Struct("<16sIq")
_CENTRED = 2
_SAMPLE = 4_096
_GROWTH = 2
_MAX_MOVE = 0.05
"""Rebuild if the squared distance between centre and mean exceeds this share of the vectors' mean
squared distance from the mean."""


@dataclass(frozen=True, slots=True)
class SignatureBuild:
    """Row 0 of a table of signatures.

    ``build_id`` is the whole row. ``centre`` is None until the first import ends. ``last_chunk``
    was the highest chunk id when the centre was last checked.
    """

    build_id: bytes
    centre: Vectors | None
    last_chunk: int


def read_build(connection: apsw.Connection, tables: Tables) -> SignatureBuild:
    """Read row 0 of a tool's table of signatures."""
    (row,) = connection.execute(
        f"SELECT signatures FROM {identifier(tables.signatures)} WHERE first_chunk = 0"
    ).fetchone() or (b"",)
    build_id = bytes(row)
    if len(build_id) < _HEAD.size:
        return SignatureBuild(build_id, None, 0)
    import numpy as np

    _, _, last_chunk = _HEAD.unpack_from(build_id)
    centre = np.frombuffer(build_id, dtype=np.float32, offset=_HEAD.size)
    return SignatureBuild(build_id, centre, last_chunk)


def entries(vectors: Vectors, centre: Vectors | None) -> bytes:
    """The stored entries of chunks: their signs and, around a centre, square and gain."""
    import numpy as np

    from mdvec.index.signatures import no_centre, signatures

    dimension = vectors.shape[1]
    signed = signatures(vectors, no_centre(dimension) if centre is None else centre)
    stored = np.empty(len(vectors), dtype=entry_type(dimension, centred=centre is not None))
    stored["words"] = signed.words
    if centre is not None:
        stored["square"], stored["gain"] = signed.squares, signed.gains
    return stored.tobytes()


def entry_type(dimension: int, *, centred: bool) -> np.dtype[np.void]:
    """The type of a chunk's entry, as ``entries`` stores it."""
    import numpy as np

    from mdvec.index.signatures import signature_bytes

    signs = ("words", "<u8", (signature_bytes(dimension) // 8,))
    return np.dtype([signs, ("square", "<f4"), ("gain", "<f4")] if centred else [signs])


def renew_signatures(connection: apsw.Connection, tables: Tables) -> None:
    """Rebuild the table if it has no centre, or if the mean has moved away from the centre.

    Call within a write transaction, at the end of an import.
    """
    build = read_build(connection, tables)
    highest = _highest_chunk(connection, tables)
    if not highest or (build.centre is not None and highest < _GROWTH * build.last_chunk):
        return
    sample = _sample(connection, tables)
    centre = build.centre
    if centre is None or _has_moved(sample, centre):
        centre = sample.mean(axis=0)
        _write_entries(connection, tables, centre)
    head = _HEAD.pack(os.urandom(16), _CENTRED, highest)
    connection.execute(
        f"UPDATE {identifier(tables.signatures)} SET signatures = ? WHERE first_chunk = 0",
        (head + centre.tobytes(),),
    )


def _highest_chunk(connection: apsw.Connection, tables: Tables) -> int:
    (highest,) = connection.execute(
        f"SELECT max(id) FROM {identifier(tables.vectors)}"
    ).fetchone() or (0,)
    return int(highest or 0)


def _sample(connection: apsw.Connection, tables: Tables) -> Vectors:
    """A sample of vectors, evenly spread over the table."""
    vectors = identifier(tables.vectors)
    ids = [int(chunk_id) for (chunk_id,) in connection.execute(f"SELECT id FROM {vectors}")]
    chosen = ids[:: max(1, len(ids) // _SAMPLE)]
    return _vectors(connection, tables, f"id IN ({','.join(map(str, chosen))})")


def _has_moved(sample: Vectors, centre: Vectors) -> bool:
    mean = sample.mean(axis=0)
    spread = float(((sample - mean) ** 2).sum(axis=1).mean())
    return float(((mean - centre) ** 2).sum()) > _MAX_MOVE * spread


def _write_entries(connection: apsw.Connection, tables: Tables, centre: Vectors) -> None:
    table = identifier(tables.signatures)
    rows = connection.execute(f"SELECT first_chunk, document_id FROM {table} WHERE first_chunk > 0")
    for first_chunk, document_id in list(rows):
        vectors = _vectors(connection, tables, f"document_id = {int(document_id)}")
        connection.execute(
            f"UPDATE {table} SET signatures = ? WHERE first_chunk = ?",
            (entries(vectors, centre), first_chunk),
        )


def _vectors(connection: apsw.Connection, tables: Tables, where: str) -> NDArray[np.float32]:
    import numpy as np

    rows = connection.execute(
        f"SELECT embedding FROM {identifier(tables.vectors)} WHERE {where} ORDER BY id"
    )
    blobs = [bytes(embedding) for (embedding,) in rows]
    return np.frombuffer(b"".join(blobs), dtype=np.float32).reshape(len(blobs), -1)
