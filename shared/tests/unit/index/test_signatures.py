"""Signatures: a bit per direction, the same everywhere, good enough to find the nearest by."""

import hashlib

import numpy as np
import pytest
from table_of_cases import each

from mdvec.index.signatures import (
    MIN_BITS,
    nearest_signatures,
    no_centre,
    signature_bytes,
    signatures,
    unit_vector_signatures,
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


def normalised(vectors: np.ndarray) -> np.ndarray:
    return (vectors / np.linalg.norm(vectors, axis=1, keepdims=True)).astype(np.float32)


def crowded(count: int, dimension: int, seed: int = 1) -> np.ndarray:
    """Vectors around one direction, as some models make them: their mean cosine is .9."""
    return normalised(clustered(count, dimension, seed) + 3 * clustered(1, dimension, 7))


def uniform(count: int, dimension: int, seed: int = 1) -> np.ndarray:
    """Vectors of every direction, among which nothing is near."""
    return normalised(np.random.default_rng(seed).normal(size=(count, dimension)))


def repeated(count: int, dimension: int, seed: int = 1) -> np.ndarray:
    """Vectors each of which comes a hundred times."""
    return np.repeat(clustered(count // 100, dimension, seed), 100, axis=0)


def signs(vectors: np.ndarray) -> np.ndarray:
    return signatures(vectors, no_centre(vectors.shape[1])).words


@each(("dimension", "size"), [(1, 128), (8, 128), (384, 128), (512, 128), (768, 128), (2048, 256)])
def test_a_signature_has_a_bit_for_every_direction(dimension, size):
    assert signature_bytes(dimension) == size >= MIN_BITS // 8
    found = signs(clustered(5, dimension))
    assert (found.shape, found.dtype) == ((5, size // 8), np.uint64)
    assert signs(np.zeros((0, dimension), dtype=np.float32)).shape == (0, size // 8)


def test_signatures_are_the_same_on_every_machine_and_in_every_version():
    numbers = np.sin(np.arange(1, 3 * 512 + 1, dtype=np.float64)).astype(np.float32)
    found = signs(numbers.reshape(3, 512))
    assert hashlib.sha256(found.astype("<u8").tobytes()).hexdigest()[:16] == "e654a4a92d5cf80c"


@each(("dimension", "count"), [(8, 4_100), (2048, 70)])
def test_a_signature_depends_on_its_vector_alone(dimension, count):
    vectors = clustered(count, dimension)
    together = signs(vectors)
    for place in {0, 17, *range(count)[4_095:], count - 1}:
        assert (signs(vectors[place : place + 1])[0] == together[place]).all()
    assert (signs(vectors[:3] * np.float32(8)) == together[:3]).all()


def test_differing_bits_are_the_angle():
    first, second = np.zeros((2, 1, 512), dtype=np.float32)
    first[0, 3], second[0, 3], second[0, 77] = 1, 1, 1
    differing = np.bitwise_count(signs(first) ^ signs(second)).sum()
    assert differing / MIN_BITS == pytest.approx(1 / 4, abs=0.05)
    opposite = np.bitwise_count(signs(second) ^ signs(-second)).sum()
    assert opposite == pytest.approx(MIN_BITS, abs=40)


@pytest.mark.parametrize(
    ("kind", "dimension", "most", "centred"),
    [
        (clustered, 384, 320, True), (clustered, 384, 320, False),
        pytest.param(clustered, 2048, 320, True, marks=pytest.mark.soak),
        (crowded, 384, 500, True), (crowded, 384, 500, False), (repeated, 512, 1_000, True),
        (uniform, 512, 1_024, True),
    ],
)  # fmt: skip
@pytest.mark.parametrize("count", [3_000, pytest.param(8_000, marks=pytest.mark.soak)])
def test_the_nearest_of_many_are_among_the_few_that_are_kept(kind, dimension, most, centred, count):
    vectors = kind(count, dimension)
    stored = signatures(vectors, vectors.mean(axis=0))
    if not centred:
        stored = unit_vector_signatures(signs(vectors), dimension)
        most = 1_024
    queries = vectors[:: count // 20] + 0.2 * kind(2_000, dimension, seed=2)[::100]
    found, numbers = 0, []
    for query in normalised(queries):
        exact = vectors @ query
        tenth = np.partition(exact, -10)[-10]
        kept = nearest_signatures(query, stored, 1_024, 1_024)
        assert len(kept) == len(set(kept.tolist()))
        found += min(10, int((exact[kept] >= tenth - 1e-6).sum()))
        numbers.append(len(kept))
    assert found >= 0.99 * 10 * len(queries)
    assert np.mean(numbers) <= most


def test_few_are_all_kept_and_never_more_than_asked_for():
    stored = signatures(clustered(320, 64), no_centre(64))
    query = clustered(1, 64, seed=2)[0]
    assert nearest_signatures(query, stored, 1_024, 400).tolist() == list(range(320))
    assert len(nearest_signatures(query, stored, 1_024, 319)) <= 319
    assert nearest_signatures(query, stored.at(np.arange(0)), 1_024, 319).tolist() == []


def test_vectors_that_are_all_equal_have_signatures_and_are_found():
    same = np.repeat(clustered(1, 64), 2_000, axis=0)
    stored = signatures(same, same[0])
    assert (stored.squares.max(), np.isfinite(stored.gains).all()) == (0, True)
    assert len(nearest_signatures(same[0], stored, 1_024, 500)) == 500
