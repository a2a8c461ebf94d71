"""Sign-bit (LSH) signatures of embeddings, which preselect neighbours in a few milliseconds.

The centre is subtracted from a vector, and the difference is rotated at random; its signs are the
signature. Short vectors get several rotations, for at least 1,024 bits. The expected share of bits
in which two signatures differ is the angle between the differences divided by pi (random
hyperplanes: Charikar, "Similarity estimation techniques from rounding algorithms", 2002). The
rotation is the randomised Hadamard transform H D2 H D1 with fixed random signs D: fast, without a
stored matrix, and the same on every machine.

The vectors of some models are close together: their mean cosine is .9, and their own signs hardly
differ, but those of differences from their mean do. As the differences vary in length, a signature
around a centre also has two numbers for estimating the distance to a query: the squared length of
the difference (square), and its length divided by its mean agreement with its own signs (gain; Gao
and Long, "RaBitQ", 2024).
"""

from __future__ import annotations

import functools
import hashlib
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float32]
    Words = NDArray[np.uint64]
    Indexes = NDArray[np.intp]

MIN_BITS = 1024
_ROWS_AT_ONCE = 4096
_COMPARED_AT_ONCE = 8192
"""One megabyte of signatures, which fits in the processor's cache."""
_ESTIMATED_AT_ONCE = 128
"""Half a megabyte as floats: for larger parts, allocating memory takes longer than arithmetic."""
_SHARE = 64
"""The first comparison keeps at least one signature in 64."""
_SURE, _DEVIATIONS = 48, 3.0
"""The second comparison keeps every signature whose estimate plus three standard deviations reaches
the 48th best estimate."""
_MANY, _WIDENING = 4, 8
"""If the second comparison keeps more than one in 4, it is repeated on 8 times as many."""
_MAX_UNCOMPARED = 320
"""Up to this many signatures are kept without a comparison, which would cost more than it saves."""
_MEAN_AGREEMENT = (2 / np.pi) ** 0.5
_MAX_COSINE = 0.95
_LANES, _FIRST_LANE = np.uint64(0x00FF00FF00FF00FF), np.uint64(0x0001000100010001)


@dataclass(frozen=True, slots=True)
class Signatures:
    """Signatures around one centre.

    ``words`` are the signs as ``(n, bits / 64)`` words, ``squares`` the squared lengths, ``gains``
    the lengths divided by the mean agreement with the signs.
    """

    centre: Floats
    words: Words
    squares: Floats
    gains: Floats

    def __len__(self) -> int:
        return len(self.words)

    @property
    def nbytes(self) -> int:
        """The size in memory, without the centre."""
        return self.words.nbytes + self.squares.nbytes + self.gains.nbytes

    def at(self, indexes: Indexes) -> Signatures:
        """The signatures at these indexes."""
        return Signatures(
            self.centre, self.words[indexes], self.squares[indexes], self.gains[indexes]
        )


def signature_bytes(dimension: int) -> int:
    """The size in bytes of the signs of a vector of that dimension."""
    padded, rotations = _shape(dimension)
    return padded * rotations // 8


def no_centre(dimension: int) -> Floats:
    """The centre of signatures without a centre: the origin."""
    return np.zeros(dimension, dtype=np.float32)


def signatures(vectors: Floats, centre: Floats) -> Signatures:
    """The signatures of ``(n, dimension)`` vectors around a centre."""
    parts = [
        _sign_bits(vectors[first : first + _ROWS_AT_ONCE] - centre)
        for first in range(0, max(len(vectors), 1), _ROWS_AT_ONCE)
    ]
    words, squares, gains = (np.concatenate(part) for part in zip(*parts, strict=True))
    return Signatures(centre, words, squares, gains)


def unit_vector_signatures(words: Words, dimension: int) -> Signatures:
    """Signatures of unit vectors around the origin, of which only the signs are stored."""
    ones = np.ones(len(words), dtype=np.float32)
    return Signatures(no_centre(dimension), words, ones, ones / np.float32(_MEAN_AGREEMENT))


def nearest_signatures(query: Floats, stored: Signatures, wide: int, narrow: int) -> Indexes:
    """The indexes of at most ``narrow`` signatures that are likely nearest to a query vector.

    First, ``wide`` or more signatures are preselected by the number of differing bits. For these,
    the product of their signs with the rotated query estimates the distance better, and those that
    may be among the very nearest are kept. If many are kept, both steps are repeated with a wider
    preselection.
    """
    count = len(stored)
    if count <= min(narrow, _MAX_UNCOMPARED):
        return np.arange(count)
    difference = query - stored.centre
    length = np.float32(np.linalg.norm(difference))
    rotated = _rotate(difference.reshape(1, -1))[0]
    scores = _scores_by_bits(rotated, length, stored)
    wide = min(count, max(wide, count // _SHARE))
    indexes, nearest = _candidates_by_bound(rotated, length, stored, _largest(scores, wide))
    if len(indexes) * _MANY > wide and wide < count:
        wide = min(count, _WIDENING * wide)
        indexes, nearest = _candidates_by_bound(rotated, length, stored, _largest(scores, wide))
    return indexes[_largest(nearest, narrow)]


def _largest(scores: Floats, number: int) -> Indexes:
    """The indexes of the ``number`` largest scores."""
    if len(scores) <= number:
        return np.arange(len(scores))
    least = np.partition(scores, -number)[-number]  # faster than argpartition
    larger = np.flatnonzero(scores > least)
    return np.concatenate((larger, np.flatnonzero(scores == least)[: number - len(larger)]))


def _scores_by_bits(rotated: Floats, length: np.float32, stored: Signatures) -> Floats:
    """The nearness of each signature, estimated from the number of differing bits."""
    own = np.packbits(rotated > 0).view(np.uint64)
    bits = len(rotated)
    cosines = np.cos(np.arange(bits + 1) * (np.pi / bits))
    products = (cosines * (2 * length)).astype(np.float32)
    scores = np.empty(len(stored), dtype=np.float32)
    for first in range(0, len(stored), _COMPARED_AT_ONCE):
        part = slice(first, first + _COMPARED_AT_ONCE)
        squares = stored.squares[part]
        differing = _differing(stored.words[part], own)
        scores[part] = products[differing] * np.sqrt(squares) - squares
    return scores


def _candidates_by_bound(
    rotated: Floats, length: np.float32, stored: Signatures, indexes: Indexes
) -> tuple[Indexes, Floats]:
    """Those of ``indexes`` that may be among the nearest, and an upper bound of their nearness."""
    scores, deviations = _estimates(rotated, length, stored.at(indexes))
    sure = scores[_largest(scores, _SURE)].min()
    best = scores + np.float32(_DEVIATIONS) * deviations
    likely = np.flatnonzero(best >= sure)
    return indexes[likely], best[likely]


def _differing(words: Words, own: Words) -> Words:
    """The number of differing bits of each signature; the sums add eight bytes at a time."""
    counts = np.bitwise_count(words ^ own).view(np.uint64)
    lanes = (counts & _LANES) + ((counts >> np.uint64(8)) & _LANES)
    total: Words = lanes[:, 0].copy()
    for column in range(1, lanes.shape[1]):
        total += lanes[:, column]
    total *= _FIRST_LANE
    total >>= np.uint64(48)
    return total


def _estimates(rotated: Floats, length: np.float32, stored: Signatures) -> tuple[Floats, Floats]:
    """The nearness of each signature and its standard deviation.

    The nearness is twice the product with the query minus the square.
    """
    bits = len(rotated)
    unit = rotated / np.float32(np.linalg.norm(rotated) or 1)
    products = np.empty(len(stored), dtype=np.float32)
    for first in range(0, len(stored), _ESTIMATED_AT_ONCE):
        part = slice(first, first + _ESTIMATED_AT_ONCE)
        signs = np.unpackbits(stored.words[part].view(np.uint8), axis=1)
        products[part] = signs.astype(np.float32) @ unit
    cosines = (2 * products - unit.sum()) / np.float32(bits**0.5)
    estimates = cosines * stored.gains * length
    near = np.minimum(np.abs(cosines) / np.float32(_MEAN_AGREEMENT), np.float32(_MAX_COSINE))
    spread = np.maximum(stored.gains**2 - stored.squares, 0) * (1 - near**2) / np.float32(bits)
    return 2 * estimates - stored.squares, 2 * length * np.sqrt(spread)


def _sign_bits(differences: Floats) -> tuple[Words, Floats, Floats]:
    """The packed signs, squared lengths and gains of vectors' differences from a centre."""
    rotated = _rotate(differences)
    words = np.packbits(rotated > 0, axis=1).view(np.uint64)
    lengths = np.linalg.norm(differences, axis=1)
    rotated_lengths = np.linalg.norm(rotated, axis=1)
    agreements = np.abs(rotated).sum(axis=1) / np.float32(rotated.shape[1] ** 0.5)
    gains = lengths * rotated_lengths / np.maximum(agreements, np.finfo(np.float32).tiny)
    return words, lengths**2, gains


def _shape(dimension: int) -> tuple[int, int]:
    """The dimension padded to a power of two, at least 64, and the number of rotations."""
    padded = max(64, 1 << (dimension - 1).bit_length())
    return padded, max(1, MIN_BITS // padded)


def _rotate(vectors: Floats) -> Floats:
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
        mixed = np.empty_like(pairs)
        np.add(pairs[:, :, 0], pairs[:, :, 1], out=mixed[:, :, 0])
        np.subtract(pairs[:, :, 0], pairs[:, :, 1], out=mixed[:, :, 1])
        rows = mixed.reshape(rows.shape)
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
