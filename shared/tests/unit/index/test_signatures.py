"""Signatures: a bit per direction, the same everywhere, good enough to find the nearest by."""

import hashlib

import numpy as np
import pytest

from mdvec.index.signatures import (
    MIN_BITS,
    nearest_signatures,
    signature_bytes,
    signatures,
)


def clustered(count: int, dimension: int, seed: int = 1) -> np.ndarray:
    """Vectors as texts have them: around topics, with a few directions that matter most."""
    random = np.random.default_rng(seed)
    scale = 1 / np.sqrt(1 + np.arange(dimension))
    topics = random.normal(size=(max(count // 40, 1), dimension)) * scale
    vectors = topics[random.integers(len(topics), size=count)]
    vectors = vectors + 0.7 * random.normal(size=(count, dimension)) * scale
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    return vectors.astype(np.float32)


@pytest.mark.parametrize(
    ("dimension", "size"), [(1, 128), (8, 128), (384, 128), (512, 128), (768, 128), (2048, 256)]
)
def test_a_signature_has_a_bit_for_every_direction(dimension, size):
    assert signature_bytes(dimension) == size >= MIN_BITS // 8
    found = signatures(clustered(5, dimension))
    assert (found.shape, found.dtype) == ((5, size // 8), np.uint64)
    assert signatures(np.zeros((0, dimension), dtype=np.float32)).shape == (0, size // 8)


def test_signatures_are_the_same_on_every_machine_and_in_every_version():
    numbers = np.sin(np.arange(1, 3 * 512 + 1, dtype=np.float64)).astype(np.float32)
    found = signatures(numbers.reshape(3, 512))
    assert hashlib.sha256(found.astype("<u8").tobytes()).hexdigest()[:16] == "e654a4a92d5cf80c"


@pytest.mark.parametrize("dimension", [8, 512, 2048])
def test_a_signature_depends_on_its_vector_alone(dimension):
    vectors = clustered(4_100, dimension)
    together = signatures(vectors)
    for place in (0, 17, 4_095, 4_096, 4_099):
        assert (signatures(vectors[place : place + 1])[0] == together[place]).all()
    assert (signatures(vectors[:3] * np.float32(8)) == together[:3]).all()


def test_differing_bits_are_the_angle():
    first, second = np.zeros((2, 1, 512), dtype=np.float32)
    first[0, 3], second[0, 3], second[0, 77] = 1, 1, 1
    differing = np.bitwise_count(signatures(first) ^ signatures(second)).sum()
    assert differing / MIN_BITS == pytest.approx(1 / 4, abs=0.05)
    opposite = np.bitwise_count(signatures(second) ^ signatures(-second)).sum()
    assert opposite == pytest.approx(MIN_BITS, abs=40)


@pytest.mark.parametrize("dimension", [384, 512, 2048])
def test_the_nearest_of_many_are_among_those_that_are_kept(dimension):
    vectors = clustered(6_000, dimension)
    stored = signatures(vectors)
    queries = clustered(6_000, dimension)[::300] + 0.2 * clustered(20, dimension, seed=2)
    found = 0
    for query in queries:
        exact = set(np.argsort(-(vectors @ query))[:10].tolist())
        kept = nearest_signatures(query, stored, 1_536, 384)
        assert len(kept) == len(set(kept.tolist())) == 384
        found += len(exact & set(kept.tolist()))
    assert found >= 0.99 * 10 * len(queries)


def test_few_are_all_kept():
    stored = signatures(clustered(384, 64))
    query = clustered(1, 64, seed=2)[0]
    assert nearest_signatures(query, stored, 1_536, 384).tolist() == list(range(384))
    assert len(nearest_signatures(query, stored, 1_536, 383)) == 383
    assert nearest_signatures(query, stored[:0], 1_536, 384).tolist() == []
