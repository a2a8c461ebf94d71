"""Sign-bit (LSH) signatures of embeddings, which preselect neighbours in a few milliseconds.

A signature is the signs of a vector after a random rotation, two rotations or more where the
vector is short, so that it has at least 1,024 bits. The share of bits in which two signatures
differ is their angle over pi, in expectation (random hyperplanes: Charikar, "Similarity estimation
techniques from rounding algorithms", 2002). The rotation is the randomised Hadamard transform
H D2 H D1 with fixed random signs D: fast, without a stored matrix, and the same on every machine.
"""

from __future__ import annotations

import functools
import hashlib
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float32]
    Words = NDArray[np.uint64]

MIN_BITS = 1024
_ROWS_AT_ONCE = 4096


def signature_bytes(dimension: int) -> int:
    """The size of the signature of a vector with ``dimension`` numbers."""
    padded, rotations = _shape(dimension)
    return padded * rotations // 8


def signatures(vectors: Floats) -> Words:
    """The signatures of ``(n, dimension)`` vectors, as ``(n, bits / 64)`` words."""
    parts = [
        np.packbits(_rotated(vectors[first : first + _ROWS_AT_ONCE]) > 0, axis=1)
        for first in range(0, max(len(vectors), 1), _ROWS_AT_ONCE)
    ]
    return np.concatenate(parts).view(np.uint64)


def nearest_signatures(query: Floats, stored: Words, wide: int, narrow: int) -> NDArray[np.intp]:
    """The places of at most ``narrow`` signatures that are likely nearest to a query vector.

    The ``wide`` nearest by Hamming distance to the query's own signature come first; among these,
    the ``narrow`` nearest by the product of their signs with the rotated query, which is finer.
    """
    count = len(stored)
    if count <= narrow:
        return np.arange(count)
    places = np.arange(count)
    rotated = _rotated(query.reshape(1, -1))[0]
    if count > wide:
        own = np.packbits(rotated > 0).view(np.uint64)
        counts = np.bitwise_count(stored ^ own).astype(np.float32)
        differing = counts @ np.ones(counts.shape[1], dtype=np.float32)  # faster than sum(axis=1)
        places = np.argpartition(differing, wide)[:wide]
    signs = np.unpackbits(stored[places].view(np.uint8), axis=1)
    likeness = signs.astype(np.float32) @ rotated
    return places[np.argpartition(-likeness, narrow)[:narrow]]


def _shape(dimension: int) -> tuple[int, int]:
    """The dimension padded to a power of two, at least 64, and the number of rotations."""
    padded = max(64, 1 << (dimension - 1).bit_length())
    return padded, max(1, MIN_BITS // padded)


def _rotated(vectors: Floats) -> Floats:
    count, dimension = vectors.shape
    padded, rotations = _shape(dimension)
    wide = np.zeros((count, 1, padded), dtype=np.float32)
    wide[:, 0, :dimension] = vectors
    first, second = _signs(padded, rotations)
    return _hadamard(_hadamard(wide * first) * second).reshape(count, rotations * padded)


def _hadamard(rows: Floats) -> Floats:
    """The Walsh-Hadamard transform along the last axis, unscaled."""
    length = rows.shape[-1]
    step = 1
    while step < length:
        pairs = rows.reshape(-1, length // (2 * step), 2, step)
        upper, lower = pairs[:, :, 0], pairs[:, :, 1]
        rows = np.stack((upper + lower, upper - lower), axis=2).reshape(rows.shape)
        step *= 2
    return rows


@functools.cache
def _signs(length: int, rotations: int) -> tuple[Floats, Floats]:
    """Fixed random signs for the first and second transform, one row per rotation.

    They are derived from hashes: numpy's generators may change between versions.
    """
    digests = (
        hashlib.shake_256(f"mdvec signs {number}".encode()).digest(length // 8)
        for number in range(2 * rotations)
    )
    bits = np.unpackbits(np.frombuffer(b"".join(digests), dtype=np.uint8))
    signs = bits.astype(np.float32).reshape(rotations, 2, length) * 2 - 1
    return signs[:, 0], signs[:, 1]
