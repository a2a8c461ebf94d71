"""The cache of signatures: it follows the database and keeps within its size."""

import apsw
import numpy as np
import pytest

from mdvec.index.signature_cache import SignatureCache, insert_signatures
from mdvec.index.signatures import signature_bytes
from mdvec.index.table_changes import drop_vectors
from mdvec.index.tables import Tables, create_signatures

DIMENSION = 16
WIDTH = signature_bytes(DIMENSION) + 8


@pytest.fixture
def connection():
    return apsw.Connection(":memory:")


def tool(connection, number, chunks):
    """A tool with that many chunks in one document."""
    tables = Tables(connection, number, f"tool_{number}", 1)
    create_signatures(tables)
    vectors = np.random.default_rng(number).normal(size=(chunks, DIMENSION)).astype(np.float32)
    insert_signatures(tables, 1, 1, vectors)
    return tables


def test_unchanged_signatures_are_read_once_and_changed_ones_again(connection):
    cache = SignatureCache(100 * WIDTH)
    tables = tool(connection, 1, 3)
    first = cache.get(tables, DIMENSION)
    assert first.stored.words.shape == (3, signature_bytes(DIMENSION) // 8)
    assert cache.get(tables, DIMENSION) is first
    insert_signatures(tables, 2, 7, np.ones((2, DIMENSION), dtype=np.float32))
    changed = cache.get(tables, DIMENSION)
    assert changed.chunk_ids(np.arange(5)) == [1, 2, 3, 7, 8]
    drop_vectors(tables, [1, 2, 3])
    assert cache.get(tables, DIMENSION).chunk_ids(np.arange(2)) == [7, 8]


def test_the_least_recently_used_tool_is_dropped_first(connection):
    cache = SignatureCache(5 * WIDTH)
    tables = [tool(connection, number, 2) for number in (1, 2, 3)]
    first, second, _ = [cache.get(tables[number], DIMENSION) for number in (0, 1, 0)]
    cache.get(tables[2], DIMENSION)
    assert cache.get(tables[0], DIMENSION) is first
    assert cache.get(tables[1], DIMENSION) is not second


def test_a_tool_larger_than_the_cache_is_read_each_time(connection):
    cache = SignatureCache(5 * WIDTH)
    small, large = tool(connection, 1, 2), tool(connection, 2, 6)
    kept = cache.get(small, DIMENSION)
    assert cache.get(large, DIMENSION) is not cache.get(large, DIMENSION)
    assert cache.get(small, DIMENSION) is kept
