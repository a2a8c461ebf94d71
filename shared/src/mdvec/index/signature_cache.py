"""Stores signatures in the database, caches them in memory, and finds the nearest chunks."""

from __future__ import annotations

import os
import struct
from collections.abc import Iterator
from dataclasses import dataclass
from threading import Lock
from typing import TYPE_CHECKING

import numpy as np
from cachetools import LRUCache

from mdvec.index.conditions import ChunkRanges, expanded
from mdvec.index.nearest import nearest_among, stored_vectors
from mdvec.index.signatures import (
    Signatures,
    nearest_signatures,
    no_centre,
    signature_bytes,
    signatures,
    unit_vector_signatures,
)
from mdvec.index.tables import Tables
from mdvec.platform import machine_memory
from mdvec.text import identifier

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from mdvec.embedding import Vectors

_HEAD = struct.Struct("<16sIq")
_CENTRED = 2
_SAMPLE = 4_096
_GROWTH = 2
_MAX_MOVE = 0.05
"""The table is rebuilt if the squared distance between centre and mean exceeds this share of the
vectors' mean squared distance from the mean."""
_MIN_BYTES, _SHARE_OF_MEMORY = 64 * 2**20, 8
_BLOCK_BYTES = 8 * 2**20
_LONGLIST, _SHORTLIST = 1_024, 1_024
"""The first comparison of signatures keeps at least ``_LONGLIST`` chunks; the second, finer one at
most ``_SHORTLIST``, or four times the limit if that is more. Those are then compared exactly."""
_State = tuple[int, int, bytes]


@dataclass(frozen=True, slots=True)
class SignatureBuild:
    """The header of a table of signatures, stored in its row 0.

    ``build_id`` is the whole content of the row. ``centre`` is None until the first import ends.
    ``last_chunk`` was the highest chunk id when the centre was last checked.
    """

    build_id: bytes
    centre: Vectors | None
    last_chunk: int


def read_build(tables: Tables) -> SignatureBuild:
    """Read row 0 of a tool's table of signatures."""
    row = f"SELECT signatures FROM {tables.signatures} WHERE first_chunk = 0"
    build_id = bytes(tables.execute(row).get or b"")
    if len(build_id) < _HEAD.size:
        return SignatureBuild(build_id, None, 0)
    _, _, last_chunk = _HEAD.unpack_from(build_id)
    centre = np.frombuffer(build_id, dtype=np.float32, offset=_HEAD.size)
    return SignatureBuild(build_id, centre, last_chunk)


def entries(vectors: Vectors, centre: Vectors | None) -> bytes:
    """The stored entries of chunks: their signs and, if there is a centre, square and gain."""
    dimension = vectors.shape[1]
    signed = signatures(vectors, no_centre(dimension) if centre is None else centre)
    stored = np.empty(len(vectors), dtype=entry_type(dimension, centred=centre is not None))
    stored["words"] = signed.words
    if centre is not None:
        stored["square"], stored["gain"] = signed.squares, signed.gains
    return stored.tobytes()


def entry_type(dimension: int, *, centred: bool) -> np.dtype[np.void]:
    """The type of a chunk's entry, as ``entries`` stores it."""
    signs = ("words", "<u8", (signature_bytes(dimension) // 8,))
    return np.dtype([signs, ("square", "<f4"), ("gain", "<f4")] if centred else [signs])


def renew_signatures(tables: Tables) -> None:
    """Rebuild the table if it has no centre, or if the mean has moved away from the centre.

    Call within a write transaction, at the end of an import.
    """
    build = read_build(tables)
    highest = tables.execute(f"SELECT max(id) FROM {identifier(tables.vectors)}").get
    if not highest or (build.centre is not None and highest < _GROWTH * build.last_chunk):
        return
    sample = _sample(tables)
    if not len(sample):  # no vectors are stored yet
        return
    centre = build.centre
    if centre is None or _has_moved(sample, centre):
        centre = sample.mean(axis=0)
        _write_entries(tables, centre)
    head = _HEAD.pack(os.urandom(16), _CENTRED, highest)
    tables.execute(
        f"UPDATE {tables.signatures} SET signatures = ? WHERE first_chunk = 0",
        (head + centre.tobytes(),),
    )


def _sample(tables: Tables) -> Vectors:
    """A sample of vectors, evenly spread over the table."""
    with_vector = f"SELECT id FROM {identifier(tables.vectors)} WHERE length(embedding) > 0"
    ids = tables.column(with_vector)
    chosen = ids[:: max(1, len(ids) // _SAMPLE)]
    return stored_vectors(tables, f"id IN ({','.join(map(str, chosen))})")


def _has_moved(sample: Vectors, centre: Vectors) -> bool:
    mean = sample.mean(axis=0)
    spread = float(((sample - mean) ** 2).sum(axis=1).mean())
    return float(((mean - centre) ** 2).sum()) > _MAX_MOVE * spread


def _write_entries(tables: Tables, centre: Vectors) -> None:
    table = tables.signatures
    rows = tables.execute(f"SELECT first_chunk, document_id FROM {table} WHERE first_chunk > 0")
    for first_chunk, document_id in list(rows):
        vectors = stored_vectors(tables, f"document_id = {int(document_id)}")
        tables.execute(
            f"UPDATE {table} SET signatures = ? WHERE first_chunk = ?",
            (entries(vectors, centre), first_chunk),
        )


def insert_signatures(tables: Tables, document_id: int, first_chunk: int, vectors: Vectors) -> None:
    """Store the signatures of a document, whose chunk ids are consecutive from ``first_chunk``."""
    if len(vectors):
        centre = read_build(tables).centre
        tables.execute(
            f"INSERT OR REPLACE INTO {tables.signatures} "
            "(first_chunk, document_id, signatures) VALUES (?, ?, ?)",
            (first_chunk, document_id, entries(vectors, centre)),
        )


@dataclass(frozen=True, slots=True)
class ToolSignatures:
    """All signatures of a tool, in the order of their chunks.

    For each document, ``first_chunks`` has the id of its first chunk, and ``ends`` the index in
    ``stored`` after its signatures.
    """

    state: _State
    first_chunks: NDArray[np.int64]
    ends: NDArray[np.int64]
    stored: Signatures

    def chunk_ids(self, indexes: NDArray[np.intp]) -> list[int]:
        """The ids of the chunks whose signatures are at these indexes in ``stored``."""
        owners = np.searchsorted(self.ends, indexes, side="right")
        chunk_ids = self.first_chunks[owners] + indexes
        chunk_ids[owners > 0] -= self.ends[owners[owners > 0] - 1]
        return [int(chunk_id) for chunk_id in chunk_ids]

    def indexes(self, chunks: ChunkRanges) -> NDArray[np.intp]:
        """The indexes in ``stored`` of the signatures of these chunks."""
        documents = np.searchsorted(self.first_chunks, chunks.first_chunks, side="right") - 1
        starts = np.concatenate(([0], self.ends[:-1]))[documents]
        return expanded(starts + chunks.first_chunks - self.first_chunks[documents], chunks.counts)


class SignatureCache:
    """An LRU cache of tools' signatures, limited to ``max_bytes``.

    Thread-safe: while one thread reads a tool's signatures, the others wait.
    """

    def __init__(self, max_bytes: int) -> None:
        self._lock = Lock()
        self._tools: LRUCache[tuple[str, str], ToolSignatures] = LRUCache(
            max_bytes, getsizeof=lambda tool: tool.stored.nbytes
        )

    def get(self, tables: Tables, dimension: int) -> ToolSignatures:
        """The current signatures of a tool, whose vectors have that dimension."""
        key = (tables.connection.filename, tables.signatures)
        state = _state(tables)
        with self._lock:
            known = self._tools.get(key)
            if known is None or known.state != state:
                self._tools.pop(key, None)
                known = _read(tables, state, dimension)
                if known.stored.nbytes <= self._tools.maxsize:
                    self._tools[key] = known
        return known


SIGNATURES = SignatureCache(max(_MIN_BYTES, machine_memory() // _SHARE_OF_MEMORY))
"""The cache shared by this process."""


def likely_nearest(
    tables: Tables, query: Vectors, wide: int, narrow: int, within: ChunkRanges | None = None
) -> list[int]:
    """The ids of at most ``narrow`` chunks that are likely nearest to a query vector, unordered.

    ``wide`` and ``narrow`` are the limits of ``nearest_signatures``. With ``within``, only those
    chunks are compared.
    """
    tool = SIGNATURES.get(tables, len(query))
    if within is None:
        return tool.chunk_ids(nearest_signatures(query, tool.stored, wide, narrow))
    indexes = tool.indexes(within)
    return tool.chunk_ids(indexes[nearest_signatures(query, tool.stored.at(indexes), wide, narrow)])


def _state(tables: Tables) -> _State:
    """A value that changes whenever the table of signatures changes.

    Rows never change and ids are never reused, so the row count and the highest id identify the
    contents; the build id in row 0 distinguishes builds of the table.
    """
    table = tables.signatures
    count, highest = tables.execute(f"SELECT count(*), max(first_chunk) FROM {table}").get
    return int(count), int(highest or 0), read_build(tables).build_id


def _read(tables: Tables, state: _State, dimension: int) -> ToolSignatures:
    """Read a tool's signatures in blocks into preallocated arrays."""
    table = tables.signatures
    centre = read_build(tables).centre
    entry = entry_type(dimension, centred=centre is not None)
    size = tables.execute(f"SELECT total(length(signatures)) FROM {table} WHERE first_chunk > 0")
    count = int(size.get) // entry.itemsize
    columns = {
        name: np.empty((count, *entry[name].shape), entry[name].base) for name in entry.fields or ()
    }
    first_chunks: list[int] = []
    ends: list[int] = []
    end = 0
    for ids, blobs in _blocks(tables):
        read = np.frombuffer(b"".join(blobs), dtype=entry)
        start = ends[-1] if ends else 0
        for name, part in columns.items():
            part[start : start + len(read)] = read[name]
        first_chunks += ids
        for blob in blobs:
            end += len(blob) // entry.itemsize
            ends.append(end)
    words = columns["words"]
    stored = (
        unit_vector_signatures(words, dimension)
        if centre is None
        else Signatures(centre, words, columns["square"], columns["gain"])
    )
    return ToolSignatures(
        state, np.array(first_chunks, dtype=np.int64), np.array(ends, dtype=np.int64), stored
    )


def _blocks(tables: Tables) -> Iterator[tuple[list[int], list[bytes]]]:
    """The rows of all documents, ordered by their chunks, in blocks of a few megabytes."""
    ids: list[int] = []
    blobs: list[bytes] = []
    size = 0
    for first_chunk, blob in tables.execute(
        f"SELECT first_chunk, signatures FROM {tables.signatures} "
        "WHERE first_chunk > 0 ORDER BY first_chunk"
    ):
        ids.append(first_chunk)
        blobs.append(blob)
        size += len(blob)
        if size >= _BLOCK_BYTES:
            yield ids, blobs
            ids, blobs, size = [], [], 0
    yield ids, blobs


def nearest_by_signatures(
    tables: Tables, vector: Vectors, limit: int, within: ChunkRanges | None
) -> list[int]:
    """The ids of the ``limit`` nearest of the likely nearest chunks, compared exactly."""
    narrow = max(_SHORTLIST, 4 * limit)
    likely = likely_nearest(tables, vector, _LONGLIST, narrow, within)
    return nearest_among(tables, vector, limit, likely)
